/** A copy of a SQLite wallet database as it is at one moment, while others read and write it. */
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { UnspentError } from '../util/errors.ts';

/** Throws IO, also where there is a file already: a backup never overwrites another. */
export function backupSqlite(file: string, target: string): void {
  if (existsSync(target)) throw new UnspentError('IO', `'${target}' is there already`);
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    database.prepare('VACUUM INTO ?').run(target);
  } catch (error) {
    throw new UnspentError('IO', `the backup '${target}' cannot be written: ${(error as Error).message}`, {}, error);
  } finally {
    database.close();
  }
}
