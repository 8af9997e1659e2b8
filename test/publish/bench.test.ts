/** `unspent bench publish` with a few blocks: every figure is taken, and what it says adds up. Whether limits hold is not asked here: machines are busy. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { needsFixtures } from '../support/fixtures.ts';
import { withoutPostgres } from '../support/sql/postgres-server.ts';

interface Figures {
  readonly copy: readonly {
    readonly blocks: number;
    readonly publisher: { readonly rows: number; readonly rowsPerSecond: number };
    readonly copy: { readonly rows: number; readonly rowsPerSecond: number };
    readonly stored: { readonly rows: number };
  }[];
  readonly tip: {
    readonly blocks: number;
    readonly clock: { readonly p50: number; readonly p99: number };
    readonly statementsPerBlock: number;
  };
  readonly sync: {
    readonly publishing: readonly { readonly foldSeconds: number; readonly rows: number }[];
    readonly ratios: { readonly fold: number };
  };
}

test('bench publish measures copies, blocks at the tip and a sync beside it', { skip: needsFixtures.skip || withoutPostgres }, async () => {
  const main = join(import.meta.dirname, '../../src/cli/main.ts');
  const args = [main, 'bench', 'publish', '--rounds=1', '--chunks=3', '--blocks=20', '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const { copy, tip, sync } = JSON.parse(stdout) as Figures;
  assert.deepEqual([copy.length, copy[1].blocks, tip.blocks], [2, 1054, 20]);
  for (const { publisher, copy: bare, stored } of copy) {
    assert.ok(publisher.rowsPerSecond > 0 && bare.rowsPerSecond > 0);
    // Everything that is there in the end was put, and so was copied; what is deleted or put again is published besides.
    assert.ok(bare.rows >= stored.rows && publisher.rows >= bare.rows);
  }
  assert.ok(tip.clock.p50 > 0 && tip.clock.p99 >= tip.clock.p50);
  assert.equal(tip.statementsPerBlock, 1);
  assert.ok(sync.ratios.fold > 0 && sync.publishing[0].foldSeconds > 0 && sync.publishing[0].rows >= copy[0].stored.rows);
});
