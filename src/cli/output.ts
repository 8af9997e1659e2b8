/**
 * What a command writes: its result on stdout (with --json exactly one
 * document), everything else on stderr. A reader that leaves early, as `head`
 * does, ends the command quietly.
 */

import { toHex } from '../util/bytes.ts';
import { nextTurn } from '../util/time-slice.ts';

/** Rows of a long answer between two looks at whether anyone still reads. */
const ROWS_PER_TURN = 1000;

/** Where text goes: the streams of a process, or whatever stands in for them. */
export type TextStream = Pick<NodeJS.WriteStream, 'write'> & Partial<Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>>;

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
  /** The one document, for programs. */
  document(value: unknown): void;
  /** The one document, with a list in it that may be longer than memory. */
  documentWithList(head: object, name: string, rows: Iterable<unknown>, tail: () => object): Promise<void>;
  /** A line that is not the result: on stderr, and not at all with --quiet. */
  remark(text: string): void;
  /** A line that says what went wrong: on stderr, whoever wants quiet. */
  complain(text: string): void;
  /** A question to whoever sits there: on stderr, without an end of line. */
  ask(text: string): void;
}

export function createOutput(json: boolean, quiet: boolean, { stdout, stderr }: OutputStreams): Output {
  let hasDocument = false;
  return {
    json,
    quiet,
    get hasDocument() {
      return hasDocument;
    },
    line(text = '') {
      stdout.write(`${text}\n`);
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
    remark(text) {
      if (!quiet) stderr.write(`${text}\n`);
    },
    complain(text) {
      stderr.write(`${text}\n`);
    },
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
