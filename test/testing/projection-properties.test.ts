/**
 * The suite that others run on their projections: ours pass it, and one that
 * breaks a promise does not.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { PROJECTIONS } from '../../src/projections/registry.ts';
import { projectionProperties } from '../../src/testing.ts';

const root = resolve(import.meta.dirname, '../..');
/** Kept by every store, and so under every other. */
const BASE = ['chain', 'transactions', 'utxo'];

for (const entry of PROJECTIONS) if (!BASE.includes(entry.name)) projectionProperties(entry, { runs: 2 });

/** A projection that counts outputs by height, and a way to get it wrong. */
const FAULTS: Readonly<Record<string, { readonly apply?: string; readonly revert?: string; readonly finds: RegExp }>> = {
  'a row that stays when its block is undone': { revert: '', finds: /undoes blocks byte for byte/ },
  'a row that tells how blocks were grouped': {
    apply: "batch.put('own', Uint8Array.of(1), Uint8Array.of(step.blocks.length));",
    revert: "if (step.blocks.some(({ height }) => height === 0)) batch.del('own', Uint8Array.of(1));",
    finds: /undoes blocks byte for byte/,
  },
  'a fill that needs the blocks': {
    apply: "for (const { key } of step.blocks) batch.put('own', key, key);",
    revert: "for (const { key } of step.blocks) batch.del('own', key);",
    finds: /filled later/,
  },
};

const RIGHT = {
  apply:
    "for (const coin of step.added) batch.put('own', keyOf(coin), keyOf(coin)); for (const coin of step.removed) batch.del('own', keyOf(coin));",
};

function runSuite(apply: string, revert: string): { readonly status: number | null; readonly stdout: string } {
  const folder = mkdtempSync(join(tmpdir(), 'unspent-suite-'));
  try {
    const program = `
      import { projectionProperties } from ${JSON.stringify(join(root, 'src/testing.ts'))};
      const keyOf = (coin) => coin.keyBytes.slice(coin.keyAt, coin.keyAt + 36);
      projectionProperties({
        name: 'own',
        from: 'outputs',
        make: () => ({
          name: 'own',
          columns: [{ name: 'own', access: 'order', weight: 1 }],
          fillable: 'exact',
          apply(step, view, batch) { ${apply} return undefined; },
          revert(step, undo, view, batch) { ${revert} },
        }),
      }, { runs: 3 });`;
    writeFileSync(join(folder, 'own.test.mjs'), program);
    const env = { ...process.env };
    // A runner inside of a runner would report to the outer one.
    delete env['NODE_TEST_CONTEXT'];
    const { status, stdout } = spawnSync(process.execPath, ['--test', '--test-reporter=spec', join(folder, 'own.test.mjs')], {
      env,
      encoding: 'utf8',
    });
    return { status, stdout };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe('the projection suite', () => {
  it('passes a projection that keeps its promises', () => {
    const { status, stdout } = runSuite(RIGHT.apply, RIGHT.apply);
    assert.equal(status, 0, stdout);
  });

  for (const [what, { apply = RIGHT.apply, revert = RIGHT.apply, finds }] of Object.entries(FAULTS)) {
    it(`finds ${what}`, () => {
      const { status, stdout } = runSuite(apply, revert);
      assert.equal(status, 1, stdout);
      assert.match(stdout, new RegExp(`✖ .*${finds.source}`));
      assert.match(stdout, /seed \d+, (cardano|bitcoin): /);
    });
  }
});
