/** `wallet rescan`: wallets that were away for longer than the store can tell of are brought up to it from its index. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { openStore } from '../../src/store/store.ts';
import { RegtestAccount } from '../support/regtest-account.ts';
import { temporary, unspentHere } from './run.ts';

const data = join(temporary(), 'data');
const account = new RegtestAccount(71);
const { chain } = account;
const WINDOW = 5;

async function run(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await unspentHere(['wallet', ...args, '--data', data, '--quiet']);
  assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
  return stdout;
}

async function balanceOf(name: string): Promise<unknown> {
  const { synced_to, name: _name, wallet: _wallet, ...sums } = JSON.parse(await run('balance', name, '--json'));
  return sums;
}

/** The chain makes blocks, and the store has them, and forgets those below its window. */
async function mine(blocks: number): Promise<void> {
  chain.mine(blocks);
  const set = ['utxo.history=true', `utxo.pruneDepth=${WINDOW}`, `utxo.rollbackWindow=${WINDOW}`];
  const { config } = loadConfig({ flags: { set }, env: {} });
  const store = await openStore({ data, network: chain.network.name, config });
  account.apply(store);
  while (store.prune(1000).blocks > 0);
  await store.close();
}

describe('unspent wallet rescan', () => {
  before(async () => {
    chain.mine(102);
    chain.fund(account.script(0, 0), 100_000n);
    await mine(1);
    await run('create', 'shop', account.descriptor);
    await run('label', 'shop', JSON.parse(await run('history', 'shop', '--json')).history[0].txid, 'the first');
  });

  it('finds what the events cannot tell any more: payments, spends, and addresses behind the last one', async () => {
    const psbt = JSON.parse(await run('send', 'shop', '--pay', `${account.address(0, 900)}=60000`, '--fee-rate', '2', '--json'))
      .psbt as string;
    chain.submit(account.sign(Buffer.from(psbt, 'base64')));
    for (const [index, value] of [
      [1, 20_000n],
      [15, 30_000n],
      [34, 40_000n],
    ] as const) {
      chain.fund(account.script(0, index), value);
    }
    await mine(4 * WINDOW);
    const { code, stderr } = await unspentHere(['wallet', 'sync', '--data', data]);
    assert.match(stderr, /unspent wallet rescan/);
    assert.notEqual(code, 0);
    const { from, to, transactions } = JSON.parse(await run('rescan', '--json'));
    assert.deepEqual([from, to], [103, 103 + 4 * WINDOW]);
    assert.ok(transactions >= 1);
    await run('create', 'twin', account.descriptor);
    assert.deepEqual(await balanceOf('shop'), await balanceOf('twin'));
    assert.match(await run('history', 'shop'), /the first/);
    await run('sync');
    assert.match(await run('rescan'), /^0 transactions found[\s\S]*not recovered: what was in no block/);
  });

  it('leaves blocks that are not on the chain any more, and goes on with the feed', async () => {
    chain.fund(account.script(0, 2), 5_000n);
    await mine(2);
    await run('sync');
    chain.fork(3);
    await mine(4 * WINDOW);
    await run('rescan');
    chain.fund(account.script(0, 3), 7_000n);
    await mine(1);
    await run('sync');
    await run('create', 'third', account.descriptor);
    assert.deepEqual(await balanceOf('shop'), await balanceOf('third'));
    await run('rescan', '--from', '0');
    assert.deepEqual(await balanceOf('shop'), await balanceOf('third'));
    const { code } = await unspentHere(['wallet', 'rescan', '--from', 'x', '--data', data]);
    assert.equal(code, 2);
  });
});
