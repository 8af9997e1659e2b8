/** The script for fish: a line for each word, with the command that it belongs to as its condition. */
import type { CommandWords, CompletionValues, OptionWords } from './words.ts';

export function fishScript(commands: readonly CommandWords[]): string {
  const [program] = commands;
  const takesValue = [
    ...new Set(commands.flatMap(({ options }) => options.filter(({ values }) => values !== null).map(({ flag }) => flag))),
  ];
  const paths = commands.filter(({ path }) => path !== '').map(({ path }) => `'${path}'`);
  return `# Completion of unspent for fish, made by: unspent completion fish

# The command that was typed so far: words that are no options, and no values of options.
function __unspent_path
    set -l path
    set -l skip no
    for word in (commandline -opc)[2..-1]
        if test $skip = yes
            set skip no
        else if string match -q -- '--*' $word
            contains -- $word ${takesValue.join(' ')}; and set skip yes
        else if contains -- (string join ' ' $path $word) ${paths.join(' ')}
            set -a path $word
        end
    end
    string join ' ' $path
end

function __unspent_at
    set -l path (__unspent_path)
    test "$path" = "$argv[1]"
end

complete -c unspent -f
${program.options.map((option) => optionLine('', option)).join('\n')}
${commands.map(commandLines).join('\n')}
`;
}

function commandLines({ path, subcommands, options, operands }: CommandWords): string {
  const at = `complete -c unspent -n "__unspent_at '${path}'"`;
  const names = subcommands.map(({ name, doc }) => `${at} -a ${name} -d '${doc}'`);
  const own = path === '' ? [] : options.filter(({ isHidden }) => !isHidden).map((option) => optionLine(at, option));
  const rest = subcommands.length > 0 ? [] : operandLines(at, operands);
  return [...names, ...own, ...rest].join('\n');
}

function optionLine(at: string, { flag, doc, values }: OptionWords): string {
  const line = `${at === '' ? 'complete -c unspent' : at} -l ${flag.slice(2)} -d '${doc}'`;
  if (values === null) return line;
  return `${line} ${values.kind === 'files' ? '-r' : '-x'} ${valueArguments(values)}`.trimEnd();
}

function operandLines(at: string, values: CompletionValues): string[] {
  if (values.kind === 'anything' || ('words' in values && values.words.length === 0)) return [];
  return [`${at} ${valueArguments(values)}`];
}

function valueArguments(values: CompletionValues): string {
  if ('words' in values) return `-a '${values.words.join(' ')}'`;
  if (values.kind === 'files') return '-F';
  return values.kind === 'directories' ? `-a '(__fish_complete_directories)'` : '';
}
