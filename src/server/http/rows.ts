/**
 * Rows as they go out: a list as a whole, or every row of a key as one array
 * that is made while it is sent, no faster than its reader takes it.
 */
import { Readable } from 'node:stream';
import type { IndexedUtxo } from '../../query/query.ts';
import { HTTP_PIECE_CHARS } from '../../util/limits.ts';
import type { ResponseFormat } from './conditional.ts';
import type { Task } from './work/task.ts';

/** A row as it stands in the answer: text of JSON, or bytes of CBOR. */
export type EncodedRow = string | Uint8Array;
export type RowEncoder<Row> = (row: Row) => EncodedRow;

/** Which rows of an index are meant; a row that is not costs a look and no more. */
export type RowFilter = (row: IndexedUtxo) => boolean;

/** A list as a whole. */
export function joinRows(rows: readonly EncodedRow[], form: ResponseFormat): EncodedRow {
  if (form === 'json') return `[${rows.join(',')}]`;
  return Buffer.concat([arrayHead(rows.length), ...(rows as readonly Uint8Array[])]);
}

/** CBOR: the head of an array of that many items. */
function arrayHead(count: number): Uint8Array {
  if (count < 24) return Uint8Array.of(0x80 | count);
  if (count < 0x1_0000) return Uint8Array.of(0x99, count >> 8, count & 0xff);
  return Uint8Array.of(0x9a, count >>> 24, (count >>> 16) & 0xff, (count >>> 8) & 0xff, count & 0xff);
}

/** What stands before the first row, between two and behind the last one in JSON. */
export interface RowFrame {
  readonly open: string;
  /** Default: a comma. */
  readonly between?: string;
  readonly close: string;
}

const ARRAY_FRAME: RowFrame = { open: '[', close: ']' };
/** A document a line. */
export const LINES_FRAME: RowFrame = { open: '', between: '\n', close: '\n' };

/** Every row as one array, made when the reader asks for more. CBOR: an array of indefinite length. */
export class RowStream<Row = IndexedUtxo> extends Readable {
  readonly #task: Task;
  readonly #source: Iterator<Row>;
  readonly #accept: ((row: Row) => boolean) | undefined;
  readonly #encode: RowEncoder<Row>;
  readonly #json: boolean;
  readonly #frame: RowFrame;
  #begun = false;
  #written = 0;
  #waits = false;

  constructor(
    task: Task,
    source: Iterable<Row>,
    accept: ((row: Row) => boolean) | undefined,
    encode: RowEncoder<Row>,
    form: ResponseFormat,
    frame = ARRAY_FRAME,
  ) {
    super({ highWaterMark: HTTP_PIECE_CHARS });
    this.#task = task;
    this.#source = source[Symbol.iterator]();
    this.#accept = accept;
    this.#encode = encode;
    this.#json = form === 'json';
    this.#frame = frame;
  }

  /** Always in a turn of its own: a reader that takes everything at once must not be the only one served. */
  override _read(): void {
    if (this.#waits) return;
    this.#waits = true;
    this.#task.later(
      (end) => this.#next(end),
      () => this.destroy(),
    );
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#source.return?.();
    done(error);
  }

  #next(end: number): void {
    this.#waits = false;
    if (this.destroyed) return;
    try {
      this.#piece(end);
    } catch (error) {
      this.destroy(error as Error);
    }
  }

  #piece(end: number): void {
    const { rows, last } = this.#slice(end);
    const piece = this.#json ? this.#text(rows, last) : this.#bytes(rows, last);
    this.#begun = true;
    this.#written += rows.length;
    if (piece.length > 0) this.push(piece);
    else if (!last) this._read();
    if (last) this.push(null);
  }

  /** Rows until the piece is large enough, the slice is over, or there are no more. */
  #slice(end: number): { rows: EncodedRow[]; last: boolean } {
    const rows: EncodedRow[] = [];
    let size = 0;
    do {
      const { done, value } = this.#source.next();
      if (done === true) return { rows, last: true };
      if (this.#accept?.(value) === false) continue;
      const row = this.#encode(value);
      size += row.length;
      rows.push(row);
    } while (size < HTTP_PIECE_CHARS && performance.now() < end);
    return { rows, last: false };
  }

  #text(rows: readonly EncodedRow[], last: boolean): string {
    const { open, between = ',', close } = this.#frame;
    const joint = this.#written > 0 && rows.length > 0 ? between : '';
    return `${this.#begun ? joint : open}${rows.join(between)}${last ? close : ''}`;
  }

  #bytes(rows: readonly EncodedRow[], last: boolean): Uint8Array {
    const before = this.#begun ? [] : [Uint8Array.of(0x9f)];
    return Buffer.concat([...before, ...(rows as readonly Uint8Array[]), ...(last ? [Uint8Array.of(0xff)] : [])]);
  }
}
