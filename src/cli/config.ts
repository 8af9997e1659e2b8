/**
 * `config show`: every setting, its value, and where that came from.
 */
import type { Command } from 'commander';
import { renderJson, renderTable } from '../config/show.ts';
import { action } from './context.ts';

export function registerConfig(program: Command): void {
  const config = program.command('config').description('look at the settings').helpCommand(false);
  config
    .command('show')
    .description('every setting, its value, and where it comes from')
    .addHelpText(
      'after',
      `
A setting comes from a flag, else a variable, else the file, else its default:
  utxo.pruneDepth   --utxo-prune-depth 100   UNSPENT_UTXO_PRUNE_DEPTH=100   [utxo] pruneDepth = 100   --set utxo.pruneDepth=100`,
    )
    .action(
      action(({ output, settings }) => {
        if (output.json) output.document(renderJson(settings));
        else output.line(renderTable(settings));
      }),
    );
}
