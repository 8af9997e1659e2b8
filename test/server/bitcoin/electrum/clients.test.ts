/**
 * Clients that others wrote, over each way in: `@bitcoinerlab/electrum-client`
 * and the explorer built on it over TCP and TLS, and `ws` for WebSocket. What
 * they say of a chain with reorganisations is what the model says.
 */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import net from 'node:net';
import { after, before, test } from 'node:test';
import tls from 'node:tls';
import electrumClient from '@bitcoinerlab/electrum-client';
import { ElectrumExplorer } from '@bitcoinerlab/explorer';
import { networks, Transaction } from 'bitcoinjs-lib';
import { WebSocket } from 'ws';
import { bitcoinNetwork, formatAddress } from '../../../../src/ledgers/bitcoin/index.ts';
import { toHex } from '../../../../src/util/bytes.ts';
import { type Certificate, makeCertificate } from '../../../support/certificate.ts';
import type { Reply } from './client.ts';
import { ElectrumRig, SCRIPTS } from './rig.ts';

/** As much of it as is used here; what it exports is the class itself, whatever its types say. */
interface Client {
  readonly subscribe: { on(method: string, listener: (params: unknown[]) => void): void };
  initElectrum(config: { client: string; version: unknown }, policy: { maxRetry: number; callback: null }): Promise<unknown>;
  request(method: string, params: readonly unknown[]): Promise<unknown>;
  blockchainScripthash_getBalanceBatch(hashes: readonly string[]): Promise<{ param: string; result: unknown }[]>;
  blockchainScripthash_getHistory(hash: string): Promise<unknown>;
  blockchainScripthash_subscribe(hash: string): Promise<unknown>;
  close(): void;
}
const ElectrumClient = electrumClient as unknown as new (n: typeof net, t: typeof tls, port: number, host: string, kind: string) => Client;

let rig: ElectrumRig;
let certificate: Certificate;

before(async () => {
  certificate = makeCertificate();
  const { tlsCert, tlsKey } = certificate;
  rig = await ElectrumRig.open({ seed: 9, ports: { tcp: 0, tls: 0, ws: 0 }, electrum: { tlsCert, tlsKey } });
  for (let i = 0; i < 50; i++) rig.step();
});

after(async () => {
  await rig.close();
  certificate.remove();
});

for (const kind of ['tcp', 'tls'] as const) {
  test(`electrum-client over ${kind}`, async () => {
    const client = new ElectrumClient(net, tls, rig.ports[kind]!, '127.0.0.1', kind);
    await client.initElectrum({ client: 'test', version: ['1.4', '1.6'] }, { maxRetry: 0, callback: null });
    const hashes = SCRIPTS.map((script) => rig.model.scriptHash(script));
    const balances = await client.blockchainScripthash_getBalanceBatch(hashes);
    assert.deepEqual(
      balances.map(({ param, result }) => [param, result]),
      SCRIPTS.map((script, i) => [hashes[i], rig.model.balance(script)]),
    );
    const told: unknown[] = [];
    let wake = (): void => undefined;
    client.subscribe.on('blockchain.scripthash.subscribe', (params) => {
      told.push(params);
      wake();
    });
    assert.equal(await client.blockchainScripthash_subscribe(hashes[0]), rig.model.status(SCRIPTS[0]));
    const next = new Promise<void>((resolve) => {
      wake = resolve;
    });
    rig.back(2);
    for (let i = 0; i < 3; i++) rig.mine([], SCRIPTS[0]);
    await next;
    assert.deepEqual(await client.blockchainScripthash_getHistory(hashes[0]), rig.model.history(SCRIPTS[0]));
    assert.deepEqual(told.at(-1), [hashes[0], rig.model.status(SCRIPTS[0])]);
    await assert.rejects(client.request('blockchain.scripthash.get_balance', ['nonsense']), { code: 1 });
    client.close();
  });
}

for (const [kind, protocol] of [
  ['tcp', 'tcp'],
  ['tls', 'ssl'],
] as const) {
  test(`the explorer of bitcoinerlab over ${kind}`, async () => {
    const explorer = new ElectrumExplorer({ host: '127.0.0.1', port: rig.ports[kind]!, protocol, network: networks.regtest });
    await explorer.connect();
    const { model } = rig;
    assert.equal(await explorer.fetchBlockHeight(), model.height);
    assert.equal((await explorer.fetchBlockStatus(3))?.blockHash, toHex(Uint8Array.from(model.hash(3)).reverse()));
    for (const script of SCRIPTS) {
      const address = formatAddress(bitcoinNetwork('bitcoin-regtest'), script)!;
      const history = model.history(script);
      const { confirmed, unconfirmed } = model.balance(script);
      const mined = history.filter(({ height }) => height > 0).length;
      const found = await explorer.fetchAddress(address);
      const wanted = { balance: confirmed, unconfirmedBalance: unconfirmed, txCount: mined, unconfirmedTxCount: history.length - mined };
      assert.deepEqual(found, wanted);
      const txs = await explorer.fetchTxHistory({ address });
      assert.deepEqual(
        txs.map(({ txId }) => txId),
        history.map(({ tx_hash }) => tx_hash),
      );
    }
    const tx = rig.forge()!;
    const id = await explorer.push(toHex(tx));
    assert.equal(id, Transaction.fromBuffer(tx).getId());
    assert.equal(await explorer.fetchTx(id), toHex(tx));
    assert.ok((await explorer.fetchFeeEstimates())['1'] >= 1);
    explorer.close();
  });
}

/** Its messages, as they come. */
async function* messages(socket: WebSocket): AsyncGenerator<Reply, never, void> {
  const queue: Reply[] = [];
  let wake = (): void => undefined;
  socket.on('message', (data) => {
    queue.push(JSON.parse(data.toString()) as Reply);
    wake();
  });
  for (;;) {
    if (queue.length === 0) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    yield queue.shift()!;
  }
}

test('WebSocket: one message a frame', async () => {
  const socket = new WebSocket(`ws://127.0.0.1:${rig.ports.ws}/`);
  const incoming = messages(socket);
  const next = async (): Promise<Reply> => (await incoming.next()).value;
  await new Promise((resolve) => socket.once('open', resolve));
  socket.send('{"id":1,"method":"server.version","params":["test","1.6"]}');
  assert.equal(((await next()).result as string[])[1], '1.6');
  const hash = rig.model.scriptHash(SCRIPTS[2]);
  socket.send(
    JSON.stringify([
      { id: 2, method: 'blockchain.headers.subscribe' },
      { id: 3, method: 'blockchain.scripthash.subscribe', params: [hash] },
    ]),
  );
  const batch = (await next()) as unknown as Reply[];
  assert.deepEqual(
    batch.map(({ result }) => result),
    [{ height: rig.model.height, hex: rig.model.header() }, rig.model.status(SCRIPTS[2])],
  );
  rig.mine([], SCRIPTS[2]);
  assert.deepEqual((await next()).params, [{ height: rig.model.height, hex: rig.model.header() }]);
  assert.deepEqual((await next()).params, [hash, rig.model.status(SCRIPTS[2])]);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.send('no JSON');
  assert.equal((await next()).error?.code, -32700);
  await closed;
});

test('WebSocket: a page from elsewhere does not get in, and HTTP is told what this is', async () => {
  const opens = (origin: string): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = new WebSocket(`ws://127.0.0.1:${rig.ports.ws}/`, { origin });
      socket.on('error', () => resolve(false));
      socket.on('open', () => {
        socket.terminate();
        resolve(true);
      });
    });
  assert.equal(await opens('http://evil.example'), false);
  assert.equal(await opens('null'), false);
  assert.equal(await opens('http://localhost:3000'), true);
  const status = await new Promise((resolve) => {
    request({ port: rig.ports.ws, host: '127.0.0.1' }, (response) => resolve(response.resume().statusCode)).end();
  });
  assert.equal(status, 426);
});
