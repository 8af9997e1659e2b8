/**
 * Client libraries that are not among our packages, because of their weight or
 * because something of theirs compiles at install (docs/drop-in.md): they are
 * installed in `test/clients`, and tests of one that is not there are skipped.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '../clients');

/** The folder of their packages, for a bundler. */
export const CLIENT_MODULES = join(FOLDER, 'node_modules');

/** For `describe`: false where the package is there, else why it is skipped. */
export function skipWithout(name: string): string | false {
  return existsSync(join(CLIENT_MODULES, name)) ? false : `${name} is not there: npm ci --prefix test/clients --ignore-scripts`;
}

export function loadClient<T>(name: string): T {
  return createRequire(join(FOLDER, 'package.json'))(name) as T;
}
