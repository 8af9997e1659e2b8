/**
 * Typed reads pinned to one snapshot: one answer is one point of the chain,
 * whatever the fold does meanwhile. Release it when done.
 */
import type { Snapshot } from '../engine/engine.ts';
import { KEY_BYTES, type KeyKind } from '../ledgers/ledger.ts';
import { CHAIN, CHAIN_HASH, type ChainRow, chainKey, readChainRow } from '../projections/chain.ts';
import { OUTPOINT_BYTES, readSpent, readStored, type StoredOutput, type StoredSpend, TXID_BYTES } from '../projections/coin.ts';
import { INDEX_KEY_BYTES, indexColumn } from '../projections/index-by-key.ts';
import { readTxRow, TX, type TxRow } from '../projections/transactions.ts';
import { SPENT, UNSPENT } from '../projections/utxo.ts';
import { type Head, META_PREFIX, readHead } from '../state/head.ts';
import { concatBytes, readU16, toHex, writeU16 } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';
import { SCAN_ROWS } from '../util/limits.ts';

export interface Utxo {
  readonly txId: Uint8Array;
  readonly index: number;
  readonly output: StoredOutput;
  /** Null: unspent. */
  readonly spent: StoredSpend | null;
}

export interface Page {
  /** Rows at most. */
  readonly limit?: number | undefined;
  readonly order?: 'asc' | 'desc' | undefined;
  /** Continue behind this index key (the `cursor` of the last row seen). */
  readonly after?: Uint8Array | undefined;
}

export interface IndexedUtxo extends Utxo {
  /** Where this row stands in its index; pass it as `after` to go on. */
  readonly cursor: Uint8Array;
}

export function outpointKey(txId: Uint8Array, index: number): Uint8Array {
  const key = new Uint8Array(OUTPOINT_BYTES);
  key.set(txId);
  writeU16(key, TXID_BYTES, index);
  return key;
}

export class Query {
  private readonly snapshot: Snapshot;
  private readonly columns: ReadonlySet<string>;
  readonly head: Head | null;

  constructor(snapshot: Snapshot, columns: readonly string[]) {
    this.snapshot = snapshot;
    this.columns = new Set(columns);
    this.head = readHead(snapshot);
  }

  release(): void {
    this.snapshot.release();
  }

  /** An output, unspent or spent; null when the store has never seen it or has forgotten it. */
  outpoint(txId: Uint8Array, index: number): Utxo | null {
    this.need(UNSPENT, 'utxo.enabled');
    const key = outpointKey(txId, index);
    const unspent = this.snapshot.get(UNSPENT, key);
    if (unspent !== undefined) return { txId, index, output: readStored(unspent), spent: null };
    const spent = this.snapshot.get(SPENT, key);
    if (spent === undefined) return null;
    const record = readSpent(spent);
    return { txId, index, output: record.output, spent: record };
  }

  /** Unspent outputs of an address hash or credential, in the order they came to the chain. */
  *byKey(kind: KeyKind, key: Uint8Array, page: Page = {}): Iterable<IndexedUtxo> {
    const column = indexColumn(kind);
    this.need(column, `the ${kind} index`);
    const reverse = page.order === 'desc';
    const first = concatBytes(key, new Uint8Array(INDEX_KEY_BYTES - KEY_BYTES));
    const end = concatBytes(key, new Uint8Array(INDEX_KEY_BYTES - KEY_BYTES + 1).fill(0xff));
    const range = reverse
      ? { gte: first, lt: page.after ?? end }
      : { gte: page.after ? concatBytes(page.after, Uint8Array.of(0)) : first, lt: end };
    const rows = this.snapshot.scan(column, { ...range, reverse, ...(page.limit === undefined ? {} : { limit: page.limit }) });
    let pending: (readonly [Uint8Array, Uint8Array])[] = [];
    for (const row of rows) {
      pending.push(row);
      if (pending.length < SCAN_ROWS) continue;
      yield* this.resolve(column, pending);
      pending = [];
    }
    yield* this.resolve(column, pending);
  }

  private *resolve(column: string, rows: readonly (readonly [Uint8Array, Uint8Array])[]): Iterable<IndexedUtxo> {
    const keys = rows.map(([cursor, txId]) => outpointKey(txId, readU16(cursor, INDEX_KEY_BYTES - 2)));
    const values = this.snapshot.getMany(UNSPENT, keys);
    for (let i = 0; i < rows.length; i++) {
      const [cursor, txId] = rows[i];
      const value = values[i];
      if (value === undefined) {
        throw new UnspentError('STORE_DAMAGED', `${column} names ${toHex(keys[i])}, which is not unspent`, { column, key: toHex(cursor) });
      }
      yield { txId, index: readU16(cursor, INDEX_KEY_BYTES - 2), output: readStored(value), spent: null, cursor };
    }
  }

  /** Where a transaction stands, and all its outputs that the store still knows. */
  tx(txId: Uint8Array): { row: TxRow | null; outputs: Utxo[] } {
    const value = this.snapshot.get(TX, txId);
    const outputs = this.columns.has(UNSPENT) ? this.outputsOf(txId) : [];
    return { row: value === undefined ? null : readTxRow(value), outputs };
  }

  private outputsOf(txId: Uint8Array): Utxo[] {
    const range = { gte: txId, lt: concatBytes(txId, Uint8Array.of(0xff, 0xff, 0xff)) };
    const outputs: Utxo[] = [];
    for (const [key, value] of this.snapshot.scan(UNSPENT, range)) {
      outputs.push({ txId, index: readU16(key, TXID_BYTES), output: readStored(value), spent: null });
    }
    for (const [key, value] of this.snapshot.scan(SPENT, range)) {
      const spent = readSpent(value);
      outputs.push({ txId, index: readU16(key, TXID_BYTES), output: spent.output, spent });
    }
    return outputs.sort((a, b) => a.index - b.index);
  }

  blockByHash(hash: Uint8Array): ChainRow | null {
    const key = this.snapshot.get(CHAIN_HASH, hash);
    const value = key === undefined ? undefined : this.snapshot.get(CHAIN, key);
    return key === undefined || value === undefined ? null : readChainRow(key, value);
  }

  /** The newest block of that height. */
  blockAtHeight(height: number): ChainRow | null {
    const range = { gte: chainKey(height, false), lt: chainKey(height + 1, false), reverse: true, limit: 1 };
    for (const [key, value] of this.snapshot.scan(CHAIN, range)) return readChainRow(key, value);
    return null;
  }

  /** The newest block whose slot is not above this one. Slots only grow, so halving finds it. */
  blockAtSlot(slot: number): ChainRow | null {
    let low = this.edge(false)?.height ?? 0;
    let high = this.edge(true)?.height ?? -1;
    let found: ChainRow | null = null;
    while (low <= high) {
      const middle = Math.floor((low + high) / 2);
      const row = this.blockAtHeight(middle);
      if (row !== null && row.slot <= slot) {
        found = row;
        low = middle + 1;
      } else high = middle - 1;
    }
    // Where a boundary block is above the slot, the block whose height it shares may not be.
    const lower = this.snapshot.get(CHAIN, chainKey(low, false));
    const row = lower === undefined ? null : readChainRow(chainKey(low, false), lower);
    return row !== null && row.slot <= slot ? row : found;
  }

  private edge(last: boolean): ChainRow | null {
    for (const [key, value] of this.snapshot.scan(CHAIN, { lt: Uint8Array.of(META_PREFIX), reverse: last, limit: 1 }))
      return readChainRow(key, value);
    return null;
  }

  private need(column: string, setting: string): void {
    if (!this.columns.has(column))
      throw new UnspentError('UNSUPPORTED', `this store does not keep ${column} (${setting} is off)`, { column });
  }
}
