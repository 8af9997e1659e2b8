/**
 * The chain itself: `chain` by height and `chain_hash` by hash.
 *
 *   chain key    height u64; a boundary block, which has its predecessor's
 *                height, appends 01 and so sorts right behind it
 *   chain value  hash 32 | previous hash 32 (zeros: none) | slot u64 | era u8
 *                | tx count u32 | size u32 | what the ledger adds
 *
 * Size 0: the store began at that block with a snapshot, which tells neither its
 * size nor how many transactions it has.
 *
 * A header is kept as long as its block may be asked for as a snapshot: in the
 * undo record of the block, and of the newest block that has none any more in a
 * reserved row (its key, its length first; the header).
 */
import type { Batch, ColumnSpec, Reader } from '../engine/engine.ts';
import { BLOCK_EXTRA_BYTES_MAX, type Block, type HeaderFacts, type Point } from '../ledgers/ledger.ts';
import { concatBytes, copyBytes, equalBytes, readU32, readU64, utf8, writeU32, writeU64 } from '../util/bytes.ts';
import { Scratch } from '../util/scratch.ts';
import type { ProjectionEntry } from './entry.ts';
import type { Projection } from './projection.ts';

export const CHAIN = 'chain';
export const CHAIN_HASH = 'chain_hash';

/**
 * First byte of the reserved rows of `chain`, behind every height: for what is only a few bytes and changes with each
 * step. A column of its own with so little traffic would keep old log files alive (spec/storage.md, trap 4).
 */
export const META_PREFIX = 0xff;

export function metaKey(name: string): Uint8Array {
  return Uint8Array.of(META_PREFIX, ...utf8(name));
}

const HEADER_KEY = metaKey('header');

const AT = { hash: 0, prev: 32, slot: 64, era: 72, txs: 73, size: 77, extra: 81 } as const;
const NO_HASH = new Uint8Array(32);

const columns: readonly ColumnSpec[] = [
  { name: CHAIN, access: 'order', weight: 6 },
  { name: CHAIN_HASH, access: 'archive', weight: 3 },
];

/** Key of the last regular block at this height (`boundary`: of the boundary block there). */
export function chainKey(height: number, boundary: boolean): Uint8Array {
  const key = new Uint8Array(boundary ? 9 : 8);
  writeU64(key, 0, height);
  if (boundary) key[8] = 1;
  return key;
}

/** A block as its row in the store has it. */
export interface ChainRow extends Point {
  /** The hash of the block before it; zeros: none. */
  readonly prevHash: Uint8Array;
  /** Its era, as its ledger counts. */
  readonly era: number;
  /** It carries the height of the block before it. */
  readonly boundary: boolean;
  /** Its transactions. */
  readonly txCount: number;
  /** Its bytes; 0: only its header is known. */
  readonly size: number;
  /** What the ledger wanted kept (`Block.extra`). */
  readonly extra: Uint8Array;
}

export function readChainRow(key: Uint8Array, value: Uint8Array): ChainRow {
  return {
    height: readU64(key, 0),
    boundary: key.length > 8,
    hash: value.subarray(AT.hash, AT.hash + 32),
    prevHash: value.subarray(AT.prev, AT.prev + 32),
    slot: readU64(value, AT.slot),
    era: value[AT.era],
    txCount: readU32(value, AT.txs),
    size: readU32(value, AT.size),
    extra: value.subarray(AT.extra),
  };
}

export function chainProjection(): Projection {
  const value = new Scratch(AT.extra + BLOCK_EXTRA_BYTES_MAX);
  return {
    name: CHAIN,
    columns,
    apply(step, _view, batch) {
      for (const { block, key } of step.blocks) {
        batch.put(CHAIN, key, writeChainRow(block, value));
        batch.put(CHAIN_HASH, block.hash, key);
      }
      return step.blocks.map(({ block }) => block.headerBytes);
    },
    revert(step, _undo, _view, batch) {
      for (const block of step.blocks) {
        batch.del(CHAIN, block.key);
        batch.del(CHAIN_HASH, block.hash, block.key);
      }
    },
    settle(blocks, _view, batch) {
      const newest = blocks.at(-1);
      if (newest?.undo !== undefined) writeOldestHeader(batch, newest.key, newest.undo);
    },
  };
}

export const chainEntry = { name: CHAIN, from: 'blocks', make: () => chainProjection() } as const satisfies ProjectionEntry;

/** Of the oldest block whose past is known: behind it everything is forgotten, its own undo record too. */
export function writeOldestHeader(batch: Batch, key: Uint8Array, header: Uint8Array): void {
  batch.put(CHAIN, HEADER_KEY, concatBytes(Uint8Array.of(key.length), key, header));
}

/** The same for the block with this key; undefined: it is another. */
export function readOldestHeader(reader: Reader, key: Uint8Array): Uint8Array | undefined {
  const row = reader.get(CHAIN, HEADER_KEY);
  if (row === undefined) return undefined;
  const end = 1 + row[0];
  return equalBytes(row.subarray(1, end), key) ? row.subarray(end) : undefined;
}

/** The row of a block of which only the header is known. */
export function headerRow({ hash, prevHash, extra }: HeaderFacts, slot: number, era: number): Uint8Array {
  const bytes = new Uint8Array(AT.extra + extra.length);
  bytes.set(hash, AT.hash);
  bytes.set(prevHash ?? NO_HASH, AT.prev);
  writeU64(bytes, AT.slot, slot);
  bytes[AT.era] = era;
  bytes.set(extra, AT.extra);
  return bytes;
}

function writeChainRow(block: Block, scratch: Scratch): Uint8Array {
  const { bytes } = scratch;
  copyBytes(block.hash, 0, bytes, AT.hash, 32);
  copyBytes(block.prevHash ?? NO_HASH, 0, bytes, AT.prev, 32);
  writeU64(bytes, AT.slot, block.slot);
  bytes[AT.era] = block.era;
  writeU32(bytes, AT.txs, block.txs.length);
  writeU32(bytes, AT.size, block.raw.length);
  const { extra } = block;
  copyBytes(extra, 0, bytes, AT.extra, extra.length);
  return scratch.view(AT.extra + extra.length);
}
