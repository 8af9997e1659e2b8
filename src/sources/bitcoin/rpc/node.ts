/**
 * The few questions the source has for a node, with their answers as types.
 * An answer of another shape is PROTOCOL.
 */

import { formatId } from '../../../ledgers/bitcoin/ids.ts';
import { headerHash, parseId } from '../../../ledgers/bitcoin/index.ts';
import { equalBytes } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { type RpcClient, RpcError } from './client.ts';
import { AnswerTooLong } from './post.ts';

export interface Best {
  readonly height: number;
  readonly hash: Uint8Array;
}

/** A height above the tip, as Core and as btcd say it. */
const OUT_OF_RANGE = [-8, -1];
/** A block or transaction that the node does not have. */
const NOT_FOUND = [-5];
/** A method that the node does not have; btcd says -1 of those that Core has. */
export const NO_METHOD: readonly number[] = [-32601, -1];

export class RpcNode {
  private readonly client: RpcClient;
  private readonly signal: AbortSignal;

  /** Every question ends when the signal says so. */
  constructor(client: RpcClient, signal: AbortSignal) {
    this.client = client;
    this.signal = signal;
  }

  /** Null: it does not say. btcd has no `getnetworkinfo`, and nothing depends on it. */
  async version(): Promise<number | null> {
    try {
      const info = (await this.client.call('getnetworkinfo', [], { signal: this.signal })) as { version?: unknown } | null;
      return this.number(info?.version, 'a version');
    } catch (error) {
      if (isError(error, NO_METHOD)) return null;
      throw error;
    }
  }

  async best(): Promise<Best> {
    const info = (await this.client.call('getblockchaininfo', [], { signal: this.signal })) as Record<string, unknown> | null;
    return { height: this.number(info?.['blocks'], 'a height'), hash: this.id(info?.['bestblockhash']) };
  }

  async bestHash(): Promise<Uint8Array> {
    return this.id(await this.client.call('getbestblockhash', [], { signal: this.signal }));
  }

  /** Of the best chain; null above its tip. */
  async hashesAt(heights: readonly number[]): Promise<(Uint8Array | null)[]> {
    const calls = heights.map((height) => ({ method: 'getblockhash', params: [height] }));
    const answers = await this.client.batch(calls, { signal: this.signal });
    return answers.map((answer) => (isError(answer, OUT_OF_RANGE) ? null : this.id(answer)));
  }

  /** Whole blocks; null: the node does not have it. Asks for fewer at a time where the answer would be too long. */
  async blocks(hashes: readonly Uint8Array[]): Promise<(Uint8Array | null)[]> {
    const calls = hashes.map((hash) => ({ method: 'getblock', params: [formatId(hash), 0] }));
    try {
      const answers = await this.client.batch(calls, { signal: this.signal });
      return answers.map((answer, i) => (isError(answer, NOT_FOUND) ? null : this.block(answer, hashes[i])));
    } catch (error) {
      if (!(error instanceof AnswerTooLong) || hashes.length === 1) throw error;
      const half = hashes.length >> 1;
      return [...(await this.blocks(hashes.slice(0, half))), ...(await this.blocks(hashes.slice(half)))];
    }
  }

  /** As people write them. */
  async mempoolIds(): Promise<string[]> {
    const ids = await this.client.call('getrawmempool', [], { signal: this.signal });
    if (!Array.isArray(ids) || !ids.every((id) => typeof id === 'string' && /^[0-9a-f]{64}$/.test(id)))
      throw this.nonsense('a list of ids', ids);
    return ids;
  }

  /** Transactions of the mempool; null: it left meanwhile. */
  async transactions(ids: readonly string[]): Promise<(Uint8Array | null)[]> {
    const calls = ids.map((id) => ({ method: 'getrawtransaction', params: [id] }));
    const answers = await this.client.batch(calls, { signal: this.signal });
    return answers.map((answer) => (isError(answer, NOT_FOUND) ? null : this.bytes(answer, 'a transaction')));
  }

  private block(answer: unknown, hash: Uint8Array): Uint8Array {
    if (answer instanceof RpcError) {
      const why = `block ${formatId(hash)}: ${answer.nodeMessage} (a node that prunes no longer has the old blocks)`;
      throw new UnspentError('SOURCE_UNREACHABLE', `${this.client.name} does not give us ${why}`, { hash: formatId(hash) }, answer);
    }
    const raw = this.bytes(answer, 'a block');
    if (raw.length < 80 || !equalBytes(headerHash(raw), hash)) throw this.nonsense(`block ${formatId(hash)}`, 'another one');
    return raw;
  }

  private bytes(answer: unknown, what: string): Uint8Array {
    if (answer instanceof RpcError) throw answer;
    if (typeof answer !== 'string') throw this.nonsense(what, answer);
    const bytes = Buffer.from(answer, 'hex');
    // The decoder stops at what is not hex.
    if (bytes.length === 0 || 2 * bytes.length !== answer.length) throw this.nonsense(what, answer);
    return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  private id(answer: unknown): Uint8Array {
    if (answer instanceof RpcError) throw answer;
    if (typeof answer !== 'string' || !/^[0-9a-f]{64}$/.test(answer)) throw this.nonsense('the hash of a block', answer);
    return parseId(answer);
  }

  private number(answer: unknown, what: string): number {
    if (!Number.isSafeInteger(answer) || (answer as number) < 0) throw this.nonsense(what, answer);
    return answer as number;
  }

  private nonsense(wanted: string, got: unknown): UnspentError {
    const text = (JSON.stringify(got) ?? 'nothing').slice(0, 80);
    return new UnspentError('PROTOCOL', `${this.client.name} was asked for ${wanted} and gives ${text}`);
  }
}

function isError(answer: unknown, nodeCodes: readonly number[]): boolean {
  return answer instanceof RpcError && nodeCodes.includes(answer.nodeCode);
}
