/** The pages lead where they say: every link between files is good, every decision is in the index. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, test } from 'node:test';
import { headingAnchor } from '../../src/server/docs/markdown.ts';

const root = resolve(import.meta.dirname, '..', '..');
const pages = ['*.md', 'docs/**/*.md'].flatMap((pattern) => globSync(pattern, { cwd: root }));
const textOf = (page: string): string => readFileSync(join(root, page), 'utf8');

const anchorsOf = (page: string): string[] => Array.from(textOf(page).matchAll(/^#+ (.*)$/gm), ([, heading]) => headingAnchor(heading));

describe('pages', () => {
  for (const page of pages) {
    test(`${page}: every link leads somewhere`, () => {
      for (const [, target] of textOf(page).matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^[a-z]+:/.test(target)) continue;
        const [file, anchor] = target.split('#');
        const path = file === '' ? page : join(dirname(page), file);
        assert.ok(existsSync(join(root, path)), `${page} links to ${target}`);
        if (anchor !== undefined) assert.ok(anchorsOf(path).includes(anchor), `${page} links to ${target}, and there is no such heading`);
      }
    });
  }

  test('every decision is in the index, once, with its title', () => {
    const index = textOf('docs/adr/README.md');
    const files = readdirSync(join(root, 'docs', 'adr')).filter((name) => /^\d{4}-/.test(name));
    for (const file of files) {
      const [, number, title] = /^# (\d+)\. (.*)$/m.exec(textOf(`docs/adr/${file}`)) ?? assert.fail(file);
      assert.equal(Number(file.slice(0, 4)), Number(number), file);
      assert.equal(index.split(`| [${number}](${file}) | ${title} |`).length, 2, `docs/adr/README.md has a row for ${file}`);
    }
  });
});
