/**
 * A list in JSON as the body of an answer: in one piece where it is short, else
 * as a stream that is made no faster than its reader takes it. The first rows
 * are made in slices, like any other work, so that a list whose rows are few and
 * far between holds nobody up.
 */
import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { ROWS_WHOLE_MAX } from '../../util/limits.ts';
import type { ResponseBody } from './read-answer.ts';
import { RowStream } from './rows.ts';
import type { ServerState } from './server-state.ts';

export interface ListRows<Row extends object> {
  readonly rows: Iterable<Row>;
  /** Which of them are in the list. Absent: all. */
  accept?(row: Row): boolean;
  encode(row: Row): string;
}

/** Throws BUSY, or rejects with it. */
export function listBody<Row extends object>(
  state: ServerState,
  request: FastifyRequest,
  list: ListRows<Row>,
): ResponseBody | Promise<ResponseBody> {
  const { task, method } = request;
  // Nobody reads the body of a HEAD.
  if (method === 'HEAD') return Readable.from([]);
  const rows = list.rows[Symbol.iterator]();
  const first: string[] = [];
  let isLonger = false;
  // Rows that were made already are text.
  const accept = (row: Row | string): boolean => typeof row === 'string' || list.accept?.(row) !== false;
  const encode = (row: Row | string): string => (typeof row === 'string' ? row : list.encode(row));
  const take = (row: Row): boolean => {
    if (!accept(row)) return true;
    const text = encode(row);
    task.hold(text.length);
    isLonger = first.push(text) === ROWS_WHOLE_MAX;
    return !isLonger;
  };
  const finish = (): ResponseBody => {
    if (!isLonger) return `[${first.join(',')}]`;
    return state.stream(new RowStream(task, behind(first, rows), accept, encode, 'json'));
  };
  // The rest of a longer list is read from the same rows, so only work that is given up closes them.
  const held = { [Symbol.iterator]: () => ({ next: () => rows.next(), return: () => (isLonger ? ENDED : (rows.return?.() ?? ENDED)) }) };
  return task.inSlices(held, take, finish);
}

const ENDED = { done: true, value: undefined } as const;

/** What was made already, then the rest. No generator: one that was not begun would not close the rows with it. */
function behind<Row>(first: readonly string[], rows: Iterator<Row>): Iterable<Row | string> {
  let at = 0;
  const next = (): IteratorResult<Row | string> => (at < first.length ? { done: false, value: first[at++] } : rows.next());
  return { [Symbol.iterator]: () => ({ next, return: () => rows.return?.() ?? ENDED }) };
}
