/**
 * `prune`: forgets everything outside the window now, in bounded batches. It may
 * be stopped at any moment: each batch carries its own cursor.
 */
import type { Command } from 'commander';
import { renderPoint } from '../query/render.ts';
import type { OpenStore } from '../store/store.ts';
import { COMPACT_PRUNED_ROWS_MIN } from '../util/limits.ts';
import { compactStore } from './compact.ts';
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
  const rows = await context.withStore((store) => pruneAll(context, store), { windows: true });
  if (rows >= COMPACT_PRUNED_ROWS_MIN) await compactStore(context);
}

/** Rows deleted. */
function pruneAll({ output, progress }: Context, store: OpenStore): number {
  const line = progress();
  const started = performance.now();
  const sum = { batches: 0, blocks: 0, spentOutputs: 0, deltas: 0 };
  for (let done = false; !done; ) {
    const step = store.prune();
    sum.batches++;
    sum.blocks += step.blocks;
    sum.spentOutputs += step.spentKeys;
    sum.deltas += step.deltas;
    done = step.done;
    line.update(() => `prune: ${count(sum.blocks)} blocks, ${count(sum.spentOutputs)} spent outputs, ${count(sum.deltas)} undo records`);
  }
  line.done();
  const seconds = (performance.now() - started) / 1000;
  const { dialect } = store.network;
  const horizon = store.horizon();
  if (output.json) {
    output.document({ point: renderPoint(store.fold.head, dialect), ...sum, seconds, horizon: renderPoint(horizon, dialect) });
  } else if (!output.quiet) {
    const what = `${counted(sum.spentOutputs, 'spent output')} of ${counted(sum.blocks, 'block')} and ${counted(sum.deltas, 'undo record')}`;
    output.line(`forgot ${what} in ${duration(seconds)}; the horizon is ${pointText(horizon, dialect)}`);
  }
  return sum.spentOutputs + sum.deltas;
}
