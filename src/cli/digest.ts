/**
 * `digest`: count, value and digest of the whole unspent set, to compare two
 * stores; of the Bitcoin family also what a node's `gettxoutsetinfo` says of its
 * own, to compare a store with a node.
 */
import type { Command } from 'commander';
import type { Commitment } from '../query/commitment.ts';
import { renderPoint } from '../query/render.ts';
import { action } from './context.ts';
import { coins, count, pointText } from './format.ts';

export function registerDigest(program: Command): void {
  program
    .command('digest')
    .description('count, total value and digest of the whole unspent set')
    .addHelpText(
      'after',
      `
The digest is sha256 over the lines "<txid hex>#<index> <value>\\n" in ascending order of the text before the blank.
For the Bitcoin family also hash_serialized_2, hash_serialized_3, muhash and bogosize, as a node computes them.`,
    )
    .action(
      action(({ output, progress, askStore }) =>
        askStore((store) => {
          const { head } = store.fold;
          const { dialect } = store.network;
          const line = progress();
          const total = head?.utxos ?? 0;
          const onRows = (rows: number): void =>
            line.update(() => `digest: ${count(rows)} of ${count(total)} outputs (${Math.floor((100 * rows) / total)}%)`);
          const { utxos, value, digest } = store.digest(onRows);
          const commitment = store.commitment({ onRows });
          line.done();
          if (output.json) {
            const hashes = commitment === null ? {} : commitmentJson(commitment);
            output.document({ point: renderPoint(head, dialect), utxos, value: value.toString(), digest, ...hashes });
            return;
          }
          const rows: [string, string][] = [
            ['digest', digest],
            ...(commitment === null
              ? []
              : Object.entries(commitmentJson(commitment)).map(([name, each]) => [name, `${each}`] as [string, string])),
            ['unspent', count(utxos)],
            ['value', coins(value, dialect.currency)],
            ['at', pointText(head, dialect)],
          ];
          output.pairs(rows);
        }),
      ),
    );
}

/** By the names a node has for them. */
function commitmentJson({ transactions, bogosize, hashSerialized2, hashSerialized3, muhash }: Commitment): object {
  return { transactions, bogosize, hash_serialized_2: hashSerialized2, hash_serialized_3: hashSerialized3, muhash };
}
