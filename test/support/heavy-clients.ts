/**
 * Client libraries that are not among our packages, because of their weight or
 * because something of theirs compiles at install (docs/drop-in.md):
 * `UNSPENT_TEST_CLIENTS` names a folder in which they are installed, and tests of one
 * that is not there are skipped.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const folder = process.env['UNSPENT_TEST_CLIENTS'];

/** For `describe`: false where the package is there, else why it is skipped. */
export function skipWithout(name: string): string | false {
  return folder !== undefined && existsSync(join(folder, 'node_modules', name))
    ? false
    : `UNSPENT_TEST_CLIENTS names no folder with ${name}`;
}

export function loadClient<T>(name: string): T {
  return createRequire(resolve(join(folder ?? '', 'clients.cjs')))(name) as T;
}

/** The folder of their packages, for a bundler. */
export function clientModules(): string {
  return resolve(join(folder ?? '', 'node_modules'));
}
