/** Wallets of the library: what a program does with `unspent/wallet`, on a regtest chain of its own. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { isUnspentError, open } from '../../../src/index.ts';
import { startRegtest } from '../../../src/sources.ts';
import * as keys from '../../../src/wallet/bitcoin/keys/index.ts';
import { openWallets } from '../../../src/wallet.ts';
import { RegtestAccount } from '../../support/regtest-account.ts';

describe('wallets of the library', () => {
  it('watch a descriptor, lease, pay, bump and say what became of it', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'unspent-library-wallets-'));
    const regtest = await startRegtest({ seed: 51 });
    const store = await open({ data: join(folder, 'data'), network: regtest.network, settings: { 'utxo.history': true } });
    const wallets = await openWallets({ database: `sqlite:${join(folder, 'wallets.sqlite')}`, network: regtest.network });
    t.after(async () => {
      await wallets.close();
      await store.close();
      await regtest.close();
      rmSync(folder, { recursive: true, force: true });
    });
    // Only its keys are used here: the chain is the other one.
    const account = new RegtestAccount(51);
    await wallets.create({ name: 'shop', descriptor: account.descriptor });
    const { address } = await wallets.address('shop');
    assert.equal(address, account.address(0, 0));
    regtest.fund(account.address(0, 0), 500_000n);
    regtest.fund(account.address(0, 5), 100_000n);
    regtest.mine();
    await store.follow(regtest.url);
    await wallets.sync(store);
    assert.equal((await wallets.balance('shop')).spendable, '600000');
    assert.deepEqual(
      (await wallets.coins('shop')).map(({ amount }) => amount),
      ['100000', '500000'],
    );
    assert.equal((await wallets.accounts('shop'))[0].next_index, 6);

    const [small] = await wallets.coins('shop', { limit: 1 });
    await wallets.lease('shop', small.outpoint, { id: 'ab'.repeat(32), minutes: null });
    const to = [{ address: account.address(0, 900), amount: 550_000n }];
    await assert.rejects(wallets.pay('shop', { to, feeRate: 2 }), (error) => isUnspentError(error, 'FUNDS_INSUFFICIENT'));
    await wallets.release('shop', small.outpoint, 'ab'.repeat(32));
    await assert.rejects(wallets.select('shop', { to, feeRate: 2, feeMax: 100n }), (error) => isUnspentError(error, 'FEE_TOO_HIGH'));
    await assert.rejects(wallets.select('shop', { to, feeRate: 2000 }), (error) => isUnspentError(error, 'FEE_TOO_HIGH'));
    const payment = await wallets.pay('shop', { to, feeRate: 2.5 });
    const signed = Buffer.from(account.sign(keys.parsePsbt(payment.psbt))).toString('hex');
    const sent: string[] = [];
    const tx = await wallets.broadcast('shop', signed, { label: 'rent', submit: async (hex) => sent.push(hex) });
    assert.deepEqual([tx.status, tx.fee, sent], ['published', payment.fee, [signed]]);

    const faster = await wallets.bump('shop', tx.txid, { feeRate: 10 });
    assert.ok(BigInt(faster.fee) > BigInt(payment.fee));
    await assert.rejects(wallets.bump('shop', tx.txid, { feeRate: 10, feeMax: 1000n }), (error) => isUnspentError(error, 'FEE_TOO_HIGH'));
    const better = Buffer.from(account.sign(keys.parsePsbt(faster.psbt))).toString('hex');
    const winner = await wallets.broadcast('shop', better, { replace: true });
    await wallets.label('shop', winner.txid, 'rent, faster');
    const history = await wallets.history('shop', { limit: 2 });
    assert.deepEqual(
      history.map(({ txid, status, label, replaced_by }) => [txid, status, label, replaced_by]),
      [
        [winner.txid, 'pending', 'rent, faster', []],
        [tx.txid, 'replaced', 'rent', [winner.txid]],
      ],
    );
    assert.deepEqual(await wallets.history('shop', { limit: 1, after: history[0].txid }), [history[1]]);
    await assert.rejects(wallets.label('shop', '00'.repeat(32), 'x'), (error) => isUnspentError(error, 'TX_UNKNOWN'));
    assert.deepEqual(
      (await wallets.list()).map(({ name, synced_to }) => [name, synced_to?.height]),
      [['shop', regtest.height]],
    );
  });

  it('keep a secret under a passphrase, and sign with it', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'unspent-library-secrets-'));
    const network = 'bitcoin-regtest';
    const wallets = await openWallets({ database: `sqlite:${join(folder, 'wallets.sqlite')}`, network });
    t.after(async () => {
      await wallets.close();
      rmSync(folder, { recursive: true, force: true });
    });
    const made = await wallets.createSigning({ name: 'till', passphrase: 'correct horse' });
    assert.equal(made.words?.split(' ').length, 24);
    assert.equal(made.watch_only, false);
    await assert.rejects(wallets.createSigning({ name: 'bad', passphrase: 'x', secret: 'no words' }), { code: 'SECRET_INVALID' });
    await wallets.changePassphrase('till', 'correct horse', 'battery staple');
    const account = new RegtestAccount(52);
    const [owner] = keys.parseAccount(account.chain.network, (await wallets.accounts('till'))[0].descriptor).derive(0, 0);
    const input = { txid: new Uint8Array(32), index: 0, amount: 10_000n, owner };
    const outputs = [{ script: account.script(0, 0), amount: 9_000n }];
    const psbt = keys.formatPsbt(keys.createPsbt({ network: account.chain.network, inputs: [input], outputs }));
    await assert.rejects(wallets.sign('till', psbt, 'correct horse'), { code: 'PASSPHRASE_WRONG' });
    const signed = await wallets.sign('till', psbt, 'battery staple');
    assert.ok(keys.inspectPsbt(keys.parsePsbt(signed)).isComplete);
    await wallets.create({ name: 'shop', descriptor: account.descriptor });
    await assert.rejects(wallets.sign('shop', psbt, 'any'), { code: 'WATCH_ONLY' });
  });
});
