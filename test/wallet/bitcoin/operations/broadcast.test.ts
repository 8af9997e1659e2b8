/**
 * What becomes of a payment when the node, or the way to it, answers one thing or
 * another. Only a node's refusal of what nobody was given before makes it fail:
 * its coins are then free, and whoever pays again pays once.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { submitTo } from '../../../../src/cli/bitcoin/wallet/submit.ts';
import { tokenFor } from '../../../../src/cli/wallet/server-token.ts';
import { toHex } from '../../../../src/util/bytes.ts';
import { UnspentError } from '../../../../src/util/errors.ts';
import { broadcastTx } from '../../../../src/wallet/bitcoin/operations/broadcast.ts';
import { prepareReplacement } from '../../../../src/wallet/bitcoin/operations/bump.ts';
import { createWatchOnlyWallet } from '../../../../src/wallet/bitcoin/operations/create-wallet.ts';
import { preparePayment } from '../../../../src/wallet/bitcoin/operations/payment.ts';
import type { WalletInfo } from '../../../../src/wallet/records.ts';
import { RegtestWallets } from './regtest-wallets.ts';

const LEASE_MS = 600_000;

interface Payment {
  readonly all: RegtestWallets;
  readonly wallet: WalletInfo;
  readonly raw: Uint8Array;
  readonly txId: Uint8Array;
  /** Its status in the wallet; null: the wallet does not have it. */
  status(): Promise<string | null>;
  coins(): Promise<number>;
}

/** A wallet with one coin, and a signed payment that nobody was given yet. */
async function signedPayment(t: TestContext, seed: number): Promise<Payment> {
  const all = await RegtestWallets.open(t, seed);
  const { context, chain, account } = all;
  chain.fund(account.script(0, 0), 100_000n);
  chain.mine();
  all.apply();
  await createWatchOnlyWallet(context, { name: 'shop', descriptor: account.descriptor });
  all.follow(t);
  await all.settle();
  const wallet = await all.wallet('shop');
  const outputs = [{ script: account.script(0, 900), value: 50_000n }];
  const { psbt } = await preparePayment(context, wallet, { outputs, rate: 2000, leaseMs: LEASE_MS });
  const raw = account.sign(psbt);
  const txId = (await broadcastTx(context, wallet, { raw })).tx.id;
  await context.store.deleteTx(wallet.id, txId);
  const status = async (): Promise<string | null> =>
    (await context.store.history(wallet.id)).find(({ tx }) => toHex(tx.id) === toHex(txId))?.status ?? null;
  const coins = async (): Promise<number> => (await context.store.listCoins(wallet.id, { now: context.now() })).length;
  return { all, wallet, raw, txId, status, coins };
}

const refuse = (words: string) => () => Promise.reject(new UnspentError('TX_REFUSED', words));

/** A server that answers every request in one way, and the authorization that it was shown last. */
async function answering(t: TestContext, status: number, body: string): Promise<{ readonly url: string; shown(): string | undefined }> {
  let shown: string | undefined;
  const server: Server = createServer((request, response) => {
    shown = request.headers.authorization;
    request.resume().on('end', () => response.writeHead(status, { location: '/elsewhere' }).end(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, shown: () => shown };
}

describe('a payment that is broadcast', () => {
  it('fails when the node refuses it, and lives again when a node takes it after all', async (t) => {
    const { all, wallet, raw, status, coins } = await signedPayment(t, 31);
    const { context, submit } = all;
    await assert.rejects(broadcastTx(context, wallet, { raw, submit: refuse('min relay fee not met') }), { code: 'TX_REFUSED' });
    assert.deepEqual([await status(), await coins()], ['failed', 1]);
    await assert.rejects(broadcastTx(context, wallet, { raw, submit: refuse('mempool full') }), { code: 'TX_REFUSED' });
    assert.deepEqual([await status(), await coins()], ['failed', 1]);
    assert.equal((await broadcastTx(context, wallet, { raw, submit })).status, 'published');
    await all.mine();
    assert.equal(await status(), 'published');
  });

  it('stays pending when nobody knows what the node did', async (t) => {
    const { all, wallet, raw, status, coins } = await signedPayment(t, 32);
    const lost = () => Promise.reject(new UnspentError('SOURCE_UNREACHABLE', 'the node may have taken it'));
    await assert.rejects(broadcastTx(all.context, wallet, { raw, submit: lost }), { code: 'SOURCE_UNREACHABLE' });
    assert.equal(await status(), 'pending');
    // Another node refuses it: the first may still have it.
    await assert.rejects(broadcastTx(all.context, wallet, { raw, submit: refuse('missing inputs') }), { code: 'TX_REFUSED' });
    assert.deepEqual([await status(), await coins()], ['pending', 1]);
  });

  it('stays published when a second broadcast is refused, and when the node has it already', async (t) => {
    const { all, wallet, raw, status } = await signedPayment(t, 33);
    const { context, submit } = all;
    await broadcastTx(context, wallet, { raw, submit });
    await assert.rejects(broadcastTx(context, wallet, { raw, submit: refuse('mempool min fee not met') }), { code: 'TX_REFUSED' });
    assert.equal(await status(), 'published');
    for (const words of ['txn-already-in-mempool', 'txn-already-known', 'txn-same-nonwitness-data-in-mempool']) {
      assert.equal((await broadcastTx(context, wallet, { raw, submit: refuse(words) })).status, 'published');
    }
    await all.mine();
    for (const words of ['Transaction outputs already in utxo set', 'bad-txns-inputs-missingorspent']) {
      const { status: told, block } = await broadcastTx(context, wallet, { raw, submit: refuse(words) });
      assert.deepEqual([told, block?.height], ['published', all.chain.height]);
    }
  });

  it('that another process publishes meanwhile is not taken back by a refusal here', async (t) => {
    const { all, wallet, raw, txId, status } = await signedPayment(t, 34);
    const late = async (): Promise<never> => {
      await all.context.store.updateTx(wallet.id, txId, { state: { status: 'published' } });
      return refuse('missing inputs')();
    };
    await assert.rejects(broadcastTx(all.context, wallet, { raw, submit: late }), { code: 'TX_REFUSED' });
    assert.equal(await status(), 'published');
  });

  it('that was replaced takes the place of its replacement when a node takes it again', async (t) => {
    const { all, wallet, raw, txId, status } = await signedPayment(t, 35);
    const { context, submit } = all;
    await broadcastTx(context, wallet, { raw, submit });
    const bump = await prepareReplacement(context, wallet, { txId, rate: 9000, leaseMs: LEASE_MS });
    const bumped = await broadcastTx(context, wallet, { raw: all.account.sign(bump.psbt), replace: true, submit });
    assert.equal(await status(), 'replaced');
    await assert.rejects(broadcastTx(context, wallet, { raw, submit }), { code: 'INPUT_CONFLICT' });
    assert.equal((await broadcastTx(context, wallet, { raw, replace: true, submit: async () => {} })).status, 'published');
    assert.equal((await context.store.getTx(wallet.id, bumped.tx.id)).status, 'replaced');
  });
});

describe('a server that is to hand a payment on', () => {
  for (const [status, body, code] of [
    [400, 'bad-txns-inputs-missingorspent', 'TX_REFUSED'],
    [401, '{"code":"UNAUTHORIZED"}', 'UNAUTHORIZED'],
    [403, '', 'SOURCE_UNREACHABLE'],
    [404, 'no such page', 'SOURCE_UNREACHABLE'],
    [413, 'too large', 'SOURCE_UNREACHABLE'],
    [429, 'slower', 'SOURCE_UNREACHABLE'],
    [302, '', 'SOURCE_UNREACHABLE'],
    [200, '<html>welcome</html>', 'SOURCE_UNREACHABLE'],
    [502, '', 'SOURCE_UNREACHABLE'],
  ] as const) {
    it(`and answers ${status} ${body}: ${code}`, async (t) => {
      const { url } = await answering(t, status, body);
      await assert.rejects(submitTo(url)(Uint8Array.of(1)), { code });
    });
  }

  it('is shown its token, and nothing else', async (t) => {
    const { url, shown } = await answering(t, 200, 'ab'.repeat(32));
    await submitTo(url, 'secret')(Uint8Array.of(1));
    assert.equal(shown(), 'Bearer secret');
    await submitTo(url)(Uint8Array.of(1));
    assert.equal(shown(), undefined);
  });

  it('and answers without end is left', async (t) => {
    const server = createServer((_, response) => {
      response.writeHead(200).write('and so on ');
      const more = setInterval(() => response.write('and so on '.repeat(1000)), 1);
      response.once('close', () => clearInterval(more));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    t.after(() => server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await assert.rejects(submitTo(url)(Uint8Array.of(1)), { code: 'SOURCE_UNREACHABLE', message: /did not say whether .* and so on/ });
  });

  it('is given our own token only on this machine', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'unspent-token-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'token');
    writeFileSync(file, 'of a file\n');
    const sources = [{}, { serverTokenFile: file }, { serverToken: 'typed', serverTokenFile: file }];
    const tokens = (server: string) => Promise.all(sources.map((given) => tokenFor(server, { ...given, ownToken: 'own' })));
    for (const server of ['http://127.0.0.1:8437', 'http://[::1]:8437/', 'http://localhost:1'])
      assert.deepEqual(await tokens(server), ['own', 'of a file', 'typed']);
    for (const server of ['https://esplora.example', 'http://127.0.0.1.example/', 'http://localhost@esplora.example/', 'nowhere'])
      assert.deepEqual(await tokens(server), [undefined, 'of a file', 'typed']);
    assert.equal(await tokenFor('http://127.0.0.1', { ownToken: '' }), undefined);
  });

  it('and cannot be reached: nobody has refused it', async (t) => {
    const { url } = await answering(t, 200, '');
    await assert.rejects(submitTo(url.replace(/\d+$/, '1'))(Uint8Array.of(1)), { code: 'SOURCE_UNREACHABLE' });
  });
});
