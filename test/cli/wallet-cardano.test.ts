/**
 * `wallet` on a Cardano store: wallets that watch addresses and a stake
 * credential have the outputs that the store itself tells for them, block after
 * block, across forks and with scripts that failed; and what only the Bitcoin
 * family has says why it is not here.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import type { UtxoJson } from '../../src/query/json.ts';
import type { SelectionJson } from '../../src/wallet/cardano/payment.ts';
import type { WalletAddressJson, WalletBalanceJson, WalletCoinJson, WalletTxJson } from '../../src/wallet/documents.ts';
import { coinLine, DevnetStore, utxoLine } from '../support/devnet-store.ts';
import { temporary, unspentHere } from './run.ts';

const directory = temporary();
const data = join(directory, 'data');
const devnet = new DevnetStore(data, 1);
const { chain } = devnet;
const MAINNET_ADDRESS = 'addr1vx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzers66hrl8';

async function run(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await unspentHere([...args, '--data', data, '--quiet']);
  assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
  return stdout;
}

async function json<T>(...args: string[]): Promise<T> {
  return JSON.parse(await run(...args, '--json')) as T;
}

async function refused(expected: RegExp, exit: number, ...args: string[]): Promise<void> {
  const { code, stderr } = await unspentHere(['wallet', ...args, '--data', data]);
  assert.match(stderr, expected);
  assert.equal(code, exit, stderr);
}

async function follow(): Promise<void> {
  await (await devnet.open()).close();
}

const historyOf = async (name: string): Promise<readonly WalletTxJson[]> =>
  (await json<{ history: WalletTxJson[] }>('wallet', 'history', name, '--limit', '1000')).history;

describe('unspent wallet on Cardano', () => {
  const watched = { shop: [] as string[], savings: [] as string[] };

  /** What the store says, address by address. */
  async function unspentOf(name: keyof typeof watched): Promise<string[]> {
    const lines: string[] = [];
    for (const address of watched[name]) {
      const by = address.startsWith('stake') ? 'credential' : 'address';
      const { utxos } = await json<{ utxos: UtxoJson[] }>('query', by, address, '--limit', '10000');
      // The index of stake credentials does not tell keys from scripts.
      lines.push(...utxos.filter((utxo) => by === 'address' || utxo.owner_stake_addr === address).map(utxoLine));
    }
    return lines.sort();
  }

  /**
   * The same coins, assets and balance. A transaction that a fork took back keeps its coins until somebody gives it up:
   * here the chain has dropped it for good.
   */
  async function assertSame(): Promise<void> {
    for (const name of ['shop', 'savings'] as const) {
      for (;;) {
        const waiting = (await historyOf(name)).find(({ block, status }) => block === null && status === 'published');
        if (waiting === undefined) break;
        await run('wallet', 'cancel', name, waiting.txid);
      }
      const { coins } = await json<{ coins: WalletCoinJson[] }>('wallet', 'utxos', name, '--limit', '10000');
      assert.deepEqual(coins.map(coinLine).sort(), await unspentOf(name), `${name} at ${chain.tip?.height}`);
      const balance = await json<WalletBalanceJson>('wallet', 'balance', name);
      const total = coins.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
      assert.deepEqual([balance.total, balance.confirmed, balance.spendable], [`${total}`, `${total}`, `${total}`]);
      const held = new Map<string, bigint>();
      for (const { unit, quantity } of coins.flatMap(({ assets = [] }) => assets))
        held.set(unit, (held.get(unit) ?? 0n) + BigInt(quantity));
      assert.deepEqual(new Map(balance.assets?.map(({ unit, quantity }) => [unit, BigInt(quantity)])), held);
    }
  }

  before(async () => {
    devnet.mine(30);
    await follow();
    watched.shop = devnet
      .addresses()
      .filter((address) => address.startsWith('addr'))
      .slice(0, 8);
    watched.savings = devnet.stakeAddresses().slice(0, 2);
  });

  it('create takes addresses of the network, and finds their coins in the indexes', async () => {
    await refused(/say what it watches/, 2, 'create', 'shop');
    await refused(/no descriptors/, 2, 'create', 'shop', 'wpkh(xpub)');
    await refused(/no address of devnet/, 2, 'create', 'shop', '--address', MAINNET_ADDRESS);
    const flags = watched.shop.flatMap((address) => ['--address', address]);
    const made = await json<{ addresses: WalletAddressJson[] }>('wallet', 'create', 'shop', ...flags);
    assert.deepEqual(
      made.addresses.map(({ address, kind }) => [address, kind.startsWith('cardano-')]),
      watched.shop.map((address) => [address, true]),
    );
    await refused(/there is a wallet 'shop' already/, 1, 'create', 'shop', ...flags);
    const [first, ...others] = watched.savings;
    assert.match(await run('wallet', 'create', 'savings', '--address', first), /savings watches stake_test1\w+\nit has [\d,.]+ ada/);
    await json('wallet', 'import', 'savings', ...others.flatMap((address) => ['--address', address]));
    await assertSame();
    assert.match(await run('wallet', 'list'), /savings +[\d,.]+ ada.* +29\nshop .* ada \+ \d+ assets +29/);
  });

  it('sync brings blocks and forks; scripts that failed are told as failed, and cost the collateral', async () => {
    let failures = 0;
    for (const step of ['mine', 'fork', 'mine']) {
      if (step === 'fork') chain.fork(3);
      else devnet.mine(2);
      await follow();
      await run('wallet', 'sync');
      await assertSame();
      const failed = (await historyOf('shop')).filter(({ scripts_failed, block }) => scripts_failed === true && block !== null);
      failures += failed.length;
      for (const { status, inputs, outputs } of failed) {
        assert.equal(status, 'published');
        assert.ok(inputs.length > 0 && outputs.filter(({ address }) => address !== '').length <= 1, 'it is its collateral');
      }
    }
    assert.ok(failures > 0, 'scripts have failed');
    assert.match(await run('wallet', 'history', 'shop', '--limit', '1000'), /^[0-9a-f]{64} +failed .* \d+ +\d+ *$/m);
  });

  it('address, lease, release and label', async () => {
    assert.equal((await run('wallet', 'address', 'shop')).trim(), watched.shop[0]);
    await refused(/stake credentials only/, 1, 'address', 'savings');
    const { coins } = await json<{ coins: WalletCoinJson[] }>('wallet', 'utxos', 'shop');
    const [{ outpoint, amount }] = coins;
    const id = 'ab'.repeat(32);
    await run('wallet', 'lease', 'shop', outpoint, '--id', id);
    assert.equal((await json<WalletBalanceJson>('wallet', 'balance', 'shop')).locked, amount);
    assert.match(await run('wallet', 'utxos', 'shop'), /by abababab until/);
    await refused(new RegExp(outpoint.slice(0, 64)), 1, 'lease', 'shop', outpoint.replace(/#\d+$/, '#77'));
    await run('wallet', 'release', 'shop', outpoint, '--id', id);
    await run('wallet', 'label', 'shop', outpoint.slice(0, 64), 'rent');
    assert.match(await run('wallet', 'history', 'shop', '--limit', '1000'), new RegExp(`${outpoint.slice(0, 64)} .* rent`));
  });

  it('select chooses coins for lovelace and assets, and leases them; change holds what it must', async () => {
    const parameters = join(directory, 'parameters.json');
    const fields = { txFeePerByte: 44, txFeeFixed: 155381, maxTxSize: 16384, utxoCostPerByte: 4310, maxValueSize: 5000 };
    writeFileSync(parameters, JSON.stringify(fields));
    const [payee] = watched.shop;
    const select = (pay: string, ...more: string[]): string[] => ['select', 'shop', '--pay', `${payee}=${pay}`, ...more];
    await refused(/--parameters FILE/, 2, ...select('5000000'));
    await refused(/ADDRESS=LOVELACE/, 2, ...select('x', '--parameters', parameters));
    await refused(/must hold \d+/, 1, ...select('1000', '--parameters', parameters));
    const free = (await json<WalletBalanceJson>('wallet', 'balance', 'shop')).spendable;
    await refused(/lovelace/, 1, ...select(free, '--parameters', parameters));
    const { coins } = await json<{ coins: WalletCoinJson[] }>('wallet', 'utxos', 'shop', '--limit', '10000');
    const { unit } = coins.flatMap(({ kind, assets = [] }) => (kind === 'cardano-key' ? assets : []))[0];
    const chosen = await json<SelectionJson>('wallet', ...select(`5000000+1:${unit}`, '--parameters', parameters));
    const sum = (parts: readonly { readonly amount: string }[]): bigint => parts.reduce((total, { amount }) => total + BigInt(amount), 0n);
    assert.equal(sum(chosen.inputs), 5_000_000n + sum(chosen.change) + BigInt(chosen.fee));
    assert.equal(BigInt(chosen.fee), 155_381n + 44n * BigInt(chosen.bytes));
    assert.ok(
      chosen.inputs.some(({ assets = [] }) => assets.some((asset) => asset.unit === unit)),
      'the asset is paid',
    );
    assert.equal((await json<WalletBalanceJson>('wallet', 'balance', 'shop')).locked, `${sum(chosen.inputs)}`);
    const [{ outpoint }] = chosen.inputs;
    await refused(new RegExp(outpoint.slice(0, 64)), 1, ...select('2000000', '--parameters', parameters, '--coin', outpoint));
    for (const input of chosen.inputs) await run('wallet', 'release', 'shop', input.outpoint, '--id', chosen.lease);
    assert.match(
      await run('wallet', ...select('2000000', '--parameters', parameters)),
      /spends +[0-9a-f]{64}#.*\nfee +0\.\d+ ada for \d+ bytes/s,
    );
  });

  it('export, import, prune, backup and migrate', async () => {
    assert.deepEqual((await run('wallet', 'export', 'shop')).trim().split('\n'), watched.shop);
    const labels = join(directory, 'labels');
    writeFileSync(labels, (await run('wallet', 'export', 'shop', '--labels')).replace('rent', 'rent of May'));
    assert.deepEqual(await json('wallet', 'import', 'shop', '--labels', labels), {
      labels: 1,
      applied: 1,
      waiting: 0,
      foreign: 0,
      frozen: [],
      thawed: [],
      held: [],
    });
    const copy = join(directory, 'copy.sqlite');
    await run('wallet', 'backup', copy);
    assert.match(await run('wallet', 'history', 'shop', '--limit', '1000', '--wallet-database', `sqlite:${copy}`), /rent of May/);
    assert.match(await run('wallet', 'migrate'), /2 wallets/);
    assert.ok(
      (await json<{ pruned: string[] }>('wallet', 'prune', 'shop', '--days', '0')).pruned.length > 0,
      'what was given up is forgotten',
    );
  });

  it('what only the Bitcoin family has says why it is not here', async () => {
    const txid = '00'.repeat(32);
    await refused(/no PSBTs on Cardano/, 1, 'send', 'shop', '--pay', 'x=1', '--fee-rate', '1');
    await refused(/buys no place/, 1, 'bump', 'shop', txid, '--fee-rate', '1');
    await refused(/submit it to a node/, 1, 'broadcast', 'shop', 'file');
    await refused(/signing is done elsewhere/, 1, 'sign', 'shop', 'file');
    await refused(/signing is done elsewhere/, 1, 'create', 'other', '--new-words');
    await refused(/signing is done elsewhere/, 1, 'passphrase', 'shop');
    await refused(/signing is done elsewhere/, 1, 'export', 'shop', '--secret');
    await refused(/keeps none: set utxo.history/, 1, 'rescan');
  });
});
