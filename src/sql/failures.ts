/**
 * What a database's failure means for the call and for the store (wallet
 * specification, section 10): a transient one is tried again, a permanent one
 * fails the call, a fatal one makes the store unhealthy until it is opened anew.
 */

export type FailureClass = 'transient' | 'permanent' | 'fatal';

export interface SqlFailure {
  readonly class: FailureClass;
  /** The code of the database: SQLSTATE, or SQLite's name. */
  readonly reason: string;
}

/** SQLite's primary result codes that are not permanent (https://www.sqlite.org/rescode.html). */
const SQLITE_REASONS: ReadonlyMap<number, SqlFailure> = new Map([
  [5, { class: 'transient', reason: 'SQLITE_BUSY' }],
  [6, { class: 'transient', reason: 'SQLITE_LOCKED' }],
  [8, { class: 'fatal', reason: 'SQLITE_READONLY' }],
  [10, { class: 'fatal', reason: 'SQLITE_IOERR' }],
  [11, { class: 'fatal', reason: 'SQLITE_CORRUPT' }],
  [13, { class: 'fatal', reason: 'SQLITE_FULL' }],
  [26, { class: 'fatal', reason: 'SQLITE_NOTADB' }],
]);

/** Undefined: not an error of SQLite. */
export function sqliteFailure(error: unknown): SqlFailure | undefined {
  const { errcode } = error as { readonly errcode?: number };
  if (errcode === undefined) return undefined;
  return SQLITE_REASONS.get(errcode & 0xff) ?? { class: 'permanent', reason: `SQLITE_${errcode}` };
}

const TRANSIENT = /^(40001|40P01|55P03|57P0[1-3]|08...|53300)$/;
const FATAL = /^(53100|53200|25006|42501|XX001|XX002)$/;
/** A connection that breaks is told by the socket, or by the driver in words. */
const SOCKET = /^E(CONNREFUSED|CONNRESET|PIPE|TIMEDOUT|NOENT|HOSTUNREACH)$/;
const BROKEN =
  /Connection terminated|Client has encountered a connection error|connection timeout|timeout exceeded when trying to connect/i;

/** Undefined: not an error of PostgreSQL or of the way to it. */
export function postgresFailure(error: unknown): SqlFailure | undefined {
  const { code, message, syscall } = error as { readonly code?: string; readonly message?: string; readonly syscall?: string };
  if (code !== undefined && syscall !== undefined && SOCKET.test(code)) return { class: 'transient', reason: code };
  if (code !== undefined && /^[0-9A-Z]{5}$/.test(code)) {
    if (TRANSIENT.test(code)) return { class: 'transient', reason: code };
    return { class: FATAL.test(code) ? 'fatal' : 'permanent', reason: code };
  }
  if (message !== undefined && BROKEN.test(message)) return { class: 'transient', reason: '08006' };
  return undefined;
}

/** What is thrown inside a write that finds its data changed by another: a transient failure, so that it is tried again. */
export class WriteConflict extends Error {
  /** Serialization failure. */
  readonly code = '40001';
}

/** What is thrown in place of a refusal to write where the URL names other servers: another one may take it. A transient failure. */
export class ServerDemoted extends Error {
  /** Cannot connect now. */
  readonly code = '57P03';

  constructor(cause: Error) {
    super(`the server takes no writes any more: ${cause.message}`, { cause });
  }
}
