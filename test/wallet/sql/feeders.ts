/**
 * Several processes feed one database while another adds addresses to it: no
 * block misses an address that was there when the block was taken in. And what a
 * block costs: as many statements, however many wallets it does not touch.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { describe, it, type TestContext } from 'node:test';
import { openWalletStore } from '../../../src/wallet/open.ts';
import { until } from '../../support/patience.ts';
import type { TestDatabases } from '../../support/sql/databases.ts';
import { blockAt, NOW, nameOf, scriptOf, World } from '../support/world.ts';
import { payeeAt } from './feeder-child.ts';

/** Blocks ahead for which an address is added. */
const DISTANCES = [1, 1, 20, 1, 5];

export function runFeeders(databases: TestDatabases, blocks: number): void {
  describe(`wallets: feeds on ${databases.name}`, () => {
    it(`two processes take ${blocks} blocks in: an address that is added before one of them is not missed by it`, (t) =>
      // On a busy machine all blocks can go by before an address is added.
      until(
        async () => (await addWhileFed(t, await databases.freshUrl(), blocks)) > 0,
        'an address was added while a block was on its way',
      ));

    it('a block needs as many statements, whatever wallets and addresses there are that it does not touch', async () => {
      const url = await databases.freshUrl();
      let statements = 0;
      const store = await openWalletStore(url, { isDurable: false, beforeStatement: () => void statements++ });
      await using world = await World.open(async () => ({ store, rows: () => store.rows(), close: () => store.close() }));
      const cost = async (height: number): Promise<number> => {
        statements = 0;
        const { watchVersion } = await store.findTouched([scriptOf(1, 0)], []);
        await store.watchedAccounts('chain', watchVersion);
        const txs = [world.news(`pay ${height}`, { block: blockAt(height) })];
        await store.connectBlock({ block: blockAt(height), txs, watchVersion });
        return statements;
      };
      await cost(1);
      const alone = await cost(2);
      for (let n = 0; n < 12; n++) await world.addWallet();
      await cost(3);
      assert.equal(await cost(4), alone);
      const { wallets } = await world.rows();
      assert.ok(wallets.every(({ syncedHeight }) => syncedHeight === 4));
      assert.deepEqual(
        wallets[0].txs.map(({ txId }) => nameOf(txId)),
        ['pay 1', 'pay 2', 'pay 3', 'pay 4'],
      );
    });
  });
}

/** How many addresses were there before the block that pays to them was; none of those is missed. */
async function addWhileFed(t: TestContext, url: string, blocks: number): Promise<number> {
  const store = await openWalletStore(url, { isDurable: false });
  t.after(() => store.close());
  const { id } = await store.createWallet({ name: 'wallet', isWatchOnly: true });
  const feeders = [1, 2].map(() => spawnFeeder(url, blocks));
  t.after(() => Promise.all(feeders.map(({ stop }) => stop())));
  const synced = async (): Promise<number> => (await store.getWallet('wallet')).syncedTo?.height ?? 0;
  await until(async () => (await store.feedPosition('chain')) !== null, 'the feed has begun');
  const due: number[] = [];
  for (let [height, n] = [await synced(), 0]; height < blocks; height = await synced()) {
    // The block that is being taken in, most likely, or one soon after it pays to it: on a busy machine blocks go by meanwhile.
    const target = Math.min(blocks, height + DISTANCES[n++ % DISTANCES.length]);
    await store.importAddress(id, { script: payeeAt(target), kind: 'p2wpkh' }, NOW);
    if ((await synced()) < target) due.push(target);
  }
  await Promise.all(feeders.map(({ ended }) => ended));
  const paid = new Set((await store.rows()).wallets[0].txs.map(({ height }) => height));
  assert.deepEqual(
    due.filter((height) => !paid.has(height)),
    [],
  );
  const tips = (await store.listEvents(0, 1_000_000)).flatMap(({ event }) => (event.kind === 'sync.tip' ? [event.height] : []));
  assert.deepEqual(
    tips,
    [...Array(blocks).keys()].map((n) => n + 1),
    'every block once',
  );
  return due.length;
}

interface Feeder {
  /** Rejects unless it has fed everything. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

function spawnFeeder(url: string, blocks: number): Feeder {
  const program = new URL('./feeder-child.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [program, url, String(blocks)], { stdio: ['ignore', 'inherit', 'inherit'] });
  const exit = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const ended = exit.then((code) => assert.equal(code, 0, 'the feeder has fed everything'));
  ended.catch(() => {});
  return {
    ended,
    stop: async () => {
      child.kill('SIGKILL');
      await exit;
    },
  };
}
