/**
 * What the process that has a store open and one that asks it say to each other
 * over the control socket: JSON, one message a line, each line bounded. The
 * holder greets; the other sends one request, a command line; the holder sends
 * what the command writes, and its exit code. To close the connection is to
 * cancel. In place of a command it may ask to watch: then the holder sends samples.
 */
import { UnspentError } from '../../util/errors.ts';
import { errorOf, type Failure } from '../../util/failure.ts';
import { CONTROL_ARGUMENTS_MAX, CONTROL_LINE_BYTES_MAX, WATCH_MS_MIN } from '../../util/limits.ts';
import type { SettingValue } from '../../util/setting.ts';
import type { LiveSample } from '../live/sample.ts';

/** The first line of the holder. */
export interface Greeting {
  /** The version of the holder: another one asks nothing of it. */
  readonly unspent: string;
  readonly process: number;
  /** When it opened the store. */
  readonly since: string;
  /** What it is: `unspent start`, or a program that has the library. */
  readonly holder: string;
  /** Where it serves the store; null: nowhere. */
  readonly url: string | null;
}

/** The one line of whoever asks. */
export interface CommandRequest {
  readonly unspent: string;
  /** The command line, without the name of the program. */
  readonly args: readonly string[];
  /** The settings that were given there, by key: by flags, variables or a file. */
  readonly settings: Readonly<Record<string, SettingValue>>;
  /** Where its relative paths begin. */
  readonly cwd: string;
  /** Columns of the terminal it shows progress on; null: none. */
  readonly columns: number | null;
  /** Columns of the terminal its result goes to; null: none. */
  readonly resultColumns: number | null;
  /** Whether its result may have colours. */
  readonly colours: boolean;
}

/** In place of a command: samples of what the store does, until the connection ends. */
export interface WatchRequest {
  readonly unspent: string;
  /** Milliseconds between two. */
  readonly watchMs: number;
}

/** What a watcher is sent. */
export interface WatchOutput {
  readonly sample: LiveSample;
}

/** From the holder, after its greeting: what the command writes, and at last how it ended. */
export type CommandOutput =
  | { readonly out: string }
  | { readonly err: string }
  | { readonly exit: number }
  /** The command was not run, or not to its end. */
  | { readonly failure: Failure };

export function lineOf(message: Greeting | CommandRequest | WatchRequest | CommandOutput | WatchOutput): string {
  return `${JSON.stringify(message)}\n`;
}

/** Makes messages of bytes as they come. Throws PROTOCOL for what is no line of JSON, or a line without an end. */
export class LineReader {
  private rest: Buffer[] = [];
  private restBytes = 0;

  take(bytes: Buffer): unknown[] {
    const messages: unknown[] = [];
    let from = 0;
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
      this.keep(bytes.subarray(from, end));
      messages.push(parseLine(Buffer.concat(this.rest)));
      this.rest = [];
      this.restBytes = 0;
      from = end + 1;
    }
    if (from < bytes.length) this.keep(bytes.subarray(from));
    return messages;
  }

  private keep(part: Buffer): void {
    this.restBytes += part.length;
    if (this.restBytes > CONTROL_LINE_BYTES_MAX) throw broken(`a line has more than ${CONTROL_LINE_BYTES_MAX} bytes`);
    this.rest.push(part);
  }
}

function parseLine(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8'));
  } catch (cause) {
    throw broken('a line is not JSON', cause);
  }
}

/** Throws PROTOCOL. */
export function asGreeting(message: unknown): Greeting {
  const { unspent, process, since, holder, url } = asRecord(message);
  if (typeof unspent !== 'string' || typeof process !== 'number' || typeof since !== 'string' || typeof holder !== 'string')
    throw broken('that is no greeting');
  return { unspent, process, since, holder, url: typeof url === 'string' ? url : null };
}

/** Null: it asks for something else. */
export function asWatchRequest(message: unknown): WatchRequest | null {
  const { unspent, watchMs } = asRecord(message);
  if (typeof watchMs !== 'number' || !(watchMs > 0) || typeof unspent !== 'string') return null;
  return { unspent, watchMs: Math.max(WATCH_MS_MIN, watchMs) };
}

/** Throws what the holder says it cannot do, and PROTOCOL. */
export function asSample(message: unknown): LiveSample {
  const { sample, failure } = asRecord(message);
  if (typeof failure === 'object' && failure !== null) throw errorOf(failure as Failure);
  if (typeof sample !== 'object' || sample === null) throw broken('that is no sample');
  // Made by the same version, which the greeting has said.
  return sample as LiveSample;
}

/** Throws PROTOCOL. */
export function asRequest(message: unknown): CommandRequest {
  const { unspent, args, settings, cwd, columns, resultColumns, colours } = asRecord(message);
  if (typeof unspent !== 'string') throw broken('a request names no version');
  if (!Array.isArray(args) || args.length > CONTROL_ARGUMENTS_MAX || !args.every((arg) => typeof arg === 'string'))
    throw broken(`a request has no list of at most ${CONTROL_ARGUMENTS_MAX} arguments`);
  const given = asRecord(settings);
  if (!Object.values(given).every((value) => ['string', 'number', 'boolean'].includes(typeof value)))
    throw broken('a setting of a request has no value');
  if (typeof cwd !== 'string') throw broken('a request names no directory');
  return {
    unspent,
    args,
    settings: given as CommandRequest['settings'],
    cwd,
    columns: asColumns(columns),
    resultColumns: asColumns(resultColumns),
    colours: colours === true,
  };
}

function asColumns(value: unknown): number | null {
  return typeof value === 'number' && value > 0 ? Math.floor(value) : null;
}

/** Throws PROTOCOL. */
export function asOutput(message: unknown): CommandOutput {
  const { out, err, exit, failure } = asRecord(message);
  if (typeof out === 'string') return { out };
  if (typeof err === 'string') return { err };
  if (typeof exit === 'number') return { exit };
  if (typeof failure === 'object' && failure !== null) return { failure: failure as Failure };
  throw broken('that is no answer');
}

function asRecord(message: unknown): Record<string, unknown> {
  if (typeof message !== 'object' || message === null || Array.isArray(message)) throw broken('a message is not an object');
  return message as Record<string, unknown>;
}

function broken(what: string, cause?: unknown): UnspentError {
  return new UnspentError('PROTOCOL', `on the control socket of a store: ${what}`, {}, cause);
}
