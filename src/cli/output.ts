/**
 * What a command writes: its result on stdout (with --json exactly one
 * document), everything else on stderr. A reader that leaves early, as `head`
 * does, ends the command quietly.
 */

import { toHex } from '../util/bytes.ts';
import { nextTurn } from '../util/time-slice.ts';
import { pairs } from './format.ts';
import { foldLines } from './terminal/fold-lines.ts';
import type { CommandLog } from './terminal/log-writer.ts';
import type { Terminal } from './terminal/terminal.ts';

/** Rows of a long answer between two looks at whether anyone still reads. */
const ROWS_PER_TURN = 1000;

/** Where text goes: the streams of a process, or whatever stands in for them. */
export type TextStream = Pick<NodeJS.WriteStream, 'write'> & Partial<Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'rows'>>;

export interface OutputStreams {
  readonly stdout: TextStream;
  readonly stderr: TextStream;
}

export interface Output {
  readonly json: boolean;
  readonly quiet: boolean;
  /** True once the one document has been begun. */
  readonly hasDocument: boolean;
  /** A line of the result, for people. */
  line(text?: string): void;
  /** A result that is a text of its own, as it is. */
  raw(text: string): void;
  /** Names and values of the result, one pair a line, for people. */
  pairs(rows: readonly (readonly [name: string, value: string])[]): void;
  /** The one document, for programs. */
  document(value: unknown): void;
  /** The one document, with a list in it that may be longer than memory. */
  documentWithList(head: object, name: string, rows: Iterable<unknown>, tail: () => object): Promise<void>;
  /** The answer to a command on standard input: where the result goes, unless that is one document. */
  answer(text: string): void;
  /** A line that is not the result: on stderr, and not at all with --quiet. */
  remark(text: string): void;
  /** A line that says what went wrong: on stderr, whoever wants quiet. */
  complain(text: string): void;
  /** The word that a failure begins with, as it stands out on a terminal. */
  alarm(text: string): string;
  /** A question to whoever sits there: on stderr, without an end of line. */
  ask(text: string): void;
}

/** `log`: of a command that goes on, whose remarks are entries of its log. */
export function createOutput(json: boolean, quiet: boolean, { stdout, stderr, style }: Terminal, log?: CommandLog): Output {
  let hasDocument = false;
  const tell = (stream: TextStream, text: string): void => {
    stream.write(`${stream.isTTY === true ? foldLines(text, stream.columns || 0) : text}\n`);
  };
  return {
    json,
    quiet,
    get hasDocument() {
      return hasDocument;
    },
    line(text = '') {
      tell(stdout, text);
    },
    raw(text) {
      stdout.write(text);
    },
    pairs(rows) {
      tell(stdout, pairs(rows, style.stdout.dim));
    },
    document(value) {
      hasDocument = true;
      stdout.write(`${toJson(value, 2)}\n`);
    },
    async documentWithList(head, name, rows, tail) {
      hasDocument = true;
      stdout.write(`${toJson(head).slice(0, -1)},"${name}":[`);
      let count = 0;
      for (const row of rows) {
        stdout.write(`${count++ === 0 ? '\n' : ',\n'}${toJson(row)}`);
        // The news that the pipe is closed needs a turn of the event loop to arrive.
        if (count % ROWS_PER_TURN === 0) await nextTurn();
      }
      stdout.write(`${count === 0 ? '' : '\n'}],${toJson(tail()).slice(1)}\n`);
    },
    answer(text) {
      tell(json ? stderr : stdout, text);
    },
    remark(text) {
      if (log !== undefined) log.info('cli', 'remark', text);
      else if (!quiet) tell(stderr, text);
    },
    complain(text) {
      if (log?.isJson) log.error('cli', 'failed', text);
      else tell(stderr, text);
    },
    alarm: (text) => (log?.isJson ? text : style.stderr.bold(style.stderr.red(text))),
    ask(text) {
      stderr.write(text);
    },
  };
}

/** Exact amounts are strings and bytes are hex, wherever they turn up. */
function toJson(value: unknown, indent?: number): string {
  const plain = (_: string, each: unknown): unknown => {
    if (typeof each === 'bigint') return each.toString();
    return each instanceof Uint8Array ? toHex(each) : each;
  };
  return JSON.stringify(value, plain, indent);
}

/** Once per process: a closed pipe is the reader's choice, not a failure. */
export function endQuietlyOnClosedPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') process.stderr.write(`unspent: the output cannot be written: ${error.message}\n`);
    process.exit(error.code === 'EPIPE' ? 0 : 1);
  });
  // Standard error is closed: remarks are dropped, and the work goes on.
  process.stderr.on('error', () => {});
}
