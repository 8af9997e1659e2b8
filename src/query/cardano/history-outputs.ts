/**
 * Outputs from the history, spent or not, with who spent them, however long ago:
 * from the unspent set, from what was spent lately, and else from the bytes of
 * the transaction that made them. Memory is bounded by what is asked for at once.
 */
import { findKeys, splitTx } from '../../ledgers/cardano/index.ts';
import { type Create, KEY_BYTES, KEY_KINDS, OutputKeys } from '../../ledgers/ledger.ts';
import { outpointIndex, outpointKey, outpointTxId } from '../../ledgers/outpoint.ts';
import type { ChainRow } from '../../projections/chain.ts';
import { GRANT_TX_INDEX, type PartKind, readStored, type StoredOutput, type StoredSpend } from '../../projections/coin.ts';
import { LEDGER_INDEX } from '../../projections/history/key-rows.ts';
import { toHex } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import { type HistorySpend, type HistoryTx, isGone, type TxHistory } from '../history.ts';
import type { Query } from '../query.ts';
import type { Utxo } from '../utxo.ts';

/** Blocks remembered at most: a few hundred bytes each. */
const BLOCKS_MAX = 4096;

export class HistoryOutputs {
  readonly history: TxHistory;
  private readonly query: Query;
  private readonly keys = new OutputKeys();
  private readonly blocks = new Map<number, ChainRow>();

  /** Throws UNSUPPORTED when the store keeps no history. */
  constructor(query: Query) {
    this.query = query;
    this.history = query.history();
  }

  /** Outputs by their outpoints; null: there is none that we know of, or its transaction was forgotten. Throws PRUNED where a published copy may know it. */
  resolve(outpoints: readonly Uint8Array[]): (Utxo | null)[] {
    const found = this.query.outpoints(outpoints);
    const gone = outpoints.filter((_, i) => found[i] === null);
    const spends = this.history.spends(gone);
    let next = 0;
    return found.map((utxo, i) => {
      if (utxo !== null) return utxo;
      const spend = spends[next++];
      // It may have been spent in a block of which a published copy alone has the history.
      if (spend === null && this.history.elsewhere > 0) this.history.needHeight(0);
      return spend === null ? null : this.spentOutput(outpoints[i], spend);
    });
  }

  private spentOutput(outpoint: Uint8Array, spend: HistorySpend): Utxo | null {
    const [txId, index] = [outpointTxId(outpoint), outpointIndex(outpoint)];
    const output = spend.output === null ? this.madeBy(txId, index) : readStored(spend.output);
    return output === null ? null : { txId, index, output, spent: this.spentBy([spend], [output])[0] };
  }

  /** Null: the bytes of its transaction were forgotten. */
  private madeBy(txId: Uint8Array, index: number): StoredOutput | null {
    try {
      const tx = this.history.tx(txId);
      const output = tx === null ? undefined : this.madeIn(tx).find((made) => made.index === index)?.output;
      if (output !== undefined) return output;
    } catch (error) {
      if (isGone(error)) return null;
      throw error;
    }
    throw new UnspentError('STORE_DAMAGED', `${toHex(txId)}#${index} was spent, and nothing made it`, { txId: toHex(txId), index });
  }

  /** The outputs that came into being with these transactions and grants, each with who spent it, in their order. */
  ofTxs(txs: readonly HistoryTx[]): Utxo[] {
    const made = txs.flatMap((tx) => this.madeIn(tx).map((output) => ({ ...output, txId: tx.id })));
    const spends = this.history.spends(made.map(({ txId, index }) => outpointKey(txId, index)));
    const spent = this.spentBy(
      spends,
      made.map(({ output }) => output),
    );
    return made.map((output, i) => ({ ...output, spent: spent[i] }));
  }

  private madeIn({ raw, height, txIndex }: HistoryTx): { readonly index: number; readonly output: StoredOutput }[] {
    // What the ledger granted is kept as it was stored; there is one in each.
    if (txIndex >= GRANT_TX_INDEX) return [{ index: 0, output: readStored(raw) }];
    const { slot } = this.block(height);
    return splitTx(raw).tx.creates.map((create) => ({ index: create.index, output: this.stored(raw, create, { height, slot, txIndex }) }));
  }

  private stored(raw: Uint8Array, create: Create, place: Pick<StoredOutput, 'height' | 'slot' | 'txIndex'>): StoredOutput {
    findKeys(raw, create, this.keys);
    const { mask, places, made } = this.keys;
    const keys: Partial<Record<PartKind, Uint8Array>> = {};
    for (const [i, kind] of KEY_KINDS.entries()) {
      if (kind === 'address' || (mask & (1 << i)) === 0) continue;
      const at = create.start + places[i];
      keys[kind] = places[i] === 0 ? made.slice(i * KEY_BYTES, (i + 1) * KEY_BYTES) : raw.subarray(at, at + KEY_BYTES);
    }
    const value = (BigInt(create.valueHi) << 32n) | BigInt(create.valueLo);
    return { ...place, flags: create.flags, value, keys, raw: raw.subarray(create.start, create.end) };
  }

  private spentBy(spends: readonly (HistorySpend | null)[], outputs: readonly StoredOutput[]): (StoredSpend | null)[] {
    const isByTx = (spend: HistorySpend | null): spend is HistorySpend => spend !== null && spend.txIndex !== LEDGER_INDEX;
    const ids = this.history.idsAt(spends.filter(isByTx));
    let next = 0;
    return spends.map((spend, i) => {
      if (spend === null) return null;
      const { height, input } = spend;
      return { txId: isByTx(spend) ? ids[next++] : null, input, slot: this.block(height).slot, height, output: outputs[i] };
    });
  }

  /** The block of that height that has transactions: a boundary block there only stands behind it. */
  block(height: number): ChainRow {
    const known = this.blocks.get(height);
    if (known !== undefined) return known;
    let row = this.query.blockAtHeight(height);
    if (row?.boundary && height > 0) row = this.query.blockByHash(row.prevHash);
    if (row === null) throw new UnspentError('STORE_DAMAGED', `the history has block ${height}, and the chain has not`, { height });
    if (this.blocks.size === BLOCKS_MAX) this.blocks.clear();
    this.blocks.set(height, row);
    return row;
  }
}
