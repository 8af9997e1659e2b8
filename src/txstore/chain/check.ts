/**
 * The records of the transaction store against the unspent set: every unspent
 * output of the chain is one of a record, and no record has others; who is in no
 * block has its parents; indexes fit the records.
 */
import { describeOutput } from '../../ledgers/bitcoin/index.ts';
import { OUTPOINT_BYTES, outpointIndex, outpointTxId } from '../../ledgers/outpoint.ts';
import { type Coin, readStored } from '../../projections/coin.ts';
import type { Inspection, ProjectionCheck } from '../../projections/inspection.ts';
import { equalBytes, fromHex, toHex } from '../../util/bytes.ts';
import { TX_RECORD } from '../embedded/columns.ts';
import { indexDifferences } from '../embedded/indexes.ts';
import { eachRecord, readRecords } from '../embedded/reads.ts';
import type { TxOutput, TxRecord } from '../records.ts';

const INDEX_FAULTS = {
  missing: 'is missing',
  surplus: 'belongs to no record',
  differs: 'does not say what its record says',
} as const;

export class TxsCheck implements ProjectionCheck {
  readonly column = TX_RECORD;
  readonly #inspection: Inspection;

  constructor(inspection: Inspection) {
    this.#inspection = inspection;
  }

  expect(coins: readonly Coin[]): void {
    const ids = new Map(coins.map(({ keyBytes, keyAt }) => [toHex(outpointTxId(keyBytes, keyAt)), outpointTxId(keyBytes, keyAt)]));
    const records = new Map(
      readRecords(this.#inspection.reader, [...ids.values()]).map((record) => [record && toHex(record.txId), record]),
    );
    for (const coin of coins) {
      const [txId, index] = [outpointTxId(coin.keyBytes, coin.keyAt), outpointIndex(coin.keyBytes, coin.keyAt)];
      const record = records.get(toHex(txId));
      const wrong = record ? this.#wrongOutput(record, index, coin) : 'is missing, and the chain has an unspent output of it';
      if (wrong !== null) this.#inspection.fault(TX_RECORD, txId, wrong);
    }
  }

  #wrongOutput(record: TxRecord, index: number, coin: Coin): string | null {
    const output = record.outputs[index];
    if (output === undefined || record.unminedSince !== null) return `is not mined, or has no output ${index}`;
    const { raw } = readStored(coin.bytes.subarray(0, coin.end), coin.at);
    if (this.#inspection.unreadable.has(toHex(coin.keyBytes.subarray(coin.keyAt, coin.keyAt + OUTPOINT_BYTES)))) return null;
    const wrong = outputFault(output, index, raw);
    if (wrong !== null) return wrong;
    return isUnspentOnChain(this.#inspection.reader, record, index) ? null : `says that output ${index} is spent in a block`;
  }

  finish(): number {
    const { reader, utxos } = this.#inspection;
    let [records, unspent] = [0, 0];
    for (const record of eachRecord(reader)) {
      this.#inspection.progress(TX_RECORD, ++records);
      if (record.unminedSince === null)
        for (const index of record.outputs.keys()) unspent += isUnspentOnChain(reader, record, index) ? 1 : 0;
      else this.#checkParents(record);
    }
    if (unspent !== utxos)
      this.#inspection.fault(TX_RECORD, new Uint8Array(), `the records have ${unspent} unspent outputs, the chain ${utxos}`);
    for (const { column, key, kind } of indexDifferences(reader)) this.#inspection.fault(column, fromHex(key), INDEX_FAULTS[kind]);
    return records;
  }

  /** A partial store has no parents from before its first block. */
  #checkParents({ txId, inputs, isConflicting }: TxRecord): void {
    const { reader, missingInputs } = this.#inspection;
    if (isConflicting || missingInputs > 0) return;
    const parents = inputs.map((input) => input.txId);
    for (const [n, parent] of readRecords(reader, parents).entries())
      if (parent === null) this.#inspection.fault(TX_RECORD, txId, `waits for a block, and its parent ${toHex(parents[n])} is gone`);
  }
}

/** What is wrong with an output of a record that the chain has as `raw`; null: nothing. */
export function outputFault({ amount, script }: TxOutput, index: number, raw: Uint8Array): string | null {
  const onChain = describeOutput(raw);
  const isSame = onChain.value === amount && equalBytes(onChain.script, script);
  return isSame ? null : `has another output ${index} than the chain`;
}

/** Nobody spends it, or somebody who is in no block. A spender that is gone was mined. */
function isUnspentOnChain(reader: Inspection['reader'], record: TxRecord, index: number): boolean {
  const slot = record.outputs[index].slot;
  if (slot === null) return false;
  if (slot.spender === null) return true;
  const [spender] = readRecords(reader, [slot.spender.txId]);
  return spender !== null && spender.unminedSince !== null;
}
