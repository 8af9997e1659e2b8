/**
 * `wallet`: every command on a wallet of a regtest store, as people use it,
 * with a database that is a file beside the store.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it, type TestContext } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { openStore } from '../../src/store/store.ts';
import * as keys from '../../src/wallet/bitcoin/keys/index.ts';
import { until } from '../support/patience.ts';
import { MNEMONIC, RegtestAccount } from '../support/regtest-account.ts';
import { temporary, unspentHere } from './run.ts';
import { Running } from './running.ts';

interface Json {
  readonly [name: string]: unknown;
}

const directory = temporary();
const data = join(directory, 'data');
const account = new RegtestAccount(21);
const { chain } = account;
const PAYEE = account.address(0, 900);

async function run(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await unspentHere(['wallet', ...args, '--data', data, '--quiet']);
  assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
  return stdout;
}

async function json<T = Json>(...args: string[]): Promise<T> {
  return JSON.parse(await run(...args, '--json')) as T;
}

async function refused(expected: RegExp, exit: number, ...args: string[]): Promise<void> {
  const { code, stderr } = await unspentHere(['wallet', ...args, '--data', data]);
  assert.match(stderr, expected);
  assert.equal(code, exit, stderr);
}

/** The chain grows by a block, and the store and the wallets with it. */
async function mine(): Promise<void> {
  chain.mine();
  await follow();
  await run('sync');
}

async function follow(): Promise<void> {
  const { config } = loadConfig({ flags: { set: ['utxo.history=true'] }, env: {} });
  const store = await openStore({ data, network: chain.network.name, config });
  account.apply(store);
  await store.close();
}

function file(t: TestContext, name: string): string {
  return join(directory, `${t.name.replaceAll(/\W/g, '-')}-${name}`);
}

describe('unspent wallet', () => {
  before(async () => {
    chain.mine(102);
    chain.fund(account.script(0, 0), 100_000n);
    chain.fund(account.script(0, 1), 200_000n);
    chain.mine();
    await follow();
  });

  it('says that there is no database before the first wallet', async () => {
    await refused(/no wallet database .*wallet create/, 1, 'list');
    const { code, stderr } = await unspentHere(['wallet', 'list', '--data', join(directory, 'nowhere')]);
    assert.match(stderr, /which network/);
    assert.equal(code, 2);
  });

  it('create finds the past; list and balance show it', async () => {
    await refused(/checksum/i, 2, 'create', 'shop', `${account.descriptor.slice(0, -1)}x`);
    const made = await json<{ name: string; balance: { total: string } }>('create', 'shop', account.descriptor);
    assert.deepEqual([made.name, made.balance.total], ['shop', '300000']);
    await refused(/there is a wallet 'shop' already/, 1, 'create', 'shop', account.descriptor);
    assert.match(await run('list'), /shop +0\.00300000 BTC +103/);
    assert.match(await run('balance', 'shop'), /spendable +0\.00300000 BTC/);
    await refused(/no wallet 'stop'/, 1, 'balance', 'stop');
  });

  it('address gives another one each time', async () => {
    assert.equal((await run('address', 'shop')).trim(), account.address(0, 2));
    assert.equal((await json('address', 'shop'))['address'], account.address(0, 3));
    assert.equal((await json('address', 'shop', '--change'))['branch'], 1);
  });

  it('utxos, lease and release: a coin is reserved, by one', async () => {
    const { coins } = await json<{ coins: { outpoint: string; lease: { id: string } | null }[] }>('utxos', 'shop');
    assert.equal(coins.length, 2);
    const [{ outpoint }] = coins;
    const id = 'ab'.repeat(32);
    await run('lease', 'shop', outpoint, '--id', id, '--minutes', '5');
    await refused(/leased by somebody else/, 1, 'lease', 'shop', outpoint);
    assert.match(await run('utxos', 'shop'), /by abababab until/);
    assert.equal((await json('balance', 'shop'))['locked'], '100000');
    await refused(/another id/, 1, 'release', 'shop', outpoint, '--id', 'cd'.repeat(32));
    await run('release', 'shop', outpoint, '--id', id);
    assert.equal((await json('balance', 'shop'))['locked'], '0');
    // Ids in failures are written as everywhere else.
    await refused(new RegExp(outpoint.slice(0, 64)), 1, 'lease', 'shop', outpoint.replace(/#\d+$/, '#77'));
  });

  it('select chooses and leases; send makes a PSBT of what is left', async () => {
    const chosen = await json<{ lease: string; inputs: { outpoint: string }[] }>(
      ...['select', 'shop', '--pay', `${PAYEE}=150000`, '--fee-rate', '1.5', '--coin-order', 'largest-first'],
    );
    assert.equal(chosen.inputs.length, 1);
    await refused(/satoshi are missing/, 1, 'send', 'shop', '--pay', `${PAYEE}=150000`, '--fee-rate', '1');
    await run('release', 'shop', chosen.inputs[0].outpoint, '--id', chosen.lease);
    await refused(/--fee-rate/, 2, 'send', 'shop', '--pay', `${PAYEE}=150000`);
    await refused(/ADDRESS=SATOSHI/, 2, 'send', 'shop', '--pay', PAYEE, '--fee-rate', '1');
    const send = ['send', 'shop', '--pay', `${PAYEE}=150000`, '--fee-rate', '1'];
    for (const [flag, value, expected, exit] of [
      ['--coin-order', 'smallest', /waste, branch-and-bound/, 2],
      ['--coin-order', 'branch-and-bound', /coins suffice.*without change/, 1],
      ['--min-confs', 'six', /--min-confs is a whole number/, 2],
      ['--min-confs', '1000', /satoshi are missing/, 1],
      ['--max-confs', '0', /satoshi are missing/, 1],
      ['--exclude', chosen.inputs[0].outpoint, /satoshi are missing/, 1],
      ['--include', `${'00'.repeat(32)}#0`, /not an unspent output/, 1],
      ['--max-weight', '400001', /--max-weight/, 2],
      ['--change-position', '2', /change at place 2/, 2],
      ['--change-account', 'none', /account/, 1],
      ['--subtract-fee-from', account.address(0, 901), /one of those that are paid/, 2],
      ['--long-term-fee-rate', 'x', /--long-term-fee-rate/, 2],
    ] as const)
      await refused(expected, exit, ...send, flag, value);
    const all = await json<{ fee: string; inputs: object[]; outputs: { amount: string }[] }>(
      ...[
        'select',
        'shop',
        '--pay',
        `${PAYEE}=150000`,
        '--fee-rate',
        '1',
        '--include',
        chosen.inputs[0].outpoint,
        '--avoid-partial-spends',
      ],
      ...['--subtract-fee-from', PAYEE, '--no-unconfirmed-change', '--long-chains', '--discard-fee-rate', '3', '--minutes', '1'],
    );
    assert.equal(all.inputs.length, 1);
    for (const { outpoint } of all.inputs as { outpoint: string }[])
      await run('release', 'shop', outpoint, '--id', (all as unknown as { lease: string }).lease);
  });

  it('send, sign, broadcast, bump, history, label: a payment and what replaced it', async (t) => {
    const [secret, psbt, signed, bumpFile] = ['secret', 'psbt', 'signed', 'bump'].map((name) => file(t, name));
    writeFileSync(secret, `${MNEMONIC}\n`, { mode: 0o600 });
    assert.match(await run('send', 'shop', '--pay', `${PAYEE}=150000`, '--fee-rate', '2', '--psbt', psbt), /fee +0\.0000/);
    assert.equal(statSync(psbt).mode & 0o777, 0o600);
    await refused(/is there already/, 1, 'send', 'shop', '--pay', `${PAYEE}=1000`, '--fee-rate', '2', '--psbt', psbt);
    await refused(/signatures are missing/, 1, 'broadcast', 'shop', psbt);
    await run('sign', 'shop', psbt, '--secret', secret, '--psbt', signed);
    const sent = await json<{ txid: string; hex: string; status: string }>('broadcast', 'shop', signed, '--label', 'rent');
    assert.equal(sent.status, 'pending');
    await run('bump', 'shop', sent.txid, '--fee-rate', '10', '--psbt', bumpFile);
    const both = (await json<{ psbt: string }>('sign', 'shop', bumpFile, '--secret', secret)).psbt;
    writeFileSync(`${bumpFile}-signed`, both);
    await refused(/spent by another live transaction/, 1, 'broadcast', 'shop', `${bumpFile}-signed`);
    const bumped = await json<{ txid: string; hex: string }>('broadcast', 'shop', `${bumpFile}-signed`, '--replace');
    chain.submit(Buffer.from(bumped.hex, 'hex'));
    await mine();
    await run('label', 'shop', bumped.txid, 'rent, faster');
    const text = await run('history', 'shop');
    assert.match(text, new RegExp(`${sent.txid} +replaced → ${bumped.txid.slice(0, 8)} .*rent`));
    assert.match(text, new RegExp(`${bumped.txid} +published .*104 +1 +rent, faster`));
    const { history } = await json<{ history: { txid: string; status: string; replaced_by: string[] }[] }>(
      'history',
      'shop',
      '--limit',
      '2',
    );
    assert.deepEqual(
      history.map(({ txid, status, replaced_by }) => [txid, status, replaced_by]),
      [
        [sent.txid, 'replaced', [bumped.txid]],
        [bumped.txid, 'published', []],
      ],
    );
    await refused(/is in a block/, 1, 'bump', 'shop', bumped.txid, '--fee-rate', '20');
    await refused(new RegExp(`${bumped.txid} is in a block`), 1, 'cancel', 'shop', bumped.txid);
  });

  it('export and import: descriptors, labels and a second account', async (t) => {
    const labels = await run('export', 'shop', '--labels');
    assert.equal(labels.trim().split('\n').length, 2);
    writeFileSync(file(t, 'labels'), labels.replace('faster', 'much faster'));
    assert.deepEqual(await json('import', 'shop', '--labels', file(t, 'labels')), {
      labels: 2,
      applied: 2,
      waiting: 0,
      foreign: 0,
      frozen: [],
      thawed: [],
      held: [],
    });
    assert.match(await run('history', 'shop'), /much faster/);
    type Coins = { coins: { outpoint: string; lease: { id: string } | null }[] };
    const [{ outpoint }] = (await json<Coins>('utxos', 'shop')).coins;
    const ref = outpoint.replace('#', ':');
    assert.match(await run('label', 'shop', outpoint, 'for the tax'), /: for the tax/);
    await run('label', 'shop', 'bcrt1q', 'of somebody');
    const exported = await run('export', 'shop', '--labels');
    assert.ok(exported.includes(`{"type":"output","ref":"${ref}","label":"for the tax"}`), exported);
    assert.ok(exported.includes('{"type":"addr","ref":"bcrt1q","label":"of somebody"}'), exported);
    writeFileSync(file(t, 'frozen'), `{"type":"output","ref":"${ref}","spendable":false}`);
    assert.match(await run('import', 'shop', '--labels', file(t, 'frozen')), new RegExp(`${outpoint} is not spent`));
    const frozen = (await json<Coins>('utxos', 'shop')).coins.find((coin) => coin.outpoint === outpoint);
    await run('release', 'shop', outpoint, '--id', frozen!.lease!.id);
    const [external, change] = (await run('export', 'shop')).trim().split('\n');
    const again = await json<{ balance: { total: string } }>('create', 'twin', external, '--change', change);
    assert.equal(again.balance.total, (await json('balance', 'shop'))['total']);
    await refused(/has that descriptor already/, 1, 'import', 'shop', '--descriptor', account.descriptor);
  });

  it('serve brings wallets the blocks that they have not got, and new ones their past', async (t) => {
    const total = async (name: string): Promise<string> => `${(await json('balance', name))['total']}`;
    const before = BigInt(await total('shop'));
    chain.fund(account.script(0, 2), 70_000n);
    chain.mine();
    await follow();
    assert.equal(BigInt(await total('shop')), before);
    const serving = new Running(t, ['serve', '--port', '0', '--data', data], directory);
    await serving.says(/api/);
    await until(async () => BigInt(await total('shop')) === before + 70_000n, 'the wallet has the block');
    await run('create', 'late', account.descriptor);
    await until(async () => (await total('late')) === (await total('shop')), 'the new wallet has its past');
    await serving.interrupt();
  });

  it('combo and bare multisig: every script of the keys is watched, and spent', async (t) => {
    const key = /\(\[.*\](tpub\w+)/.exec(account.descriptor)?.[1] ?? assert.fail('it has a key');
    const { network } = chain;
    const combo = keys.parseDescriptor(network, `combo([73c5da0a/84h/1h/0h]${key}/7/*)`);
    const bare = keys.parseDescriptor(network, `multi(1,[73c5da0a/84h/1h/0h]${key}/8/*,[73c5da0a/84h/1h/0h]${key}/9/*)`);
    for (const { script } of [...combo.derive(0, 1), ...bare.derive(0, 2)]) chain.fund(script, 50_000n);
    await mine();
    const made = await json<{ accounts: { name: string }[]; balance: { total: string } }>('create', 'every', `${combo}`);
    assert.deepEqual(
      made.accounts.map(({ name }) => name),
      ['default', 'default sh(wpkh)', 'default pkh', 'default pk'],
    );
    assert.equal(made.balance.total, '200000');
    await refused(/there is a wallet 'every' already/, 1, 'create', 'every', `${combo}`);
    await refused(/has that descriptor already/, 1, 'import', 'every', '--descriptor', `${combo}`);
    assert.equal((await json<{ balance: { total: string } }>('create', 'bare', `${bare}`)).balance.total, '50000');
    await refused(/are missing/, 1, 'send', 'every', '--pay', `${PAYEE}=200000`, '--fee-rate', '1');
    const secret = file(t, 'secret');
    writeFileSync(secret, `${MNEMONIC}\n`, { mode: 0o600 });
    for (const [name, amount, locked] of [
      ['bare', 40_000, '50000'],
      ['every', 190_000, '200000'],
    ] as const) {
      await run('send', name, '--pay', `${PAYEE}=${amount}`, '--fee-rate', '1', '--psbt', file(t, `${name}.psbt`));
      assert.equal((await json('balance', name))['locked'], locked);
      await run('sign', name, file(t, `${name}.psbt`), '--secret', secret, '--psbt', file(t, `${name}-signed.psbt`));
      assert.equal((await json<{ status: string }>('broadcast', name, file(t, `${name}-signed.psbt`))).status, 'pending');
    }
  });

  it('prune, backup, migrate', async (t) => {
    assert.deepEqual(await json('prune', 'shop', '--days', '1'), { pruned: [] });
    await run('backup', file(t, 'copy'));
    await refused(/is there already/, 1, 'backup', file(t, 'copy'));
    assert.ok(existsSync(file(t, 'copy')) && readFileSync(file(t, 'copy')).subarray(0, 6).toString() === 'SQLite');
    assert.match(await run('list', '--wallet-database', `sqlite:${file(t, 'copy')}`), /shop/);
    assert.match(await run('migrate'), /5 wallets/);
    await refused(/pg_dump/, 1, 'backup', 'x', '--wallet-database', 'postgres://me:secret@127.0.0.1:1/x');
  });
});
