/**
 * Records of transactions in a database against the unspent set of their store,
 * which both are at the same block: every output that a record has unspent is in
 * the set, as it is there, and there are no others; who is in no block has its
 * parents. The indexes are the database's own.
 */
import type { Reader } from '../../engine/engine.ts';
import { type Outpoint, outpointKey } from '../../ledgers/outpoint.ts';
import { readStored } from '../../projections/coin.ts';
import { UNSPENT } from '../../projections/utxo.ts';
import type { FedRecords } from '../../txstore/chain/chain-records.ts';
import { outputFault } from '../../txstore/chain/check.ts';
import type { TxRecord } from '../../txstore/records.ts';
import { toHex } from '../../util/bytes.ts';
import { TXS_READ_BATCH, VERIFY_FAULTS_KEPT } from '../../util/limits.ts';
import type { Fault } from './verify.ts';

export interface FedVerification {
  readonly records: number;
  readonly faults: readonly Fault[];
  readonly faultCount: number;
}

export interface FedVerifyOptions {
  readonly reader: Reader;
  /** Unspent outputs of the store. */
  readonly utxos: number;
  /** Not every parent is there: the store does not begin with the first block. */
  readonly isPartial: boolean;
  readonly onProgress?: ((what: string, rows: number) => void) | undefined;
}

export async function verifyFedRecords(records: FedRecords, options: FedVerifyOptions): Promise<FedVerification> {
  const check = new FedRecordsCheck(records, options);
  let batch: TxRecord[] = [];
  for await (const record of records.records()) {
    batch.push(record);
    if (batch.length < TXS_READ_BATCH) continue;
    await check.take(batch);
    batch = [];
  }
  await check.take(batch);
  return check.finish();
}

class FedRecordsCheck {
  readonly #store: FedRecords;
  readonly #options: FedVerifyOptions;
  readonly #faults: Fault[] = [];
  #faultCount = 0;
  #records = 0;
  #unspent = 0;

  constructor(store: FedRecords, options: FedVerifyOptions) {
    this.#store = store;
    this.#options = options;
  }

  async take(records: readonly TxRecord[]): Promise<void> {
    const isUnmined = await this.#unminedAmong(records.flatMap(namedBy));
    for (const record of records) {
      if (record.unminedSince === null) this.#checkOutputs(record, isUnmined);
      else this.#checkParents(record, isUnmined);
    }
    this.#records += records.length;
    this.#options.onProgress?.('records', this.#records);
  }

  finish(): FedVerification {
    const { utxos } = this.#options;
    if (this.#unspent !== utxos) this.#fault(new Uint8Array(), `the records have ${this.#unspent} unspent outputs, the chain ${utxos}`);
    return { records: this.#records, faults: this.#faults, faultCount: this.#faultCount };
  }

  /** By id in hex: whether the record is in no block of the best chain. Those that are gone are not in it. */
  async #unminedAmong(txIds: readonly Uint8Array[]): Promise<ReadonlyMap<string, boolean>> {
    const ids = [...new Map(txIds.map((txId) => [toHex(txId), txId])).values()];
    const reads = await this.#store.readChildren(ids);
    return new Map(reads.flatMap((read, n) => (read.kind === 'present' ? [[toHex(ids[n]), read.child.unminedSince !== null]] : [])));
  }

  #checkOutputs({ txId, outputs }: TxRecord, isUnmined: ReadonlyMap<string, boolean>): void {
    const unspent = outputs.flatMap(({ slot }, index) => {
      // A spender that is gone was mined.
      const isUnspent = slot !== null && (slot.spender === null || isUnmined.get(toHex(slot.spender.txId)) === true);
      return isUnspent ? [index] : [];
    });
    this.#unspent += unspent.length;
    const rows = this.#options.reader.getMany(
      UNSPENT,
      unspent.map((index) => outpointKey(txId, index)),
    );
    for (const [n, index] of unspent.entries()) {
      const row = rows[n];
      const wrong = row === undefined ? `says that output ${index} is unspent` : outputFault(outputs[index], index, readStored(row).raw);
      if (wrong !== null) this.#fault(txId, wrong);
    }
  }

  #checkParents({ txId, inputs, isConflicting }: TxRecord, known: ReadonlyMap<string, boolean>): void {
    if (isConflicting || this.#options.isPartial) return;
    for (const { txId: parent } of inputs)
      if (!known.has(toHex(parent))) this.#fault(txId, `waits for a block, and its parent ${toHex(parent)} is gone`);
  }

  #fault(txId: Uint8Array, what: string): void {
    this.#faultCount++;
    if (this.#faults.length < VERIFY_FAULTS_KEPT) this.#faults.push({ column: 'tx', key: toHex(txId), what });
  }
}

/** Spenders of its outputs where it is mined, its parents where it is not. */
function namedBy({ unminedSince, outputs, inputs }: TxRecord): Uint8Array[] {
  if (unminedSince === null) return outputs.flatMap(({ slot }) => slot?.spender?.txId ?? []);
  return inputs.map(({ txId }: Outpoint) => txId);
}
