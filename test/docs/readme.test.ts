/**
 * The README's example is executed as it stands, against the sources, with a
 * small devnet as its `source`; the generated pages are up to date.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, test } from 'node:test';
import { ERROR_CODES } from '../../src/util/errors.ts';

const root = resolve(import.meta.dirname, '..', '..');

describe('README', () => {
  test('its library example runs', () => {
    const [, example] = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(root, 'README.md'), 'utf8')) ?? [];
    assert.ok(example, 'the README has an example');
    const folder = mkdtempSync(join(tmpdir(), 'unspent-readme-'));
    try {
      const library = join(root, 'src', 'index.ts');
      const program = [
        `import { openDevnet } from ${JSON.stringify(join(root, 'src', 'chains', 'cardano', 'devnet', 'index.ts'))};`,
        "const source = openDevnet('devnet:?blocks=2000');",
        example.replace("from 'unspent'", `from ${JSON.stringify(library)}`),
      ].join('\n');
      writeFileSync(join(folder, 'example.ts'), program);
      const { status, stdout, stderr } = spawnSync(process.execPath, ['example.ts'], { cwd: folder, encoding: 'utf8' });
      assert.equal(status, 0, stderr);
      assert.match(stdout, /^\d+ blocks, \d+ unspent outputs\n\d+n lovelace [0-9a-f]{64}\n$/);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

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
