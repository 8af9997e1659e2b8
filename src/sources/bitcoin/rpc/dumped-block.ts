/**
 * What a node says of the block that a dump of its set is of: the header, where
 * it stands on the node's best chain, and what the set hashed to there. A node
 * that has gone on since tells the hash only where it keeps an index of them.
 */
import { type BitcoinNetwork, formatId, HEADER_BYTES } from '../../../ledgers/bitcoin/index.ts';
import { fromHex, isHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { RpcClient, RpcError } from './client.ts';
import { type NodeSetInfo, nodeSetInfo, nodeSetInfoAt } from './set-info.ts';

export interface DumpedBlock {
  readonly header: Uint8Array;
  /** Null: nobody says. */
  readonly height: number | null;
  /** Of the set after it; each must be that of the dump. */
  readonly hashSerialized: readonly string[];
  readonly muhash?: string | undefined;
}

/** Throws USAGE, SOURCE_UNREACHABLE, NETWORK_WRONG, POINT_UNKNOWN, PROTOCOL. */
export async function dumpedBlock(url: string, network: BitcoinNetwork, hash: Uint8Array, signal?: AbortSignal): Promise<DumpedBlock> {
  const client = new RpcClient(url, network);
  try {
    const name = formatId(hash);
    const first = await client.call('getblockhash', [0], { signal });
    if (first !== network.genesisHash)
      throw new UnspentError(
        'NETWORK_WRONG',
        `the chain of ${client.name} begins with block ${String(first)}, that of '${network.name}' with ${network.genesisHash}`,
      );
    const [header, said] = await client.batch(
      [
        { method: 'getblockheader', params: [name, false] },
        { method: 'getblockheader', params: [name, true] },
      ],
      { signal },
    );
    if (header instanceof RpcError || said instanceof RpcError)
      throw new UnspentError('POINT_UNKNOWN', `${client.name} does not have block ${name}, which the dump is of`, { hash: name });
    const { height, confirmations } = (said ?? {}) as Record<string, unknown>;
    if (typeof header !== 'string' || !isHex(header, HEADER_BYTES) || !isHeight(height) || typeof confirmations !== 'number')
      throw new UnspentError('PROTOCOL', `${client.name} was asked for the header of block ${name} and gives none`);
    if (confirmations < 1)
      throw new UnspentError('POINT_UNKNOWN', `block ${name}, which the dump is of, is not on the best chain of ${client.name} any more`, {
        hash: name,
      });
    const info = await infoAt(client, name, height, signal);
    const hashSerialized = [info?.hash_serialized_2, info?.hash_serialized_3].filter((each) => each !== undefined);
    return { header: fromHex(header), height, hashSerialized, muhash: info?.muhash };
  } finally {
    client.close();
  }
}

async function infoAt(client: RpcClient, name: string, height: number, signal?: AbortSignal): Promise<NodeSetInfo | null> {
  const now = await nodeSetInfo(client, signal);
  if (now.bestBlock === name) return now;
  const then = await nodeSetInfoAt(client, height, signal);
  return then?.bestBlock === name ? then : null;
}

function isHeight(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
