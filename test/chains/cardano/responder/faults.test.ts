/**
 * A responder that misbehaves, in every way it knows. Each ends in a typed error
 * and, by itself, in a store that is what it should be; or in a clear stop where
 * going on would be wrong.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DevnetBlock, DevnetChain } from '../../../../src/chains/cardano/devnet/index.ts';
import type { ServedChain } from '../../../../src/chains/cardano/responder/chain.ts';
import { MemoryChain } from '../../../../src/chains/cardano/responder/memory-chain.ts';
import { loadConfig } from '../../../../src/config/load.ts';
import { networkFromGenesis } from '../../../../src/ledgers/cardano/index.ts';
import { BLOCK_FETCH } from '../../../../src/sources/cardano/ouroboros/block-fetch.ts';
import { CHAIN_SYNC_N2C, CHAIN_SYNC_N2N } from '../../../../src/sources/cardano/ouroboros/chain-sync.ts';
import { openOuroboros } from '../../../../src/sources/cardano/ouroboros/index.ts';
import { openStore } from '../../../../src/store/store.ts';
import type { ErrorCode } from '../../../../src/util/errors.ts';
import type { Fault, Faults } from '../../../support/faults.ts';
import { until } from '../../../support/patience.ts';
import { assertNothingHeld, assertSame, follow, later, openFollower, serveDevnet, serveFor, settled, source, type Wire } from './net.ts';

const CHAIN_SYNC = { n2n: CHAIN_SYNC_N2N.number, n2c: CHAIN_SYNC_N2C.number };
const BLOCKS = 40;

/** The first connections suffer, those after them do not. */
function first(...faults: readonly Fault[]): Faults {
  return (connection) => faults[connection] ?? null;
}

/** Follows a responder whose first connection is faulty; it must recover, having seen the error. */
async function recovers(t: TestContext, wire: Wire, fault: Fault, code: ErrorCode): Promise<void> {
  const net = await serveDevnet(t, BLOCKS, first(fault));
  const store = await openFollower(t, net.data, 'store', net.devnet);
  const following = follow(store, source(net.url(wire), net.devnet));
  await settled(store, net.devnet, following);
  assertSame(store, net.devnet);
  const { lost, lastError } = following.source.status();
  assert.deepEqual([lost, lastError?.code], [1, code], lastError?.message);
  t.diagnostic(lastError?.message ?? '');
  // And it goes on as if nothing had been.
  net.devnet.fork(5);
  await settled(store, net.devnet, following);
  assertSame(store, net.devnet);
  await following.stop();
  await until(() => net.responder.clients === 0, 'gone');
  assertNothingHeld(net);
}

describe('chain-sync that', () => {
  for (const wire of ['n2n', 'n2c'] as const) {
    const protocol = CHAIN_SYNC[wire];
    it(`sends garbage, over ${wire}`, (t) => recovers(t, wire, { kind: 'garbage', protocol, at: 7 }, 'PROTOCOL'));
    it(`sends a message twice, over ${wire}`, (t) => recovers(t, wire, { kind: 'duplicate', protocol, at: 7 }, 'PROTOCOL'));
    it(`sends two messages in the wrong order, over ${wire}`, (t) => recovers(t, wire, { kind: 'reorder', protocol, at: 7 }, 'PROTOCOL'));
    it(`goes back to a point that never was, over ${wire}`, (t) =>
      recovers(t, wire, { kind: 'unknownRollback', protocol, at: 7 }, 'PROTOCOL'));
    it(`answers an intersection with garbage, over ${wire}`, (t) => recovers(t, wire, { kind: 'garbage', protocol, at: 0 }, 'PROTOCOL'));
  }
  it('sends a message that is too large', (t) => recovers(t, 'n2n', { kind: 'oversized', protocol: CHAIN_SYNC.n2n, at: 7 }, 'PROTOCOL'));
  it('stops answering: ten seconds of patience, no more', (t) =>
    recovers(t, 'n2n', { kind: 'stall', protocol: CHAIN_SYNC.n2n, at: 7 }, 'SOURCE_UNREACHABLE'));
});

describe('block-fetch that', () => {
  const { number: protocol } = BLOCK_FETCH;
  it('sends garbage', (t) => recovers(t, 'n2n', { kind: 'garbage', protocol, at: 3 }, 'PROTOCOL'));
  it('sends a block twice', (t) => recovers(t, 'n2n', { kind: 'duplicate', protocol, at: 3 }, 'PROTOCOL'));
  it('sends blocks in the wrong order', (t) => recovers(t, 'n2n', { kind: 'reorder', protocol, at: 3 }, 'PROTOCOL'));
});

describe('a connection that', () => {
  for (const [wire, bytes] of [
    ['n2n', [...range(0, 1500, 1), ...range(1500, 40_000, 391)]],
    ['n2c', [...range(0, 300, 1), ...range(300, 20_000, 211)]],
  ] as const) {
    it(`is cut at every byte in turn, over ${wire}`, async (t) => {
      const faults: Faults = (connection) => (connection < bytes.length ? { kind: 'cut', atByte: bytes[connection] } : null);
      const net = await serveDevnet(t, BLOCKS, faults);
      const store = await openFollower(t, net.data, 'store', net.devnet);
      const { magic, byronEpochSlots } = net.devnet.network;
      const codes = new Map<string, number>();
      const from = openOuroboros([net.url(wire)], {
        magic,
        byronEpochSlots,
        reconnectMs: [0, 0],
        onPeer: ({ state, lastError }) => state === 'waiting' && codes.set(lastError!.code, (codes.get(lastError!.code) ?? 0) + 1),
      });
      const following = follow(store, from);
      await until(() => store.fold.head?.height === BLOCKS - 1, 'a whole sync');
      // Keeps it busy until a connection is sound.
      for (; from.status().lost < bytes.length; ) {
        net.devnet.fork(BLOCKS - 1);
        await sleep(1);
      }
      await settled(store, net.devnet, following);
      assertSame(store, net.devnet);
      assert.deepEqual([...codes.keys()], ['SOURCE_UNREACHABLE']);
      await following.stop();
      t.diagnostic(`${bytes.length} cuts`);
    });
  }

  it('trickles', async (t) => {
    const net = await serveDevnet(t, 20, () => ({ kind: 'slow', bytes: 60, everyMs: 1 }));
    const store = await openFollower(t, net.data, 'store', net.devnet);
    const following = follow(store, source(net.url('n2n'), net.devnet));
    await settled(store, net.devnet, following);
    assertSame(store, net.devnet);
    assert.equal(following.source.status().lost, 0);
    await following.stop();
  });

  it('means another network: told at once, and not tried again', async (t) => {
    const net = await serveDevnet(t, BLOCKS, () => ({ kind: 'wrongMagic' }));
    const store = await openFollower(t, net.data, 'store', net.devnet);
    const following = follow(store, source(net.url('n2n'), net.devnet));
    await assert.rejects(following.ended, { code: 'NETWORK_WRONG' });
    assert.equal(following.source.status().lost, 1);
    assert.equal(store.fold.head, null);
  });
});

describe('a chain that', () => {
  it('turns back and forth between two forks', async (t) => {
    const { a, b, chain, served, devnet } = twoForks();
    const net = await serveFor(t, served);
    const store = await openFollower(t, net.data, 'store', devnet);
    const following = follow(store, source([net.url('n2n'), net.url('n2c')], served));
    for (let i = 0; i < 150; i++) {
      chain.become(i % 2 === 0 ? b.blocks : a.blocks);
      chain.changed();
      // Sometimes it turns again before anybody could look.
      if (i % 3 !== 0) await sleep(i % 7);
    }
    for (const side of [b, a, b]) {
      chain.become(side.blocks);
      chain.changed();
      await until(
        () => store.fold.head?.height === side.blocks.length - 1 && store.digest().digest === side.digest,
        'the fork that is left',
      );
    }
    assert.equal(following.source.status().lost, 0, following.source.status().lastError?.message);
    await following.stop();
    assert.deepEqual([chain.readerCount, chain.listenerCount], [0, 0]);
  });

  it('forks inside our window, below where we were started', async (t) => {
    const net = await serveDevnet(t, 250);
    const { config } = loadConfig({ flags: { utxoPruneDepth: '100', utxoRollbackWindow: '200' } });
    const store = await openStore({ data: join(net.data, 'store'), network: 'devnet', genesis: net.devnet.genesis, config });
    later(t, () => store.close());
    await store.follow(source(net.url('n2n'), net.devnet));
    const following = follow(store, source(net.url('n2n'), net.devnet));
    net.devnet.mine(3);
    await settled(store, net.devnet, following);
    net.devnet.fork(80);
    await settled(store, net.devnet, following);
    assertSame(store, net.devnet);
    await following.stop();
  });

  it('is another one than ours: a clear stop, and the store as it was', async (t) => {
    const ours = await serveDevnet(t, BLOCKS);
    const other = await serveDevnet(t, 2 * BLOCKS, undefined, { seed: 12, addresses: 3 });
    const store = await openFollower(t, ours.data, 'store', ours.devnet);
    await store.follow(source(ours.url('n2n'), ours.devnet));
    const following = follow(store, source(other.url('n2n'), other.devnet));
    await assert.rejects(following.ended, (error: Error & { code: string }) => {
      assert.equal(error.code, 'SOURCE_FORK');
      assert.match(error.message, /Follow another node, or sync a new store/);
      return true;
    });
    assertSame(store, ours.devnet);
  });

  it('has lost a peer of two: the other one takes over', async (t) => {
    const net = await serveDevnet(t, BLOCKS);
    const again = await serveFor(t, net.devnet);
    const store = await openFollower(t, net.data, 'store', net.devnet);
    const following = follow(store, source([net.url('n2n'), again.url('n2c')], net.devnet));
    await settled(store, net.devnet, following);
    await net.responder.close();
    net.devnet.fork(10);
    await settled(store, net.devnet, following);
    assertSame(store, net.devnet);
    assert.equal(following.source.status().peer, again.url('n2c'));
    await following.stop();
  });
});

interface Side {
  readonly blocks: readonly DevnetBlock[];
  readonly digest: string;
}

function twoForks() {
  const model = new DevnetChain({ seed: 21, addresses: 3, txPerBlock: 1 });
  for (let i = 0; i < 60; i++) model.mine();
  const a: Side = { blocks: [...model.blocks], digest: model.digest() };
  model.fork(25);
  const b: Side = { blocks: [...model.blocks], digest: model.digest() };
  const chain = new MemoryChain<DevnetBlock>();
  chain.become(a.blocks);
  const genesis = { byron: model.genesisByron, shelley: model.genesisShelley };
  const served: ServedChain = {
    network: networkFromGenesis('devnet', genesis.byron, genesis.shelley),
    get tip() {
      return chain.tip;
    },
    reader: () => chain.reader(),
    ranges: () => chain.ranges(),
    view: () => 'pointNotOnChain',
    onChange: (listener) => chain.onChange(listener),
    close: async () => {},
  };
  return { a, b, chain, served, devnet: { genesis } };
}

function range(from: number, to: number, step: number): number[] {
  return Array.from({ length: Math.ceil((to - from) / step) }, (_, i) => from + i * step);
}
