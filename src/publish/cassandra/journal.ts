/**
 * The journal of a copy in Cassandra: what a version does to every row, packed in
 * pieces of one partition. It is whole before the version is announced, so that
 * whoever leads next can finish it; afterwards it says which old versions of rows
 * have become useless.
 *
 * An attempt is the epoch of who made it. A version may have several, of leaders
 * that were fenced before they announced theirs; the last one counts, because a
 * later leader would have found the version announced.
 *
 *   piece 0    JSON: HeadValues, generation, how many pieces and operations follow
 *   others     for each operation: column u16, length of the key u32, of the value u32 (all ones: deleted), key, value
 */
import { assert, UnspentError } from '../../util/errors.ts';
import { CASSANDRA_JOURNAL_BYTES } from '../../util/limits.ts';
import type { HeadValues } from './head.ts';
import type { CopyTables } from './schema.ts';
import { type CassandraSession, forEachInParallel } from './session.ts';

/** What a version does to one row; no value: deletes it. */
export interface Operation {
  /** The place of the column among those of the identity. */
  readonly column: number;
  readonly key: Uint8Array;
  readonly value: Uint8Array | undefined;
}

export interface JournalHead extends HeadValues {
  readonly generation: string;
  readonly pieces: number;
  readonly operations: number;
}

export interface JournalEntry {
  readonly head: JournalHead;
  readonly operations: readonly Operation[];
}

const DELETED = 0xffff_ffff;
const FRAME_BYTES = 10;

export class Journal {
  private readonly session: CassandraSession;
  private readonly table: string;

  constructor(session: CassandraSession, { journal }: CopyTables) {
    this.session = session;
    this.table = journal;
  }

  async write(version: bigint, attempt: bigint, values: HeadValues, generation: bigint, operations: readonly Operation[]): Promise<void> {
    const pieces = pack(operations);
    const head: JournalHead = { ...values, generation: String(generation), pieces: pieces.length, operations: operations.length };
    const text = `INSERT INTO ${this.table} (version, attempt, n, data) VALUES (?, ?, ?, ?)`;
    const all = [Buffer.from(JSON.stringify(head)), ...pieces];
    await forEachInParallel(all.entries(), ([n, data]) => this.session.write(text, [version, attempt, n, data], attempt));
  }

  /** Throws DATABASE where it is not whole. */
  async read(version: bigint, attempt: bigint): Promise<JournalEntry> {
    const rows = await this.session.read(`SELECT n, data FROM ${this.table} WHERE version = ? AND attempt = ?`, [version, attempt]);
    return entryOf(
      rows.map((row) => row['data'] as Buffer),
      version,
    );
  }

  /** Of the attempt that counts; null: it is not there any more. */
  async readLast(version: bigint): Promise<JournalEntry | null> {
    const text = `SELECT attempt FROM ${this.table} WHERE version = ? ORDER BY attempt DESC LIMIT 1`;
    const [row] = await this.session.read(text, [version]);
    return row === undefined ? null : this.read(version, row['attempt'] as bigint);
  }

  /** `attempt`: at least the last there was. */
  async delete(version: bigint, attempt: bigint): Promise<void> {
    await this.session.write(`DELETE FROM ${this.table} WHERE version = ?`, [version], attempt);
  }
}

function entryOf([first, ...pieces]: readonly Buffer[], version: bigint): JournalEntry {
  const head = first === undefined ? null : (JSON.parse(first.toString()) as JournalHead);
  const operations = pieces.flatMap(unpack);
  if (head === null || pieces.length !== head.pieces || operations.length !== head.operations)
    throw new UnspentError('DATABASE', `the journal of version ${version} is not whole: rows of the copy were lost`);
  return { head, operations };
}

function pack(operations: readonly Operation[]): Buffer[] {
  const pieces: Buffer[] = [];
  let frames: Uint8Array[] = [];
  let bytes = 0;
  for (const { column, key, value } of operations) {
    const frame = Buffer.allocUnsafe(FRAME_BYTES);
    frame.writeUInt16BE(column, 0);
    frame.writeUInt32BE(key.length, 2);
    frame.writeUInt32BE(value?.length ?? DELETED, 6);
    frames.push(frame, key, ...(value === undefined ? [] : [value]));
    bytes += FRAME_BYTES + key.length + (value?.length ?? 0);
    if (bytes < CASSANDRA_JOURNAL_BYTES) continue;
    pieces.push(Buffer.concat(frames));
    [frames, bytes] = [[], 0];
  }
  if (frames.length > 0) pieces.push(Buffer.concat(frames));
  return pieces;
}

function unpack(piece: Buffer): Operation[] {
  const operations: Operation[] = [];
  for (let at = 0; at < piece.length; ) {
    const [column, keyLength, valueLength] = [piece.readUInt16BE(at), piece.readUInt32BE(at + 2), piece.readUInt32BE(at + 6)];
    const keyAt = at + FRAME_BYTES;
    const valueAt = keyAt + keyLength;
    at = valueAt + (valueLength === DELETED ? 0 : valueLength);
    assert(at <= piece.length, 'an operation of the journal ends in its piece');
    operations.push({
      column,
      key: piece.subarray(keyAt, valueAt),
      value: valueLength === DELETED ? undefined : piece.subarray(valueAt, at),
    });
  }
  return operations;
}
