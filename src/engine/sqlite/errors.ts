/**
 * What SQLite says, in our words. `errcode` is SQLite's extended result code:
 * the low byte is the kind of failure, the rest tells the cases apart
 * (https://www.sqlite.org/rescode.html).
 */
import { type ErrorCode, UnspentError } from '../../util/errors.ts';

type StoreCode = Extract<ErrorCode, 'STORE_LOCKED' | 'STORE_DAMAGED' | 'DISK_FULL' | 'IO'>;

const SAYS: Readonly<Record<StoreCode, string>> = {
  STORE_LOCKED: 'another process has the store open',
  STORE_DAMAGED: 'the store is damaged',
  DISK_FULL: 'no space is left on the disk of the store',
  IO: 'the store cannot be read or written',
};

const BY_KIND: ReadonlyMap<number, StoreCode> = new Map([
  [5, 'STORE_LOCKED'], // SQLITE_BUSY
  [6, 'STORE_LOCKED'], // SQLITE_LOCKED
  [11, 'STORE_DAMAGED'], // SQLITE_CORRUPT
  [13, 'DISK_FULL'], // SQLITE_FULL
  [26, 'STORE_DAMAGED'], // SQLITE_NOTADB
]);

/** Of the kind SQLITE_IOERR: which of them are not the disk's refusal. */
const BY_CODE: ReadonlyMap<number, StoreCode> = new Map([
  [522, 'STORE_DAMAGED'], // IOERR_SHORT_READ: the file ends before a page that must be there
  [8202, 'STORE_DAMAGED'], // IOERR_DATA: a checksum of the file system
  [8458, 'STORE_DAMAGED'], // IOERR_CORRUPTFS
  [4874, 'DISK_FULL'], // IOERR_SHMSIZE: the index of the log cannot grow
]);

/** Node's own failures beside SQLite's: making the directory, the seal. */
const BY_SYSTEM: ReadonlyMap<string, StoreCode> = new Map([
  ['ENOSPC', 'DISK_FULL'],
  ['EDQUOT', 'DISK_FULL'],
]);

/** A failure that is neither SQLite's nor the system's is a mistake of ours, and stays what it is. */
export function sqliteError(cause: unknown, directory: string): unknown {
  const { code: system, errcode, syscall, message } = cause as NodeJS.ErrnoException & { readonly errcode?: number };
  if (errcode === undefined && syscall === undefined) return cause;
  const known = errcode === undefined ? BY_SYSTEM.get(system ?? '') : (BY_CODE.get(errcode) ?? BY_KIND.get(errcode & 0xff));
  const code = known ?? 'IO';
  const number = errcode === undefined ? '' : `, SQLite ${errcode}`;
  return new UnspentError(code, `${SAYS[code]} (${directory}): ${message}${number}`, { directory }, cause);
}
