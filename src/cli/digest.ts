/**
 * `digest`: count, value and digest of the whole unspent set, to compare two
 * stores, or a store with a node.
 */
import type { Command } from 'commander';
import { renderPoint } from '../query/render.ts';
import { action } from './context.ts';
import { ada, count, pairs, pointText } from './format.ts';

export function registerDigest(program: Command): void {
  program
    .command('digest')
    .description('count, total value and digest of the whole unspent set')
    .addHelpText(
      'after',
      `
The digest is sha256 over the lines "<txid hex>#<index> <lovelace>\\n" in ascending order of the text before the blank.`,
    )
    .action(
      action(({ output, progress, withStore }) =>
        withStore((store) => {
          const { head } = store.fold;
          const line = progress();
          const total = head?.utxos ?? 0;
          const { utxos, value, digest } = store.digest((rows) =>
            line.update(() => `digest: ${count(rows)} of ${count(total)} outputs (${Math.floor((100 * rows) / total)}%)`),
          );
          line.done();
          if (output.json) {
            output.document({ point: renderPoint(head), utxos, value: value.toString(), digest });
            return;
          }
          const rows: [string, string][] = [
            ['digest', digest],
            ['unspent', count(utxos)],
            ['value', `${ada(value)} ada`],
            ['at', pointText(head)],
          ];
          output.line(pairs(rows));
        }),
      ),
    );
}
