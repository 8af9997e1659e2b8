/** W63, W64: many processes want the same coins. Each coin goes to one of them, none waits for ever, and none fails. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { describe, it } from 'node:test';
import { openWalletStore } from '../../../src/wallet/open.ts';
import type { TestDatabases } from '../../support/sql/databases.ts';
import { World } from '../support/world.ts';
import type { LeaseOrder, LeaseResult } from './lease-child.ts';

export function runContention(databases: TestDatabases, processes: number, order: LeaseOrder): void {
  describe(`wallets: processes on ${databases.name}`, () => {
    it(`W63, W64 ${processes} processes: one of them gets a coin, and no coin is in two selections`, async (t) => {
      const url = await databases.freshUrl();
      const wanted = processes * order.selections * order.coinsEach;
      await makeCoins(url, order.singles, wanted);
      const results = await raceFor(url, processes, order);
      const winners = results.flatMap(({ singles }) => singles).sort((a, b) => a - b);
      assert.deepEqual(winners, [...Array(order.singles).keys()], 'each coin went to one');
      const selected = results.flatMap((result) => result.selected);
      assert.equal(selected.length, wanted, 'each selection found its coins');
      assert.equal(new Set(selected).size, wanted, 'no coin was selected twice');
      const transient = results.reduce((sum, result) => sum + result.transient, 0);
      t.diagnostic(`${transient} transient failures, each tried again`);
    });
  });
}

async function makeCoins(url: string, singles: number, selected: number): Promise<void> {
  const store = await openWalletStore(url, { isDurable: false });
  await using world = await World.open(async () => ({ store, rows: () => store.rows(), close: () => store.close() }));
  const names = [...Array(singles).keys()].map((n) => `single ${n}`).concat([...Array(selected).keys()].map((n) => `coin ${n}`));
  await store.applyTxBatch(
    world.wallet,
    names.map((name) => world.news(name)),
  );
}

/** All begin when all are ready. */
async function raceFor(url: string, processes: number, order: LeaseOrder): Promise<LeaseResult[]> {
  const path = new URL('./lease-child.ts', import.meta.url).pathname;
  const children = [...Array(processes).keys()].map((n) => {
    const child = spawn(process.execPath, [path, url, String(n)], { stdio: ['pipe', 'pipe', 'inherit'] });
    return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
  });
  for (const { lines } of children) assert.equal((await lines.next()).value, 'ready');
  for (const { child } of children) child.stdin.write(`${JSON.stringify(order)}\n`);
  const answers = await Promise.all(children.map(async ({ lines }) => (await lines.next()).value as string));
  for (const { child } of children) child.stdin.end();
  return answers.map((answer) => JSON.parse(answer) as LeaseResult);
}
