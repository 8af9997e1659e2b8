/**
 * Transactions that are in no block, over P2P, from and to our own responder:
 * what waits when we come, what comes later, what we hand over, and that a new
 * connection begins anew.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { type P2pServer, serveP2p } from '../../../src/chains/bitcoin/responder/index.ts';
import { compactBytes } from '../../../src/ledgers/bitcoin/cursor.ts';
import { decodeTx } from '../../../src/ledgers/bitcoin/index.ts';
import { encodeFrame, FrameReader } from '../../../src/sources/bitcoin/p2p/frame.ts';
import { openP2p } from '../../../src/sources/bitcoin/p2p/index.ts';
import { Link } from '../../../src/sources/bitcoin/p2p/link.ts';
import { decodeMessage, type Message, payloadLimit, SERVICE } from '../../../src/sources/bitcoin/p2p/messages.ts';
import type { MempoolChange, MempoolFeed } from '../../../src/sources/source.ts';
import { concatBytes, fromHex, toHex } from '../../../src/util/bytes.ts';
import { forgeTx, OP_TRUE } from '../../ledgers/bitcoin/forge.ts';
import { regtest } from '../../ledgers/bitcoin/samples.ts';
import { TestChain } from './p2p-chain.ts';
import { Reader, until } from './p2p-reader.ts';
import { Spoiler } from './p2p-spoiler.ts';

/** The same refusal with a reason of 10,000 bytes, as btcd has them for a bad signature. */
function verbose(frame: Uint8Array): Uint8Array {
  const [read] = new FrameReader(regtest.magic, payloadLimit).read(frame);
  const { hash } = decodeMessage(read) as Message & { readonly kind: 'reject' };
  const payload = concatBytes(Uint8Array.of(2, 0x74, 0x78, 0x10), compactBytes(10_000), new Uint8Array(10_000).fill(0x79), hash!);
  return encodeFrame(regtest.magic, { command: 'reject', payload });
}

describe('the mempool over P2P', () => {
  const chain = new TestChain(20);
  const reader = new Reader(regtest);
  let server: P2pServer;
  let feed: MempoolFeed;
  /** What a listener has by now. */
  let seen: string[] = [];
  let resets = 0;

  const take = (change: MempoolChange): void => {
    if (change.kind === 'reset') {
      seen = [];
      resets++;
    } else if (change.kind === 'add') seen.push(...change.txs.map((raw) => toHex(raw)));
  };

  before(async () => {
    server = await serveP2p(chain, { port: 0 });
    const source = openP2p([`p2p://127.0.0.1:${server.port}`], regtest, { reconnectMs: [1, 20], timeScale: 0.05 });
    assert.ok(source.mempool !== undefined);
    feed = source.mempool;
    await assert.rejects(feed.submit(chain.payment()), { code: 'SOURCE_UNREACHABLE' }, 'not followed yet');
    chain.submit(chain.payment());
    feed.watch(take);
    reader.start(source);
  });

  after(async () => {
    await reader.end();
    await server.close();
  });

  it('shows what waited before we came', async () => {
    await until(() => seen.length === 1);
    assert.deepEqual(
      seen.map((raw) => decodeTx(fromHex(raw)).id),
      chain.mempool(),
    );
    assert.equal(resets, 1);
  });

  it('shows what comes, with its witnesses, and once', async () => {
    const raw = chain.payment();
    assert.ok(decodeTx(raw).hasWitness);
    chain.submit(raw);
    chain.submit(raw);
    await until(() => seen.length === 2);
    assert.equal(seen[1], toHex(raw));
    let late = 0;
    const stop = feed.watch((change) => (late += change.kind === 'add' ? change.txs.length : 0));
    assert.equal(late, 2, 'a second listener is told what is there');
    stop();
  });

  it('takes a transaction to the node, and shows it', async () => {
    const raw = chain.payment();
    const ids = await Promise.all([feed.submit(raw), feed.submit(raw)]);
    for (const id of ids) assert.deepEqual(id, decodeTx(raw).id);
    assert.deepEqual(chain.tx(ids[0]), raw);
    assert.equal(seen.filter((one) => one === toHex(raw)).length, 1);
    assert.deepEqual(await feed.submit(raw), ids[0], 'again it is no error');
  });

  it("says the node's own words when it refuses one", async () => {
    const raw = forgeTx({ inputs: [{ txId: new Uint8Array(32).fill(3), index: 0 }], outputs: [{ value: 1n, script: OP_TRUE }] });
    await assert.rejects(feed.submit(raw), { code: 'TX_REFUSED', message: 'bad-txns-inputs-missingorspent' });
    await assert.rejects(feed.submit(fromHex('01020304')), { code: 'TX_REFUSED', message: /not a transaction/ });
  });

  it('learns that the node took one also when the node announces nothing, by asking for it', async () => {
    const mute = await Spoiler.before(server, (command, frame) => (command === 'inv' ? null : frame));
    const source = openP2p([`p2p://127.0.0.1:${mute.port}`], regtest);
    const other = new Reader(regtest);
    other.start(source);
    try {
      await other.reach(chain.tip.hash);
      const raw = chain.payment();
      assert.deepEqual(await source.mempool!.submit(raw), decodeTx(raw).id);
      assert.deepEqual(chain.tx(decodeTx(raw).id), raw);
    } finally {
      await other.end();
      await mute.close();
    }
  });

  it('says that the node may have taken one when it says nothing, and when the connection is lost', async () => {
    // Neither announced nor given to whoever asks, as by a node whose words get lost on the way.
    const silent = await Spoiler.before(server, (command, frame) => (['inv', 'tx', 'notfound'].includes(command) ? null : frame));
    const source = openP2p([`p2p://127.0.0.1:${silent.port}`], regtest, { reconnectMs: [1, 20], timeScale: 0.02 });
    const other = new Reader(regtest);
    other.start(source);
    const answer = { code: 'SOURCE_UNREACHABLE', message: /may have taken transaction/ };
    const [raw, cut] = [chain.payment(), chain.payment()];
    let submitted: Promise<void> | undefined;
    try {
      await other.reach(chain.tip.hash);
      await assert.rejects(source.mempool!.submit(raw), answer);
      assert.deepEqual(chain.tx(decodeTx(raw).id), raw, 'it has taken it');
      submitted = assert.rejects(source.mempool!.submit(cut), answer);
      await until(() => chain.tx(decodeTx(cut).id) !== null);
    } finally {
      await silent.close();
      await submitted;
      await other.end();
    }
  });

  it('lets no further connection open when the answer is known', async () => {
    await until(() => server.clients === 1);
    await Promise.all(Array.from({ length: 5 }, () => feed.submit(chain.payment())));
    await until(() => server.clients === 1);
  });

  it('goes on with the connection when the node refuses with very many words', async () => {
    const wordy = await Spoiler.before(server, (command, frame) => (command === 'reject' ? verbose(frame) : frame));
    const source = openP2p([`p2p://127.0.0.1:${wordy.port}`], regtest);
    const other = new Reader(regtest);
    other.start(source);
    try {
      await other.reach(chain.tip.hash);
      const raw = forgeTx({ inputs: [{ txId: new Uint8Array(32).fill(5), index: 0 }], outputs: [{ value: 1n, script: OP_TRUE }] });
      await assert.rejects(source.mempool!.submit(raw), { code: 'TX_REFUSED', message: /^y{256}$/ });
      assert.equal(source.status().lost, 0);
    } finally {
      await other.end();
      await wordy.close();
    }
  });

  it('greets as one that reads and writes witnesses', async () => {
    const node = createServer();
    node.listen(0, '127.0.0.1');
    await once(node, 'listening');
    const stop = new Reader(regtest);
    stop.start(openP2p([`p2p://127.0.0.1:${(node.address() as AddressInfo).port}`], regtest));
    const [socket] = (await once(node, 'connection')) as [Socket];
    const { value } = await new Link(socket, regtest.magic, 'the follower').messages().next();
    assert.ok(value.kind === 'version');
    assert.equal(value.services, SERVICE.witness);
    await stop.end();
    socket.destroy();
    node.close();
  });

  it('begins anew with a new connection', async () => {
    const raw = chain.payment();
    server.cut();
    await until(() => resets === 2);
    chain.submit(raw);
    await until(() => seen.includes(toHex(raw)));
    await until(() => seen.length === chain.mempool().length);
  });

  it('knows nothing of those that a block has taken', async () => {
    chain.mine(1);
    await reader.reach(chain.tip.hash);
    const raw = chain.payment();
    chain.submit(raw);
    await until(() => seen.at(-1) === toHex(raw));
    assert.equal(chain.mempool().length, 1);
  });
});
