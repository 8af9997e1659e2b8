/**
 * History against the chain and the unspent set. Each block is put together
 * again from its transactions and has to hash to its header; each transaction
 * has its row by id, each output it made is counted for its script, each output
 * it spent says so; and what all transactions did to a script leaves what is
 * unspent there. Memory is bounded by a block, and by a part of the set.
 */
import { type Block, KEY_BYTES, OutputKeys, type Tx } from '../../ledgers/ledger.ts';
import { outpointKey, TXID_BYTES } from '../../ledgers/outpoint.ts';
import { equalBytes, fromHex, readBigU64, readU16, readU32, toHex } from '../../util/bytes.ts';
import { assert, isUnspentError } from '../../util/errors.ts';
import { VERIFY_BALANCE_OUTPUTS } from '../../util/limits.ts';
import { CHAIN, type ChainRow, chainKey, META_PREFIX, readChainRow } from '../chain.ts';
import { AT, type Coin, keyOffset } from '../coin.ts';
import type { Inspection } from '../inspection.ts';
import { readTxRow, TX } from '../transactions.ts';
import { UNSPENT } from '../utxo.ts';
import {
  HISTORY_SCRIPT,
  HISTORY_SPEND,
  HISTORY_TX,
  historyScriptKey,
  historyTxKey,
  readHistorySpend,
  readScriptTotals,
  TAIL_INDEX,
} from './history.ts';
import { rebuiltBlock } from './rebuild.ts';

const NO_KEY = new Uint8Array(0);

/** A number of outputs and what they are worth. */
interface Sum {
  count: number;
  value: bigint;
}

export class HistoryCheck {
  readonly column = HISTORY_SCRIPT;
  private readonly inspection: Inspection;
  private readonly keys = new OutputKeys();
  private utxos = 0;
  private created = 0;
  private spent = 0;
  private unknown = 0;
  /** Bytes of some transactions are gone, so that nobody can count what all of them did. */
  private isBounded = false;

  constructor(inspection: Inspection) {
    this.inspection = inspection;
  }

  /** Each unspent output was paid by a transaction that is there. */
  expect(rows: readonly Coin[]): void {
    const { reader } = this.inspection;
    this.utxos += rows.length;
    const ids = this.idsAt(rows);
    const scripts = reader.getMany(HISTORY_SCRIPT, rows.map(scriptRowOf));
    for (let i = 0; i < rows.length; i++) {
      const { keyBytes } = rows[i];
      const script = scripts[i];
      if (!equalBytes(ids[i], keyBytes.subarray(0, TXID_BYTES)))
        this.inspection.fault(HISTORY_TX, keyBytes, 'has no transaction where the output says');
      if (script === undefined || readScriptTotals(script).fundedCount === 0)
        this.inspection.fault(HISTORY_SCRIPT, keyBytes, 'does not know of the output');
    }
  }

  /** Of the transaction that each output says it is of; empty: there is none. Those of one stand together, and it is read once. */
  private idsAt(rows: readonly Coin[]): Uint8Array[] {
    let [place, id]: [Uint8Array, Uint8Array] = [NO_KEY, NO_KEY];
    return rows.map(({ bytes }) => {
      const key = historyTxKey(readU32(bytes, AT.height), readU32(bytes, AT.txIndex));
      if (!equalBytes(key, place)) {
        place = key;
        id = this.inspection.reader.get(HISTORY_TX, key)?.slice(0, TXID_BYTES) ?? NO_KEY;
      }
      return id;
    });
  }

  finish(): number {
    const { inspection } = this;
    let [blocks, txs] = [0, 0];
    for (const [key, value] of inspection.reader.scan(CHAIN, { lt: Uint8Array.of(META_PREFIX) })) {
      const row = readChainRow(key, value);
      txs += row.txCount + this.block(row);
      inspection.progress('blocks of the history', ++blocks);
    }
    this.count(HISTORY_TX, txs, 'transactions and tails in its blocks');
    if (!this.isBounded) this.count(HISTORY_SPEND, this.spent, 'outputs spent by them');
    const { missingInputs } = inspection;
    if (!this.isBounded && this.unknown !== missingInputs)
      inspection.fault(
        HISTORY_SPEND,
        NO_KEY,
        `lacks ${this.unknown} outputs that were spent; ${missingInputs} inputs are known to be missing`,
      );
    return this.scripts();
  }

  private count(column: string, wanted: number, what: string): void {
    let rows = 0;
    for (const _ of this.inspection.reader.scan(column)) this.inspection.progress(column, ++rows);
    if (rows !== wanted) this.inspection.fault(column, NO_KEY, `has ${rows} rows; there are ${wanted} ${what}`);
  }

  /** Returns the rows of `history_tx` it has besides its transactions. */
  private block(row: ChainRow): number {
    const { inspection } = this;
    try {
      const { joinBlock } = inspection.ledger;
      assert(joinBlock !== undefined, 'a history is kept only where blocks can be joined again');
      const { ids, raw } = rebuiltBlock(inspection.reader, row, joinBlock);
      const block = inspection.ledger.decode(raw, row.height);
      if (!equalBytes(block.hash, row.hash)) inspection.fault(CHAIN, chainKey(row.height, false), 'its header is not that of its hash');
      inspection.ledger.verify(block);
      this.places(block, ids);
      for (let i = 0; i < block.txs.length; i++) {
        this.funded(block, block.txs[i], i);
        this.spends(block, block.txs[i], i);
      }
      return (inspection.ledger.tailBytes?.(block).length ?? 0) > 0 ? 1 : 0;
    } catch (error) {
      if (isUnspentError(error, 'PRUNED')) {
        this.isBounded = true;
        return inspection.reader.get(HISTORY_TX, historyTxKey(row.height, TAIL_INDEX)) === undefined ? 0 : 1;
      }
      inspection.fault(HISTORY_TX, historyTxKey(row.height, 0), `its block cannot be put together again: ${(error as Error).message}`);
      return 0;
    }
  }

  /** The ids beside the transactions are theirs, and lead here. */
  private places({ txs, height }: Block, ids: readonly Uint8Array[]): void {
    const { inspection } = this;
    const rows = inspection.reader.getMany(TX, ids);
    for (let i = 0; i < txs.length; i++) {
      if (!equalBytes(ids[i], txs[i].id)) inspection.fault(HISTORY_TX, historyTxKey(height, i), 'stands under an id that is not its own');
      const value = rows[i];
      const row = value === undefined ? null : readTxRow(value);
      const leadsHere = row !== null && ((row.height === height && row.txIndex === i) || this.isRepeated(height, row.height));
      if (!leadsHere) inspection.fault(TX, ids[i], `does not lead to its place in block ${height}`);
    }
  }

  private isRepeated(height: number, again: number): boolean {
    const value = this.inspection.reader.get(CHAIN, chainKey(again, false));
    return value !== undefined && this.inspection.ledger.repeats?.(readChainRow(chainKey(again, false), value)) === height;
  }

  /** What a transaction pays to each script. */
  private funded({ raw, height }: Block, { creates }: Tx, txIndex: number): void {
    const { inspection, keys } = this;
    const sums = new Map<string, Sum>();
    for (const create of creates) {
      inspection.ledger.findKeys(raw, create, keys);
      const { places, made } = keys;
      const key = places[0] === 0 ? toHex(made, 0, KEY_BYTES) : toHex(raw, create.start + places[0], create.start + places[0] + KEY_BYTES);
      add(sums, key, (BigInt(create.valueHi) << 32n) | BigInt(create.valueLo));
    }
    this.created += creates.length;
    const wanted = [...sums].map(([key, sum]) => ({ key: historyScriptKey(fromHex(key), height, txIndex), sum }));
    const rows = inspection.reader.getMany(
      HISTORY_SCRIPT,
      wanted.map(({ key }) => key),
    );
    for (let i = 0; i < wanted.length; i++) {
      const { key, sum } = wanted[i];
      const value = rows[i];
      const { fundedCount, fundedSum } = value === undefined ? { fundedCount: 0, fundedSum: 0n } : readScriptTotals(value);
      if (fundedCount !== sum.count || fundedSum !== sum.value)
        inspection.fault(HISTORY_SCRIPT, key, `says ${fundedSum} in ${fundedCount} outputs; it is ${sum.value} in ${sum.count}`);
    }
  }

  private spends({ raw, height }: Block, { spends }: Tx, txIndex: number): void {
    const { inspection } = this;
    const outpoints = spends.map(({ at, index }) => outpointKey(raw.subarray(at, at + TXID_BYTES), index));
    const rows = inspection.reader.getMany(HISTORY_SPEND, outpoints);
    for (let i = 0; i < spends.length; i++) {
      const value = rows[i];
      if (value === undefined) {
        this.unknown++;
        continue;
      }
      this.spent++;
      const spend = readHistorySpend(value);
      if (spend.height !== height || spend.txIndex !== txIndex || spend.input !== i)
        inspection.fault(HISTORY_SPEND, outpoints[i], `does not lead to input ${i} of transaction ${txIndex} of block ${height}`);
    }
  }

  /** What came and went is what is there, script by script; and all of it together is what the transactions did. */
  private scripts(): number {
    const parts = Math.max(1, Math.ceil(this.utxos / VERIFY_BALANCE_OUTPUTS));
    const all = { rows: 0, funded: 0, spent: 0 };
    for (let part = 0; part < parts; part++) this.part((key) => readU16(key, 0) % parts === part, all);
    const { inspection, created, spent } = this;
    if (this.isBounded) return all.rows;
    if (all.funded !== created) inspection.fault(HISTORY_SCRIPT, NO_KEY, `counts ${all.funded} outputs; ${created} were made`);
    if (all.spent !== spent) inspection.fault(HISTORY_SCRIPT, NO_KEY, `counts ${all.spent} spent outputs; ${spent} were spent`);
    return all.rows;
  }

  /** Keys are hashes: any of their bits divide them evenly. */
  private part(isMine: (key: Uint8Array) => boolean, all: { rows: number; funded: number; spent: number }): void {
    const { inspection } = this;
    const left = new Map<string, Sum>();
    for (const [, stored] of inspection.reader.scan(UNSPENT)) {
      const at = keyOffset(stored, 0, 'address');
      if (at >= 0 && isMine(stored.subarray(at))) add(left, toHex(stored, at, at + KEY_BYTES), readBigU64(stored, AT.value));
    }
    // Rows of a script stand together, so that only one sum is open.
    let [key, sum]: [string, Sum] = ['', { count: 0, value: 0n }];
    for (const [row, value] of inspection.reader.scan(HISTORY_SCRIPT)) {
      if (!isMine(row)) continue;
      const totals = readScriptTotals(value);
      const own = toHex(row, 0, KEY_BYTES);
      if (own !== key) {
        this.close(left, key, sum);
        [key, sum] = [own, { count: 0, value: 0n }];
      }
      sum.count += totals.fundedCount - totals.spentCount;
      sum.value += totals.fundedSum - totals.spentSum;
      all.funded += totals.fundedCount;
      all.spent += totals.spentCount;
      inspection.progress(HISTORY_SCRIPT, ++all.rows);
    }
    this.close(left, key, sum);
    for (const [unmet, { count }] of left) inspection.fault(HISTORY_SCRIPT, fromHex(unmet), `has no rows; ${count} outputs are unspent`);
  }

  private close(left: Map<string, Sum>, key: string, { count, value }: Sum): void {
    const unspent = left.get(key) ?? { count: 0, value: 0n };
    left.delete(key);
    if (count === unspent.count && value === unspent.value) return;
    this.inspection.fault(
      HISTORY_SCRIPT,
      fromHex(key),
      `leaves ${value} in ${count} outputs; ${unspent.value} in ${unspent.count} are unspent`,
    );
  }
}

function scriptRowOf({ bytes }: Coin): Uint8Array {
  const at = keyOffset(bytes, 0, 'address');
  return historyScriptKey(bytes.subarray(at, at + KEY_BYTES), readU32(bytes, AT.height), readU32(bytes, AT.txIndex));
}

function add(sums: Map<string, Sum>, key: string, value: bigint): void {
  const known = sums.get(key);
  if (known === undefined) sums.set(key, { count: 1, value });
  else {
    known.count++;
    known.value += value;
  }
}
