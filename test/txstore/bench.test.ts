/** `unspent bench txs` with small numbers: it runs to its end, and what it says adds up. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unspent } from '../cli/run.ts';

const SIZES = { txs: 2000, blocks: 2, pool: 4000, candidates: 6000, beside: 2000, spends: 3, every: 1, long: 8 };

test('bench txs measures writes, a pass, spends beside it and storage', async () => {
  const args = Object.entries(SIZES).flatMap(([name, value]) => [`--${name}`, `${value}`]);
  const { code, stdout, stderr } = await unspent(['bench', 'txs', ...args, '--json']);
  assert.equal(code, 0, stderr);
  const figures = JSON.parse(stdout) as Record<string, number>;
  for (const name of ['creates', 'floorCreates', 'spends', 'floorSpends', 'parents']) assert.ok(figures[`${name}PerSecond`] > 0, name);
  assert.ok(figures['createsToFloor'] > 0 && figures['spendsToFloor'] > 0);
  assert.ok(figures['deleted'] > 1000 && figures['deleted'] <= figures['candidates']);
  assert.ok(figures['childReadsPerParent'] > 1 && figures['childReadsPerParent'] <= 3);
  assert.ok(figures['spendP99'] > 0 && figures['passSpendP99'] > 0);
  // Every record that could go is gone, however long it ran: the unspent outputs are those of the pool.
  assert.ok(figures['storageRecords'] < 3 * SIZES.pool, `${figures['storageRecords']} records`);
});
