/**
 * Transactions of Cardano from the history: by id or place, with everything they
 * name resolved, and the transactions of an address or a credential in the order
 * of the chain. What wire shapes say of transactions stands on this.
 */
import { type DescribedTx, describeWholeTx, type Redeemer, readRedeemers, splitTx } from '../../ledgers/cardano/index.ts';
import type { KeyKind } from '../../ledgers/ledger.ts';
import { outpointKey } from '../../ledgers/outpoint.ts';
import { toHex } from '../../util/bytes.ts';
import { Cursor } from '../../util/cbor.ts';
import { UnspentError } from '../../util/errors.ts';
import type { HistoryRow, HistoryTx, TxHistoryPage } from '../history.ts';
import type { Query } from '../query.ts';
import type { Utxo } from '../utxo.ts';
import { HistoryOutputs } from './history-outputs.ts';

/** An output that a transaction names. */
export interface ResolvedInput {
  readonly txId: Uint8Array;
  readonly index: number;
  /** What it holds, and who spent it; null: it was forgotten, or is older than the store. */
  readonly utxo: Utxo | null;
}

/** What a transaction says by itself. */
export interface DescribedHistoryTx {
  /** False: its scripts failed, and only its collateral was spent. */
  readonly valid: boolean;
  readonly isByron: boolean;
  /** Its body; of Byron, what it does not have is empty. */
  readonly body: DescribedTx;
  readonly redeemers: readonly Redeemer[];
  /** The CBOR of its witness set; of Byron, the list of its witnesses. */
  readonly witnesses: Uint8Array;
  /** The CBOR of its auxiliary data, metadata among it; null: none. */
  readonly auxiliary: Uint8Array | null;
}

/** A transaction with everything it names, wherever it stands. */
export interface ResolvedContent extends DescribedHistoryTx {
  readonly id: Uint8Array;
  /** As it stands alone: `[body, witnesses, valid, auxiliary]`, in earlier eras without `valid`, in Byron `[transaction, witnesses]`. */
  readonly raw: Uint8Array;
  /** In lovelace. What was paid: of an invalid transaction its collateral. Null: an input is not known any more. */
  readonly fee: bigint | null;
  /** As written in the body. Spent, unless the transaction is invalid. */
  readonly inputs: readonly ResolvedInput[];
  /** Spent only by an invalid one. */
  readonly collateral: readonly ResolvedInput[];
  readonly referenceInputs: readonly ResolvedInput[];
  /** The outputs that came into being (of an invalid transaction the return of its collateral, if any), with who spent them. */
  readonly outputs: readonly Utxo[];
}

export interface ResolvedTx extends ResolvedContent {
  readonly height: number;
  readonly slot: number;
  readonly blockHash: Uint8Array;
  /** Its place in its block. */
  readonly txIndex: number;
}

/** A transaction of an address or a credential: where it stands, and what it did there. */
export interface OwnerTx extends HistoryRow {
  readonly id: Uint8Array;
  readonly slot: number;
  readonly blockHash: Uint8Array;
}

export class Transactions {
  readonly outputs: HistoryOutputs;

  /** Throws UNSUPPORTED when the store keeps no history. */
  constructor(query: Query) {
    this.outputs = new HistoryOutputs(query);
  }

  /** The height of the first block whose transactions are kept; 0: all of the store. */
  get startHeight(): number {
    return this.outputs.history.startHeight;
  }

  /** A transaction with everything it names; null: none on our chain. Throws PRUNED where it was forgotten or never kept. */
  byId(id: Uint8Array): ResolvedTx | null {
    const tx = this.outputs.history.tx(id);
    return tx === null ? null : this.resolve(tx);
  }

  /** Those of a block, in its order. Throws PRUNED. */
  ofBlock(height: number, from = 0, limit?: number): readonly HistoryTx[] {
    return this.outputs.history.txs(height, from, limit);
  }

  /**
   * The transactions of an address (its 28-byte index key) or a credential, in the order of the chain. Begins with the
   * block of `history.startHeightOf(kind)`; of what was before nothing is said. Throws UNSUPPORTED where that kind is not kept.
   */
  *ofOwner(kind: KeyKind, key: Uint8Array, page: TxHistoryPage = {}): Generator<OwnerTx, void, void> {
    for (const row of this.outputs.history.idsOfKey(kind, key, page)) {
      const { slot, hash } = this.outputs.block(row.height);
      yield { ...row, slot, blockHash: hash };
    }
  }

  resolve(tx: HistoryTx): ResolvedTx {
    const { height, txIndex } = tx;
    const described = describeHistoryTx(tx);
    const { body } = described;
    const { slot, hash } = this.outputs.block(height);
    const [inputs, collateral, referenceInputs] = this.resolveAll([body.inputs, body.collateral, body.referenceInputs]);
    const outputs = this.outputs.ofTxs([tx]);
    const content = resolvedContent(tx, described, { inputs, collateral, referenceInputs, outputs });
    return { ...content, height, slot, blockHash: hash, txIndex };
  }

  /** Several lists with one read. */
  private resolveAll(lists: readonly DescribedTx['inputs'][]): ResolvedInput[][] {
    const utxos = this.outputs.resolve(lists.flat().map(({ txId, index }) => outpointKey(txId, index)));
    let next = 0;
    return lists.map((list) => list.map(({ txId, index }) => ({ txId, index, utxo: utxos[next++] })));
  }
}

/** What a transaction says, with what it names. */
export function resolvedContent(
  { id, raw }: Pick<HistoryTx, 'id' | 'raw'>,
  described: DescribedHistoryTx,
  named: Pick<ResolvedContent, 'inputs' | 'collateral' | 'referenceInputs' | 'outputs'>,
): ResolvedContent {
  const { valid, isByron, body } = described;
  const fee = valid && !isByron ? body.fee : paid(valid ? named.inputs : named.collateral, named.outputs);
  return { ...described, ...named, id, raw, fee };
}

/** What goes in less what comes out; null: some of it is not known. */
function paid(inputs: readonly ResolvedInput[], outputs: readonly Utxo[]): bigint | null {
  let sum = 0n;
  for (const { utxo } of inputs) {
    if (utxo === null) return null;
    sum += utxo.output.value;
  }
  for (const { output } of outputs) sum -= output.value;
  return sum;
}

/** Decodes a transaction that was read before, without looking up anything that it names. Throws STORE_DAMAGED. */
export function describeHistoryTx(tx: Pick<HistoryTx, 'id' | 'raw'>): DescribedHistoryTx {
  const { raw } = tx;
  const parts = takenApart(tx);
  const { witnesses, auxiliary, isByron } = parts;
  return {
    valid: parts.tx.valid,
    isByron,
    body: describeWholeTx(raw, parts),
    redeemers: isByron ? [] : readRedeemers(new Cursor(raw, witnesses.start, witnesses.end)),
    witnesses: raw.subarray(witnesses.start, witnesses.end),
    auxiliary: auxiliary === null ? null : raw.subarray(auxiliary.start, auxiliary.end),
  };
}

/** What is in the store was decoded once already, so bytes that do not decode are damage. */
function takenApart({ raw, id }: Pick<HistoryTx, 'id' | 'raw'>): ReturnType<typeof splitTx> {
  try {
    return splitTx(raw);
  } catch (cause) {
    throw new UnspentError(
      'STORE_DAMAGED',
      `the stored transaction ${toHex(id)} does not decode: ${(cause as Error).message}`,
      { id: toHex(id) },
      cause,
    );
  }
}
