/**
 * `prune`: forgets everything outside the window now, in bounded batches. It may
 * be stopped at any moment: each batch carries its own cursor.
 */
import type { Command } from 'commander';
import { renderPoint } from '../query/render.ts';
import type { StoreChanges } from '../store/control/changes.ts';
import type { OpenStore } from '../store/store.ts';
import { compactAfter } from './compact.ts';
import { action, type Context } from './context.ts';
import { count, counted, duration, pointText } from './format.ts';

export function registerPrune(program: Command): void {
  program
    .command('prune')
    .description('forget spent outputs and undo records outside the window')
    .addHelpText(
      'after',
      `
The window is set by utxo.pruneDepth and utxo.rollbackWindow, in blocks below the tip. \`sync\` prunes as it goes;
this command finishes the work, and compacts the store when that was much. A window that is given here is the store's from
now on.

Examples:
  $ unspent prune
  $ unspent prune --utxo-prune-depth 500`,
    )
    .action(action(prune));
}

async function prune(context: Context): Promise<void> {
  const rows = await context.askStore((store, changes) => pruneAll(context, store, changes), { windows: true });
  await compactAfter(context, { prunedRows: rows });
}

/** Rows deleted. */
async function pruneAll({ output, progress }: Context, store: OpenStore, changes: StoreChanges): Promise<number> {
  const line = progress();
  const started = performance.now();
  const sum = { batches: 0, blocks: 0, spentOutputs: 0, deltas: 0 };
  let step: Awaited<ReturnType<StoreChanges['prune']>>;
  do {
    step = await changes.prune();
    sum.batches++;
    sum.blocks += step.counts.blocks;
    sum.spentOutputs += step.counts.spentKeys;
    sum.deltas += step.counts.deltas;
    line.update(() => `prune: ${count(sum.blocks)} blocks, ${count(sum.spentOutputs)} spent outputs, ${count(sum.deltas)} undo records`);
  } while (!step.counts.done);
  line.done();
  const seconds = (performance.now() - started) / 1000;
  const { dialect } = store.network;
  const { head, horizon } = step;
  if (output.json) {
    output.document({ point: renderPoint(head, dialect), ...sum, seconds, horizon: renderPoint(horizon, dialect) });
  } else if (!output.quiet) {
    const what = `${counted(sum.spentOutputs, 'spent output')} of ${counted(sum.blocks, 'block')} and ${counted(sum.deltas, 'undo record')}`;
    output.line(`forgot ${what} in ${duration(seconds)}; the horizon is ${pointText(horizon, dialect)}`);
  }
  return sum.spentOutputs + sum.deltas;
}
