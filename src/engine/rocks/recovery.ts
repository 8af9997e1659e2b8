/**
 * Whether what RocksDB is about to recover is all there. RocksDB notices a
 * missing table and a wrong checksum, but it opens without a word, and then
 * deletes what it does not know, when a log is missing or ends early, or when
 * the end of the manifest is cut off. So the manifest and the logs are held
 * against each other first. Nothing is changed.
 *
 * Every operation has a sequence number, the next one. So the logs from the
 * oldest that the manifest needs must follow one another without a gap, begin
 * where the tables end, and reach as far as any table does. A log that ends in
 * a broken record is the trace of a crash: RocksDB goes back to the commit
 * before it, and that is allowed as long as no table is ahead of it.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { UnspentError } from '../../util/errors.ts';
import { readLog } from './log.ts';
import { readManifest } from './manifest.ts';

/**
 * A column nobody writes to. When RocksDB opens a database, it moves all that is
 * in the logs into tables, and says of every column that only logs of a higher
 * number count. Of the others the number changes later, of this one it stays: so
 * it tells that number, and the sequence number the next log begins with.
 */
export const IDLE_COLUMN = 'idle';

/** Sequence number u64 and number of operations u32 of a write batch. */
const BATCH_HEADER_BYTES = 12;

const LOG_FILE = /^(\d+)\.log$/;

export interface RecoveryExpectation {
  /** Columns the database has, unless it is empty: RocksDB would make a missing one anew. */
  readonly columns: readonly string[];
  /** The last sequence number of a store that was closed properly; null: it was not. */
  readonly sequence: number | null;
}

/** Throws STORE_DAMAGED when something is missing. */
export function checkRecovery(directory: string, expected: RecoveryExpectation): void {
  const damaged = (what: string) => new UnspentError('STORE_DAMAGED', `the store is damaged (${directory}): ${what}`, { directory });
  const manifest = readManifest(directory);
  const oldest = Math.max(manifest.minLogToKeep, Math.min(...manifest.columns.map((column) => column.logNumber)));
  const logs = logNumbers(directory).filter((number) => number >= oldest);
  const [first, ...later] = manifest.columns.filter(({ logNumber }) => logNumber > oldest && !logs.includes(logNumber));
  if (first !== undefined) throw damaged(`log ${first.logNumber} is missing (for ${[first, ...later].map(({ name }) => name).join(', ')})`);
  const idle = manifest.columns.find(({ name }) => name === IDLE_COLUMN)?.logNumber;
  const behind = idle === undefined ? [] : manifest.columns.filter(({ name, logNumber }) => logNumber < idle && name !== 'default');
  // When it opens, RocksDB gives every column the same number in one go. (A new database has `default` before it has a log, and
  // where its process was killed then, the next one makes the other columns with a later log.)
  if (behind.length > 0) throw damaged(`the manifest ends before ${behind.map(({ name }) => name).join(', ')}`);
  // The last sequence number before the oldest log; null where that log is known by its number instead. The idle column is
  // made before the others, and they before the first operation.
  const begin = idle === undefined ? 0 : oldest <= idle ? (manifest.logSequences.get(idle) ?? null) : null;
  if (begin === null && !logs.includes(oldest)) throw damaged(`log ${oldest} is missing`);
  if (logs.length === 0 && manifest.lastSequence > 0) throw damaged('there is no log');

  const { last, isBroken } = walk(directory, logs, begin, damaged);
  const ahead = last === null ? undefined : manifest.columns.find(({ tableSequence }) => tableSequence > last);
  if (ahead !== undefined) throw damaged(`the tables of ${ahead.name} are ahead of the logs`);
  if (expected.sequence !== null && (isBroken || (last !== null && last !== expected.sequence))) {
    throw damaged(`it was closed after operation ${expected.sequence}, and its logs can be read up to ${last}`);
  }
  if (Math.max(last ?? 0, manifest.lastSequence) === 0) return;
  const absent = expected.columns.filter((name) => !manifest.columns.some((column) => column.name === name));
  if (absent.length > 0) throw damaged(`the manifest lacks the columns ${absent.join(', ')}`);
}

/** How far RocksDB will get; null: unknown, because the logs hold nothing. Throws where it would pass over a gap. */
function walk(
  directory: string,
  logs: readonly number[],
  begin: number | null,
  damaged: (what: string) => UnspentError,
): { last: number | null; isBroken: boolean } {
  let last: number | null = null;
  let isBroken = false;
  let emptyLog: string | null = null;
  for (const number of logs) {
    const name = logName(number);
    const records = readLog(join(directory, name), BATCH_HEADER_BYTES);
    let next = records.next();
    for (; !next.done; next = records.next()) {
      if (next.value.length < BATCH_HEADER_BYTES) throw damaged(`${name} has a record that is no batch`);
      const header = Buffer.from(next.value.buffer, next.value.byteOffset, BATCH_HEADER_BYTES);
      const sequence = Number(header.readBigUInt64LE(0));
      const follows = last === null ? begin === null || sequence <= begin + 1 : sequence === last + 1;
      // After a broken record RocksDB goes on only with the very next operation, and leaves out everything else.
      if (isBroken && (last === null || !follows)) break;
      if (!follows || emptyLog !== null) {
        throw damaged(`operations are missing before ${sequence} (${emptyLog ?? name})`);
      }
      isBroken = false;
      last = sequence + header.readUInt32LE(8) - 1;
    }
    if (next.done) isBroken ||= next.value.isBroken;
    else records.return({ isBroken, resumeAt: 0 });
    // A new log is begun only when the one before has something in it.
    if (last === null && !isBroken) emptyLog = name;
  }
  return { last: last ?? begin, isBroken };
}

function logNumbers(directory: string): number[] {
  return readdirSync(directory)
    .flatMap((name) => LOG_FILE.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
}

function logName(number: number): string {
  return `${`${number}`.padStart(6, '0')}.log`;
}
