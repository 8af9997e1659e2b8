/**
 * The reference of the library: everything public has a doc comment and can be
 * named, and the pages are what the comments say.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Door, readDoors, undocumented, unexported } from '../../tools/api/doors.ts';
import { emitDeclarations } from '../../tools/api/emit.ts';
import { apiPages } from '../../tools/api/pages.ts';

const root = resolve(import.meta.dirname, '../..');
const folder = join(root, 'docs/reference/api');

describe('the reference of the library', () => {
  let declared: string;
  let doors: readonly Door[];

  before(() => {
    declared = emitDeclarations(root);
    doors = readDoors(root, declared);
  });
  after(() => rmSync(declared, { recursive: true, force: true }));

  it('is found: every door has something behind it', async () => {
    assert.ok(doors.length >= 6);
    for (const { name, declarations } of doors) {
      const file = name === 'unspent' ? 'index' : name.replace('unspent/', '');
      const values = Object.keys(await import(`../../src/${file}.ts`));
      const found = new Set(declarations.map((declaration) => declaration.name));
      for (const value of values) assert.ok(found.has(value), `${name} exports ${value}, and its page lacks it`);
    }
  });

  it('leaves nothing public undocumented', () => {
    assert.deepEqual(undocumented(doors), []);
  });

  it('speaks of no type of ours that a program could not name', () => {
    assert.deepEqual(unexported(doors), []);
  });

  it('shows no engine and no fold of a store', () => {
    const [store] = doors[0].declarations.filter(({ name }) => name === 'Store');
    assert.ok(store.members.length > 5);
    for (const { text } of store.members) assert.doesNotMatch(text, /\b(Engine|Fold|Query|OpenStore)\b/);
  });

  it('is up to date: write it again with npm run docs:api', () => {
    const pages = apiPages(doors);
    assert.deepEqual(readdirSync(folder).sort(), [...pages.keys()].sort());
    for (const [name, text] of pages) assert.equal(readFileSync(join(folder, name), 'utf8'), text, name);
  });
});
