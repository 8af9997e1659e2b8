/**
 * The interchange record of a block: which outputs it created and which it
 * spent, with their records or without (docs/reference/records.md).
 */
import type { Cursor } from '../util/cbor.ts';
import type { CborWriter } from '../util/cbor-write.ts';
import type { BlockMmr } from './proofs-mmr.ts';
import { bytesIf, count, type Draft, decode, encode, type Form, readFields, readList, readTrue, required } from './record-form.ts';
import { ENTRY, type OutputEntry } from './records.ts';

export interface InvalidTx {
  readonly txId: Uint8Array;
  readonly hadCollateralReturn: boolean;
}

export interface BlockDelta {
  readonly block: number;
  readonly slot: number;
  readonly blockHash: Uint8Array;
  readonly created: readonly OutputEntry[];
  readonly spent: readonly OutputEntry[];
  readonly invalid: readonly InvalidTx[];
  /** Of stores that keep a Merkle mountain range. */
  readonly mmr: BlockMmr | null;
}

export const encodeDelta = (delta: BlockDelta): Uint8Array => encode(DELTA, delta);
export const decodeDelta = (bytes: Uint8Array): BlockDelta => decode(DELTA, bytes);

const DELTA: Form<BlockDelta> = {
  name: 'BlockDelta',
  write(w, { block, slot, blockHash, created, spent, invalid, mmr }) {
    w.map((invalid.length > 0 ? 7 : 5) + (mmr === null ? 0 : 1));
    w.uint(0).uint(block).uint(1).uint(slot).uint(2).bytes(blockHash);
    w.uint(3).array(created.length);
    for (const entry of created) ENTRY.write(w, entry);
    w.uint(4).array(spent.length);
    for (const entry of spent) ENTRY.write(w, entry);
    if (invalid.length > 0) writeInvalid(w, invalid);
    if (mmr !== null) writeMmr(w, mmr);
  },
  read(c) {
    const d: Draft<BlockDelta> = { block: null, slot: null, blockHash: null, created: null, spent: null, invalid: null, mmr: null };
    readFields(c, 'a BlockDelta', (key) => {
      if (key === 0) d.block = c.uint();
      else if (key === 1) d.slot = c.uint();
      else if (key === 2) d.blockHash = c.byteString();
      else if (key === 3) d.created = readList(c, () => ENTRY.read(c));
      else if (key === 4) d.spent = readList(c, () => ENTRY.read(c));
      else if (key === 5) readFlags(c);
      else if (key === 6) d.invalid = readList(c, () => readInvalid(c));
      else if (key === 7) d.mmr = readMmr(c);
      else return false;
      return true;
    });
    return {
      block: required(c, d.block, 'the block number'),
      slot: required(c, d.slot, 'the slot'),
      blockHash: required(c, d.blockHash, 'the block hash'),
      created: required(c, d.created, 'the list of created outputs'),
      spent: required(c, d.spent, 'the list of spent outputs'),
      invalid: d.invalid ?? [],
      mmr: d.mmr,
    };
  },
};

function writeInvalid(w: CborWriter, invalid: readonly InvalidTx[]): void {
  w.uint(5).map(1).uint(0).bool(true);
  w.uint(6).array(invalid.length);
  for (const { txId, hadCollateralReturn } of invalid) {
    w.map(2 + count(hadCollateralReturn));
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
  const d: Draft<BlockMmr> = { inserts: null, deletes: null, peaks: null, root: null };
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
  const tx: Draft<InvalidTx> = { txId: null, hadCollateralReturn: null };
  readFields(c, 'an invalid transaction', (key) => {
    if (key === 0) tx.txId = c.byteString();
    else if (key === 1) readTrue(c);
    else if (key === 2) tx.hadCollateralReturn = readTrue(c);
    else return false;
    return true;
  });
  return { txId: required(c, tx.txId, 'the id of an invalid transaction'), hadCollateralReturn: tx.hadCollateralReturn ?? false };
}
