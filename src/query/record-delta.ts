/**
 * The interchange record of a block: which outputs it created and which it
 * spent (docs/reference/records.md). Compact it only names them; self-contained
 * it has their records, and who spent what.
 */
import { type Cursor, MAP } from '../util/cbor.ts';
import type { CborWriter } from '../util/cbor-write.ts';
import type { BlockMmr } from './proofs-mmr.ts';
import {
  bytesIf,
  decodeCanonical,
  encodeCanonical,
  fieldCount,
  type PartialRecord,
  type RecordForm,
  readFields,
  readList,
  readTrue,
  required,
} from './record-form.ts';
import { UTXO, type UtxoRecord } from './records.ts';

/** A transaction whose scripts failed. */
export interface InvalidTx {
  /** Its id. */
  readonly txId: Uint8Array;
  /** Whether it gave the rest of its collateral back as an output. */
  readonly hadCollateralReturn: boolean;
}

/** What both forms of a block's record have. */
export interface DeltaHead {
  /** The height of the block. */
  readonly block: number;
  /** Its slot. */
  readonly slot: number;
  /** Its hash. */
  readonly blockHash: Uint8Array;
  /** Its transactions whose scripts failed. */
  readonly invalid: readonly InvalidTx[];
  /** Of stores that keep a Merkle mountain range. */
  readonly mmr: BlockMmr | null;
}

/** An output by name. */
export interface RecordedOutpoint {
  /** The id of its transaction, in the order of the chain. */
  readonly txId: Uint8Array;
  /** Which of that transaction's outputs it is. */
  readonly index: number;
}

/** An output that a block created, with its record. */
export interface CreatedOutput extends RecordedOutpoint {
  /** What it holds. */
  readonly record: UtxoRecord;
}

/** An output that a block spent, with its record. */
export interface SpentOutput extends RecordedOutpoint {
  /** What it held. */
  readonly before: UtxoRecord;
  /** Null: the ledger itself removed it. */
  readonly spentBy: Uint8Array | null;
}

/** A block's record that only names outputs. */
export interface CompactDelta extends DeltaHead {
  /** Tells the forms apart. */
  readonly form: 'compact';
  /** Outputs it created, in its order. */
  readonly created: readonly RecordedOutpoint[];
  /** Outputs it spent, in its order. */
  readonly spent: readonly RecordedOutpoint[];
}

/** A block's record that has the outputs themselves. */
export interface SelfContainedDelta extends DeltaHead {
  /** Tells the forms apart. */
  readonly form: 'self-contained';
  /** Outputs it created, in its order. */
  readonly created: readonly CreatedOutput[];
  /** Outputs it spent, in its order. */
  readonly spent: readonly SpentOutput[];
}

/** The bytes of a block that did nothing are the same in both forms, and are read as compact. */
export type BlockDelta = CompactDelta | SelfContainedDelta;

/** The record of a block in canonical CBOR. */
export const encodeBlockDelta = (delta: BlockDelta): Uint8Array => encodeCanonical(DELTA, delta);
/** Reads that. Throws USAGE. */
export const decodeBlockDelta = (bytes: Uint8Array): BlockDelta => decodeCanonical(DELTA, bytes);

const DELTA: RecordForm<BlockDelta> = {
  name: 'BlockDelta',
  write(w, delta) {
    const { block, slot, blockHash, invalid, mmr } = delta;
    w.map((invalid.length > 0 ? 7 : 5) + (mmr === null ? 0 : 1));
    w.uint(0).uint(block).uint(1).uint(slot).uint(2).bytes(blockHash);
    if (delta.form === 'compact') {
      writeList(w.uint(3), delta.created, writeOutpoint);
      writeList(w.uint(4), delta.spent, writeOutpoint);
    } else {
      writeList(w.uint(3), delta.created, writeCreated);
      writeList(w.uint(4), delta.spent, writeSpent);
    }
    if (invalid.length > 0) writeInvalid(w, invalid);
    if (mmr !== null) writeMmr(w, mmr);
  },
  read(c) {
    const d: PartialRecord<DeltaHead> = { block: null, slot: null, blockHash: null, invalid: null, mmr: null };
    const lists: PartialRecord<Lists> = { created: null, spent: null };
    readFields(c, 'a BlockDelta', (key) => {
      if (key === 0) d.block = c.uint();
      else if (key === 1) d.slot = c.uint();
      else if (key === 2) d.blockHash = c.byteString();
      else if (key === 3) lists.created = readListed(c, readCreated);
      else if (key === 4) lists.spent = readListed(c, readSpent);
      else if (key === 5) readFlags(c);
      else if (key === 6) d.invalid = readList(c, () => readInvalid(c));
      else if (key === 7) d.mmr = readMmr(c);
      else return false;
      return true;
    });
    const head = {
      block: required(c, d.block, 'the block number'),
      slot: required(c, d.slot, 'the slot'),
      blockHash: required(c, d.blockHash, 'the block hash'),
      invalid: d.invalid ?? [],
      mmr: d.mmr,
    };
    const created = required(c, lists.created, 'the list of created outputs');
    return withLists(c, head, { created, spent: required(c, lists.spent, 'the list of spent outputs') });
  },
};

/** A list in one of both forms; an empty one is of either. */
interface Listed<T> {
  readonly names: readonly RecordedOutpoint[];
  readonly whole: readonly T[];
}

interface Lists {
  readonly created: Listed<CreatedOutput>;
  readonly spent: Listed<SpentOutput>;
}

function withLists(c: Cursor, head: DeltaHead, { created, spent }: Lists): BlockDelta {
  const isCompact = created.whole.length + spent.whole.length === 0;
  if (isCompact) return { ...head, form: 'compact', created: created.names, spent: spent.names };
  if (created.names.length + spent.names.length > 0) c.fail('one list has records and the other has not');
  return { ...head, form: 'self-contained', created: created.whole, spent: spent.whole };
}

function writeList<T>(w: CborWriter, list: readonly T[], write: (w: CborWriter, each: T) => void): void {
  w.array(list.length);
  for (const each of list) write(w, each);
}

/** What the first element is decides the form; another one behind it does not read as that. */
function readListed<T>(c: Cursor, read: (c: Cursor) => T): Listed<T> {
  const from = c.at;
  const count = c.array();
  const isWhole = c.more(count, 0) && c.peek() === MAP;
  c.at = from;
  return isWhole ? { names: [], whole: readList(c, () => read(c)) } : { names: readList(c, () => readOutpoint(c)), whole: [] };
}

function writeOutpoint(w: CborWriter, { txId, index }: RecordedOutpoint): void {
  w.array(2).bytes(txId).uint(index);
}

function readOutpoint(c: Cursor): RecordedOutpoint {
  const pair = c.tuple(2, 'an outpoint');
  const outpoint = { txId: readHash(c), index: c.uint() };
  c.close(pair);
  return outpoint;
}

function writeCreated(w: CborWriter, output: CreatedOutput): void {
  writeOutpoint(w.map(2).uint(0), output);
  UTXO.write(w.uint(1), output.record);
}

function readCreated(c: Cursor): CreatedOutput {
  const d: PartialRecord<{ readonly outpoint: RecordedOutpoint; readonly record: UtxoRecord }> = { outpoint: null, record: null };
  readFields(c, 'a created output', (key) => {
    if (key === 0) d.outpoint = readOutpoint(c);
    else if (key === 1) d.record = UTXO.read(c);
    else return false;
    return true;
  });
  return { ...required(c, d.outpoint, 'the outpoint'), record: required(c, d.record, 'the record of a created output') };
}

function writeSpent(w: CborWriter, output: SpentOutput): void {
  writeOutpoint(w.map(2 + fieldCount(output.spentBy !== null)).uint(0), output);
  UTXO.write(w.uint(1), output.before);
  bytesIf(w, 2, output.spentBy);
}

function readSpent(c: Cursor): SpentOutput {
  const d: PartialRecord<{ readonly outpoint: RecordedOutpoint } & Pick<SpentOutput, 'before' | 'spentBy'>> = {
    outpoint: null,
    before: null,
    spentBy: null,
  };
  readFields(c, 'a spent output', (key) => {
    if (key === 0) d.outpoint = readOutpoint(c);
    else if (key === 1) d.before = UTXO.read(c);
    else if (key === 2) d.spentBy = readHash(c);
    else return false;
    return true;
  });
  return { ...required(c, d.outpoint, 'the outpoint'), before: required(c, d.before, 'the record of a spent output'), spentBy: d.spentBy };
}

function writeInvalid(w: CborWriter, invalid: readonly InvalidTx[]): void {
  w.uint(5).map(1).uint(0).bool(true);
  w.uint(6).array(invalid.length);
  for (const { txId, hadCollateralReturn } of invalid) {
    w.map(2 + fieldCount(hadCollateralReturn));
    bytesIf(w, 0, txId);
    w.uint(1).bool(true);
    if (hadCollateralReturn) w.uint(2).bool(true);
  }
}

function writeMmr(w: CborWriter, { inserts, deletes, peaks, root }: BlockMmr): void {
  w.uint(7).map(4).uint(0).array(2).uint(inserts[0]).uint(inserts[1]);
  w.uint(1).array(deletes.length);
  for (const leaf of deletes) w.uint(leaf);
  w.uint(2).array(peaks.length);
  for (const peak of peaks) w.bytes(peak);
  w.uint(3).bytes(root);
}

function readMmr(c: Cursor): BlockMmr {
  const d: PartialRecord<BlockMmr> = { inserts: null, deletes: null, peaks: null, root: null };
  readFields(c, 'the mountain range', (key) => {
    if (key === 0) d.inserts = readSizes(c);
    else if (key === 1) d.deletes = readList(c, () => c.uint());
    else if (key === 2) d.peaks = readList(c, () => readHash(c));
    else if (key === 3) d.root = readHash(c);
    else return false;
    return true;
  });
  return {
    inserts: required(c, d.inserts, 'the sizes of the mountain range'),
    deletes: required(c, d.deletes, 'the leaves that were spent'),
    peaks: required(c, d.peaks, 'the peaks of the mountain range'),
    root: required(c, d.root, 'the root of the mountain range'),
  };
}

function readSizes(c: Cursor): BlockMmr['inserts'] {
  const sizes = readList(c, () => c.uint());
  if (sizes.length !== 2) c.fail(`two sizes of the mountain range, not ${sizes.length}`);
  return [sizes[0], sizes[1]];
}

function readHash(c: Cursor): Uint8Array {
  const hash = c.byteString();
  if (hash.length !== HASH_BYTES) c.fail(`a hash has ${HASH_BYTES} bytes, not ${hash.length}`);
  return hash;
}

const HASH_BYTES = 32;

/** `{0: true}`: there are invalid transactions. Field 6 has them, so nothing is kept of it. */
function readFlags(c: Cursor): void {
  readFields(c, 'the flags', (key) => key === 0 && readTrue(c));
}

function readInvalid(c: Cursor): InvalidTx {
  const tx: PartialRecord<InvalidTx> = { txId: null, hadCollateralReturn: null };
  readFields(c, 'an invalid transaction', (key) => {
    if (key === 0) tx.txId = c.byteString();
    else if (key === 1) readTrue(c);
    else if (key === 2) tx.hadCollateralReturn = readTrue(c);
    else return false;
    return true;
  });
  return { txId: required(c, tx.txId, 'the id of an invalid transaction'), hadCollateralReturn: tx.hadCollateralReturn ?? false };
}
