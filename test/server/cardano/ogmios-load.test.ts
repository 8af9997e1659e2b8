/**
 * Clients of the Ogmios API that ask for more than is good for others, and take
 * no answer. Counted is what the server has in work, never how long it takes.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { WebSocket } from 'ws';
import { OGMIOS_MESSAGES_MAX, OGMIOS_OUTPUTS_MAX } from '../../../src/util/limits.ts';
import { Endless } from '../../support/endless.ts';
import { KEEP_ALL } from '../../support/harness.ts';
import { leaveOut } from '../../support/keep.ts';
import { until } from '../../support/patience.ts';
import { Served } from '../../support/served.ts';
import { get, RawClient } from '../http/raw-client.ts';

async function open(port: number): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ogmios`);
  socket.on('error', () => undefined);
  await once(socket, 'open');
  return socket;
}

const question = (method: string, params: object = {}): string => JSON.stringify({ jsonrpc: '2.0', method, params });

/** Takes nothing of what comes from here on. */
function stopReading(socket: WebSocket): void {
  (socket as unknown as { readonly _socket: { pause(): void } })._socket.pause();
}

describe('outputs of many addresses', () => {
  let served: Served;
  let endless: Endless;
  let port: number;
  let outputs: string;

  before(async () => {
    served = await Served.open({ blocks: 20, store: { keeps: leaveOut(KEEP_ALL, 'balance') } });
    const addresses = [...served.devnet.chain.utxos.values()].slice(0, 1).map(({ addressHex }) => addressHex);
    outputs = question('queryLedgerState/utxo', { addresses });
    endless = new Endless(served);
    ({ port } = await served.listen());
  });
  after(() => served.close());

  const isIdle = (): boolean => {
    const { workload } = served.context;
    return endless.open === 0 && workload.waiting === 0 && workload.bytes === 0;
  };

  /** Rows until a list was given up, or was complete. */
  async function rowsUntilGone(hangUp: () => void): Promise<number> {
    const before = endless.rows;
    endless.onRow = () => {
      endless.onRow = null;
      hangUp();
    };
    await until(() => endless.onRow === null && isIdle(), 'the work ends');
    return endless.rows - before;
  }

  test('are read no further when the client of a POST hangs up', async () => {
    const client = await RawClient.open(port);
    const ask = `POST /ogmios HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${outputs.length}\r\n\r\n${outputs}`;
    const rows = rowsUntilGone(() => client.socket.destroy());
    client.write(ask);
    assert.ok((await rows) < OGMIOS_OUTPUTS_MAX, 'it ends before there are too many');
  });

  test('are read no further when the client of a WebSocket hangs up', async () => {
    const client = await open(port);
    const rows = rowsUntilGone(() => client.terminate());
    for (let i = 0; i < OGMIOS_MESSAGES_MAX; i++) client.send(outputs);
    assert.ok((await rows) < OGMIOS_OUTPUTS_MAX, 'the first one ends, and no other is begun');
  });

  test('take turns with other requests, and are refused where answers hold too much', async () => {
    const { workload } = served.context;
    const client = await open(port);
    const before = endless.rows;
    let rowsBetween = -1;
    endless.onRow = () => {
      endless.onRow = null;
      void fetch(`http://127.0.0.1:${port}/health`).then(() => {
        rowsBetween = endless.rows - before;
      });
    };
    const answered = once(client, 'message');
    client.send(outputs);
    await until(() => rowsBetween >= 0, 'health is answered');
    assert.ok(rowsBetween < OGMIOS_OUTPUTS_MAX, 'while the list is being read');
    assert.match(String(await answered), /more than 10000 outputs/);
    const full = workload.ownTask(() => false);
    full.done(300 * 1024 * 1024);
    const [refused] = await Promise.all([once(client, 'message'), client.send(outputs)]);
    assert.match(String(refused), /BUSY/);
    full.end();
    client.terminate();
    await until(isIdle, 'nothing is held');
  });
});

describe('an id that is nested without end', () => {
  test('is refused, over WebSocket as over HTTP, and the server goes on', async () => {
    const served = await Served.open({ blocks: 2 });
    const { port } = await served.listen();
    const depth = 100_000;
    const client = await open(port);
    for (const method of ['nextBlock', 'sizeOfMempool', 'queryNetwork/blockHeight']) {
      const text = JSON.stringify({ jsonrpc: '2.0', method, id: 0 }).replace(/0}$/, `${'['.repeat(depth)}${']'.repeat(depth)}}`);
      const answer = once(client, 'message');
      client.send(text);
      assert.match(String(await answer), /"code":-32600,.*nested deeper.*"id":null/);
      const posted = await fetch(`http://127.0.0.1:${port}/ogmios`, { method: 'POST', body: text });
      assert.match(await posted.text(), /nested deeper/);
    }
    const deep = once(client, 'message');
    client.send(JSON.stringify({ jsonrpc: '2.0', method: 'queryNetwork/blockHeight', id: { a: [{ b: 1 }] } }));
    assert.match(String(await deep), /"result":1,"id":\{"a":\[\{"b":1\}\]\}/);
    client.terminate();
    await served.close();
  });
});

describe('answers that nobody takes', () => {
  test('count until they are taken; a client that takes nothing is cut off', async () => {
    const served = await Served.open({ blocks: 20, store: { keeps: leaveOut(KEEP_ALL, 'balance') } });
    served.app.server.timeout = 300;
    const { workload } = served.context;
    const addresses = [[...served.devnet.chain.utxos.values()][0].addressHex];
    const endless = new Endless(served, 9000);
    const { port } = await served.listen();
    const clients = await Promise.all(Array.from({ length: 3 }, () => open(port)));
    for (const client of clients) {
      stopReading(client);
      for (let i = 0; i < OGMIOS_MESSAGES_MAX; i++) client.send(question('queryLedgerState/utxo', { addresses }));
    }
    await until(() => workload.waiting === 0 && workload.bytes > 1_000_000, 'answers wait for their readers');
    const connections = () => new Promise((resolve) => served.app.server.getConnections((_, count) => resolve(count)));
    await until(async () => (await connections()) === 0, 'they are cut off');
    await until(() => workload.bytes === 0 && endless.open === 0, 'and what they held is let go');
    for (const client of clients) client.terminate();
    await served.close();
  });
});

/** Never ends its half of the connection. */
async function stubborn(port: number, path: string, headers: string): Promise<{ readonly socket: Socket; readonly answer: string }> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined);
  const upgrade =
    'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';
  socket.write(`GET ${path} HTTP/1.1\r\n${headers}${upgrade}\r\n`);
  const [piece] = await once(socket, 'data');
  return { socket, answer: String(piece).slice(9, 12) };
}

describe('as many connections as there may be', () => {
  test('those that are turned away are gone, also where their clients stay', async () => {
    const served = await Served.open({ blocks: 2 });
    const { port } = await served.listen();
    const refused = [
      await stubborn(port, '/nowhere', 'host: localhost\r\n'),
      await stubborn(port, '/ogmios', 'host: elsewhere.example\r\n'),
      await stubborn(port, '/ogmios', 'host: localhost\r\nhost: elsewhere.example\r\n'),
    ];
    assert.deepEqual(
      refused.map(({ answer }) => answer),
      ['404', '403', '400'],
    );
    const connections = () => new Promise((resolve) => served.app.server.getConnections((_, count) => resolve(count)));
    await until(async () => (await connections()) === 0, 'nothing is held for them');
    for (const { socket } of refused) socket.destroy();
    await served.close();
  });

  test('one that comes while the server closes is turned away', async () => {
    const served = await Served.open({ blocks: 2 });
    // As a port of its own hands it on.
    const front = createServer().on('upgrade', (...given) => served.app.server.emit('upgrade', ...given));
    await once(front.listen(0, '127.0.0.1'), 'listening');
    await served.app.close();
    const { socket, answer } = await stubborn((front.address() as AddressInfo).port, '/ogmios', 'host: localhost\r\n');
    assert.equal(answer, '503');
    socket.destroy();
    front.close();
    await served.close();
  });

  test('those of WebSockets make no room: they are not idle though they say nothing', async () => {
    const served = await Served.open({ blocks: 2, server: { connectionsMax: 3 } });
    const { port } = await served.listen();
    const sockets = [await open(port), await open(port), await open(port)];
    for (let i = 0; i < 4; i++) {
      const client = (await RawClient.open(port)).read();
      client.write(get('/health'));
      await until(() => client.statuses[0] === 200, 'health is answered');
    }
    const another = new WebSocket(`ws://127.0.0.1:${port}/ogmios`);
    const [error] = await once(another, 'error');
    assert.match(String(error), /503/);
    for (const socket of sockets) {
      const answer = once(socket, 'message');
      socket.send(question('queryNetwork/blockHeight'));
      assert.match(String(await answer), /"result":1/);
      socket.terminate();
    }
    await served.close();
  });
});
