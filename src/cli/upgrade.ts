/** `upgrade`: brings a store of an earlier format to the one that this version reads. */
import type { Command } from 'commander';
import { upgradeStore } from '../store/upgrade/upgrade.ts';
import { type Context, stoppable } from './context.ts';
import { count } from './format.ts';

export function registerUpgrade(program: Command): void {
  program
    .command('upgrade')
    .description('bring a store of an earlier version to the format of this one')
    .option('--dry-run', 'only say what would be done')
    .addHelpText(
      'after',
      `
A store is never upgraded by opening it: there is no way back but a backup that was made before, with the version that
wrote the store. It may be stopped or killed at any moment; the same command goes on.

Examples:
  $ unspent upgrade --dry-run --data ./preview
  $ unspent upgrade --data ./preview`,
    )
    .action(stoppable(upgrade));
}

async function upgrade(context: Context): Promise<void> {
  const { output, options, settings, progress, stop: signal } = context;
  const dryRun = options.dryRun === true;
  const line = progress();
  const { config } = settings;
  const onProgress = (column: string, rows: number): void => line.update(() => `upgrade: ${column}, ${count(rows)} rows`);
  const report = await upgradeStore({ config, dryRun, signal, onProgress }).finally(() => line.done());
  if (output.json) {
    output.document({ ...report, done: !dryRun });
    return;
  }
  if (output.quiet) return;
  const { from, to, steps } = report;
  if (steps.length === 0) output.line(`the store has format ${to}: there is nothing to do`);
  else output.line(`from format ${from} to ${to}${dryRun ? ', if asked to' : ''}:\n${steps.map((what) => `  ${what}`).join('\n')}`);
}
