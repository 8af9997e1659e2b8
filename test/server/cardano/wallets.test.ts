/**
 * Wallets of Cardano over HTTP, on a real socket: with their token a wallet is
 * made from addresses, and its coins are the outputs that the same server tells
 * for them, block after block and across a fork.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { cardanoNetwork } from '../../../src/ledgers/cardano/index.ts';
import type { UtxoJson } from '../../../src/query/json.ts';
import { type Served, serve } from '../../../src/server/serve.ts';
import { feedWallets } from '../../../src/server/wallets/feed-wallets.ts';
import { walletToken } from '../../../src/server/wallets/wallet-token.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { openCardanoWallets } from '../../../src/wallet/cardano/cardano-wallets.ts';
import type { WalletBalanceJson, WalletCoinJson, WalletTxJson } from '../../../src/wallet/documents.ts';
import { temporary } from '../../cli/run.ts';
import { applyDevnet, coinLine, DevnetStore, utxoLine } from '../../support/devnet-store.ts';
import { until } from '../../support/patience.ts';

interface Json {
  readonly [name: string]: unknown;
}

/** A server, asked with the token of its wallets. */
class Client {
  readonly #url: string;
  readonly #token: string;

  constructor({ url }: Served, token: string) {
    this.#url = `${url}api/v1`;
    this.#token = token;
  }

  async utxos(address: string): Promise<string[]> {
    const response = await fetch(`${this.#url}/addresses/${address}/utxos?limit=1000`);
    return ((await response.json()) as UtxoJson[]).map(utxoLine);
  }

  /** The server answers at that block. */
  async settled(hash: Uint8Array): Promise<void> {
    const isThere = async (): Promise<boolean> => {
      const response = await fetch(`${this.#url}/utxos/${'00'.repeat(32)}/0`);
      await response.arrayBuffer();
      return response.headers.get('x-block-hash') === toHex(hash);
    };
    await until(isThere, 'the server is at the block');
  }

  async ask<T = Json>(method: string, path: string, body?: object, wanted = method === 'POST' ? 201 : 200): Promise<T> {
    const response = await fetch(`${this.#url}/wallets${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const json = await response.json();
    assert.equal(response.status, wanted, `${method} ${path}: ${JSON.stringify(json)}`);
    return json as T;
  }

  async document(): Promise<{ readonly paths: Readonly<Record<string, object>> }> {
    return (await fetch(`${this.#url}/openapi.json`)).json() as Promise<{ readonly paths: Record<string, object> }>;
  }
}

describe('wallets of Cardano over HTTP', () => {
  it('watch addresses, and have what the server tells for them', async (t) => {
    const data = join(temporary(), 'data');
    const devnet = new DevnetStore(data, 2);
    devnet.mine(20);
    const store = await devnet.open();
    t.after(() => store.close());
    const served = await serve(store, { port: 0 });
    t.after(() => served.close());
    const api = new Client(served, walletToken({ wallet: store.config.wallet, data }));
    const wallets = await openCardanoWallets(`sqlite:${join(data, 'wallets.sqlite')}`, cardanoNetwork('devnet'), store.config.wallet);
    t.after(() => wallets.store.close());
    const addresses = devnet
      .addresses()
      .filter((address) => address.startsWith('addr'))
      .slice(0, 6);

    await new Client(served, 'wrong').ask('GET', '', undefined, 401);
    assert.equal((await api.ask('POST', '', { name: 'shop', descriptor: 'pk(x)' }, 400))['code'], 'USAGE');
    const made = await api.ask<{ addresses: { address: string }[]; balance: WalletBalanceJson }>('POST', '', {
      name: 'shop',
      addresses: addresses.slice(0, 5),
    });
    assert.deepEqual([made.addresses.length, made.balance.total, made.balance.assets], [5, '0', []]);
    await api.ask('POST', '/shop/accounts', { addresses: addresses.slice(5) });
    for (const step of ['begin', 'mine', 'fork']) {
      if (step === 'fork') devnet.chain.fork(2);
      else if (step === 'mine') devnet.mine(2);
      applyDevnet(store, devnet.chain);
      await feedWallets(wallets, store);
      await api.settled(devnet.chain.tip!.hash);
      const expected = (await Promise.all(addresses.map((address) => api.utxos(address)))).flat();
      await giveUpWaiting(api);
      const { coins } = await api.ask<{ coins: WalletCoinJson[] }>('GET', '/shop/coins?limit=1000');
      assert.deepEqual(coins.map(coinLine).sort(), expected.sort(), step);
    }

    const { balance } = await api.ask<{ balance: WalletBalanceJson }>('GET', '/shop');
    assert.ok((balance.assets?.length ?? 0) > 0, 'it has assets');
    const { wallets: list } = await api.ask<{ wallets: { name: string; balance: WalletBalanceJson }[] }>('GET', '');
    assert.deepEqual(
      list.map(({ name, balance: { total } }) => [name, total]),
      [['shop', balance.total]],
    );
    assert.ok((await api.ask<{ reorgs: Json[] }>('GET', '/shop/reorgs')).reorgs.length === 1);
    assert.equal((await api.ask('POST', '/shop/addresses', {}))['address'], addresses[0]);
    const { coins } = await api.ask<{ coins: WalletCoinJson[] }>('GET', '/shop/coins?limit=1');
    await api.ask('POST', '/shop/leases', { outpoint: coins[0].outpoint }, 200);
    assert.equal((await api.ask<{ leases: Json[] }>('GET', '/shop/leases')).leases.length, 1);

    for (const path of ['/shop/payments', `/shop/transactions/${'00'.repeat(32)}/bump`, '/shop/transactions'])
      assert.equal((await api.ask('POST', path, {}, 501))['code'], 'UNSUPPORTED', path);
    const { paths } = await api.document();
    assert.ok('/api/v1/wallets/{name}/coins' in paths && !('/api/v1/wallets/{name}/payments' in paths));
  });
});

/** The fork has dropped them for good. */
async function giveUpWaiting(api: Client): Promise<void> {
  for (;;) {
    const { transactions } = await api.ask<{ transactions: WalletTxJson[] }>('GET', '/shop/transactions?limit=1000');
    const waiting = transactions.find(({ block, status }) => block === null && status === 'published');
    if (waiting === undefined) return;
    await api.ask('DELETE', `/shop/transactions/${waiting.txid}`);
  }
}
