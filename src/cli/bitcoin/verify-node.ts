/**
 * `verify --node`: our unspent set against that of a node at the same block, by
 * what the node itself computes of it. What either of the two does not know is
 * not compared, and what was compared is said.
 */
import { needBitcoin } from '../../families/bitcoin.ts';
import { RpcClient } from '../../sources/bitcoin/rpc/client.ts';
import { type NodeSetInfo, nodeSetInfo, nodeSetInfoAt } from '../../sources/bitcoin/rpc/set-info.ts';
import type { OpenStore } from '../../store/store.ts';
import { UnspentError } from '../../util/errors.ts';
import { count } from '../format.ts';

export interface NodeComparison {
  readonly node: string;
  /** What was compared, by the node's names, and is equal. */
  readonly equal: Readonly<Record<string, string | number>>;
}

/** Throws VERIFY_FAILED where the two differ, POINT_UNKNOWN where they are at different blocks. */
export async function compareWithNode(store: OpenStore, url: string, onRows?: (rows: number) => void): Promise<NodeComparison> {
  const { parameters, dialect } = needBitcoin(store.network, 'verify --node');
  const { head } = store.fold;
  if (head === null) throw new UnspentError('POINT_UNKNOWN', 'the store has no block yet; there is nothing to compare');
  const client = new RpcClient(url, parameters);
  try {
    const theirs = await infoAt(client, head.height, dialect.formatId(head.hash));
    // A node that knows MuHash only is the one case in which ours has to be worked out.
    const ours = store.commitment({ onRows, ...(theirs.muhash === undefined ? { muhash: false } : {}) })!;
    const own: Record<string, string | number | null> = {
      txouts: ours.txouts,
      total: ours.value.toString(),
      bogosize: ours.bogosize,
      transactions: ours.transactions,
      hash_serialized_2: ours.hashSerialized2,
      hash_serialized_3: ours.hashSerialized3,
      muhash: ours.muhash,
    };
    return { node: client.name, equal: agreed(own, theirs, client.name) };
  } finally {
    client.close();
  }
}

async function infoAt(client: RpcClient, height: number, hash: string): Promise<NodeSetInfo> {
  const now = await nodeSetInfo(client);
  if (now.bestBlock === hash) return now;
  const then = now.height > height ? await nodeSetInfoAt(client, height) : null;
  if (then?.bestBlock === hash) return then;
  const where = `${client.name} is at height ${count(now.height)} (${now.bestBlock}), the store at ${count(height)} (${hash})`;
  throw new UnspentError('POINT_UNKNOWN', `${where}; sync the store to the node's block and compare again`, {
    node: now.bestBlock,
    store: hash,
  });
}

function agreed(
  own: Readonly<Record<string, string | number | null>>,
  { height: _height, bestBlock: _block, value, ...theirs }: NodeSetInfo,
  node: string,
): Record<string, string | number> {
  const equal: Record<string, string | number> = {};
  for (const [name, their] of Object.entries({ ...theirs, total: value.toString() })) {
    const our = own[name];
    if (our === null || our === undefined) continue;
    if (our !== their) {
      const meta = { name, ours: our, theirs: their };
      throw new UnspentError('VERIFY_FAILED', `${name} is ${our} here and ${their} at ${node}: the two sets differ`, meta);
    }
    equal[name] = our;
  }
  return equal;
}
