/**
 * Where a projection begins that keeps what blocks say and was switched on for a
 * store that had blocks already: with the block after the one the store was at.
 *
 *   chain: ff "from." name  ->  height u32 of its first block; no row: it has every block of the store
 *
 * If a rollback goes below that height, the projection begins where the rollback
 * ended, because it sees every block that comes after.
 */
import type { Batch, Reader } from '../engine/engine.ts';
import { readU32, writeU32 } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';
import { CHAIN, metaKey } from './chain.ts';
import type { StepBlock } from './projection.ts';

const HEIGHT_BYTES = 4;
/** A boundary block has the height of the block before it, if there is one, and a longer key. */
const BLOCK_KEY_BYTES = 8;

export function startHeightKey(name: string): Uint8Array {
  return metaKey(`from.${name}`);
}

/** The height of the first block that the projection has seen; 0: it has seen all. */
export function readStartHeight(reader: Reader, name: string): number {
  const value = reader.get(CHAIN, startHeightKey(name));
  if (value === undefined) return 0;
  if (value.length !== HEIGHT_BYTES)
    throw new UnspentError('STORE_DAMAGED', `the first height of ${name} has ${value.length} bytes`, { name });
  return readU32(value, 0);
}

/** From this batch on the projection, whose columns are empty, begins with the block of that height. */
export function writeStartHeight(batch: Batch, name: string, height: number): void {
  if (height === 0) {
    batch.del(CHAIN, startHeightKey(name));
    return;
  }
  const value = new Uint8Array(HEIGHT_BYTES);
  writeU32(value, 0, height);
  batch.put(CHAIN, startHeightKey(name), value);
}

/** Of blocks that are undone, newest first: those the projection has seen. Lowers its first height where others are among them. */
export function undoneSince<B extends StepBlock>(blocks: readonly B[], view: Reader, batch: Batch, name: string): readonly B[] {
  const start = readStartHeight(view, name);
  const last = blocks.at(-1);
  if (start === 0 || last === undefined || last.height >= start) return blocks;
  const sharesHeight = last.key.length > BLOCK_KEY_BYTES && last.height > 0;
  writeStartHeight(batch, name, last.height + (sharesHeight ? 1 : 0));
  return blocks.filter(({ height }) => height >= start);
}
