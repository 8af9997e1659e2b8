/**
 * What the server does not put up with: settings that are unsafe or not enough,
 * too many or too long of anything, and bytes that are no messages. Whatever
 * comes, there is an answer or the connection is closed, and the next client is
 * served.
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { WebSocket } from 'ws';
import type { Config } from '../../../../src/config/schema.ts';
import { isUnspentError } from '../../../../src/util/errors.ts';
import { ELECTRUM_MESSAGE_BYTES_MAX } from '../../../../src/util/limits.ts';
import { makeCertificate } from '../../../support/certificate.ts';
import { eventually, until } from '../../../support/patience.ts';
import { LineClient } from './client.ts';
import { ElectrumRig, type RigOptions, SCRIPTS, watched } from './rig.ts';

async function withRig(options: RigOptions, body: (rig: ElectrumRig) => Promise<void>): Promise<void> {
  const rig = await ElectrumRig.open(options);
  try {
    await body(rig);
  } finally {
    await rig.close();
  }
}

/** It does not open: CONFIG, and the message says this. */
async function refused(options: RigOptions, words: RegExp, code = 'CONFIG'): Promise<void> {
  await assert.rejects(ElectrumRig.open(options), (error) => {
    assert.ok(isUnspentError(error) && error.code === code, String(error));
    assert.match(error.message, words);
    return true;
  });
}

test('settings that are unsafe, or not enough, are refused with what to do', async () => {
  await refused({ electrum: { host: '0.0.0.0' } }, /electrum\.allowPublic/);
  await refused({ history: false }, /utxo\.history/);
  await refused({ ports: { tls: 0 } }, /electrum\.tlsCert/);
  const certificate = makeCertificate();
  const { tlsCert, tlsKey } = certificate;
  const tls = (electrum: Partial<Config['electrum']>): RigOptions => ({ ports: { tcp: 0, tls: 0 }, electrum });
  await refused(tls({ tlsCert }), /electrum\.tlsKey/);
  await refused(tls({ tlsCert, tlsKey: `${tlsKey}.gone` }), /electrum\.tlsKey cannot be read/);
  await refused(tls({ tlsCert: tlsKey, tlsKey }), /no certificate and its key/);
  certificate.remove();
  const other = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  await refused({ ports: { tcp: 0, ws: (other.address() as { port: number }).port } }, /electrum\.wsPort.*taken/, 'IO');
  other.close();
  await withRig({ electrum: { host: '0.0.0.0', allowPublic: true } }, async (rig) => {
    const client = await LineClient.open(rig.ports.tcp);
    assert.deepEqual((await client.ask<Record<string, unknown>>('server.features'))['hosts'], {});
    await client.close();
  });
});

test('sessions, subscriptions and histories have their limits', async () => {
  await withRig({ electrum: { sessionsMax: 2, subscriptionsMax: 2, historyMax: 3 } }, async (rig) => {
    const [first, second] = [await LineClient.open(rig.ports.tcp), await LineClient.open(rig.ports.tcp)];
    const third = await LineClient.open(rig.ports.tcp, null);
    await third.closed;
    assert.equal((third.received[0] as { error: { code: number } }).error.code, 1);
    const [a, b, c] = SCRIPTS.map((script) => rig.model.scriptHash(script));
    for (const hash of [a, b, a]) assert.equal(await first.ask('blockchain.scripthash.subscribe', hash), null);
    assert.equal(await first.refusal('blockchain.scripthash.subscribe', c), 1);
    assert.equal(await first.ask('blockchain.scripthash.unsubscribe', b), true);
    assert.equal(await first.ask('blockchain.scripthash.subscribe', c), null);
    for (let i = 0; i < 3; i++) rig.mine([], SCRIPTS[0]);
    assert.equal((await second.ask<unknown[]>('blockchain.scripthash.get_history', a)).length, 3);
    rig.mine([], SCRIPTS[0]);
    for (const method of ['get_history', 'listunspent', 'subscribe']) {
      const { error } = await second.reply(`blockchain.scripthash.${method}`, [a]);
      assert.equal(error?.code, 1);
      assert.match(error?.message ?? '', /^history too large/);
    }
    // Somebody was subscribed before it grew: that one hears no more of it, and of the others still does.
    rig.mine([], SCRIPTS[2]);
    await first.until((message) => 'method' in message && message.params?.[0] === c);
    assert.equal(await first.ask('blockchain.scripthash.unsubscribe', a), false);
    await second.close();
    // Refused for as long as the server has not noticed.
    const again = await eventually(() => LineClient.open(rig.ports.tcp));
    await Promise.all([first.close(), again.close()]);
  });
});

test('a message that is too long ends the session', async () => {
  await withRig({ ports: { tcp: 0, ws: 0 } }, async (rig) => {
    const long = `{"id":1,"method":"${'x'.repeat(ELECTRUM_MESSAGE_BYTES_MAX)}"}`;
    const client = await LineClient.open(rig.ports.tcp);
    client.socket.write(long);
    await client.closed;
    assert.equal((client.received.at(-1) as { error: { code: number } }).error.code, -32600);
    const socket = new WebSocket(`ws://127.0.0.1:${rig.ports.ws}`);
    socket.on('open', () => socket.send(long));
    socket.on('error', () => undefined);
    assert.equal(await new Promise((resolve) => socket.on('close', resolve)), 1009);
    const tx = 'ab'.repeat(400_000);
    const next = await LineClient.open(rig.ports.tcp);
    assert.equal(await next.refusal('blockchain.transaction.broadcast', tx), 2);
    await next.close();
  });
});

test('batches: each gets its answer, in one message, and they are bounded', async () => {
  await withRig({}, async (rig) => {
    const client = await LineClient.open(rig.ports.tcp, null);
    const calls = [{ id: 1, method: 'server.version', params: ['x', '1.6'] }, { id: 'b', method: 'nothing' }, 5, { method: 'server.ping' }];
    client.sendLine(JSON.stringify([...calls, { id: null, method: 'server.ping' }]));
    const answers = (await client.until(Array.isArray)) as { id: unknown; error?: { code: number } }[];
    assert.deepEqual(
      answers.map(({ id, error }) => [id, error?.code]),
      [
        [1, undefined],
        ['b', -32601],
        [null, -32600],
        [null, undefined],
      ],
    );
    // Nobody waits for an answer to these: there is none.
    client.sendLine('[{"method":"server.ping"},{"method":"nothing"}]');
    client.sendLine('{"method":"server.ping"}');
    client.sendLine('[]');
    await client.until((message) => !Array.isArray(message) && message.error?.code === -32600);
    assert.equal(client.received.length, 2);
    client.sendLine(JSON.stringify(Array.from({ length: 1001 }, (_, id) => ({ id, method: 'server.ping' }))));
    await client.closed;
    assert.equal(client.received.length, 3);
  });
});

test('a client that does not read is not read from, and is let go when it closes', async () => {
  await withRig({}, async (rig) => {
    for (let i = 0; i < 300; i++) rig.mine([], SCRIPTS[0]);
    const slow = await LineClient.open(rig.ports.tcp);
    slow.socket.pause();
    const line = JSON.stringify({ id: 1, method: 'blockchain.block.headers', params: [0, 2016] });
    let sent = 0;
    // Each answer has 48 kB: what the system takes for us and for it is full after some of them.
    while (slow.socket.writableLength === 0 && sent < 200_000) {
      for (let i = 0; i < 100; i++, sent++) slow.sendLine(line);
      await sleep(1);
    }
    assert.ok(slow.socket.writableLength > 0, `the server still reads after ${sent} requests`);
    const other = await LineClient.open(rig.ports.tcp);
    assert.equal(await other.ask('server.ping'), null);
    // It reads again, and gets every answer.
    slow.socket.resume();
    const before = slow.received.length;
    await slow.until(() => slow.received.length > before + 200);
    await Promise.all([slow.close(), other.close()]);
  });
});

test('a session that says nothing ends, and so does one that takes nothing', async () => {
  await withRig({ patience: { idleMs: 400, stalledMs: 60_000, sweepMs: 20 } }, async (rig) => {
    const [quiet, lively] = [await LineClient.open(rig.ports.tcp), await LineClient.open(rig.ports.tcp)];
    const pings = setInterval(() => lively.sendLine('{"id":0,"method":"server.ping"}'), 50);
    await quiet.closed;
    assert.equal(await lively.ask('server.ping'), null);
    clearInterval(pings);
    await lively.close();
  });
  await withRig({ patience: { idleMs: 60_000, stalledMs: 300, sweepMs: 20 } }, async (rig) => {
    for (let i = 0; i < 300; i++) rig.mine([], SCRIPTS[0]);
    const [slow, other] = [await LineClient.open(rig.ports.tcp), await LineClient.open(rig.ports.tcp)];
    slow.socket.pause();
    const line = JSON.stringify({ id: 1, method: 'blockchain.block.headers', params: [0, 2016] });
    for (let i = 0; i < 500; i++) slow.sendLine(line);
    // An answer is held for as long as its reader does not take it, and no longer than the session lasts.
    await until(() => rig.context.workload.bytes > 0, 'an answer waits for its reader');
    await until(() => rig.context.workload.bytes === 0, 'the session is over');
    slow.socket.resume();
    await slow.closed;
    assert.ok(slow.received.length < 500);
    assert.equal(await other.ask('server.ping'), null);
    await other.close();
  });
});

test('many requests of one client do not keep another waiting', async () => {
  await withRig({}, async (rig) => {
    for (let i = 0; i < 200; i++) rig.mine([], SCRIPTS[0]);
    const [greedy, modest] = [await LineClient.open(rig.ports.tcp), await LineClient.open(rig.ports.tcp)];
    const call = { id: 0, method: 'blockchain.scripthash.get_history', params: [rig.model.scriptHash(SCRIPTS[0])] };
    greedy.sendLine(JSON.stringify(Array.from({ length: 1000 }, (_, id) => ({ ...call, id }))));
    await sleep(5);
    assert.equal(await modest.ask('server.ping'), null);
    assert.ok(!greedy.received.some(Array.isArray), 'the batch is not done yet');
    await greedy.until(Array.isArray);
    await Promise.all([greedy.close(), modest.close()]);
  });
});

/** A request that is right, and what may be done to its bytes. */
const requests = [
  '{"jsonrpc":"2.0","id":1,"method":"server.version","params":["x",["1.4","1.6"]]}',
  '{"id":2,"method":"blockchain.block.headers","params":[0,5,3]}',
  `{"id":3,"method":"blockchain.scripthash.get_history","params":["${'ab'.repeat(32)}"]}`,
  `{"id":4,"method":"blockchain.transaction.get_merkle","params":{"tx_hash":"${'cd'.repeat(32)}","height":1}}`,
  `[{"id":5,"method":"blockchain.transaction.id_from_pos","params":[1,0,true]},{"id":6,"method":"blockchain.estimatefee","params":[6]}]`,
  '{"id":7,"method":"blockchain.transaction.broadcast_package","params":[["00"],false]}',
];
const mutation = fc.record({ at: fc.nat(), kind: fc.constantFrom('flip', 'cut', 'repeat', 'insert'), byte: fc.nat(255) });

function mutate(text: string, changes: readonly { at: number; kind: string; byte: number }[]): Buffer {
  let bytes = Buffer.from(text);
  for (const { at, kind, byte } of changes) {
    const place = at % (bytes.length + 1);
    const [head, tail] = [bytes.subarray(0, place), bytes.subarray(place)];
    if (kind === 'flip') bytes = Buffer.concat([head, Buffer.of(byte), tail.subarray(1)]);
    else if (kind === 'cut') bytes = Buffer.concat([head, tail.subarray(1 + (byte % 8))]);
    else if (kind === 'repeat') bytes = Buffer.concat([head, tail, tail]);
    else bytes = Buffer.concat([head, Buffer.of(byte), tail]);
  }
  return bytes;
}

test('whatever is sent, there is an answer or an end, and the next client is served', async () => {
  await withRig({}, async (rig) => {
    for (let i = 0; i < 8; i++) rig.mine([], watched(7));
    const anything = fc.oneof(
      fc
        .tuple(fc.constantFrom(...requests), fc.array(mutation, { minLength: 1, maxLength: 4 }))
        .map(([text, changes]) => mutate(text, changes)),
      fc.json().map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
    );
    await fc.assert(
      fc.asyncProperty(anything, async (bytes) => {
        const client = await LineClient.open(rig.ports.tcp, null);
        client.socket.write(Buffer.concat([bytes, Buffer.from('\n')]));
        client.sendLine('{"id":"last","method":"server.ping"}');
        const answered = client.until((message) => !Array.isArray(message) && message.id === 'last').then(() => 'answered');
        const end = await Promise.race([
          answered.catch(() => 'closed'),
          client.closed.then(() => 'closed'),
          sleep(5000, 'nothing', { ref: false }),
        ]);
        assert.notEqual(end, 'nothing', bytes.toString());
        const wellFormed = client.received
          .flat()
          .every(({ id, error, result }) => id !== undefined && (error === undefined) !== (result === undefined));
        assert.ok(wellFormed, JSON.stringify(client.received));
        await client.close();
      }),
      { numRuns: 400 },
    );
  });
});
