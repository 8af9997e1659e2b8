/**
 * A wallet on PostgreSQL beside a real node, by commands and over HTTP: it keeps
 * its secret, pays, and what it broadcasts through our server the node takes into
 * its mempool and into a block.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { bitcoinNetwork } from '../../src/ledgers/bitcoin/index.ts';
import { serve } from '../../src/server/serve.ts';
import { feedWallets } from '../../src/server/wallets/feed-wallets.ts';
import { type OpenStore, openStore } from '../../src/store/store.ts';
import * as keys from '../../src/wallet/bitcoin/keys/index.ts';
import { openWalletContext, walletSettings } from '../../src/wallet/bitcoin/operations/open-context.ts';
import { type CoreNode, startNode } from '../support/core-node.ts';
import { nodeMissing } from '../support/node-kinds.ts';
import { until } from '../support/patience.ts';
import { MNEMONIC } from '../support/regtest-account.ts';
import { PostgresServer, withoutPostgres } from '../support/sql/postgres-server.ts';
import { makeWalletSchema } from '../wallet/sql/wallet-files.ts';
import { temporary, unspentHere } from './run.ts';

const TOKEN = 'of-the-wallets';
const PASSPHRASE = 'correct horse';

describe('a wallet on PostgreSQL beside a node', { skip: nodeMissing() || withoutPostgres }, () => {
  const directory = temporary();
  const data = join(directory, 'data');
  const network = bitcoinNetwork('litecoin-regtest');
  const stop = new AbortController();
  let database: string;
  let url: string;
  const parts: { node?: CoreNode; server?: PostgresServer; store?: OpenStore; running: Promise<unknown>[] } = { running: [] };

  async function run<T = Record<string, unknown>>(...args: string[]): Promise<T> {
    const flags = ['--data', data, '--wallet-database', database, '--json', '--quiet'];
    const { code, stdout, stderr } = await unspentHere(['wallet', ...args, ...flags], { UNSPENT_PASSPHRASE: PASSPHRASE });
    assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
    return JSON.parse(stdout) as T;
  }

  async function ask<T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`${url}api/v1/wallets${path}`, {
      method,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${text}`);
    return JSON.parse(text) as T;
  }

  before(async () => {
    const node = await startNode();
    parts.node = node;
    await node.rpc('createwallet', 'w');
    await node.rpc('generatetoaddress', 101, await node.rpc('getnewaddress'));
    parts.server = await PostgresServer.start(makeWalletSchema);
    database = await parts.server.freshUrl();
    const set = ['utxo.history=true', `wallet.database=${database}`, `wallet.token=${TOKEN}`];
    const { config } = loadConfig({ flags: { set }, env: {} });
    const store = await openStore({ data, network: network.name, config });
    parts.store = store;
    const wallets = await openWalletContext(database, { network, ...walletSettings(config.wallet) });
    parts.running.push(store.follow(node.rpcUrl, { follow: true, signal: stop.signal }));
    parts.running.push(feedWallets(wallets, store, { signal: stop.signal }).finally(() => wallets.store.close()));
    url = (await serve(store, { port: 0 })).url;
    await until(() => store.fold.head?.height === 101, 'the store has the blocks of the node');
  });
  after(async () => {
    stop.abort();
    await Promise.allSettled(parts.running);
    await parts.store?.close();
    await parts.server?.stop();
    await parts.node?.stop();
  });

  it('pays by commands, and the node has it in a block', async () => {
    const node = parts.node ?? assert.fail('there is a node');
    const words = join(directory, 'words.txt');
    writeFileSync(words, MNEMONIC);
    await run('create', 'till', '--secret', words);
    const { address } = await run<{ address: string }>('address', 'till');
    await node.rpc('sendtoaddress', address, 1);
    await node.rpc('generatetoaddress', 1, await node.rpc('getnewaddress'));
    await until(async () => (await run('balance', 'till'))['confirmed'] === '100000000', 'the wallet was paid');
    const payee: string = await node.rpc('getnewaddress');
    const psbt = join(directory, 'paid.psbt');
    await run('send', 'till', '--pay', `${payee}=30000000`, '--fee-rate', '5', '--sign', '--psbt', psbt);
    const sent = await run<{ txid: string; status: string }>('broadcast', 'till', psbt, '--server', url);
    assert.equal(sent.status, 'published');
    assert.ok((await node.rpc('getrawmempool')).includes(sent.txid));
    await node.rpc('generatetoaddress', 1, await node.rpc('getnewaddress'));
    await until(async () => {
      const { history } = await run<{ history: { txid: string; confirmations: number }[] }>('history', 'till');
      return history.some(({ txid, confirmations }) => txid === sent.txid && confirmations === 1);
    }, 'the wallet has it confirmed');
    assert.equal(await node.rpc('getreceivedbyaddress', payee), 0.3);
    // The wallets are a consumer of the store: pruning waits for them.
    const height = await node.rpc<number>('getblockcount');
    await until(
      () => parts.store?.consumers.list().some((one) => one.name === 'wallets' && one.height === height) === true,
      'they are there',
    );
  });

  it('pays over HTTP, and the node takes that, too; what it refuses has failed, and its coins are free', async () => {
    const node = parts.node ?? assert.fail('there is a node');
    const { balance } = await ask<{ balance: { spendable: string } }>('GET', '/till');
    const outputs = [{ address: await node.rpc('getnewaddress'), amount: '10000000' }];
    const payment = await ask<{ psbt: string }>('POST', '/till/payments', { outputs, fee_rate: 3 });
    const file = join(directory, 'rest.psbt');
    writeFileSync(file, payment.psbt);
    const { psbt } = await run<{ psbt: string }>('sign', 'till', file);
    const tx = await ask<{ txid: string; status: string; fee: string }>('POST', '/till/transactions', { psbt, label: 'rent' });
    assert.equal(tx.status, 'published');
    assert.ok((await node.rpc('getrawmempool')).includes(tx.txid));
    const after = await ask<{ balance: { total: string } }>('GET', '/till');
    assert.equal(BigInt(after.balance.total), BigInt(balance.spendable) - 10_000_000n - BigInt(tx.fee));

    const other = await ask<{ psbt: string }>('POST', '/till/payments', { outputs, fee_rate: 3, unsafe: true });
    writeFileSync(join(directory, 'other.psbt'), other.psbt);
    const { psbt: signed } = await run<{ psbt: string }>('sign', 'till', join(directory, 'other.psbt'));
    const altered = Buffer.from(keys.extractTx(keys.parsePsbt(signed)).raw);
    // Inside a signature: behind it there are a key of 33 bytes with its length, and the lock time.
    altered[altered.length - 60] ^= 1;
    const hex = altered.toString('hex');
    const refused = await fetch(`${url}api/v1/wallets/till/transactions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
      body: JSON.stringify({ hex }),
    });
    const problem = (await refused.json()) as { code: string };
    assert.equal(problem.code, 'TX_REFUSED');
    const { transactions } = await ask<{ transactions: { status: string }[] }>('GET', '/till/transactions?limit=1');
    assert.equal(transactions[0].status, 'failed');
  });
});
