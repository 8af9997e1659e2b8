/**
 * A devnet over both wires: what a follower ends up with is what the devnet
 * says it should, through forks and restarts, for many followers at once, and
 * nothing is held when they have gone.
 */
import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { serveChain } from '../../../../src/chains/cardano/responder/index.ts';
import { BLOCK_FETCH } from '../../../../src/sources/cardano/ouroboros/block-fetch.ts';
import { CHAIN_SYNC_N2N } from '../../../../src/sources/cardano/ouroboros/chain-sync.ts';
import { KEEP_ALIVE } from '../../../../src/sources/cardano/ouroboros/keep-alive.ts';
import { Mux } from '../../../../src/sources/cardano/ouroboros/mux.ts';
import { proposeVersions } from '../../../../src/sources/cardano/ouroboros/negotiate.ts';
import { Session } from '../../../../src/sources/cardano/ouroboros/session.ts';
import { equalBytes } from '../../../../src/util/bytes.ts';
import { isUnspentError } from '../../../../src/util/errors.ts';
import { until } from '../../../support/patience.ts';
import { assertNothingHeld, assertSame, follow, openFollower, serveDevnet, settled, source, WIRES } from './net.ts';

describe('a served devnet', () => {
  for (const wire of WIRES) {
    it(`is synced over ${wire}, and once more after a fork`, async (t) => {
      const net = await serveDevnet(t, 400);
      const store = await openFollower(t, net.data, 'store', net.devnet);
      const first = await store.follow(source(net.url(wire), net.devnet));
      assert.deepEqual([first.blocks, first.reason, first.rollbacks], [400, 'end', 0]);
      assertSame(store, net.devnet);
      net.devnet.fork(50);
      const second = await store.follow(source(net.url(wire), net.devnet));
      assert.equal(second.rollbacks, 1);
      assertSame(store, net.devnet);
      await until(() => net.responder.clients === 0, 'everybody has left');
      assertNothingHeld(net);
    });

    it(`is followed over ${wire} through blocks, forks and cuts`, async (t) => {
      const net = await serveDevnet(t, 30);
      const { devnet, responder } = net;
      const store = await openFollower(t, net.data, 'store', devnet);
      const following = follow(store, source(net.url(wire), devnet));
      await settled(store, devnet, following);
      for (let i = 0; i < 20; i++) {
        if (i % 5 === 3) devnet.rollback(1 + i);
        else if (i % 3 === 2) devnet.fork(1 + i);
        else devnet.mine(1 + (i % 4));
        if (i % 7 === 6) await responder.cut();
        await settled(store, devnet, following);
        assertSame(store, devnet, `step ${i}`);
      }
      await following.stop();
      await until(() => responder.clients === 0, 'everybody has left');
      assertNothingHeld(net);
    });
  }

  it('serves many at once, each at its own pace', async (t) => {
    const net = await serveDevnet(t, 120);
    const { devnet } = net;
    const stores = await Promise.all(Array.from({ length: 12 }, (_, i) => openFollower(t, net.data, `store${i}`, devnet)));
    const followers = stores.map((store, i) => follow(store, source(net.url(WIRES[i % 2]), devnet)));
    for (let round = 0; round < 4; round++) {
      devnet.fork(5 + round);
      devnet.mine(3);
      for (const [i, store] of stores.entries()) {
        await settled(store, devnet, followers[i]);
        assertSame(store, devnet, `store ${i}, round ${round}`);
      }
    }
    assert.equal(net.responder.clients, stores.length);
    await Promise.all(followers.map((follower) => follower.stop()));
    await until(() => net.responder.clients === 0, 'everybody has left');
    assertNothingHeld(net);
  });

  it('tells a client of another network so, over both wires', async (t) => {
    const net = await serveDevnet(t, 3);
    for (const wire of WIRES) {
      const store = await openFollower(t, net.data, `store-${wire}`, net.devnet);
      const { network, ...rest } = net.devnet;
      const stranger = source(net.url(wire), { ...rest, network: { ...network, magic: 7 } } as unknown as typeof net.devnet);
      await assert.rejects(store.follow(stranger), (error) => {
        assert.ok(isUnspentError(error, 'NETWORK_WRONG'));
        assert.match(error.message, /its magic is 42, the store's is 7/);
        return true;
      });
    }
  });

  it('ends every connection when it is closed, in the middle of things', async (t) => {
    const net = await serveDevnet(t, 50);
    const store = await openFollower(t, net.data, 'store', net.devnet);
    const following = follow(store, source(net.url('n2n'), net.devnet));
    await settled(store, net.devnet, following);
    await net.responder.close();
    assertNothingHeld(net);
    await following.stop();
  });

  it('refuses a port and a socket that are taken, and clears a socket that nobody answers at', async (t) => {
    const net = await serveDevnet(t, 1);
    const socket = join(net.data, 'socket');
    await assert.rejects(serveChain(net.devnet, { port: net.responder.port! }), { code: 'SOURCE_UNREACHABLE' });
    await assert.rejects(serveChain(net.devnet, { socket }), { code: 'SOURCE_UNREACHABLE' });
    // A process that was killed leaves its socket behind: here, one that was moved away from under a server.
    const stale = join(net.data, 'stale');
    renameSync(socket, stale);
    await net.responder.close();
    const again = await serveChain(net.devnet, { socket: stale });
    await again.close();
  });
});

describe('by hand', () => {
  async function greeted(port: number) {
    const socket = connect(port, '127.0.0.1');
    const mux = new Mux(socket, { peer: 'the responder' });
    await proposeVersions(mux, 'n2n', 42);
    return mux;
  }

  it('chain-sync begins at the origin, confirms an intersection, waits at the tip and tells of a turn', async (t) => {
    const net = await serveDevnet(t, 3);
    const { devnet } = net;
    const mux = await greeted(net.responder.port!);
    const session = new Session(mux, CHAIN_SYNC_N2N, 'initiator');
    session.send({ kind: 'requestNext' });
    assert.deepEqual(await session.receive(), { kind: 'rollBackward', point: null, tip: devnet.tip });
    const unknown = { slot: 1, hash: new Uint8Array(32) };
    session.send({ kind: 'findIntersect', points: [unknown] });
    assert.equal((await session.receive()).kind, 'intersectNotFound');
    const [, second] = devnet.blocks;
    const point = { slot: second.slot, hash: second.hash };
    session.send({ kind: 'findIntersect', points: [unknown, point, null] });
    assert.deepEqual(await session.receive(), { kind: 'intersectFound', point, tip: devnet.tip });
    for (const kind of ['rollBackward', 'rollForward', 'awaitReply']) {
      session.send({ kind: 'requestNext' });
      assert.equal((await session.receive()).kind, kind);
    }
    devnet.rollback(2);
    const back = await session.receive();
    assert.ok(back.kind === 'rollBackward' && equalBytes(back.point!.hash, devnet.blocks[0].hash), 'back while waiting');
    session.send({ kind: 'done' });
    await mux.close();
  });

  it('block-fetch gives ranges, and none for what is not on the chain', async (t) => {
    const net = await serveDevnet(t, 10);
    const { blocks } = net.devnet;
    const mux = await greeted(net.responder.port!);
    const session = new Session(mux, BLOCK_FETCH, 'initiator');
    session.send({ kind: 'requestRange', from: blocks[2], to: blocks[5] });
    session.send({ kind: 'requestRange', from: blocks[5], to: blocks[2] });
    session.send({ kind: 'requestRange', from: blocks[5], to: { slot: 1, hash: new Uint8Array(32) } });
    session.send({ kind: 'requestRange', from: blocks[9], to: blocks[9] });
    const kinds: string[] = [];
    const raws: Uint8Array[] = [];
    for (let i = 0; i < 6 + 1 + 1 + 3; i++) {
      const message = await session.receive();
      kinds.push(message.kind);
      if (message.kind === 'block') raws.push(message.raw);
    }
    const batch = (n: number) => ['startBatch', ...Array.from({ length: n }, () => 'block'), 'batchDone'];
    assert.deepEqual(kinds, [...batch(4), 'noBlocks', 'noBlocks', ...batch(1)]);
    assert.deepEqual(raws.map(equalsOneOf(blocks.map(({ raw }) => raw))), [2, 3, 4, 5, 9]);
    session.send({ kind: 'clientDone' });
    await mux.close();
  });

  it('keep-alive answers with the cookie', async (t) => {
    const net = await serveDevnet(t, 1);
    const mux = await greeted(net.responder.port!);
    const session = new Session(mux, KEEP_ALIVE, 'initiator');
    for (const cookie of [7, 65_535, 0]) {
      session.send({ kind: 'keepAlive', cookie });
      assert.deepEqual(await session.receive(), { kind: 'response', cookie });
    }
    session.send({ kind: 'done' });
    await mux.close();
    await until(() => net.responder.clients === 0, 'gone');
    assertNothingHeld(net);
  });

  it('a client that breaks the protocol is cut off, and only that one', async (t) => {
    const net = await serveDevnet(t, 20);
    const store = await openFollower(t, net.data, 'store', net.devnet);
    const following = follow(store, source(net.url('n2n'), net.devnet));
    await settled(store, net.devnet, following);
    const mux = await greeted(net.responder.port!);
    const session = new Session(mux, CHAIN_SYNC_N2N, 'initiator');
    session.channel.send(Uint8Array.of(0x82, 0x18, 0x63, 0x00));
    await mux.closed;
    assert.notEqual(mux.failure, null);
    net.devnet.mine(1);
    await settled(store, net.devnet, following);
    assert.equal(net.responder.clients, 1);
    assert.equal(following.source.status().lost, 0);
    await following.stop();
  });
});

function equalsOneOf(list: readonly Uint8Array[]): (bytes: Uint8Array) => number {
  return (bytes) => list.findIndex((each) => equalBytes(each, bytes));
}
