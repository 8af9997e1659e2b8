/**
 * A node's mempool over RPC: its list of ids is asked for now and then and
 * compared with the one before; what is new is fetched, a bounded number at a
 * time, so that a large mempool never keeps a new block waiting.
 */

import { parseId } from '../../../ledgers/bitcoin/ids.ts';
import type { BitcoinNetwork } from '../../../ledgers/bitcoin/index.ts';
import { decodeTx, formatId } from '../../../ledgers/bitcoin/index.ts';
import { toHex } from '../../../util/bytes.ts';
import { isUnspentError, UnspentError } from '../../../util/errors.ts';
import { RPC_BATCH_CALLS_MAX, RPC_MEMPOOL_MS, RPC_SUBMIT_MS } from '../../../util/limits.ts';
import type { MempoolChange, MempoolFeed } from '../../source.ts';
import { type RpcClient, RpcError } from './client.ts';
import type { RpcNode } from './node.ts';

type Listener = (change: MempoolChange) => void;

/**
 * Codes with which a node judges a transaction: it cannot be read, its inputs are missing, a rule is against it, a block
 * has it. With any other (an unknown method, no peers) it has said nothing about the transaction.
 */
const VERDICTS: ReadonlySet<number> = new Set([-22, -25, -26, -27]);

/** Asking for the list may take this part of the time, not more: with a full mempool it has megabytes. */
const SHARE_OF_TIME = 0.1;

export class RpcMempool implements MempoolFeed {
  private readonly client: RpcClient;
  private readonly network: BitcoinNetwork;
  private readonly lookMs: number;
  private readonly listeners = new Set<Listener>();
  /** Ids as the node writes them, of what it had last; true: the listeners were told. */
  private readonly known = new Map<string, boolean>();
  private missing: string[] = [];
  private nextLook = 0;
  private isFresh = true;

  constructor(client: RpcClient, network: BitcoinNetwork, lookMs = RPC_MEMPOOL_MS) {
    this.client = client;
    this.network = network;
    this.lookMs = lookMs;
  }

  /** All begin anew with a new listener: the transactions are not kept here. */
  watch(listener: Listener): () => void {
    this.listeners.add(listener);
    this.known.clear();
    this.missing = [];
    this.nextLook = 0;
    this.isFresh = true;
    return () => this.listeners.delete(listener);
  }

  async submit(raw: Uint8Array): Promise<Uint8Array> {
    try {
      const id = await this.client.call('sendrawtransaction', [toHex(raw)], { answerMs: RPC_SUBMIT_MS, loadingMs: 0 });
      if (typeof id !== 'string' || !/^[0-9a-f]{64}$/.test(id))
        throw new UnspentError('PROTOCOL', `${this.client.name} takes a transaction and says no id`);
      this.nextLook = 0;
      return parseId(id);
    } catch (error) {
      if (!(error instanceof RpcError) || !VERDICTS.has(error.nodeCode)) throw error;
      const { nodeCode, nodeMessage } = error;
      throw new UnspentError('TX_REFUSED', `the node does not take the transaction: ${nodeMessage}`, { nodeCode, nodeMessage }, error);
    }
  }

  /** One look, or one batch of what the last one found. True: there is more to do at once. */
  async step(node: RpcNode): Promise<boolean> {
    if (this.listeners.size === 0) return false;
    if (this.missing.length === 0 && performance.now() >= this.nextLook) await this.look(node);
    if (this.missing.length > 0) await this.fetch(node);
    return this.missing.length > 0;
  }

  private async look(node: RpcNode): Promise<void> {
    const started = performance.now();
    const ids = await node.mempoolIds();
    const took = performance.now() - started;
    this.nextLook = started + Math.max(this.lookMs, took / SHARE_OF_TIME);
    if (this.isFresh) this.tell({ kind: 'reset' });
    this.isFresh = false;
    const gone = this.forget(new Set(ids));
    // What left before what came: one may have taken the other's place.
    if (gone.length > 0) this.tell({ kind: 'remove', ids: gone });
    this.missing = ids.filter((id) => !this.known.has(id));
  }

  /** Ids that were told and are no longer there. */
  private forget(present: ReadonlySet<string>): Uint8Array[] {
    const gone: Uint8Array[] = [];
    for (const [id, told] of this.known) {
      if (present.has(id)) continue;
      this.known.delete(id);
      if (told) gone.push(parseId(id));
    }
    return gone;
  }

  /** In the node's order, which has parents first. */
  private async fetch(node: RpcNode): Promise<void> {
    const ids = this.missing.slice(0, RPC_BATCH_CALLS_MAX);
    const raws = await node.transactions(ids);
    // A new listener came meanwhile: all of it begins anew.
    if (this.isFresh) return;
    this.missing = this.missing.slice(ids.length);
    const txs: Uint8Array[] = [];
    for (const [i, raw] of raws.entries()) {
      if (raw === null) continue;
      const readable = this.isReadable(ids[i], raw);
      this.known.set(ids[i], readable);
      if (readable) txs.push(raw);
    }
    if (txs.length > 0) this.tell({ kind: 'add', txs });
  }

  /** Litecoin has transactions that live in the extension block alone, with neither inputs nor outputs for us. */
  private isReadable(id: string, raw: Uint8Array): boolean {
    try {
      const found = formatId(decodeTx(raw, this.network.mweb).id);
      if (found === id) return true;
      throw new UnspentError('PROTOCOL', `${this.client.name} was asked for transaction ${id} and gives ${found}`);
    } catch (error) {
      if (isUnspentError(error, 'BLOCK_INVALID')) return false;
      throw error;
    }
  }

  private tell(change: MempoolChange): void {
    for (const listener of this.listeners) listener(change);
  }
}
