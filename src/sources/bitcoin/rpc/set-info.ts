/**
 * What a node says of its own set of unspent outputs (`gettxoutsetinfo`). Older
 * nodes know hash_serialized_2, newer ones hash_serialized_3 and MuHash; one
 * that keeps an index of them answers for an earlier block too.
 */
import { isHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { RPC_SET_INFO_MS } from '../../../util/limits.ts';
import { type RpcClient, RpcError } from './client.ts';
import { NO_METHOD } from './node.ts';

export interface NodeSetInfo {
  readonly height: number;
  /** As people write it. */
  readonly bestBlock: string;
  readonly txouts: number;
  readonly value: bigint;
  /** Absent: this node does not say. */
  readonly bogosize?: number;
  readonly transactions?: number;
  readonly hash_serialized_2?: string;
  readonly hash_serialized_3?: string;
  readonly muhash?: string;
}

const SATOSHI = 1e8;

/** Of the block the node is at. It walks its whole set for it, which may take minutes. */
export async function nodeSetInfo(client: RpcClient, signal?: AbortSignal): Promise<NodeSetInfo> {
  try {
    return read(client, await client.call('gettxoutsetinfo', [], { answerMs: RPC_SET_INFO_MS, signal }));
  } catch (error) {
    if (!(error instanceof RpcError) || !NO_METHOD.includes(error.nodeCode)) throw error;
    const message = `${client.name} has no gettxoutsetinfo (btcd is such a node), so there is nothing to compare with`;
    throw new UnspentError('UNSUPPORTED', message, { name: client.name }, error);
  }
}

/** Of that block; null: the node keeps no index that could tell. */
export async function nodeSetInfoAt(client: RpcClient, height: number, signal?: AbortSignal): Promise<NodeSetInfo | null> {
  try {
    return read(client, await client.call('gettxoutsetinfo', ['muhash', height], { answerMs: RPC_SET_INFO_MS, signal }));
  } catch (error) {
    if (error instanceof RpcError) return null;
    throw error;
  }
}

function read({ name }: RpcClient, answer: unknown): NodeSetInfo {
  const fields = (typeof answer === 'object' && answer !== null ? answer : {}) as Record<string, unknown>;
  const number = (key: string): number => {
    const value = fields[key];
    if (typeof value === 'number' && value >= 0) return value;
    throw new UnspentError('PROTOCOL', `${name} answers gettxoutsetinfo without ${key}`, { name });
  };
  const hash = (key: string): object => (typeof fields[key] === 'string' && isHex(fields[key], 32) ? { [key]: fields[key] } : {});
  const maybe = (key: string): object => (typeof fields[key] === 'number' ? { [key]: fields[key] } : {});
  return {
    height: number('height'),
    bestBlock: String(fields['bestblock']),
    txouts: number('txouts'),
    // Coins with eight decimals as a JSON number: below 2^53 satoshi, so rounding gives them back exactly.
    value: BigInt(Math.round(number('total_amount') * SATOSHI)),
    ...maybe('bogosize'),
    ...maybe('transactions'),
    ...hash('hash_serialized_2'),
    ...hash('hash_serialized_3'),
    ...hash('muhash'),
  };
}
