/**
 * Where the sample data is: real blocks, genesis files and oracles, kept beside
 * the repository. UNSPENT_FIXTURES names another place. A test that needs them
 * passes `needsFixtures` to node:test and is counted as skipped without them.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';

const root = resolve(process.env['UNSPENT_FIXTURES'] ?? join(import.meta.dirname, '../../../shared'));

/** The path of a file or folder of the sample data. */
export function fixtures(...path: readonly string[]): string {
  return join(root, ...path);
}

export const hasFixtures = existsSync(fixtures('cardano')) || existsSync(fixtures('bitcoin'));

/** For the options of a test: `test(name, needsFixtures, ...)`. */
export const needsFixtures: { readonly skip: string | false } = {
  skip: hasFixtures ? false : `needs the sample data, not found at ${root}; set UNSPENT_FIXTURES`,
};

/** The bytes of a file; `.gz` is unpacked. A missing file is an error: the data is there or it is not. */
export function readFixture(...path: readonly string[]): Uint8Array {
  const bytes = readFileSync(fixtures(...path));
  return path.at(-1)?.endsWith('.gz') ? gunzipSync(bytes) : bytes;
}

export function readFixtureText(...path: readonly string[]): string {
  return new TextDecoder().decode(readFixture(...path));
}
