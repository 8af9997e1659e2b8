/**
 * A new store from what a node has: the file that it wrote with `dumptxoutset`,
 * or the whole set that it tells over its local socket. Minutes instead of hours
 * for whoever needs what is unspent now, and follows the chain from there.
 */
import type { Config } from '../config/schema.ts';
import { readIdentity } from '../engine/directory.ts';
import type { Network, NodeSetOptions } from '../families/family.ts';
import { checkLoadable } from '../snapshot/load.ts';
import { checkLacks, type LoadedSet, loadNodeSet } from '../snapshot/node-set.ts';
import type { GenesisTexts } from '../sources/source.ts';
import { UnspentError } from '../util/errors.ts';
import { beginStore } from './begin.ts';
import { planStore, type StoreIdentity } from './identity.ts';
import { storeProjections } from './projections.ts';
import { planShape } from './shape.ts';
import { clearUnfinished } from './unfinished.ts';

export interface NodeSetImport extends NodeSetOptions {
  readonly config: Config;
  /** Folder with the genesis files of a private network, or their texts. Default: the setting. */
  readonly genesis?: string | GenesisTexts | undefined;
  /** The hash that the set's block must have, as people write it. */
  readonly block?: string | undefined;
  /** Told now and then how many outputs were read, of how many (0: nobody says). */
  readonly onRows?: ((rows: number, total: number) => void) | undefined;
}

export interface ImportedSet extends LoadedSet {
  readonly network: Network;
}

/** `from`: the path of a dump, or `n2c:PATH`. Throws USAGE, SNAPSHOT_INVALID, STORE_EXISTS, UNSUPPORTED, and what asking the node throws; leaves nothing behind. */
export async function importNodeSet(from: string, options: NodeSetImport): Promise<ImportedSet> {
  const { config, onRows, signal, block } = options;
  const { data } = config;
  const { facts, network } = planStore(null, { data, config, genesis: options.genesis }, { shape: true, windows: true });
  const shape = planShape(null, config, network.ledger, storeProjections());
  checkLoadable(shape.projections);
  // Before the node is asked: it may walk its whole set for the answer.
  await clearUnfinished(data, readIdentity(data) as StoreIdentity | null);
  const set = await network.family.nodeSet(from, network.parameters, options);
  try {
    checkLacks(shape.projections, set);
    const hash = network.dialect.formatId(network.ledger.headers.read(set.header, set.era).hash);
    if (block !== undefined && block.toLowerCase() !== hash)
      throw new UnspentError('SNAPSHOT_INVALID', `${set.name} is of block ${hash}, not of ${block}`, { wanted: block, is: hash });
    const told = (rows: number): void => onRows?.(rows, set.count ?? 0);
    const loaded = await beginStore({ data, config, shape, facts }, (engine) =>
      loadNodeSet(engine, shape.projections, set, network.ledger, { signal, onRows: told }),
    );
    return { ...loaded, network };
  } finally {
    await set.close();
  }
}
