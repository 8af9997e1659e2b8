/**
 * The state of the UTXO mountain range and the record of a block as bytes, to
 * be kept beside the nodes. Read back strictly: what does not fit is damage.
 */
import { ByteReader, ByteWriter } from '../../util/byte-writer.ts';
import { UnspentError } from '../../util/errors.ts';
import { HASH_BYTES } from '../verdict.ts';
import { isSize, peaksOf } from './positions.ts';
import type { Range } from './range.ts';
import type { BlockRecord, UtxoMmr } from './utxo.ts';

/** The state as bytes. */
export function encodeState({ range, bitmap, cutoff }: UtxoMmr): Uint8Array {
  const w = new ByteWriter();
  writeRange(w, range);
  w.varint(bitmap.chunkCount);
  w.run(bitmap.root);
  w.varint(cutoff);
  return w.view().slice();
}

/** Reads that. Throws STORE_DAMAGED. */
export function decodeState(bytes: Uint8Array): UtxoMmr {
  const r = new ByteReader(bytes, 'the state of the mountain range');
  const range = readRangeOf(r);
  const bitmap = { chunkCount: r.varint(), root: r.run(HASH_BYTES) };
  const state = { range, bitmap, cutoff: r.varint() };
  r.end();
  return state;
}

export function encodeBlockRecord(record: BlockRecord): Uint8Array {
  const w = new ByteWriter();
  w.varint(record.prevSize);
  writeRange(w, record);
  w.varint(record.spent.length);
  let last = 0;
  for (const leafIndex of record.spent) {
    w.varint(leafIndex - last);
    last = leafIndex;
  }
  w.run(record.pmmrRoot);
  w.run(record.bitmapRoot);
  w.run(record.mergedBefore);
  return w.view().slice();
}

export function decodeBlockRecord(bytes: Uint8Array): BlockRecord {
  const r = new ByteReader(bytes, 'the record of a block in the mountain range');
  const prevSize = readSize(r);
  const { size, peaks } = readRangeOf(r);
  const spent: number[] = [];
  for (let count = r.varint(); count > 0; count--) spent.push((spent.at(-1) ?? 0) + r.varint());
  const pmmrRoot = r.run(HASH_BYTES);
  const bitmapRoot = r.run(HASH_BYTES);
  const mergedBefore = r.run(HASH_BYTES);
  r.end();
  return { prevSize, size, spent, peaks, pmmrRoot, bitmapRoot, mergedBefore };
}

/** The number of peaks follows from the size. */
function writeRange(w: ByteWriter, { size, peaks }: Range): void {
  w.varint(size);
  for (const peak of peaks) w.run(peak);
}

function readRangeOf(r: ByteReader): Range {
  const size = readSize(r);
  return { size, peaks: peaksOf(size).map(() => r.run(HASH_BYTES)) };
}

function readSize(r: ByteReader): number {
  const size = r.varint();
  if (!isSize(size)) throw new UnspentError('STORE_DAMAGED', `no mountain range has ${size} nodes`);
  return size;
}
