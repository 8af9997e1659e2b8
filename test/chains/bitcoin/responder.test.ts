/**
 * The responder as a client on the wire sees it: what it answers, how it tells
 * of news, and that a client who breaks the protocol harms only himself.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import fc from 'fast-check';
import { AnnouncedTxs } from '../../../src/chains/bitcoin/responder/announced.ts';
import { type P2pServer, serveP2p } from '../../../src/chains/bitcoin/responder/index.ts';
import { decodeBlock, decodeTx, headerHash } from '../../../src/ledgers/bitcoin/index.ts';
import { encodeFrame } from '../../../src/sources/bitcoin/p2p/frame.ts';
import { Link, ownVersion } from '../../../src/sources/bitcoin/p2p/link.ts';
import { encodeMessage, ITEM, type Message } from '../../../src/sources/bitcoin/p2p/messages.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { UnspentError } from '../../../src/util/errors.ts';
import { forgeTx, OP_TRUE } from '../../ledgers/bitcoin/forge.ts';
import { regtest } from '../../ledgers/bitcoin/samples.ts';
import { TestChain } from '../../sources/bitcoin/p2p-chain.ts';
import { until } from '../../sources/bitcoin/p2p-reader.ts';

const NO_HASH: Uint8Array = new Uint8Array(32);
type Kind = Message['kind'];
type Of<K extends Kind> = Message & { readonly kind: K };

/** A client that says what it is told to. */
class TestClient {
  readonly link: Link;
  readonly messages: AsyncIterator<Message>;

  private constructor(link: Link) {
    this.link = link;
    this.messages = link.messages();
  }

  static async join({ port }: P2pServer, relay = true): Promise<TestClient> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const client = new TestClient(new Link(socket, regtest.magic, 'the responder'));
    client.link.send({ ...ownVersion(0n, 0), relay });
    client.link.send({ kind: 'wtxidrelay' });
    client.link.send({ kind: 'verack' });
    await client.next('version');
    await client.next('verack');
    return client;
  }

  /** The next message, which must be of this kind. */
  async next<K extends Kind>(kind: K): Promise<Of<K>> {
    const { value } = await this.messages.next();
    assert.equal(value.kind, kind);
    return value as Of<K>;
  }

  async ask<K extends Kind>(message: Message, kind: K): Promise<Of<K>> {
    this.link.send(message);
    return this.next(kind);
  }

  leave(): void {
    this.link.fail(new UnspentError('CLOSED', 'enough'));
  }
}

describe('the responder', () => {
  let chain: TestChain;
  let server: P2pServer;
  let ends: string[];
  const clients: TestClient[] = [];

  const join = async (relay = true): Promise<TestClient> => {
    const client = await TestClient.join(server, relay);
    clients.push(client);
    return client;
  };
  const heights = ({ headers }: Of<'headers'>): (number | null)[] => headers.map((header) => chain.heightOf(headerHash(header)));
  const headersFrom = (locator: readonly Uint8Array[], stop = NO_HASH): Message => ({ kind: 'getheaders', locator, stop });

  beforeEach(async () => {
    chain = new TestChain(2500);
    ends = [];
    server = await serveP2p(chain, { port: 0, onDisconnect: ({ code }) => ends.push(code) });
  });

  afterEach(async () => {
    for (const client of clients.splice(0)) client.leave();
    await server.close();
    assert.equal(chain.watchers, 0, 'nobody watches the chain any more');
  });

  it('gives headers after the first that is on its best branch, two thousand at most', async () => {
    const lost = chain.tip.hash;
    chain.fork(1);
    const client = await join();
    assert.deepEqual(
      heights(await client.ask(headersFrom([lost, chain.best[2490].hash]), 'headers')),
      [2491, 2492, 2493, 2494, 2495, 2496, 2497, 2498, 2499, 2500, 2501],
    );
    assert.deepEqual(heights(await client.ask(headersFrom([chain.best[5].hash], chain.best[7].hash), 'headers')), [6, 7]);
    assert.equal((await client.ask(headersFrom([lost]), 'headers')).headers.length, 2000);
    assert.deepEqual((await client.ask(headersFrom([chain.tip.hash]), 'headers')).headers, []);
  });

  it('gives blocks with and without witnesses, and says what it does not have', async () => {
    const client = await join();
    const { hash, raw } = chain.best[9];
    const items = [ITEM.witnessBlock, ITEM.block, 99].map((type) => ({ type, hash }));
    client.link.send({ kind: 'getdata', items: [...items, { type: ITEM.witnessBlock, hash: NO_HASH }] });
    assert.deepEqual((await client.next('block')).raw, raw);
    const stripped = await client.next('block');
    const { txs } = decodeBlock(stripped.raw, 9);
    assert.ok(stripped.raw.length < raw.length && txs.every(({ hasWitness }) => !hasWitness));
    assert.deepEqual(
      txs.map(({ id }) => toHex(id)),
      decodeBlock(raw, 9).txs.map(({ id }) => toHex(id)),
    );
    assert.deepEqual(
      (await client.next('notfound')).items.map(({ type }) => type),
      [99, ITEM.witnessBlock],
    );
    // The first block has none, and no coinbase that could be mistaken.
    client.link.send({ kind: 'getdata', items: [{ type: ITEM.block, hash: chain.best[0].hash }] });
    assert.deepEqual((await client.next('block')).raw, chain.best[0].raw);
  });

  it('tells of news by name, or by headers to whom asked for that and knows their parent', async () => {
    const [plain, modern] = [await join(), await join()];
    await modern.ask(headersFrom([chain.tip.hash]), 'headers');
    modern.link.send({ kind: 'sendheaders' });
    await modern.ask({ kind: 'ping', nonce: new Uint8Array(8) }, 'pong');
    chain.mine(2);
    assert.deepEqual((await plain.next('inv')).items, [{ type: ITEM.block, hash: chain.tip.hash }]);
    assert.deepEqual(heights(await modern.next('headers')), [2501, 2502]);
    chain.fork(1);
    assert.deepEqual((await modern.next('inv')).items, [{ type: ITEM.block, hash: chain.tip.hash }]);
    chain.mine(20);
    assert.deepEqual((await modern.next('inv')).items, [{ type: ITEM.block, hash: chain.tip.hash }]);
  });

  it('shows and takes transactions, and says why not', async () => {
    const [client, deaf] = [await join(), await join(false)];
    const [first, second] = [chain.payment(), chain.payment()];
    const item = (raw: Uint8Array, type: number = ITEM.tx) => ({ type, hash: decodeTx(raw).id });
    chain.submit(first);
    assert.deepEqual((await client.next('inv')).items, [item(first)]);
    const full = await client.ask({ kind: 'getdata', items: [item(first, ITEM.witnessTx)] }, 'tx');
    const short = await client.ask({ kind: 'getdata', items: [item(first)] }, 'tx');
    assert.deepEqual(full.raw, first);
    assert.deepEqual([decodeTx(short.raw).id, decodeTx(short.raw).hasWitness], [decodeTx(first).id, false]);
    const asked = await client.ask({ kind: 'inv', items: [item(second), item(first)] }, 'getdata');
    assert.deepEqual(asked.items, [item(second, ITEM.witnessTx)]);
    assert.deepEqual((await client.ask({ kind: 'tx', raw: second }, 'inv')).items, [item(second)]);
    assert.deepEqual((await deaf.ask({ kind: 'mempool' }, 'inv')).items, [item(first), item(second)]);
    const bad = forgeTx({ inputs: [{ txId: NO_HASH, index: 0 }], outputs: [{ value: 1n, script: OP_TRUE }] });
    const { reason, hash } = await deaf.ask({ kind: 'tx', raw: bad }, 'reject');
    assert.deepEqual([reason, hash], ['bad-txns-inputs-missingorspent', decodeTx(bad).id]);
  });

  it('names blocks five hundred at a time, and the tip to whoever has fetched the last of them', async () => {
    const client = await join();
    const list = async (locator: readonly Uint8Array[], stop = NO_HASH): Promise<(number | null)[]> => {
      const { items } = await client.ask({ kind: 'getblocks', locator, stop }, 'inv');
      assert.ok(items.every(({ type }) => type === ITEM.block));
      return items.map(({ hash }) => chain.heightOf(hash));
    };
    const lost = chain.tip.hash;
    chain.fork(3);
    assert.deepEqual((await client.next('inv')).items, [{ type: ITEM.block, hash: chain.tip.hash }]);
    assert.deepEqual(await list([lost, chain.best[2496].hash]), [2497, 2498, 2499, 2500, 2501]);
    assert.deepEqual(await list([chain.best[7].hash], chain.best[9].hash), [8]);
    assert.deepEqual(await list([chain.tip.hash]), [], 'an answer comes also when there is nothing to name');
    let from = chain.best[0].hash;
    for (const last of [500, 1000, 1500, 2000, 2500]) {
      const heights = await list([from]);
      assert.deepEqual([heights.length, heights.at(-1)], [500, last]);
      from = chain.best[last].hash;
      const items = [chain.best[last - 1].hash, from].map((hash) => ({ type: ITEM.witnessBlock, hash }));
      client.link.send({ kind: 'getdata', items });
      await client.next('block');
      assert.deepEqual((await client.next('block')).raw, chain.best[last].raw);
      assert.deepEqual((await client.next('inv')).items, [{ type: ITEM.block, hash: chain.tip.hash }]);
    }
    assert.deepEqual(await list([from]), [2501]);
    client.link.send({ kind: 'getdata', items: [{ type: ITEM.block, hash: chain.tip.hash }] });
    await client.next('block');
    await client.ask({ kind: 'ping', nonce: new Uint8Array(8) }, 'pong');
  });

  it('gives what it announced also when a block has taken it meanwhile', async () => {
    const [told, asking] = [await join(), await join(false)];
    const raws = [chain.payment(), chain.payment()];
    const items = raws.map((raw) => ({ type: ITEM.witnessTx, hash: decodeTx(raw).id }));
    for (const raw of raws) chain.submit(raw);
    for (const { hash } of items) assert.deepEqual((await told.next('inv')).items, [{ type: ITEM.tx, hash }]);
    await asking.ask({ kind: 'mempool' }, 'inv');
    chain.mine(2);
    assert.equal(chain.tx(items[0].hash), null, 'it waits no longer');
    for (const client of [told, asking]) {
      await client.next('inv');
      client.link.send({ kind: 'getdata', items });
      for (const raw of raws) assert.deepEqual((await client.next('tx')).raw, raw);
      await client.ask({ kind: 'ping', nonce: new Uint8Array(8) }, 'pong');
    }
  });

  it('remembers what it announced up to a number of bytes, the newest of it', () => {
    const raws = Array.from({ length: 4 }, () => chain.payment());
    const waiting = new Map(raws.map((raw) => [toHex(decodeTx(raw).id), raw]));
    const bytes = Math.max(...raws.map(({ length }) => length));
    const announced = new AnnouncedTxs({ tx: (id) => waiting.get(toHex(id)) ?? null }, 2 * bytes);
    for (const raw of [...raws, raws[3]]) announced.add([decodeTx(raw).id]);
    assert.deepEqual(announced.find(decodeTx(raws[0]).id), raws[0], 'it is in the mempool');
    waiting.clear();
    assert.deepEqual(
      raws.map((raw) => announced.find(decodeTx(raw).id) !== null),
      [false, false, true, true],
    );
  });

  it('ends the connection of whoever breaks the protocol, and no other', async () => {
    const good = await join();
    const bad = await join();
    bad.link.send({ kind: 'tx', raw: Uint8Array.of(1, 2, 3) });
    await assert.rejects(bad.messages.next(), { code: 'SOURCE_UNREACHABLE' });
    await until(() => ends.length === 1);
    assert.deepEqual([ends, server.clients], [['PROTOCOL'], 1]);
    await good.ask({ kind: 'ping', nonce: new Uint8Array(8) }, 'pong');
  });

  it('survives whatever is sent to it', async () => {
    const greeting = [ownVersion(0n, 0), { kind: 'verack' } as const, headersFrom([chain.tip.hash])];
    const frames = greeting.map((message) => encodeFrame(regtest.magic, encodeMessage(message)));
    const damage = fc.record({ frame: fc.nat(2), at: fc.nat(200), byte: fc.nat(255), rest: fc.uint8Array({ maxLength: 100 }) });
    await fc.assert(
      fc.asyncProperty(damage, async ({ frame, at, byte, rest }) => {
        const socket = connect(server.port, '127.0.0.1');
        socket.on('error', () => {});
        const closed = new Promise((resolve) => socket.once('close', resolve));
        const spoilt = frames.map((bytes, i) => (i === frame ? bytes.with(at % bytes.length, byte) : bytes));
        for (const bytes of [...spoilt, rest]) socket.write(bytes);
        await once(socket, 'connect');
        socket.end();
        socket.resume();
        await closed;
      }),
      { numRuns: 60 },
    );
    await until(() => server.clients === 0);
    await (await join()).ask({ kind: 'ping', nonce: new Uint8Array(8) }, 'pong');
  });

  it('says when its port is taken', async () => {
    await assert.rejects(serveP2p(chain, { port: server.port }), { code: 'SOURCE_UNREACHABLE', message: /somebody listens there/ });
  });
});
