/**
 * What a mini-protocol is: its messages, and a table of states that says who
 * may send what, how large it may be and how long it may take. `session.ts`
 * holds both sides of a connection to such a table.
 */
import { Cursor, TEXT } from '../../../util/cbor.ts';
import { UnspentError } from '../../../util/errors.ts';

/** Who started a mini-protocol on this connection, and who answers. */
export type Role = 'initiator' | 'responder';

export interface Message {
  readonly kind: string;
}

export interface StateRule<Kind extends string, State extends string> {
  /** Whose turn it is; nobody's when the protocol has ended. */
  readonly agency: Role | 'nobody';
  /** What may be sent, and the state it leads to. */
  readonly sends: Readonly<Partial<Record<Kind, State>>>;
  readonly bytesMax: number;
  /** How long the one whose turn it is may take; a pair: drawn at random between the two; null: for ever. */
  readonly timeoutMs: number | readonly [number, number] | null;
}

export interface Protocol<M extends Message, State extends string> {
  readonly name: string;
  /** On the wire. */
  readonly number: number;
  readonly initial: State;
  readonly states: Readonly<Record<State, StateRule<M['kind'], State>>>;
  /** The kind of which the initiator may send more before the first was answered. */
  readonly pipelined: M['kind'] | null;
  encode(message: M): Uint8Array;
  /** Reads one whole message. Throws PROTOCOL. */
  decode(bytes: Uint8Array): M;
}

/** CBOR inside CBOR. */
export const ENCODED_TAG = 24;

export const ENDED = { agency: 'nobody', sends: {}, bytesMax: 0, timeoutMs: null } as const;

/** The peer did what it may not do. */
export function violation(what: string, meta: Record<string, unknown> = {}, cause?: unknown): UnspentError {
  return new UnspentError('PROTOCOL', `the peer broke the protocol: ${what}`, meta, cause);
}

/** Reads a message `[key, ...]`: `read` is given the key and how many fields follow (-1: not told), and must use up the bytes. */
export function readMessage<M>(name: string, bytes: Uint8Array, read: (c: Cursor, key: number, fields: number) => M | undefined): M {
  const c = new Cursor(bytes);
  try {
    const count = c.array();
    const key = c.uint();
    const message = read(c, key, count < 0 ? count : count - 1);
    if (message === undefined) throw violation(`${name} has no message ${key} of ${count} fields`, { protocol: name, key });
    c.close(count);
    if (c.at !== bytes.length) c.fail('bytes after the end of the message');
    return message;
  } catch (error) {
    if (!(error instanceof UnspentError) || error.code === 'PROTOCOL') throw error;
    throw violation(`a malformed ${name} message: ${error.message}`, { protocol: name, ...error.meta }, error);
  }
}

/** True when a message has `wanted` fields behind its key; one of indefinite length is found out by reading it. */
export function has(fields: number, wanted: number): boolean {
  return fields < 0 || fields === wanted;
}

/** The next item as it is encoded: a view. */
export function rawItem(c: Cursor): Uint8Array {
  const start = c.at;
  c.skip();
  return c.bytes.subarray(start, c.at);
}

export function readBool(c: Cursor): boolean {
  const byte = c.bytes[c.at];
  if (c.at >= c.end || (byte !== 0xf4 && byte !== 0xf5)) c.fail('expected true or false');
  c.at++;
  return byte === 0xf5;
}

/** A text of definite length. */
export function readText(c: Cursor): string {
  const at = c.at;
  if (!c.head() || c.major !== TEXT) c.fail('expected a text', at);
  if (c.hi !== 0 || c.lo > c.end - c.at) c.fail('text longer than the bytes left', at);
  const start = c.at;
  c.at += c.lo;
  return new TextDecoder().decode(c.bytes.subarray(start, c.at));
}
