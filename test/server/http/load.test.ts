/**
 * Clients that ask for more than is good for others: many requests at once on
 * one connection, answers that nobody takes, more connections than there may
 * be. Counted is what the server has in work, never how long it takes.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { HTTP_CONNECTIONS_RESERVE, HTTP_PIPELINED_ALL_MAX, HTTP_PIPELINED_MAX, HTTP_STALLED_MS } from '../../../src/util/limits.ts';
import { Endless } from '../../support/endless.ts';
import { KEEP_ALL } from '../../support/harness.ts';
import { leaveOut } from '../../support/keep.ts';
import { until } from '../../support/patience.ts';
import { Served } from '../../support/served.ts';
import { get, RawClient } from './raw-client.ts';

describe('one connection', () => {
  let served: Served;
  let endless: Endless;
  let port: number;
  let address: string;

  before(async () => {
    served = await Served.open({ blocks: 20, store: { keeps: leaveOut(KEEP_ALL, 'balance') }, server: { rowsMax: 100_000 } });
    address = `/api/v1/addresses/${[...served.devnet.chain.utxos.values()][0].addressHex}`;
    endless = new Endless(served);
    ({ port } = await served.listen());
  });
  after(() => served.close());

  const isIdle = (): boolean => {
    const { workload } = served.context;
    return endless.open === 0 && workload.waiting === 0 && workload.bytes === 0;
  };

  test('has one request in work, and none when it hangs up', async () => {
    const client = await RawClient.open(port);
    client.write(get(`${address}/utxos?limit=100000`).repeat(HTTP_PIPELINED_MAX));
    await until(() => endless.open === 1 && endless.rows > 2000, 'the first one is long in work');
    // Somebody else is answered meanwhile.
    assert.equal((await fetch(`http://127.0.0.1:${port}/health`)).status, 200);
    assert.equal((await fetch(`http://127.0.0.1:${port}/api/v1/blocks/latest`)).status, 200);
    client.socket.destroy();
    await until(isIdle, 'the work ends');
    assert.equal(endless.openMax, 1, 'never two of one connection');
    const { rows } = endless;
    assert.equal((await fetch(`http://127.0.0.1:${port}/health`)).status, 200);
    assert.equal(endless.rows, rows, 'nothing more is read');
  });

  test('a balance that is added up ends with its client too', async () => {
    const client = await RawClient.open(port);
    client.write(get(`${address}/balance`).repeat(3));
    const { rows } = endless;
    await until(() => endless.rows > rows + 2000, 'it is in work');
    client.socket.destroy();
    await until(isIdle, 'the work ends');
  });

  test('gets its answers in order; beyond what may be sent ahead it is told BUSY, and ends', async () => {
    const client = (await RawClient.open(port)).read();
    const paths = Array.from({ length: HTTP_PIPELINED_MAX + 1 }, (_, i) => `/api/v1/blocks/${i % 15}?n=${i}`);
    client.write(paths.map((path) => get(path.replace(/\?.*/, ''))).join('') + get('/api/v1/blocks/latest').repeat(50));
    await until(() => client.closed, 'the connection ends');
    assert.deepEqual(client.statuses, [...paths.map(() => 200), 503]);
    const heights = [...client.text.matchAll(/"height":(\d+)/g)].map(([, height]) => Number(height));
    assert.deepEqual(
      heights,
      paths.map((_, i) => i % 15),
    );
    assert.match(client.text, /"code":"BUSY"/);
    assert.match(client.text, /retry-after: 1/);
    const patient = (await RawClient.open(port)).read();
    patient.write(get('/api/v1/blocks/latest').repeat(HTTP_PIPELINED_MAX + 1));
    await until(() => patient.statuses.length === HTTP_PIPELINED_MAX + 1, 'all are answered');
    assert.ok(patient.statuses.every((status) => status === 200) && !patient.closed);
    patient.socket.destroy();
  });

  test('one that sends more ahead than all together may is cut off', async () => {
    const client = await RawClient.open(port);
    client.write(get(`${address}/balance`) + get('/health').repeat(2 * HTTP_PIPELINED_ALL_MAX));
    await until(() => client.closed, 'it is cut off');
    await until(isIdle, 'the work ends');
    assert.equal((await fetch(`http://127.0.0.1:${port}/health`)).status, 200);
  });

  test('a reader of a long answer that takes nothing has less time than a request may wait', async () => {
    const accepted = new Promise<{ timeout?: number }>((resolve) => served.app.server.once('connection', resolve));
    const reading = (await RawClient.open(port)).read();
    const socket = await accepted;
    const before = socket.timeout ?? 0;
    assert.ok(before > HTTP_STALLED_MS);
    reading.write(get(`${address}/utxos?limit=all`));
    await until(() => reading.text.length > 0, 'it streams');
    assert.equal(socket.timeout, HTTP_STALLED_MS);
    reading.socket.destroy();
    await until(isIdle, 'the work ends');
  });

  test('a wait for a slot ends with its client', async () => {
    const waiting = countWaits(served);
    const client = await RawClient.open(port);
    client.write(get('/api/v1/blocks/latest?min_slot=99999999').repeat(2));
    await until(() => waiting() === 1, 'the first one waits, and the second for the first');
    client.socket.destroy();
    await until(() => waiting() === 0, 'nobody waits');
  });
});

describe('answers that nobody takes', () => {
  test('are bounded in number and bytes, and go with their connections', async () => {
    const served = await Served.open({ blocks: 20, server: { rowsMax: 100_000, streamsMax: 8 } });
    const { workload, config } = served.context;
    const path = `/api/v1/addresses/${[...served.devnet.chain.utxos.values()][0].addressHex}/utxos`;
    const endless = new Endless(served);
    served.app.server.timeout = 300;
    const { port } = await served.listen();
    const streaming = await Promise.all(Array.from({ length: 40 }, () => RawClient.open(port)));
    for (const client of streaming) client.write(get(`${path}?limit=all`));
    const streams = async (): Promise<number> => (await served.get('/status')).json<{ streams: number }>().streams;
    await until(async () => (await streams()) === config.server.streamsMax, 'as many as may are streamed');
    // A reader that stalls is cut off without a word of its own.
    await until(async () => (await streams()) === 0, 'the streams end');
    assert.equal(endless.open, 0);
    const whole = await Promise.all(Array.from({ length: 4 }, () => RawClient.open(port)));
    for (const client of whole) client.write(get(`${path}?limit=20000`));
    await until(() => workload.bytes > 1_000_000, 'answers are in memory');
    await until(() => workload.bytes === 0, 'and are let go');
    for (const client of [...streaming, ...whole]) client.socket.destroy();
    await until(() => endless.open === 0, 'nothing is read any more');
    await served.close();
  });
});

/** How many requests wait for a slot. */
function countWaits(served: Served): () => number {
  let waiting = 0;
  const onMove = served.reads.onMove.bind(served.reads);
  served.reads.onMove = (listener) => {
    waiting++;
    const stop = onMove(listener);
    return () => {
      waiting--;
      stop();
    };
  };
  return () => waiting;
}

describe('as many connections as there may be', () => {
  const MAX = 30;

  test('an idle one makes room, the longest idle first', async () => {
    const served = await Served.open({ blocks: 2, server: { connectionsMax: MAX } });
    const { port } = await served.listen();
    const idle: RawClient[] = [];
    for (let i = 0; i < MAX; i++) idle.push((await RawClient.open(port)).read());
    // The first has just asked something: the second is idle for longer.
    idle[0].write(get('/health'));
    await until(() => idle[0].statuses.length === 1, 'it is answered');
    for (let i = 0; i < 3; i++) {
      const client = (await RawClient.open(port)).read();
      client.write(get(i < 2 ? '/health' : '/api/v1/blocks/latest'));
      await until(() => client.statuses[0] === 200, 'the new one is served');
    }
    await until(() => idle.filter(({ closed }) => closed).length === 3, 'as many are closed');
    assert.deepEqual(
      idle.slice(0, 5).map(({ closed }) => closed),
      [false, true, true, true, false],
    );
    for (const { socket } of idle) socket.destroy();
    await served.close();
  });

  test('while all are at work, health is still answered, and everything else is told BUSY', async () => {
    const served = await Served.open({ blocks: 2, server: { connectionsMax: MAX, waitSecondsMax: 600 } });
    const waiting = countWaits(served);
    const { port } = await served.listen();
    const busy = await Promise.all(Array.from({ length: MAX }, () => RawClient.open(port)));
    for (const client of busy) client.write(get('/api/v1/blocks/latest?min_slot=99999999'));
    await until(() => waiting() === MAX, 'all are at work');
    // Those of the reserve make room for each other.
    for (let i = 0; i < 2 * HTTP_CONNECTIONS_RESERVE; i++) {
      const client = (await RawClient.open(port)).read();
      client.write(get(i % 2 === 0 ? '/health' : '/ready'));
      await until(() => client.statuses[0] === 200, 'health is answered');
    }
    const other = (await RawClient.open(port)).read();
    other.write(get('/api/v1/blocks/latest'));
    await until(() => other.closed, 'it is sent away');
    assert.deepEqual(other.statuses, [503]);
    for (const { socket } of busy) socket.destroy();
    await served.close();
  });
});
