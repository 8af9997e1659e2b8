/**
 * Rows of one published change that are here already, and that rows are not
 * there: they cannot change, because a change is a state. Bounded in bytes: what
 * was not asked for since the last turn goes first.
 */
import type { Row } from '../../engine/engine.ts';

/** A part of a scan: the rows from its start on. */
export interface RowPage {
  readonly rows: readonly Row[];
  /** True: there are no more in its range. */
  readonly isLast: boolean;
}

/** What a map entry costs besides its bytes: an estimate. */
const ENTRY_BYTES = 120;

type Entry = Uint8Array | null | RowPage;

/** Keys as text: a byte is a character. */
export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}

export function rowName(column: string, key: Uint8Array): string {
  return `${column}\0${textOf(key)}`;
}

export function pageName(column: string, gte: Uint8Array | undefined, lt: Uint8Array | undefined, reverse: boolean): string {
  const start = gte === undefined ? '' : textOf(gte);
  return `${column}\n${reverse ? '<' : '>'}${start.length}:${start}${lt === undefined ? '' : textOf(lt)}`;
}

export class CopyCache {
  private readonly halfBytes: number;
  private young = new Map<string, Entry>();
  private old = new Map<string, Entry>();
  private youngBytes = 0;
  private oldBytes = 0;

  constructor(bytesMax: number) {
    this.halfBytes = bytesMax / 2;
  }

  get bytes(): number {
    return this.youngBytes + this.oldBytes;
  }

  /** Null: there is no such row. Undefined: not known here. */
  row(name: string): Uint8Array | null | undefined {
    return this.find(name) as Uint8Array | null | undefined;
  }

  page(name: string): RowPage | undefined {
    return this.find(name) as RowPage | undefined;
  }

  set(name: string, entry: Entry): void {
    this.young.set(name, entry);
    this.youngBytes += sizeOf(name, entry);
    if (this.youngBytes <= this.halfBytes) return;
    this.old = this.young;
    this.oldBytes = this.youngBytes;
    this.young = new Map();
    this.youngBytes = 0;
  }

  clear(): void {
    this.young = new Map();
    this.old = new Map();
    this.youngBytes = 0;
    this.oldBytes = 0;
  }

  private find(name: string): Entry | undefined {
    const entry = this.young.get(name);
    if (entry !== undefined) return entry;
    const older = this.old.get(name);
    if (older !== undefined) this.set(name, older);
    return older;
  }
}

export function sizeOf(name: string, entry: Entry): number {
  const bytes = entry === null ? 0 : entry instanceof Uint8Array ? entry.length : pageBytes(entry);
  return ENTRY_BYTES + name.length + bytes;
}

function pageBytes({ rows }: RowPage): number {
  let bytes = 0;
  for (const [key, value] of rows) bytes += ENTRY_BYTES + key.length + value.length;
  return bytes;
}
