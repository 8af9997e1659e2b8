/**
 * The script for bash, 3.2 and later: one function, with the words in `case`
 * statements. It needs no other package, and starts no process.
 */
import { type CommandWords, type CompletionValues, type OptionWords, valueCases } from './words.ts';

export function bashScript(commands: readonly CommandWords[]): string {
  const [program, ...others] = commands;
  const shared = program.options;
  return `# Completion of unspent for bash, made by: unspent completion bash

# What may stand after a flag: a kind, and words of it.
_unspent_values() {
  kind=none values=
  case "$1" in
${valueCases(commands, assignment)}
  esac
}

# What may stand in a command: its subcommands, flags and operands.
_unspent_command() {
  subcommands= flags= kind=words values=
  case "$1" in
${[program, ...others].map((command) => commandLines(command)).join('\n')}
    *) return 1 ;;
  esac
}

_unspent_shared='${flagsOf(shared, false)}'
_unspent_settings='${flagsOf(shared, true)}'

_unspent() {
  local line current previous path word kind values subcommands flags candidates prefix i
  local -a words
  # The words as they are typed: bash itself would break them at : and =.
  line=\${COMP_LINE:0:COMP_POINT}
  set -f
  words=($line)
  set +f
  current= previous=
  case "$line" in
    *[[:space:]]) ;;
    *) current=\${words[\${#words[@]}-1]}; unset "words[\${#words[@]}-1]" ;;
  esac
  path=
  for ((i = 1; i < \${#words[@]}; i++)); do
    word=\${words[i]}
    case "$word" in
      --*=*) previous= ;;
      --*) previous=$word; _unspent_values "$word"; [[ $kind == none ]] && previous= ;;
      *)
        if [[ -n $previous ]]; then previous=
        else
          _unspent_command "$path" && [[ " $subcommands " == *" $word "* ]] && path=\${path:+$path }$word
        fi
        ;;
    esac
  done
  COMPREPLY=()
  prefix=
  if [[ -z $previous && $current == --*=* ]]; then
    previous=\${current%%=*} prefix=$previous= current=\${current#*=}
  fi
  if [[ -n $previous ]]; then
    _unspent_values "$previous"
  else
    _unspent_command "$path"
    if [[ $current == -* ]]; then
      kind=words values="$flags $_unspent_shared"
      # Settings have many flags: they come with the first letter.
      [[ \${#current} -gt 2 ]] && values="$values $_unspent_settings"
    elif [[ -n $subcommands ]]; then
      kind=words values=$subcommands
    fi
  fi
  case "$kind" in
    words) COMPREPLY=($(compgen -W "$values" -- "$current")) ;;
    beginnings)
      COMPREPLY=($(compgen -W "$values" -- "$current"))
      case "$current" in
        immutable:* | blk:* | n2c:*) COMPREPLY=($(compgen -P "\${current%%:*}:" -f -- "\${current#*:}")) ;;
      esac
      [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *[:=/] ]] && compopt -o nospace 2>/dev/null
      ;;
    files) COMPREPLY=($(compgen -f -- "$current")); compopt -o filenames 2>/dev/null ;;
    directories) COMPREPLY=($(compgen -d -- "$current")); compopt -o filenames 2>/dev/null ;;
  esac
  # What stands before the last : or = is not ours to say again.
  if [[ -z $prefix && $current == *[:=]* && $COMP_WORDBREAKS == *:* ]]; then
    prefix=\${current%"\${current##*[:=]}"}
    for i in "\${!COMPREPLY[@]}"; do COMPREPLY[i]=\${COMPREPLY[i]#"$prefix"}; done
  fi
}

complete -F _unspent unspent
`;
}

function commandLines({ path, subcommands, options, operands }: CommandWords): string {
  const own = path === '' ? '' : flagsOf(options, false);
  const names = subcommands.map(({ name }) => name).join(' ');
  return `    '${path}') subcommands='${names}' flags='${own}' ${assignment(operands)} ;;`;
}

function assignment(values: CompletionValues): string {
  return 'words' in values ? `kind=${values.kind} values='${values.words.join(' ')}'` : `kind=${values.kind}`;
}

function flagsOf(options: readonly OptionWords[], hidden: boolean): string {
  return options
    .filter(({ isHidden }) => isHidden === hidden)
    .map(({ flag }) => flag)
    .join(' ');
}
