/**
 * The P2P source against our own responder over real sockets, through the pump
 * into a fold: the same chain comes out as was made, through turns, lost
 * connections and restarts; and what must not be followed is not.
 */
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type P2pServer, serveP2p } from '../../../src/chains/bitcoin/responder/index.ts';
import { bitcoinNetwork } from '../../../src/ledgers/bitcoin/index.ts';
import { openP2p, type P2pOptions } from '../../../src/sources/bitcoin/p2p/index.ts';
import type { NodeSource } from '../../../src/sources/peer.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { P2P_BLOCK_BYTES_AHEAD_MAX } from '../../../src/util/limits.ts';
import { regtest } from '../../ledgers/bitcoin/samples.ts';
import { TestChain } from './p2p-chain.ts';
import { Reader, until } from './p2p-reader.ts';
import { Spoiler } from './p2p-spoiler.ts';

const QUICK: P2pOptions = { reconnectMs: [1, 20] };

const servers: P2pServer[] = [];
const readers: Reader[] = [];
afterEach(async () => {
  for (const reader of readers.splice(0)) await reader.end();
  for (const server of servers.splice(0)) await server.close();
});

async function served(chain: TestChain): Promise<P2pServer> {
  const server = await serveP2p(chain, { port: 0 });
  servers.push(server);
  return server;
}

function reading(window?: number): Reader {
  const reader = new Reader(regtest, window);
  readers.push(reader);
  return reader;
}

function opened(...ports: readonly { readonly port: number }[]): NodeSource {
  return openP2p(
    ports.map(({ port }) => `p2p://127.0.0.1:${port}`),
    regtest,
    QUICK,
  );
}

/** Every block of the best branch is in the store, and each but the first two has spent one coinbase and made two outputs. */
function assertSame(reader: Reader, chain: TestChain): void {
  const { head } = reader.fold;
  assert.equal(head?.height, chain.height);
  for (const { height, hash } of chain.best) assert.equal(toHex(reader.fold.rowAt(height)!.hash), toHex(hash));
  assert.equal(head?.utxos, chain.height === 0 ? 0 : chain.height);
}

describe('the P2P source', () => {
  it('reads a chain to its tip and stops there', async () => {
    const chain = new TestChain(4500);
    const source = opened(await served(chain));
    const reader = reading();
    const { reason, tip } = await reader.sync(source);
    assert.equal(reason, 'end');
    assert.deepEqual(tip, { slot: 4500, height: 4500 });
    assertSame(reader, chain);
    assert.equal(source.status().state, 'stopped');
  });

  it('follows new blocks and turns of every depth', async () => {
    const chain = new TestChain(300);
    const source = opened(await served(chain));
    const reader = reading();
    reader.start(source);
    await reader.reach(chain.tip.hash);
    assert.equal(source.status().version, 'P2P 70016');
    let turns = 0;
    for (const depth of [0, 1, 3, 0, 20, 299]) {
      if (depth === 0) chain.mine(5);
      else chain.fork(depth);
      turns += depth === 0 ? 0 : 1;
      await reader.reach(chain.tip.hash);
      assertSame(reader, chain);
      assert.equal(reader.rollbacks, turns);
    }
    const { state, lagBlocks, lastRollback, at } = source.status();
    assert.deepEqual([state, lagBlocks, lastRollback?.to?.height, at?.height], ['following', 0, chain.height - 300, chain.height]);
  });

  it('a chain of one block is at its tip with it', async () => {
    const chain = new TestChain();
    const reader = reading();
    reader.start(opened(await served(chain)));
    await reader.reach(chain.tip.hash);
    chain.mine(1);
    await reader.reach(chain.tip.hash);
    assertSame(reader, chain);
  });

  it('goes on where the reader is, also when the chain has turned meanwhile', async () => {
    const chain = new TestChain(200);
    const server = await served(chain);
    const reader = reading();
    await reader.sync(opened(server));
    for (const change of [() => {}, () => chain.mine(30), () => chain.fork(7), () => chain.fork(90), () => chain.mine(2500)]) {
      change();
      const { blocks } = await reader.sync(opened(server));
      assertSame(reader, chain);
      assert.ok(blocks < 2600, `${blocks} blocks were read`);
    }
    assert.equal(reader.rollbacks, 2);
  });

  it('comes back after a lost connection, and goes to another node', async () => {
    const chain = new TestChain(100);
    const [first, second] = [await served(chain), await served(chain)];
    const source = opened(first, second);
    const reader = reading();
    reader.start(source);
    await reader.reach(chain.tip.hash);
    first.cut();
    chain.fork(2);
    await reader.reach(chain.tip.hash);
    await until(() => second.clients === 1);
    await first.close();
    second.cut();
    chain.mine(3);
    await reader.reach(chain.tip.hash);
    assertSame(reader, chain);
    assert.ok(source.status().lost >= 2);
  });

  it('waits for a node that lags behind, and does not go back for it', async () => {
    const ahead = new TestChain(400);
    const behind = new TestChain();
    for (const known of ahead.best.slice(1, 211)) behind.adopt(known.raw);
    const reader = reading();
    await reader.sync(opened(await served(ahead)));
    reader.start(opened(await served(behind)));
    await until(() => behind.watchers === 1);
    // One at a time, as a node that is syncing itself announces them.
    for (const known of ahead.best.slice(211, 220)) {
      behind.adopt(known.raw);
      await sleep(5);
    }
    assert.equal(reader.fold.head?.height, 400);
    for (const known of ahead.best.slice(220)) behind.adopt(known.raw);
    behind.mine(1);
    await reader.reach(behind.tip.hash);
    assert.equal(reader.rollbacks, 0);
  });

  it('holds no more than it may when the reader is slow', async () => {
    const chain = new TestChain(20);
    chain.ballastBytes = 1_500_000;
    chain.mine(60);
    let sent = 0;
    const spoiler = await Spoiler.before(await served(chain), (command, frame) => {
      if (command === 'block') sent += frame.length;
      return frame;
    });
    let [taken, ahead, height] = [0, 0, -1];
    for await (const run of opened(spoiler).runs({ from: [], follow: false, signal: new AbortController().signal })) {
      for (const event of run.events) {
        assert.ok(event.kind === 'forward' && event.height === ++height);
        taken += event.raw.length;
      }
      // Until it has read ahead once, the reader waits for it; then it is only slow.
      if (ahead < P2P_BLOCK_BYTES_AHEAD_MAX / 4)
        await until(
          () => sent - taken > P2P_BLOCK_BYTES_AHEAD_MAX / 4,
          () => `${sent - taken} bytes ahead`,
        );
      else await sleep(20);
      ahead = Math.max(ahead, sent - taken);
    }
    await spoiler.close();
    assert.equal(height, 80);
    assert.ok(ahead < 1.5 * P2P_BLOCK_BYTES_AHEAD_MAX, `not without end: ${ahead}`);
  });

  it('refuses a chain that forks below what can be undone', async () => {
    const chain = new TestChain(60);
    const server = await served(chain);
    const reader = reading(10);
    await reader.sync(opened(server));
    chain.fork(59);
    await assert.rejects(reader.sync(opened(server)), { code: 'SOURCE_FORK' });
    assert.equal(reader.fold.head?.height, 60);
  });

  it('refuses a node of another network, by its magic and by its first block', async () => {
    const [signet, litecoin] = [bitcoinNetwork('bitcoin-signet'), bitcoinNetwork('litecoin-regtest')];
    assert.equal(litecoin.magic, regtest.magic);
    const other = await served(new TestChain(3, litecoin));
    await assert.rejects(reading().sync(opened(other)), { code: 'NETWORK_WRONG' });
    const source = openP2p([`p2p://127.0.0.1:${other.port}`], signet, { ...QUICK, attempts: 1 });
    await assert.rejects(reading().sync(source), { code: 'SOURCE_UNREACHABLE' });
  });

  it('says what it cannot reach, and what is no address', async () => {
    const server = await served(new TestChain());
    await server.close();
    servers.length = 0;
    const source = openP2p([`p2p://127.0.0.1:${server.port}`], regtest, { ...QUICK, attempts: 2 });
    await assert.rejects(reading().sync(source), { code: 'SOURCE_UNREACHABLE', message: /nobody listens there/ });
    assert.equal(source.status().lost, 2);
    for (const url of ['p2p://', 'p2p://a:0', 'p2p://a:70000', 'n2n://a:1', 'p2p://a:1,', 'p2p://u@a:1']) {
      assert.throws(() => openP2p([url], regtest), { code: 'USAGE' }, url);
    }
    assert.throws(() => openP2p([], regtest), { code: 'USAGE' });
  });
});
