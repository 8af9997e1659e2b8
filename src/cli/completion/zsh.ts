/** The script for zsh: the same words, with what they mean beside them. */
import { type CommandWords, type CompletionValues, type OptionWords, valueCases } from './words.ts';

export function zshScript(commands: readonly CommandWords[]): string {
  const [program] = commands;
  return `#compdef unspent
# Completion of unspent for zsh, made by: unspent completion zsh

_unspent_values() {
  kind=none; values=()
  case "$1" in
${valueCases(commands, assignment)}
  esac
}

_unspent_command() {
  subcommands=(); flags=(); kind=words; values=()
  case "$1" in
${commands.map(commandLines).join('\n')}
    *) return 1 ;;
  esac
}

_unspent() {
  local word previous= where= kind current
  local -a values subcommands flags shared settings
  local -i i
  shared=(${described(program.options.filter(({ isHidden }) => !isHidden))})
  settings=(${described(program.options.filter(({ isHidden }) => isHidden))})
  for ((i = 2; i < CURRENT; i++)); do
    word=\${words[i]}
    case "$word" in
      --*=*) previous= ;;
      --*) previous=$word; _unspent_values "$word"; [[ $kind == none ]] && previous= ;;
      *)
        if [[ -n $previous ]]; then previous=
        else
          _unspent_command "$where" && (( \${subcommands[(I)$word:*]} )) && where=\${where:+$where }$word
        fi
        ;;
    esac
  done
  current=\${words[CURRENT]}
  if [[ -z $previous && $current == --*=* ]]; then
    previous=\${current%%=*}
    compset -P '*='
  fi
  if [[ -n $previous ]]; then
    _unspent_values "$previous"
  else
    _unspent_command "$where"
    if [[ $current == -* ]]; then
      [[ \${#current} -gt 2 ]] && shared+=("\${settings[@]}")
      _describe -o option shared -- flags
      return
    fi
    if (( \${#subcommands} )); then
      _describe command subcommands
      return
    fi
  fi
  case "$kind" in
    words) compadd -a values ;;
    beginnings)
      case "$current" in
        immutable:* | blk:* | n2c:*) compset -P '*:'; _files ;;
        *) compadd -S '' -a values ;;
      esac
      ;;
    files) _files ;;
    directories) _files -/ ;;
  esac
}

if [[ \${funcstack[1]} == _unspent ]]; then _unspent "$@"; else compdef _unspent unspent; fi
`;
}

function commandLines({ path, subcommands, options, operands }: CommandWords): string {
  const names = subcommands.map(({ name, doc }) => `'${name}:${doc}'`).join(' ');
  const own = path === '' ? '' : described(options.filter(({ isHidden }) => !isHidden));
  return `    '${path}') subcommands=(${names}); flags=(${own}); ${assignment(operands)} ;;`;
}

function described(options: readonly OptionWords[]): string {
  return options.map(({ flag, doc }) => `'${flag}:${doc}'`).join(' ');
}

function assignment(values: CompletionValues): string {
  return 'words' in values ? `kind=${values.kind}; values=(${values.words.map((word) => `'${word}'`).join(' ')})` : `kind=${values.kind}`;
}
