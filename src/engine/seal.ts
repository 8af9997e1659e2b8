/**
 * The seal of a store that was closed properly: the names and sizes of its
 * files. RocksDB notices a missing table by itself, but opens happily, and then
 * deletes what it does not know, when a log file is missing or the tail of the
 * manifest is cut off. With the seal both are found before RocksDB runs.
 *
 * The seal is taken away while the store is open: after a crash there is none,
 * and RocksDB's own recovery decides.
 */
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { UnspentError } from '../util/errors.ts';
import { writeFileAtomically } from './directory.ts';

/** RocksDB leaves names it does not know alone. */
const SEAL_FILE = 'unspent.seal';

/** What holds data: tables, logs, the manifest and the pointer to it. */
const DATA_FILE = /^(\d+\.(sst|log)|MANIFEST-\d+|CURRENT)$/;

type Seal = Readonly<Record<string, number>>;

/** After a proper close. Without a seal a store opens too, so a full disk is no reason to fail here. */
export function writeSeal(directory: string): void {
  try {
    const seal: Record<string, number> = {};
    for (const name of readdirSync(directory).sort()) {
      if (DATA_FILE.test(name)) seal[name] = statSync(join(directory, name)).size;
    }
    writeFileAtomically(directory, SEAL_FILE, `${JSON.stringify(seal)}\n`);
  } catch {
    rmSync(join(directory, SEAL_FILE), { force: true });
  }
}

/** Compares the files with the seal, if there is one; changes nothing. */
export function checkSeal(directory: string): void {
  const seal = readSeal(directory);
  if (seal === undefined) return;
  for (const [name, size] of Object.entries(seal)) {
    const found = statSync(join(directory, name), { throwIfNoEntry: false })?.size;
    if (found === size) continue;
    // Another process may have opened the store since we read the seal; the lock will tell.
    if (readSeal(directory) === undefined) return;
    const what = found === undefined ? 'is missing' : `has ${found} bytes instead of ${size}`;
    throw new UnspentError('STORE_DAMAGED', `the store is damaged (${directory}): ${name} ${what}`, { directory, file: name });
  }
}

/** Removes the seal before the files change; what it returns undoes that. */
export function takeSeal(directory: string): () => void {
  const path = join(directory, SEAL_FILE);
  if (!existsSync(path)) return () => {};
  const text = readFileSync(path, 'utf8');
  rmSync(path);
  return () => writeFileAtomically(directory, SEAL_FILE, text);
}

/** A seal that does not parse was cut short by a power failure: as good as none. */
function readSeal(directory: string): Seal | undefined {
  try {
    const seal: unknown = JSON.parse(readFileSync(join(directory, SEAL_FILE), 'utf8'));
    return typeof seal === 'object' && seal !== null ? (seal as Seal) : undefined;
  } catch {
    return undefined;
  }
}
