/**
 * State that belongs to a module has no owner: it outlives every store and
 * server, and is shared by all of them. So there is none, except where the whole
 * process is the owner, and for memory that is reused inside one call.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, resolve, sep } from 'node:path';
import { describe, test } from 'node:test';

const src = resolve(import.meta.dirname, '../../src');

/** Top-level `let`: file, name, why. */
const VARIABLES: readonly (readonly [file: string, name: string, why: string])[] = [
  ['crypto/sha256-pairs.ts', 'pairs', 'memory that is reused inside one call, made when it is first needed'],
  ['ledgers/bitcoin/decode.ts', 'txIds', 'memory that is reused inside one call, made when it is first needed'],
  ['server/metrics/metrics.ts', 'ofProcess', 'metrics of the process itself'],
  ['util/key-order.ts', 'packed', 'memory that is reused inside one call'],
  ['util/slab.ts', 'slab', 'memory that is handed out once'],
  ['wallet/selection/columns.ts', 'scopes', 'memory that is reused inside one call'],
];

/** Top-level maps that are written to. */
const TABLES: readonly (readonly [file: string, name: string, why: string])[] = [
  ['server/native/events/route.ts', 'counters', 'weak: it lives as long as the server of its context'],
  ['txstore/embedded/tx-cache.ts', 'caches', 'weak: it lives as long as the engine whose records it has'],
];

/** The page is a program of its own: one module for each part of one document. */
const PAGE = 'server/page/client/';

const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .map((name) => name.split(sep).join(posix.sep))
  .filter((name) => name.endsWith('.ts') && !name.startsWith(PAGE))
  .sort();

function found(pattern: RegExp): string[] {
  return files.flatMap((file) => [...readFileSync(join(src, file), 'utf8').matchAll(pattern)].map(([, name]) => `${file} ${name}`));
}

describe('module state', () => {
  test('no variable belongs to a module', () => {
    assert.deepEqual(
      found(/^(?:export )?let (\w+)/gm),
      VARIABLES.map(([file, name]) => `${file} ${name}`),
    );
  });

  test('no map or set that is written to belongs to a module', () => {
    const made = found(/^(?:export )?const (\w+)[^=\n]* = new (?:Map|Set|WeakMap|WeakSet)\b/gm);
    const written = made.filter((entry) => {
      const [file, name] = entry.split(' ');
      return new RegExp(`\\b${name}\\.(set|add|delete|clear)\\(`).test(readFileSync(join(src, file), 'utf8'));
    });
    assert.deepEqual(
      written,
      TABLES.map(([file, name]) => `${file} ${name}`),
    );
  });
});
