/** The pages that are made from tables are up to date. The README's own example runs in test/package. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, test } from 'node:test';
import { ERROR_CODES } from '../../src/util/errors.ts';

const root = resolve(import.meta.dirname, '..', '..');

describe('generated pages', () => {
  test('docs/reference/errors.md lists every code', () => {
    const path = join(root, 'docs', 'reference', 'errors.md');
    const rows = Object.entries(ERROR_CODES).map(
      ([code, { exit, meaning, advice }]) => `| \`${code}\` | ${exit} | ${meaning} | ${advice} |`,
    );
    const page = readFileSync(path, 'utf8');
    const [head] = page.split('| --- | --- | --- | --- |\n');
    const wanted = `${head}| --- | --- | --- | --- |\n${rows.join('\n')}\n`;
    const { UNSPENT_TEST_UPDATE } = process.env;
    if (UNSPENT_TEST_UPDATE) writeFileSync(path, wanted);
    else assert.equal(page, wanted, 'write it again with UNSPENT_TEST_UPDATE=1');
  });
});
