/**
 * Checks a store against itself: totals are recomputed from the unspent set,
 * every stored header from its own output bytes, the chain from its links; what
 * projections keep, by the check that each brings in its entry. Finds what a
 * fault in the machine, or in us, has done.
 */
import type { Reader } from '../../engine/engine.ts';
import type { Ledger } from '../../ledgers/ledger.ts';
import { CHAIN, CHAIN_HASH, type ChainRow, chainKey, readChainRow } from '../../projections/chain.ts';
import { AT, Coin } from '../../projections/coin.ts';
import type { ProjectionEntry } from '../../projections/entry.ts';
import type { Inspection, ProjectionCheck, StoredUndo } from '../../projections/inspection.ts';
import { packedLength, wholeValue } from '../../projections/packed.ts';
import { PROJECTIONS, type ProjectionTable } from '../../projections/registry.ts';
import { TX } from '../../projections/transactions.ts';
import { SPENT, UNSPENT, utxoEntry } from '../../projections/utxo.ts';
import { readBase } from '../../state/base.ts';
import { DELTA, isSelfContained, readDelta } from '../../state/delta.ts';
import { META_PREFIX, readHead } from '../../state/head.ts';
import { readPruned } from '../../state/pruned.ts';
import { equalBytes, readBigU64, readU32, readU64, toHex } from '../../util/bytes.ts';
import { SCAN_ROWS, VERIFY_FAULTS_KEPT } from '../../util/limits.ts';
import { OutputCheck } from './output.ts';

/** Something in a store that is not what it should be. */
export interface Fault {
  /** The column it is in. */
  readonly column: string;
  /** The key of its row, in hex. */
  readonly key: string;
  /** What is wrong with it. */
  readonly what: string;
}

/** What checking a store has found. */
export interface Verification {
  /** Blocks that were checked. */
  readonly blocks: number;
  /** Unspent outputs that were checked. */
  readonly utxos: number;
  /** The sum of their values in the chain's smallest unit. */
  readonly value: bigint;
  /** Rows that were checked, by column. */
  readonly indexRows: Readonly<Record<string, number>>;
  /** The first faults found. */
  readonly faults: readonly Fault[];
  /** How many faults there are; 0: the store is sound. */
  readonly faultCount: number;
}

export interface VerifyOptions {
  /** Names of the projections that the store keeps and that are ready: what is to be checked. */
  readonly projections: readonly string[];
  /** Where the checks of these projections are found. Default: the table of ours. */
  readonly table?: ProjectionTable | undefined;
  readonly onProgress?: ((what: string, rows: number) => void) | undefined;
}

export function verifyStore(reader: Reader, ledger: Ledger, options: VerifyOptions): Verification {
  const check = new Check(reader, ledger, options);
  const blocks = check.chain();
  if (options.projections.includes(utxoEntry.name)) {
    check.unspent();
    check.totals();
  }
  return { blocks, utxos: check.utxos, value: check.value, indexRows: check.indexRows, faults: check.faults, faultCount: check.faultCount };
}

const NO_KEY = new Uint8Array(0);

function slotOf(row: Uint8Array | undefined): number {
  return row === undefined ? -1 : readChainRow(NO_CHAIN_KEY, row).slot;
}

/** The slot is in the value; the key is not looked at. */
const NO_CHAIN_KEY = new Uint8Array(8);

class Check implements Inspection {
  readonly reader: Reader;
  readonly ledger: Ledger;
  readonly base: ChainRow | null;
  private readonly options: VerifyOptions;
  private readonly outputs: OutputCheck;
  readonly unreadable = new Set<string>();
  utxos = 0;
  value = 0n;
  readonly indexRows: Record<string, number> = {};
  readonly faults: Fault[] = [];
  faultCount = 0;

  constructor(reader: Reader, ledger: Ledger, options: VerifyOptions) {
    this.reader = reader;
    this.ledger = ledger;
    this.base = readBase(reader);
    this.outputs = new OutputCheck(ledger);
    this.options = options;
  }

  get missingInputs(): number {
    return readHead(this.reader)?.missing ?? 0;
  }

  *undos(projection: string): Generator<StoredUndo, void, void> {
    const { spent: forgotten } = readPruned(this.reader);
    for (const [key, value] of this.reader.scan(DELTA)) {
      const undo = readDelta(value, 'the delta of a block').undo.get(projection);
      yield { key, undo, keepsSpent: isSelfContained(value) || readU64(key, 0) > forgotten };
    }
  }

  fault(column: string, key: Uint8Array, what: string): void {
    this.faultCount++;
    if (this.faults.length < VERIFY_FAULTS_KEPT) this.faults.push({ column, key: toHex(key), what });
  }

  progress(what: string, rows: number): void {
    if (rows % 100_000 === 0) this.options.onProgress?.(what, rows);
  }

  /** Every block follows the one before it and is found by its hash; the last is the head. */
  chain(): number {
    let count = 0;
    let txs = 0;
    let previous: Uint8Array | null = null;
    let lastKey: Uint8Array | null = null;
    let slot = -1;
    let first: number | null = null;
    for (const [key, value] of this.reader.scan(CHAIN, { lt: Uint8Array.of(META_PREFIX) })) {
      const row = readChainRow(key, value);
      if (previous !== null && !equalBytes(row.prevHash, previous)) this.fault(CHAIN, key, 'does not follow the block before it');
      if (row.slot < slot) this.fault(CHAIN, key, 'has a slot below the block before it');
      const found = this.reader.get(CHAIN_HASH, row.hash);
      if (found === undefined || !equalBytes(found, key)) this.fault(CHAIN_HASH, row.hash, 'does not lead to its block');
      // Of the block of a snapshot only its row is there, not its transactions.
      const isBase: boolean = first === null && this.base !== null;
      first ??= isBase ? row.height + 1 : row.height;
      // An id that comes again has one row.
      if (!isBase) txs += row.txCount - ((this.ledger.repeats?.(row) ?? -1) >= first ? 1 : 0);
      previous = row.hash;
      lastKey = key;
      slot = row.slot;
      this.progress('blocks', ++count);
    }
    this.count(CHAIN_HASH, count, 'blocks');
    this.count(TX, txs, 'transactions in its blocks');
    const head = readHead(this.reader);
    if ((head === null) !== (previous === null) || (head !== null && previous !== null && !equalBytes(head.hash, previous))) {
      this.fault(CHAIN, lastKey ?? NO_KEY, 'the head is not the last block');
    }
    return count;
  }

  /** As many rows as there should be: none too few, none left behind. */
  private count(column: string, wanted: number, what: string): void {
    let rows = 0;
    for (const _ of this.reader.scan(column)) this.progress(column, ++rows);
    if (rows !== wanted) this.fault(column, NO_KEY, `has ${rows} rows; the chain has ${wanted} ${what}`);
  }

  /** Every stored header says what its own output says, nothing is both unspent and spent, and all that follows from the set does. */
  unspent(): void {
    const derived = this.derived();
    let rows: Coin[] = [];
    const flush = (): void => {
      const spent = this.reader.getMany(
        SPENT,
        rows.map((coin) => coin.keyBytes),
      );
      for (let i = 0; i < rows.length; i++) if (spent[i] !== undefined) this.fault(SPENT, rows[i].keyBytes, 'is also unspent');
      this.places(rows);
      const readable = this.unreadable.size === 0 ? rows : rows.filter((coin) => !this.unreadable.has(toHex(coin.keyBytes)));
      for (const column of derived) column.expect(readable);
      rows = [];
    };
    for (const [key, bytes] of this.reader.scan(UNSPENT)) {
      rows.push(this.output(key, bytes));
      this.value += readBigU64(bytes, AT.value);
      if (rows.length === SCAN_ROWS) flush();
      this.progress('unspent outputs', ++this.utxos);
    }
    flush();
    for (const column of derived) this.indexRows[column.column] = column.finish();
  }

  private derived(): readonly ProjectionCheck[] {
    const { projections, table = PROJECTIONS } = this.options;
    return table.flatMap((entry: ProjectionEntry) => (projections.includes(entry.name) ? (entry.check?.(this) ?? []) : []));
  }

  /** Each output is of a block on our chain, at that block's slot; or older than the snapshot we began with. */
  private places(rows: readonly Coin[]): void {
    const heights = rows.map((coin) => readU32(coin.bytes, AT.height));
    const blocks = this.reader.getMany(
      CHAIN,
      heights.map((height) => chainKey(height, false)),
    );
    for (let i = 0; i < rows.length; i++) {
      const slot = readU64(rows[i].bytes, AT.slot);
      if (slotOf(blocks[i]) === slot) continue;
      // Genesis outputs come with the first block, which may be a boundary block.
      if (slotOf(this.reader.get(CHAIN, chainKey(heights[i], true))) === slot) continue;
      if (blocks[i] === undefined && this.base !== null && heights[i] <= this.base.height && slot <= this.base.slot) continue;
      this.fault(UNSPENT, rows[i].keyBytes, `names a block at height ${heights[i]} and slot ${slot} that is not on our chain`);
    }
  }

  /** The output of a row; one that does not decode as it stands. */
  private output(key: Uint8Array, row: Uint8Array): Coin {
    let bytes = row;
    try {
      bytes = wholeValue(row, 0, this.ledger);
      for (const fault of this.outputs.faults(bytes, 0, bytes.length)) this.fault(UNSPENT, key, fault);
      if (packedLength(row, 0, row.length) < row.length)
        this.fault(UNSPENT, key, 'keeps the key of its owner, which follows from its output');
    } catch (error) {
      this.unreadable.add(toHex(key));
      this.fault(UNSPENT, key, `its output does not decode: ${(error as Error).message}`);
    }
    return new Coin(key, 0, bytes, 0, bytes.length, false);
  }

  totals(): void {
    const head = readHead(this.reader);
    if ((head?.utxos ?? 0) !== this.utxos)
      this.fault('meta', NO_KEY, `counts ${head?.utxos ?? 0} unspent outputs, there are ${this.utxos}`);
    if ((head?.value ?? 0n) !== this.value) this.fault('meta', NO_KEY, `sums them to ${head?.value ?? 0n}, they are worth ${this.value}`);
  }
}
