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
import { areUnmined, eachRecord, readRecords } from '../embedded/reads.ts';
import type { TxOutput, TxRecord } from '../records.ts';

const INDEX_FAULTS = {
  missing: 'is missing',
  surplus: 'belongs to no record',
  differs: 'does not say what its record says',
} as const;

export class TxsCheck implements ProjectionCheck {
  readonly column = TX_RECORD;
  readonly #inspection: Inspection;
  /** Coins come by their keys, so of those that came before only the last transaction can come again. */
  #last: CheckedRecord | null = null;

  constructor(inspection: Inspection) {
    this.#inspection = inspection;
  }

  expect(coins: readonly Coin[]): void {
    const { reader } = this.#inspection;
    const groups = byTransaction(coins);
    const isLast = (txId: Uint8Array) => this.#last !== null && equalBytes(this.#last.txId, txId);
    const unread = groups.map(([txId]) => txId).filter((txId) => !isLast(txId));
    const records = readRecords(reader, unread).values();
    for (const [txId, ofTx] of groups) {
      if (!isLast(txId)) {
        const record = records.next().value ?? null;
        this.#last = { txId, record, unspent: record === null ? new Set() : unspentOnChain(reader, record) };
      }
      if (this.#last !== null) this.#checkCoins(this.#last, ofTx);
    }
  }

  #checkCoins({ txId, record, unspent }: CheckedRecord, coins: readonly Coin[]): void {
    for (const coin of coins) {
      const index = outpointIndex(coin.keyBytes, coin.keyAt);
      const wrong = record ? this.#wrongOutput(record, unspent, index, coin) : 'is missing, and the chain has an unspent output of it';
      if (wrong !== null) this.#inspection.fault(TX_RECORD, txId, wrong);
    }
  }

  #wrongOutput(record: TxRecord, unspent: ReadonlySet<number>, index: number, coin: Coin): string | null {
    const output = record.outputs[index];
    if (output === undefined || record.unminedSince !== null) return `is not mined, or has no output ${index}`;
    const { raw } = readStored(coin.bytes.subarray(0, coin.end), coin.at);
    if (this.#inspection.unreadable.has(toHex(coin.keyBytes.subarray(coin.keyAt, coin.keyAt + OUTPOINT_BYTES)))) return null;
    const wrong = outputFault(output, index, raw);
    if (wrong !== null) return wrong;
    return unspent.has(index) ? null : `says that output ${index} is spent in a block`;
  }

  finish(): number {
    const { reader, utxos } = this.#inspection;
    let [records, unspent] = [0, 0];
    for (const record of eachRecord(reader)) {
      this.#inspection.progress(TX_RECORD, ++records);
      if (record.unminedSince === null) unspent += unspentOnChain(reader, record).size;
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

interface CheckedRecord {
  readonly txId: Uint8Array;
  readonly record: TxRecord | null;
  readonly unspent: ReadonlySet<number>;
}

function byTransaction(coins: readonly Coin[]): [txId: Uint8Array, coins: Coin[]][] {
  const groups: [Uint8Array, Coin[]][] = [];
  for (const coin of coins) {
    const txId = outpointTxId(coin.keyBytes, coin.keyAt);
    const last = groups.at(-1);
    if (last !== undefined && equalBytes(last[0], txId)) last[1].push(coin);
    else groups.push([txId, [coin]]);
  }
  return groups;
}

/** Indexes of outputs that nobody spends, or somebody who is in no block. A spender that is gone was mined. Each spender is read once. */
function unspentOnChain(reader: Inspection['reader'], { outputs }: TxRecord): ReadonlySet<number> {
  const ids = new Map(outputs.flatMap(({ slot }) => (slot?.spender ? [[toHex(slot.spender.txId), slot.spender.txId] as const] : [])));
  const unmined = areUnmined(reader, [...ids.values()]);
  const known = new Map([...ids.keys()].map((id, n) => [id, unmined[n] === true]));
  const isUnspent = (slot: TxOutput['slot']) => slot !== null && (slot.spender === null || known.get(toHex(slot.spender.txId)) === true);
  return new Set(outputs.flatMap(({ slot }, index) => (isUnspent(slot) ? [index] : [])));
}
