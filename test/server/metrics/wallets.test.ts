/**
 * What a server says of the wallets that are fed beside its store: metrics and
 * status of their database as a whole, and that it is not ready while they are
 * not fed, or behind. That is no reason to start it again: it stays healthy.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openMemory } from '../../../src/engine/memory.ts';
import { serve } from '../../../src/server/serve.ts';
import { feedWallets } from '../../../src/server/wallets/feed-wallets.ts';
import { WALLETS_NOT_FED } from '../../../src/server/wallets/not-fed.ts';
import { openStore } from '../../../src/store/store.ts';
import { READY_BLOCKS_BEHIND_MAX } from '../../../src/util/limits.ts';
import { openWalletContext } from '../../../src/wallet/bitcoin/operations/open-context.ts';
import { until } from '../../support/patience.ts';
import { RegtestAccount } from '../../support/regtest-account.ts';

test('a server tells how the wallets beside its store are fed', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'unspent-fed-'));
  const account = new RegtestAccount(14);
  const { network } = account.chain;
  const engine = { name: 'memory', open: (_directory: string, columns: Parameters<typeof openMemory>[0]) => openMemory(columns) };
  const store = await openStore({
    data: join(directory, 'data'),
    network: network.name,
    settings: { 'utxo.history': true },
    engine,
    control: false,
  });
  const wallets = await openWalletContext(`sqlite:${join(directory, 'wallets.sqlite')}`, { network, gapLimit: 20, now: Date.now });
  const served = await serve(store, { port: 0, thread: false });
  t.after(async () => {
    await served.close();
    await wallets.store.close();
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const ask = async (path: string) => {
    const answer = await fetch(new URL(path, served.url));
    return { status: answer.status, text: await answer.text() };
  };
  account.chain.mine(3);
  account.apply(store);
  await until(async () => (await ask('ready')).status === 200, 'the server is ready without wallets');
  assert.doesNotMatch((await ask('metrics')).text, /^unspent_wallets_/m);

  await wallets.createWatching('shop', { descriptor: account.descriptor });
  await feedWallets(wallets, store);
  account.chain.mine(2);
  account.apply(store);
  await feedWallets(wallets, store);
  assert.partialDeepStrictEqual(store.consumers.wallets, {
    state: 'following',
    height: account.chain.height,
    blocks: 2,
    failures: 0,
    lastError: null,
  });
  const shows = (pattern: RegExp) => until(async () => pattern.test((await ask('metrics')).text), `${pattern}`);
  await shows(new RegExp(`^unspent_wallets_height ${account.chain.height}$`, 'm'));
  await shows(/^unspent_wallets_fed 1$/m);
  assert.match((await ask('metrics')).text, /^unspent_wallets_lag_blocks 0$/m);

  account.chain.mine(READY_BLOCKS_BEHIND_MAX + 1);
  account.apply(store);
  await until(async () => (await ask('ready')).status === 503, 'the wallets are behind');
  assert.match((await ask('ready')).text, new RegExp(`wallets are ${READY_BLOCKS_BEHIND_MAX + 1} blocks behind`));
  await feedWallets(wallets, store);
  await until(async () => (await ask('ready')).status === 200, 'the wallets have caught up');

  store.consumers.wallets = {
    ...(store.consumers.wallets ?? WALLETS_NOT_FED),
    state: 'failed',
    failures: 1,
    lastError: 'no room on the disk',
  };
  await until(async () => (await ask('ready')).status === 503, 'the wallets are not fed');
  assert.equal((await ask('health')).status, 200, 'starting it again would not help');
  const { wallets: shown } = JSON.parse((await ask('api/v1/status')).text) as { wallets: { state: string; last_error: string } };
  assert.deepEqual([shown.state, shown.last_error], ['failed', 'no room on the disk']);
  await shows(/^unspent_wallets_fed 0$/m);
});
