/**
 * `root`: what the store's set comes down to at a block, for each structure that
 * is on. Equal roots mean equal sets; a proof is worth what its root is.
 */
import type { Command } from 'commander';
import { Prover, ROOT_SETTINGS, type Roots } from '../query/proofs.ts';
import { UnspentError } from '../util/errors.ts';
import { action, type Context } from './context.ts';
import { count, pointText } from './format.ts';
import { withQuery } from './query-read.ts';

export function registerRoot(program: Command): void {
  program
    .command('root')
    .description('roots and hash of the unspent set, those that are on')
    .option('--at <place>', 'as it was then: slot:N, height:N, a block hash, or a slot number')
    .addHelpText(
      'after',
      `
csmt is the root of the tree over the unspent set (proofs.csmt), mmr the merged root of the mountain range over all outputs
(utxo.store = "mmr"), setHash the hash of the set (proofs.setHash). Two stores that agree on one at a block have the same set.

Examples:
  $ unspent root
  $ unspent root --at height:1500 --json`,
    )
    .action(action(showRoots));
}

function showRoots(context: Context): Promise<void> {
  const { output } = context;
  return withQuery(context, ({ query, view, network, dialect, projections }) => {
    const prover = new Prover(query, view, { network, projections });
    const roots = prover.roots();
    if (Object.keys(roots).length === 0) throw noRoots(projections);
    if (output.json) output.document({ point: prover.point, ...roots });
    else output.pairs([...rowsOf(roots), ['at', pointText(view.head, dialect)]]);
  });
}

function rowsOf({ mmr, csmt, setHash, mmrDetails }: Roots): [string, string][] {
  return [
    ...(mmr === undefined ? [] : [['mmr', mmr] as [string, string]]),
    ...(mmrDetails === undefined
      ? []
      : ([
          ['  of the range', `${mmrDetails.root}, ${count(mmrDetails.size)} nodes`],
          ['  of the bitmap', mmrDetails.bitmap],
        ] as [string, string][])),
    ...(csmt === undefined ? [] : [['csmt', csmt ?? 'none: the tree is empty'] as [string, string]]),
    ...(setHash === undefined ? [] : [['set hash', setHash] as [string, string]]),
  ];
}

function noRoots(projections: readonly string[]): UnspentError {
  const filling = Object.keys(ROOT_SETTINGS).filter((name) => projections.includes(name));
  if (filling.length > 0)
    return new UnspentError('INDEX_NOT_READY', `${filling.join(' and ')} was switched on later and is still being filled`);
  const settings = Object.values(ROOT_SETTINGS);
  return new UnspentError('UNSUPPORTED', `this store keeps nothing that has a root: ${settings.join(', ')} are off`, {
    setting: settings.join(', '),
  });
}
