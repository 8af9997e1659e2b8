/**
 * Chain synchronisation of one WebSocket: `findIntersection` says where its
 * client is, `nextBlock` gives the next block or the point to go back to, and at
 * the tip waits until a block comes. Blocks are those of the store; a block whose
 * transactions are not kept cannot be given.
 *
 * A connection holds no snapshot between two requests. It remembers points it
 * gave, so that after a rollback the newest one that is still on the chain is
 * found: all of the last ones, of older ones fewer and fewer, and from the
 * beginning one that can never be undone.
 */
import type { Point } from '../../../ledgers/ledger.ts';
import { isOnChain } from '../../../query/chain-difference.ts';
import { hexOf } from '../../../query/dialect.ts';
import type { Query } from '../../../query/query.ts';
import { fromHex, isHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { Latch } from '../../../util/latch.ts';
import { OGMIOS_POINTS_KEPT_MAX, OGMIOS_POINTS_MAX } from '../../../util/limits.ts';
import type { ServerContext } from '../../context.ts';
import { blockJson } from './block-json.ts';
import type { JsonValue } from './json-text.ts';
import type { RpcMethod, RpcMethods } from './rpc.ts';

const HASH_BYTES = 32;

export class ChainSync {
  readonly methods: RpcMethods;
  /** Whether a `nextBlock` has failed: what the client would be given next is not known. */
  isBroken = false;
  private readonly context: ServerContext;
  private readonly stopListening: () => void;
  /** Oldest first; none: the origin. */
  private points: Point[] = [];
  /** The next answer says where the client is, as a node does after an intersection. */
  private isOpening = true;
  private isClosed = false;
  /** Set when the store has moved, and when the connection is gone. */
  private readonly changed = new Latch();

  constructor(context: ServerContext) {
    this.context = context;
    this.methods = new Map<string, RpcMethod>([
      ['findIntersection', ({ points }) => this.run((query) => this.findIntersection(query, points ?? []))],
      ['nextBlock', () => this.nextBlock()],
    ]);
    this.stopListening = context.reads.onMove(() => this.changed.set());
  }

  /** The connection is gone: nothing waits any more. */
  close(): void {
    this.isClosed = true;
    this.stopListening();
    this.changed.set();
  }

  /** Throws USAGE, POINT_UNKNOWN, UNSUPPORTED where no history is kept. */
  private findIntersection(query: Query, points: unknown): JsonValue {
    if (!Array.isArray(points) || points.length > OGMIOS_POINTS_MAX)
      throw new UnspentError('USAGE', `points is a list of at most ${OGMIOS_POINTS_MAX}`);
    for (const asked of points) {
      const found = this.pointOf(query, asked);
      if (found === undefined) continue;
      this.points = found === null ? [] : [...olderPoints(query, found, this.context.config.utxo), found];
      this.isOpening = true;
      this.isBroken = false;
      return { intersection: pointJson(found), tip: tipJson(query) };
    }
    throw new UnspentError('POINT_UNKNOWN', 'none of these points is on our chain, with the transactions of the block behind it kept', {
      tip: tipJson(query),
    });
  }

  /** Undefined: the point is not on our chain, or what comes behind it is not kept. Throws USAGE. */
  private pointOf(query: Query, asked: unknown): Point | null | undefined {
    if (asked === 'origin') return null;
    const { slot, id } = (asked ?? {}) as { readonly slot?: unknown; readonly id?: unknown };
    if (typeof slot !== 'number' || typeof id !== 'string' || !isHex(id, HASH_BYTES))
      throw new UnspentError('USAGE', `a point is 'origin', or has a slot and the id of a block, in hex`);
    const row = query.blockByHash(fromHex(id));
    const { startHeight, forgottenHeight } = query.history();
    return row === null || row.slot !== slot || row.height + 1 < Math.max(startHeight, forgottenHeight + 1) ? undefined : row;
  }

  private async nextBlock(): Promise<JsonValue> {
    try {
      for (;;) {
        // Before the look, so that a move that comes between it and the wait is not missed.
        this.changed.take();
        const answer = await this.run((query) => this.step(query));
        if (answer !== null) return answer;
        if (!this.isClosed) await this.changed.wait();
        if (this.isClosed) throw new UnspentError('CLOSED', 'the connection is closed');
      }
    } catch (error) {
      this.isBroken = true;
      throw error;
    }
  }

  /** What comes next; null: the client is at the tip. Throws UNSUPPORTED, PRUNED. */
  private step(query: Query): JsonValue | null {
    const known = this.points.findLastIndex((point) => isOnChain(query, point)) + 1;
    if (this.isOpening || known < this.points.length) {
      this.points = this.points.slice(0, known);
      this.isOpening = false;
      return { direction: 'backward', point: pointJson(this.points.at(-1) ?? null), tip: tipJson(query) };
    }
    const last = this.points.at(-1);
    const row = query.blockAfter(last === undefined ? null : query.blockByHash(last.hash));
    if (row === null) return null;
    if (last === undefined && row.height > 0)
      throw new UnspentError('PRUNED', `the store begins at height ${row.height}: it has no block before that`, { height: row.height });
    const block = blockJson(query, row);
    this.remember({ height: row.height, slot: row.slot, hash: row.hash.slice() });
    return { direction: 'forward', block, tip: tipJson(query) };
  }

  private remember(point: Point): void {
    this.points.push(point);
    if (this.points.length <= OGMIOS_POINTS_KEPT_MAX) return;
    // Half of the older half goes; the first, which can never be undone, stays.
    this.points = this.points.filter((_, i) => i >= OGMIOS_POINTS_KEPT_MAX / 2 || i % 2 === 0);
  }

  /** In its turn among all requests. Never refused: a connection asks for one thing at a time, and the number of connections is bounded. */
  private async run<T>(produce: (query: Query) => T): Promise<T> {
    const task = this.context.workload.ownTask(() => this.isClosed);
    try {
      return await task.run(() => {
        const lease = this.context.reads.lease();
        try {
          return produce(lease.query);
        } finally {
          lease.release();
        }
      });
    } finally {
      task.end();
    }
  }
}

/** Blocks below that one, oldest first: each about twice as deep as the one above it, down to the oldest that can be gone back to. */
function olderPoints(query: Query, { height }: Point, windows: ServerContext['config']['utxo']): Point[] {
  const horizon = query.horizon(windows);
  const points: Point[] = [];
  for (let depth = 1; height - depth > (horizon?.height ?? -1); depth *= 2) {
    const row = query.blockAtHeight(height - depth);
    if (row !== null) points.unshift(row);
  }
  if (horizon !== null && horizon.height < height) points.unshift(horizon);
  return points;
}

function pointJson(point: Point | null): JsonValue {
  return point === null ? 'origin' : { slot: point.slot, id: hexOf(point.hash) };
}

function tipJson({ head }: Query): JsonValue {
  return head === null ? 'origin' : { slot: head.slot, id: hexOf(head.hash), height: head.height };
}
