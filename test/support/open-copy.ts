/**
 * A copy of a store that is open, as a kill of its process would leave the
 * files. RocksDB writes tables and deletes logs in threads of its own, so the
 * copy is made again until nothing has changed meanwhile.
 */
import { deepEqual } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from './patience.ts';

export function copyOfOpen(from: string, to: string): Promise<void> {
  return eventually(() => {
    rmSync(to, { recursive: true, force: true });
    cpSync(from, to, { recursive: true });
    deepEqual(filesOf(to), filesOf(from));
  });
}

/** The hash of every file, by its path. */
export function filesOf(directory: string): Record<string, string> {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name)).sort();
  return Object.fromEntries(
    paths.map((path) => [path.slice(directory.length), createHash('sha256').update(readFileSync(path)).digest('hex')]),
  );
}
