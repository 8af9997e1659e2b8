/**
 * Pages: how many rows, from where, in which order, and how to get the next
 * ones. A cursor names the block it was given out at; while that block is on
 * the chain, pages put together are the whole, nothing skipped and nothing
 * repeated. Page numbers are for those who need them and promise less.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { afterCursor, checkCursor, decodeCursor, encodeCursor, type ListKind, pageCursor } from '../../query/cursor.ts';
import { UnspentError } from '../../util/errors.ts';
import { HTTP_SKIPPED_ROWS_MAX } from '../../util/limits.ts';
import type { ReadContext } from './answer.ts';
import type { ListQuery } from './schemas.ts';

const ROWS_DEFAULT = 100;

export interface PagePlan {
  /** Null: all of them. */
  readonly limit: number | null;
  readonly skip: number;
  readonly order: 'asc' | 'desc';
  readonly after: Uint8Array | undefined;
}

/** Throws USAGE, LIMIT or CURSOR_STALE. */
export function planPage(given: ListQuery, read: ReadContext, kind: ListKind, key: Uint8Array, rowsMax: number): PagePlan {
  const order = given.order ?? 'asc';
  const all = given.all === true || given.limit === 'all';
  if (given.after !== undefined && given.page !== undefined) throw contradiction('page', 'after');
  if (all && given.page !== undefined) throw contradiction('page', 'all');
  if (given.all === true && typeof given.limit === 'number') throw contradiction('limit', 'all');
  const limit = typeof given.limit === 'number' ? given.limit : Math.min(ROWS_DEFAULT, rowsMax);
  return {
    limit: all ? null : limit,
    skip: skipped(given.page ?? 1, limit),
    order,
    after: given.after === undefined ? undefined : placeOf(given.after, read, kind, order, key),
  };
}

function skipped(page: number, limit: number): number {
  const skip = (page - 1) * limit;
  if (skip <= HTTP_SKIPPED_ROWS_MAX) return skip;
  throw new UnspentError('LIMIT', `page passes over ${skip} rows, at most ${HTTP_SKIPPED_ROWS_MAX} are; go on with after instead`, {
    field: 'page',
    limit: HTTP_SKIPPED_ROWS_MAX,
  });
}

function placeOf(text: string, { query }: ReadContext, kind: ListKind, order: 'asc' | 'desc', key: Uint8Array): Uint8Array {
  const cursor = decodeCursor(text);
  const after = afterCursor(cursor, kind, order, key);
  checkCursor(query, cursor);
  return after;
}

function contradiction(field: string, other: string): UnspentError {
  return new UnspentError('USAGE', `${field} and ${other} do not go together`, { field });
}

/** Says where the next page begins; `next` is where the last row of this one stands. */
export function announceNext(
  request: FastifyRequest,
  reply: FastifyReply,
  read: ReadContext,
  kind: ListKind,
  plan: PagePlan,
  next: Uint8Array,
): void {
  const { head } = read.view;
  if (head === null) return;
  const cursor = encodeCursor(pageCursor(kind, plan.order, next, head));
  const [path, search] = (request.raw.url ?? '').split('?');
  const parameters = new URLSearchParams(search);
  parameters.delete('page');
  parameters.set('after', cursor);
  reply.header('x-next-after', cursor).header('link', `<${path}?${parameters}>; rel="next"`);
}
