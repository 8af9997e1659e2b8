/**
 * History against the chain and the unspent set. Where a block can be put
 * together again from its transactions it has to hash to its header, elsewhere
 * each transaction has to hash to its id; each has its row by id, each output it
 * made is counted for its script or address, each output it spent says so; and
 * what all transactions did leaves what is unspent (`key-check.ts`). Memory is
 * bounded by a block, and by a part of the set.
 */
import { KEY_BYTES, type Ledger, OutputKeys, type Tx } from '../../ledgers/ledger.ts';
import { outpointKey, TXID_BYTES } from '../../ledgers/outpoint.ts';
import { equalBytes, fromHex, readU32, toHex } from '../../util/bytes.ts';
import { assert, isUnspentError } from '../../util/errors.ts';
import { CHAIN, type ChainRow, chainKey, META_PREFIX, readChainRow } from '../chain.ts';
import { type Coin, GRANT_TX_INDEX, readStored } from '../coin.ts';
import type { Inspection, ProjectionCheck } from '../inspection.ts';
import { keyOf } from '../packed.ts';
import { readTxRow, TX } from '../transactions.ts';
import { addOutput, heightOf, KeyHistoryCheck, type OutputSum } from './key-check.ts';
import { creatorIndex, LEDGER_INDEX } from './key-rows.ts';
import { historyTxBytes, historyTxRows, missingRow, rebuiltBlock } from './rebuild.ts';
import { HISTORY_SPEND, HISTORY_TX, historyKey, historyTxKey, readHistorySpend, readScriptTotals, TAIL_INDEX } from './rows.ts';

const NO_KEY = new Uint8Array(0);

/** A transaction of the history: its outputs and inputs are positions into `raw`. */
interface PlacedTx {
  readonly raw: Uint8Array;
  readonly tx: Tx;
  /** As it stands beside it. */
  readonly id: Uint8Array;
}

export class HistoryCheck implements ProjectionCheck {
  readonly column: string;
  private readonly inspection: Inspection;
  private readonly byAddress: KeyHistoryCheck;
  private readonly keys = new OutputKeys();
  private created = 0;
  private spent = 0;
  private unknown = 0;
  /** Bytes of some transactions are gone, so that nobody can count what all of them did. */
  private isBounded = false;

  constructor(inspection: Inspection) {
    this.inspection = inspection;
    this.byAddress = new KeyHistoryCheck(inspection, 'address');
    this.column = this.byAddress.column;
  }

  /** Each unspent output was paid by a transaction that is there. */
  expect(coins: readonly Coin[]): void {
    this.byAddress.expect(coins);
    const known = coins.filter((coin) => heightOf(coin) >= this.byAddress.startHeight);
    const ids = this.idsAt(known);
    for (let i = 0; i < known.length; i++) {
      const { keyBytes, keyAt } = known[i];
      if (!equalBytes(ids[i], keyBytes.subarray(keyAt, keyAt + TXID_BYTES)))
        this.inspection.fault(HISTORY_TX, keyBytes, 'has no transaction where the output says');
    }
  }

  /** Of the transaction that each output says it is of; empty: there is none. Those of one stand together, and it is read once. */
  private idsAt(coins: readonly Coin[]): Uint8Array[] {
    let [place, id]: [Uint8Array, Uint8Array] = [NO_KEY, NO_KEY];
    return coins.map((coin) => {
      const key = historyTxKey(heightOf(coin), creatorIndex(coin));
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
      inspection.progress('blocks of the history', ++blocks);
      // A boundary block has the height of the block before it, and nothing to keep; the first of a chain may have grants.
      if (row.height < this.byAddress.startHeight || (row.boundary && row.height > 0)) continue;
      txs += row.txCount + this.block(row) + this.grants(row);
    }
    this.count(HISTORY_TX, txs, 'transactions, grants and tails in its blocks');
    const removed = this.spends();
    const { rows, funded, spent } = this.byAddress.counts();
    if (this.isBounded) return rows;
    if (funded !== this.created) inspection.fault(this.column, NO_KEY, `counts ${funded} outputs; ${this.created} were made`);
    if (spent !== this.spent + removed)
      inspection.fault(this.column, NO_KEY, `counts ${spent} spent outputs; ${this.spent + removed} were spent`);
    return rows;
  }

  private count(column: string, wanted: number, what: string): void {
    let rows = 0;
    for (const _ of this.inspection.reader.scan(column)) this.inspection.progress(column, ++rows);
    if (rows !== wanted) this.inspection.fault(column, NO_KEY, `has ${rows} rows; there are ${wanted} ${what}`);
  }

  /** Counts the rows of what was spent; returns those that the ledger itself removed. */
  private spends(): number {
    const { inspection } = this;
    let [rows, removed] = [0, 0];
    for (const [, value] of inspection.reader.scan(HISTORY_SPEND)) {
      inspection.progress(HISTORY_SPEND, ++rows);
      if (readHistorySpend(value).txIndex === LEDGER_INDEX) removed++;
    }
    if (this.isBounded) return removed;
    if (rows !== this.spent + removed)
      inspection.fault(
        HISTORY_SPEND,
        NO_KEY,
        `has ${rows} rows; there are ${this.spent} outputs spent by transactions, and ${removed} others`,
      );
    const { missingInputs } = inspection;
    // Of a history that began later nobody knows how many of them were missing before.
    if (this.byAddress.startHeight === 0 && this.unknown !== missingInputs)
      inspection.fault(
        HISTORY_SPEND,
        NO_KEY,
        `lacks ${this.unknown} outputs that were spent; ${missingInputs} inputs are known to be missing`,
      );
    return removed;
  }

  /** Returns the rows of `history_tx` it has besides its transactions and grants. */
  private block(row: ChainRow): number {
    const { inspection } = this;
    try {
      const { txs, tail } = this.txsOf(row);
      this.places(txs, row.height);
      for (let i = 0; i < txs.length; i++) {
        this.funded(txs[i], row.height, i);
        this.spentBy(txs[i], row.height, i);
      }
      return tail;
    } catch (error) {
      if (isUnspentError(error, 'PRUNED')) {
        this.isBounded = true;
        return inspection.reader.get(HISTORY_TX, historyTxKey(row.height, TAIL_INDEX)) === undefined ? 0 : 1;
      }
      inspection.fault(HISTORY_TX, historyTxKey(row.height, 0), `its block cannot be put together again: ${(error as Error).message}`);
      return 0;
    }
  }

  /** The transactions of a block, and how many rows stand behind them. */
  private txsOf(row: ChainRow): { readonly txs: readonly PlacedTx[]; readonly tail: number } {
    const { joinBlock, readTx } = this.inspection.ledger;
    if (readTx !== undefined) return { txs: this.readTxs(row, readTx), tail: 0 };
    assert(joinBlock !== undefined, 'a transaction is read alone, or in its block');
    return this.joinedTxs(row, joinBlock);
  }

  private readTxs({ height, txCount }: ChainRow, readTx: NonNullable<Ledger['readTx']>): readonly PlacedTx[] {
    const rows = Array.from(historyTxRows(this.inspection.reader, height));
    if (rows.length !== txCount) missingRow(historyTxKey(height, rows.length), `a block of ${txCount} transactions`);
    return rows.map(([key, value]) => {
      const raw = historyTxBytes(key, value);
      return { raw, tx: readTx(raw), id: value.subarray(0, TXID_BYTES) };
    });
  }

  private joinedTxs(
    row: ChainRow,
    joinBlock: NonNullable<Ledger['joinBlock']>,
  ): { readonly txs: readonly PlacedTx[]; readonly tail: number } {
    const { inspection } = this;
    const { ids, raw } = rebuiltBlock(inspection.reader, row, joinBlock);
    const block = inspection.ledger.decode(raw, row.height);
    if (!equalBytes(block.hash, row.hash)) inspection.fault(CHAIN, chainKey(row.height, false), 'its header is not that of its hash');
    inspection.ledger.verify(block);
    const tail = (inspection.ledger.tailBytes?.(block).length ?? 0) > 0 ? 1 : 0;
    return { txs: block.txs.map((tx, i) => ({ raw, tx, id: ids[i] })), tail };
  }

  /** The ids beside the transactions are theirs, and lead here. */
  private places(txs: readonly PlacedTx[], height: number): void {
    const { inspection } = this;
    if (txs.length === 0) return;
    const rows = inspection.reader.getMany(
      TX,
      txs.map(({ id }) => id),
    );
    for (let i = 0; i < txs.length; i++) {
      const { id, tx } = txs[i];
      if (!equalBytes(id, tx.id)) inspection.fault(HISTORY_TX, historyTxKey(height, i), 'stands under an id that is not its own');
      const value = rows[i];
      const row = value === undefined ? null : readTxRow(value);
      const leadsHere = row !== null && ((row.height === height && row.txIndex === i) || this.isRepeated(height, row.height));
      if (!leadsHere) inspection.fault(TX, id, `does not lead to its place in block ${height}`);
      else if (row.valid !== tx.valid) inspection.fault(TX, id, `says that it is ${row.valid ? '' : 'not '}valid`);
    }
  }

  private isRepeated(height: number, again: number): boolean {
    const value = this.inspection.reader.get(CHAIN, chainKey(again, false));
    return value !== undefined && this.inspection.ledger.repeats?.(readChainRow(chainKey(again, false), value)) === height;
  }

  /** What a transaction pays to each script or address. */
  private funded({ raw, tx: { creates } }: PlacedTx, height: number, txIndex: number): void {
    const { inspection, keys } = this;
    const sums = new Map<string, OutputSum>();
    for (const create of creates) {
      inspection.ledger.findKeys(raw, create, keys);
      const { places, made } = keys;
      const key = places[0] === 0 ? toHex(made, 0, KEY_BYTES) : toHex(raw, create.start + places[0], create.start + places[0] + KEY_BYTES);
      addOutput(sums, key, (BigInt(create.valueHi) << 32n) | BigInt(create.valueLo));
    }
    this.created += creates.length;
    const wanted = [...sums].map(([key, sum]) => ({ key: historyKey(fromHex(key), height, txIndex), sum }));
    if (wanted.length === 0) return;
    const rows = inspection.reader.getMany(
      this.column,
      wanted.map(({ key }) => key),
    );
    for (let i = 0; i < wanted.length; i++) {
      const { key, sum } = wanted[i];
      const value = rows[i];
      const { fundedCount, fundedSum } = value === undefined ? { fundedCount: 0, fundedSum: 0n } : readScriptTotals(value);
      if (fundedCount !== sum.count || fundedSum !== sum.value)
        inspection.fault(this.column, key, `says ${fundedSum} in ${fundedCount} outputs; it is ${sum.value} in ${sum.count}`);
    }
  }

  /** Outputs that the ledger granted with a block: their number. */
  private grants({ height }: ChainRow): number {
    const { inspection } = this;
    let count = 0;
    const range = { gte: historyTxKey(height, GRANT_TX_INDEX), lt: historyTxKey(height, LEDGER_INDEX) };
    for (const [key, value] of inspection.reader.scan(HISTORY_TX, range)) {
      count++;
      const owner = keyOf(readStored(historyTxBytes(key, value)), 'address', inspection.ledger);
      const row = owner === undefined ? undefined : inspection.reader.get(this.column, historyKey(owner, height, readU32(key, 4)));
      if (row === undefined || readScriptTotals(row).fundedCount !== 1) inspection.fault(this.column, key, 'does not know of the grant');
    }
    this.created += count;
    return count;
  }

  private spentBy({ raw, tx: { spends } }: PlacedTx, height: number, txIndex: number): void {
    const { inspection } = this;
    if (spends.length === 0) return;
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
}
