/**
 * One exported name, one meaning. A type, class or function that two files
 * export under the same name makes a reader look twice, so none do, except where
 * the folder says which one is meant: inside the two families, inside the three
 * Merkle structures, which others see as `csmt.*`, `mmr.*` and `mpf.*`, and in
 * the page, which is a program of its own.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, resolve, sep } from 'node:path';
import { describe, test } from 'node:test';

const src = resolve(import.meta.dirname, '../../src');

/** Folders with names of their own. */
const NAMESPACES = [/(^|\/)cardano\//, /(^|\/)bitcoin\//, /^proofs\/csmt\//, /^proofs\/mmr\//, /^proofs\/mpf\//, /^server\/page\/client\//];

const DECLARED = /^export (?:default )?(?:declare )?(?:abstract )?(?:async )?(?:function\*?|class|interface|type) ([A-Za-z]\w*)/gm;

const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .map((name) => name.split(sep).join(posix.sep))
  .filter((name) => name.endsWith('.ts') && !NAMESPACES.some((folder) => folder.test(name)))
  .sort();

function namesOf(text: string): Set<string> {
  return new Set([...text.matchAll(DECLARED)].map(([, name]) => name));
}

describe('exported names', () => {
  test('are found: the test itself reads them', () => {
    const sample =
      "export interface A {}\nexport type B = 1;\nexport type { C } from './c.ts';\nexport abstract class D {}\nexport async function* e() {}\nexport const f = 1;";
    assert.deepEqual([...namesOf(sample)], ['A', 'B', 'D', 'e']);
    assert.ok(files.length > 200, `${files.length} files`);
  });

  test('mean one thing each', () => {
    const homes = new Map<string, string[]>();
    for (const file of files) {
      for (const name of namesOf(readFileSync(join(src, file), 'utf8'))) homes.set(name, [...(homes.get(name) ?? []), file]);
    }
    const repeated = [...homes].filter(([, where]) => where.length > 1).map(([name, where]) => `${name}: ${where.join(', ')}`);
    assert.deepEqual(repeated, []);
  });
});
