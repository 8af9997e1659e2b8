/** `completion`: a script that makes a shell complete what can be typed after `unspent`. */
import { Argument, type Command } from 'commander';
import { UnspentError } from '../../util/errors.ts';
import { didYouMean } from '../../util/suggest.ts';
import { action } from '../context.ts';
import { bashScript } from './bash.ts';
import { fishScript } from './fish.ts';
import { type CommandWords, commandWords } from './words.ts';
import { zshScript } from './zsh.ts';

const SCRIPTS: Readonly<Record<string, (commands: readonly CommandWords[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

export function registerCompletion(program: Command): void {
  const shells = Object.keys(SCRIPTS);
  const shellArgument = new Argument('<shell>', shells.join(', '));
  // Not `choices`, which would refuse others in words of its own.
  shellArgument.argChoices = shells;
  program
    .command('completion')
    .description('a script that completes commands, settings and networks in your shell')
    .addArgument(shellArgument)
    .addHelpText(
      'after',
      `
For this session, or at the end of the shell's own settings for all:

  $ source <(unspent completion bash)
  $ source <(unspent completion zsh)
  $ unspent completion fish | source`,
    )
    .action(
      action(({ output }, shell) => {
        const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
        if (script === undefined)
          throw new UnspentError(
            'USAGE',
            `completion is for ${shells.join(', ')}, not '${shell.slice(0, 40)}'${didYouMean(shell, shells)}`,
          );
        const text = script(commandWords(program));
        if (output.json) output.document({ shell, script: text });
        else output.raw(text);
      }),
    );
}
