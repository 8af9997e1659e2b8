/** `bench wallet` with small wallets: every figure is taken, in a file and on a server. Whether limits hold is not asked here: machines are busy. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { withoutPostgres } from '../support/sql/postgres-server.ts';

const SMALL = [
  '--transactions=400',
  '--coins=100',
  '--choices=200',
  '--few=100',
  '--block=20',
  '--chain=30',
  '--waiting=10',
  '--dead=20',
  '--rounds=3',
];
const FIGURES = 10;

async function figuresOf(database: 'sqlite' | 'postgres', more: readonly string[] = []) {
  const main = join(import.meta.dirname, '../../src/cli/main.ts');
  const args = [main, 'bench', 'wallet', '--json', `--only=${database}`, ...SMALL, ...more];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const { figures } = JSON.parse(stdout) as { readonly figures: readonly { readonly p50: number; readonly holds: boolean | null }[] };
  return figures;
}

for (const database of ['sqlite', 'postgres'] as const) {
  test(`bench wallet measures ${database}`, { skip: database === 'postgres' && withoutPostgres }, async () => {
    const figures = await figuresOf(database);
    assert.equal(figures.length, FIGURES);
    for (const { p50 } of figures) assert.ok(p50 > 0);
    const limits = figures.filter(({ holds }) => holds !== null).length;
    assert.equal(limits, database === 'sqlite' ? 6 : 5);
  });

  test(`bench wallet measures ${database} twice in what it filled once`, {
    skip: database === 'postgres' && withoutPostgres,
  }, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'unspent-bench-kept-'));
    // Where the tests run as root, the server runs as nobody.
    chmodSync(folder, 0o755);
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    await figuresOf(database, [`--keep=${folder}`]);
    const filled = readdirSync(folder).map((name) => [name, statSync(join(folder, name)).ino]);
    assert.equal((await figuresOf(database, [`--keep=${folder}`])).length, FIGURES);
    assert.deepEqual(
      readdirSync(folder).map((name) => [name, statSync(join(folder, name)).ino]),
      filled,
    );
  });
}
