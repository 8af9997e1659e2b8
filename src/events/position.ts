/**
 * Positions: where a reader of events is, as a text that it stores and comes
 * back with. The ids of server-sent events are positions too. A position names
 * a block and how many of its changes were seen. Because that block may be
 * rolled back before the reader comes back, older blocks are named as well,
 * each about four times as deep as the one before.
 *
 *   changes seen (base 36, or `-`: all of them) . base64url of, per block,
 *   newest first: height u32, first 8 bytes of the hash
 *
 * `-.` alone is the origin. To a reader all of it is opaque.
 */
import type { ChainRow } from '../projections/chain.ts';
import type { Dialect } from '../query/dialect.ts';
import type { Query } from '../query/query.ts';
import type { Windows } from '../state/pruned.ts';
import { equalBytes, isHex, readU32, writeU32 } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';

/** Changes seen of a block: every one. */
export const ALL = -1;

const HASH_BYTES = 8;
const POINT_BYTES = 4 + HASH_BYTES;

/** Each gives a block between one and two times as deep; together they reach below any window one would keep for undoing. */
const DEPTHS = [1, 4, 16, 64, 256, 1024, 4096, 16_384] as const;

/** The block itself, the older ones, and the horizon. */
const POINTS_MAX = 2 + DEPTHS.length;
const FORM = /^(-|[0-9a-z]{1,6})\.([A-Za-z0-9_-]*)$/;

interface PositionPoint {
  readonly height: number;
  /** The beginning of the hash, or all of it. */
  readonly hash: Uint8Array;
}

export interface Position {
  /** Changes of the newest block that were seen. */
  readonly seen: number;
  /** Newest first; none: the origin. */
  readonly points: readonly PositionPoint[];
}

/** Writes positions at blocks of one chain, as one query sees it. */
export class PositionWriter {
  private readonly query: Query;
  private readonly horizon: ChainRow | null;
  /** For each depth the block used last: they stand at round heights, so that the next block mostly needs the same ones. */
  private readonly known = new Map<number, { readonly height: number; readonly row: ChainRow | null }>();
  private last: { readonly row: ChainRow; readonly text: string } | null = null;

  /**
   * `horizon`: the oldest block we could go back to. A position that names it always has a block that both sides know,
   * however many blocks above it are undone, and needs none below it. Ids of server-sent events do without.
   */
  constructor(query: Query, horizon: ChainRow | null = null) {
    this.query = query;
    this.horizon = horizon;
  }

  /** The position of a reader that has seen this many changes of the block (null: is at the origin). */
  at(row: ChainRow | null, seen: number): string {
    if (row === null) return '-.';
    if (this.last?.row !== row) this.last = { row, text: this.pointsOf(row) };
    return `${seen === ALL ? '-' : seen.toString(36)}.${this.last.text}`;
  }

  private pointsOf(row: ChainRow): string {
    const rows = [row, ...this.olderThan(row)];
    const bytes = Buffer.alloc(POINT_BYTES * rows.length);
    rows.forEach(({ height, hash }, i) => {
      writeU32(bytes, POINT_BYTES * i, height);
      bytes.set(hash.subarray(0, HASH_BYTES), POINT_BYTES * i + 4);
    });
    return bytes.toString('base64url');
  }

  private olderThan(row: ChainRow): ChainRow[] {
    const { horizon } = this;
    const older = DEPTHS.flatMap((depth) => this.olderBy(row, depth) ?? []);
    if (horizon === null) return older;
    const above = older.filter(({ height }) => height > horizon.height);
    return horizon.height < row.height ? [...above, horizon] : above;
  }

  private olderBy({ height }: ChainRow, depth: number): ChainRow | null {
    const older = (Math.floor(height / depth) - 1) * depth;
    if (older < 0) return null;
    let known = this.known.get(depth);
    if (known?.height !== older) {
      // On the way up, the block before is the one we come from.
      const row = this.last?.row.height === older ? this.last.row : this.query.blockAtHeight(older);
      known = { height: older, row };
      this.known.set(depth, known);
    }
    return known.row;
  }
}

/** The position of a reader that has seen all of the block (null: is at the origin). Without a writer it names no older block. */
export function positionAt(row: ChainRow | null, writer?: PositionWriter): string {
  if (row === null || writer === undefined) return row === null ? '-.' : pointPosition(row);
  return writer.at(row, ALL);
}

/** The same, where nothing is known of the blocks below. */
export function pointPosition({ height, hash }: { readonly height: number; readonly hash: Uint8Array }): string {
  const bytes = Buffer.alloc(POINT_BYTES);
  writeU32(bytes, 0, height);
  bytes.set(hash.subarray(0, HASH_BYTES), 4);
  return `-.${bytes.toString('base64url')}`;
}

/** The height of the block that a position names; -1: it is the origin. */
export function positionHeight(text: string): number {
  const bytes = Buffer.from(text.slice(text.indexOf('.') + 1), 'base64url');
  return bytes.length === 0 ? -1 : readU32(bytes, 0);
}

/** A position, or the hash of a block whose changes were all seen. Throws USAGE. */
export function parsePosition(text: string, query: Query, { parseId }: Pick<Dialect, 'parseId'>): Position {
  if (isHex(text, 32)) {
    const hash = parseId(text);
    return { seen: ALL, points: [{ height: query.blockByHash(hash)?.height ?? 0, hash }] };
  }
  const [, seen, encoded] = FORM.exec(text) ?? [];
  const bytes = encoded === undefined ? undefined : Buffer.from(encoded, 'base64url');
  if (
    bytes === undefined ||
    bytes.length % POINT_BYTES !== 0 ||
    bytes.length > POINT_BYTES * POINTS_MAX ||
    (seen !== '-' && bytes.length === 0)
  )
    throw new UnspentError('USAGE', `'${text.slice(0, 80)}' is neither the id of an event nor the hash of a block`, { field: 'after' });
  const points: PositionPoint[] = [];
  for (let at = 0; at < bytes.length; at += POINT_BYTES)
    points.push({ height: readU32(bytes, at), hash: bytes.subarray(at + 4, at + POINT_BYTES) });
  return { seen: seen === '-' ? ALL : Number.parseInt(seen, 36), points };
}

/** Where a reader is that has taken in the whole block of an event, of which the id says how many changes were told. */
export function behindBlock(id: string): string {
  return `-${id.slice(id.indexOf('.'))}`;
}

/** Where a reader goes on. */
export interface Resumption {
  /** The newest block of its position that is still on our chain; null: the origin. */
  readonly row: ChainRow | null;
  /** Changes of that block that it has seen. */
  readonly seen: number;
  /** Blocks above it that the reader has seen and we may have lost: they were rolled back while it was away. */
  readonly lost: number;
}

/** Null: no block of the position is on our chain, and we could not have gone back to the origin. */
export function resume({ seen, points }: Position, query: Query, windows: Windows): Resumption | null {
  if (points.length === 0) return { row: null, seen: ALL, lost: 0 };
  const rows = points.map((point) => findPoint(query, point));
  if (rows[0] !== null) return { row: rows[0], seen, lost: 0 };
  const row = rows.find((found) => found !== null) ?? null;
  if (row === null && query.horizon(windows) !== null) return null;
  return { row, seen: ALL, lost: points[0].height - (row?.height ?? -1) };
}

/** The block of that height and hash on the chain of this query, or null. */
function findPoint(query: Query, { height, hash }: PositionPoint): ChainRow | null {
  const newest = query.blockAtHeight(height);
  if (newest === null || startsWith(newest, hash)) return newest;
  // A boundary block hides the one whose height it shares.
  const hidden = newest.boundary ? query.blockByHash(newest.prevHash) : null;
  return hidden !== null && hidden.height === height && startsWith(hidden, hash) ? hidden : null;
}

function startsWith(row: ChainRow, hash: Uint8Array): boolean {
  return equalBytes(row.hash.subarray(0, hash.length), hash);
}
