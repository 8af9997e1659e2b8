/**
 * `rollback --to PLACE`: undoes blocks, exactly, as far as the horizon; below it
 * refuses and changes nothing.
 */
import type { Command } from 'commander';
import { parsePlace } from '../query/place.ts';
import { renderPoint } from '../query/render.ts';
import { compactAfter } from './compact.ts';
import { action } from './context.ts';
import { counted, duration, pointText } from './format.ts';

export function registerRollback(program: Command): void {
  program
    .command('rollback')
    .description('go back to an earlier block; refuses below the horizon')
    .requiredOption('--to <place>', 'slot:N, height:N, a block hash, origin, or a slot number')
    .addHelpText(
      'after',
      `
A slot without a block means the newest block before it. \`unspent status\` shows the horizon.

Examples:
  $ unspent rollback --to height:1500
  $ unspent rollback --to 84242334`,
    )
    .action(
      action(async (context) => {
        const { options, output, askStore } = context;
        const place = options.to ?? '';
        // A mistyped place is a usage error, whatever the store is like.
        parsePlace(place);
        const blocks = await askStore(async (store, changes) => {
          const started = performance.now();
          const { undone, head } = await changes.rollback(store.locate(place));
          const seconds = (performance.now() - started) / 1000;
          if (output.json) output.document({ point: renderPoint(head, store.network.dialect), undone, seconds });
          else if (!output.quiet)
            output.line(`undid ${counted(undone, 'block')} in ${duration(seconds)}; now at ${pointText(head, store.network.dialect)}`);
          return undone;
        });
        await compactAfter(context, { undoneBlocks: blocks });
      }),
    );
}
