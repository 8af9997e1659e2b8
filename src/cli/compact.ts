/**
 * `compact`: gives back the space of what was forgotten. `prune` and `rollback`
 * do the same at their end when they have deleted much.
 */
import type { Command } from 'commander';
import { type CompactResult, compactDirectory } from '../store/compact.ts';
import { UnspentError } from '../util/errors.ts';
import { COMPACT_PRUNED_ROWS_MIN, COMPACT_UNDONE_BLOCKS_MIN } from '../util/limits.ts';
import { type Context, stoppable } from './context.ts';
import { bytes, duration } from './format.ts';
import { onAbort } from './interrupt.ts';

export function registerCompact(program: Command): void {
  program
    .command('compact')
    .description('give back the disk space of what was forgotten')
    .addHelpText(
      'after',
      `
What a store forgets is merged away in the background, level by level, and the last of it only when a level has grown.
This command has all levels merged now; nobody else may have the store open. It may be stopped at any moment.`,
    )
    .action(
      stoppable(async (context) => {
        const { output } = context;
        const started = performance.now();
        const { before, after } = await compactStore(context);
        const seconds = (performance.now() - started) / 1000;
        if (output.json) output.document({ bytesBefore: before, bytesAfter: after, seconds });
        else if (!output.quiet) output.line(`${bytes(before)} before, ${bytes(after)} now, in ${duration(seconds)}`);
      }),
    );
}

/** What a command has forgotten in a store. */
export interface Forgotten {
  readonly prunedRows: number;
  readonly undoneBlocks: number;
}

/** So much of either is worth it. */
const COMPACT_FROM: Forgotten = { prunedRows: COMPACT_PRUNED_ROWS_MIN, undoneBlocks: COMPACT_UNDONE_BLOCKS_MIN };

/** At the end of a command that has forgotten so much, unless another process goes on with the store. Throws INTERRUPTED. */
export async function compactAfter(context: Context, { prunedRows = 0, undoneBlocks = 0 }: Partial<Forgotten>): Promise<void> {
  const { ownsStore, compactFrom: from = COMPACT_FROM, output } = context;
  if (!ownsStore || (prunedRows < from.prunedRows && undoneBlocks < from.undoneBlocks)) return;
  const { before, after } = await compactStore(context);
  if (!output.quiet && !output.json) output.line(`compacted: ${bytes(before)} before, ${bytes(after)} now`);
}

/** The store must be closed. Throws INTERRUPTED. */
async function compactStore({ settings, progress, stop }: Context): Promise<CompactResult> {
  const line = progress();
  onAbort(stop, () => line.note('stopping; once more to end at once'));
  try {
    const done = await compactDirectory({
      config: settings.config,
      signal: stop,
      onProgress: (size) => line.update(() => `compact: ${bytes(size)}`),
    });
    if (stop.aborted) throw new UnspentError('INTERRUPTED', 'stopped compacting; the store is whole');
    return done;
  } finally {
    line.done();
  }
}
