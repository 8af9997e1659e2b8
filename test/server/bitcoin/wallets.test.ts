/**
 * Wallets over HTTP, on a real socket: nobody gets anything without their
 * token, and with it a payment goes from coins to the chain.
 */
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { loadConfig } from '../../../src/config/load.ts';
import { serve } from '../../../src/server/serve.ts';
import { openStore } from '../../../src/store/store.ts';
import * as keys from '../../../src/wallet/bitcoin/keys/index.ts';
import { walletTxOf } from '../../../src/wallet/bitcoin/wallet-tx.ts';
import { openWalletStore } from '../../../src/wallet/open.ts';
import { temporary } from '../../cli/run.ts';
import { MNEMONIC, RegtestAccount } from '../../support/regtest-account.ts';

interface Json {
  readonly [name: string]: unknown;
}

describe('wallets over HTTP', () => {
  it('need their token, and then do what the commands do', async (t) => {
    const data = join(temporary(), 'data');
    const account = new RegtestAccount(31);
    const { chain } = account;
    chain.mine(102);
    const { config } = loadConfig({ flags: { set: ['utxo.history=true', 'server.token=of-the-server'] }, env: {} });
    const store = await openStore({ data, network: chain.network.name, config });
    t.after(() => store.close());
    account.apply(store);
    const served = await serve(store, { port: 0 });
    const ask = async (method: string, path: string, body?: unknown, token = ''): Promise<{ status: number; type: string; json: Json }> => {
      const response = await fetch(`${served.url}api/v1/wallets${path}`, {
        method,
        headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), authorization: `Bearer ${token}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, type: response.headers.get('content-type') ?? '', json: (await response.json()) as Json };
    };
    for (const token of ['', 'of-the-server', '00'.repeat(32)]) {
      for (const [method, path] of [
        ['GET', ''],
        ['POST', ''],
        ['GET', '/shop'],
        ['DELETE', `/shop/transactions/${'00'.repeat(32)}`],
      ]) {
        const { status, type, json } = await ask(method, path, method === 'POST' ? {} : undefined, token);
        assert.equal(status, 401, `${method} ${path}`);
        assert.match(type, /^application\/problem\+json/);
        assert.equal(json['code'], 'UNAUTHORIZED');
      }
    }
    const file = join(data, 'wallets.token');
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const token = readFileSync(file, 'utf8').trim();
    const api = async (method: string, path: string, body?: unknown, wanted = method === 'POST' ? 201 : 200): Promise<Json> => {
      const { status, json } = await ask(method, path, body, token);
      assert.equal(status, wanted, `${method} ${path}: ${JSON.stringify(json)}`);
      return json;
    };

    assert.deepEqual(await api('GET', ''), { wallets: [] });
    const made = await api('POST', '', { name: 'shop', descriptor: account.descriptor });
    assert.equal((made['balance'] as Json)['total'], '0');
    assert.equal((await api('POST', '', { name: 'shop', descriptor: account.descriptor }, 409))['code'], 'WALLET_EXISTS');
    assert.equal((await api('POST', '', { name: 'x', descriptor: 'nonsense()' }, 400))['code'], 'DESCRIPTOR_INVALID');
    assert.equal((await api('GET', '/stop', undefined, 404))['code'], 'WALLET_UNKNOWN');
    assert.equal((await api('POST', '/shop/addresses', {}))['address'], account.address(0, 0));
    assert.equal((await api('POST', '/shop/payments', { outputs: [] }, 400))['code'], 'USAGE');

    // The coin comes as if the feed had brought it.
    const coin = await fund(account, data);
    const { coins } = (await api('GET', '/shop/coins')) as { coins: { outpoint: string; amount: string }[] };
    assert.deepEqual(
      coins.map(({ outpoint, amount }) => [outpoint, amount]),
      [[coin, '100000']],
    );
    const lease = await api('POST', '/shop/leases', { outpoint: coin, minutes: 5 }, 200);
    const pay = { outputs: [{ address: account.address(0, 900), amount: '50000' }], fee_rate: 1.5 };
    assert.equal((await api('POST', '/shop/payments', pay, 409))['code'], 'FUNDS_INSUFFICIENT');
    await api('DELETE', '/shop/leases', { outpoint: coin, id: (lease['lease'] as Json)['id'] });
    for (const [field, value, status, code] of [
      ['order', 'branch-and-bound', 409, 'SELECTION_NOT_FOUND'],
      ['order', 'smallest', 400, 'USAGE'],
      ['exclude', [coin], 409, 'FUNDS_INSUFFICIENT'],
      ['min_confs', 1000, 409, 'FUNDS_INSUFFICIENT'],
      ['max_confs', 0, 409, 'FUNDS_INSUFFICIENT'],
      ['max_weight', 400, 409, 'TX_TOO_LARGE'],
      ['change_position', 2, 400, 'USAGE'],
      ['change_account', 'none', 404, 'ACCOUNT_UNKNOWN'],
      ['change_address', 'nowhere', 400, 'USAGE'],
      ['include', [`${'00'.repeat(32)}#0`], 404, 'UTXO_UNKNOWN'],
    ] as const)
      assert.equal((await api('POST', '/shop/payments', { ...pay, [field]: value }, status))['code'], code, field);
    const borne = await api('POST', '/shop/selections', {
      ...{ outputs: [{ ...pay.outputs[0], subtract_fee: true }], fee_rate: 1.5, include: [coin], avoid_partial_spends: true },
      ...{ unconfirmed_change: false, long_chains: true, long_term_fee_rate: 5, discard_fee_rate: 3, change_position: 1 },
    });
    assert.equal(borne['change'], '50000', 'the receiver bears the fee');
    await api('DELETE', '/shop/leases', { outpoint: coin, id: borne['lease'] });
    const payment = await api('POST', '/shop/payments', pay);
    const signed = keys.signPsbt(keys.parsePsbt(String(payment['psbt'])), keys.openKeyRing(chain.network, keys.parseMnemonic(MNEMONIC)));
    // No node is followed here, so that none can take it: it is recorded, and waits.
    const refused = await api('POST', '/shop/transactions', { psbt: keys.formatPsbt(signed.psbt), label: 'rent' }, 501);
    assert.equal(refused['code'], 'UNSUPPORTED');
    const { transactions } = (await api('GET', '/shop/transactions')) as {
      transactions: { txid: string; status: string; label: string }[];
    };
    assert.deepEqual([transactions[0].status, transactions[0].label], ['pending', 'rent']);
    const { txid } = transactions[0];
    assert.equal((await api('PATCH', `/shop/transactions/${txid}`, { label: 'rent of May' }))['label'], 'rent of May');
    assert.match(String((await api('GET', '/shop/labels'))['labels']), /rent of May/);
    assert.equal((await api('POST', `/shop/transactions/${txid}/bump`, { fee_rate: 9 }))['algorithm'], 'manual');
    assert.equal((await api('DELETE', `/shop/transactions/${txid}`))['status'], 'failed');
    const document = await (await fetch(`${served.url}api/v1/openapi.json`, { headers: { authorization: 'Bearer of-the-server' } })).json();
    const prefix = '/api/v1/wallets';
    const known = Object.keys((document as { paths: object }).paths).filter((path) => path.startsWith(prefix));
    assert.deepEqual(listedPaths(), known.map((path) => path.slice(prefix.length) || '/').sort());
  });
});

/** Of the table of wallets in docs/reference/http.md, without what stands behind a question mark. */
function listedPaths(): string[] {
  const text = readFileSync(new URL('../../../docs/reference/http.md', import.meta.url), 'utf8');
  const table = text.slice(text.indexOf('### Wallets'), text.indexOf('## One answer, one block'));
  const paths = [...table.matchAll(/`(?:[A-Z]+ )(\/[^`?]*)/g)].map(([, path]) => path);
  return [...new Set(paths)].sort();
}

/** Pays the wallet, in a block that its database is told of; the coin's name. */
async function fund(account: RegtestAccount, data: string): Promise<string> {
  const { chain } = account;
  const id = chain.fund(account.script(0, 0), 100_000n);
  const tx = walletTxOf(chain.tx(id) ?? assert.fail('it waits'), false);
  chain.mine();
  const { height, hash, time } = chain.tip;
  const block = { height, hash, timestamp: time };
  const wallets = await openWalletStore(`sqlite:${join(data, 'wallets.sqlite')}`);
  const { id: walletId } = await wallets.getWallet('shop');
  const credits = new Map([[tx.outputs.findIndex(({ amount }) => amount === 100_000n), null]]);
  await wallets.connectBlock({ block, txs: [{ walletId, tx, block, received: 1, status: 'published', credits }] });
  await wallets.close();
  return `${Buffer.from(id).reverse().toString('hex')}#${[...credits.keys()][0]}`;
}
