/**
 * An ImmutableDB folder behind the responder: the chain that comes out at the
 * other end is the oracle's, over both wires, from the start, from the middle
 * and while the folder grows; Byron with its boundary blocks included.
 */
import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { DevnetChain } from '../../../../src/chains/cardano/devnet/index.ts';
import { openImmutableChain } from '../../../../src/chains/cardano/responder/index.ts';
import { loadConfig } from '../../../../src/config/load.ts';
import { cardanoNetwork, networkFromGenesis } from '../../../../src/ledgers/cardano/index.ts';
import { BLOCK_FETCH } from '../../../../src/sources/cardano/ouroboros/block-fetch.ts';
import { Mux } from '../../../../src/sources/cardano/ouroboros/mux.ts';
import { N2cClient } from '../../../../src/sources/cardano/ouroboros/n2c-client.ts';
import { proposeVersions } from '../../../../src/sources/cardano/ouroboros/negotiate.ts';
import { Session } from '../../../../src/sources/cardano/ouroboros/session.ts';
import { openStore } from '../../../../src/store/store.ts';
import { equalBytes, toHex } from '../../../../src/util/bytes.ts';
import { assertCheckpoint, readOracle } from '../../../oracle/oracle.ts';
import { fixtures, needsFixtures } from '../../../support/fixtures.ts';
import { until } from '../../../support/patience.ts';
import { folder, follow, later, serveFor, source, WIRES } from './net.ts';

const config = loadConfig({}).config;

describe('a relay of real chunks', needsFixtures, () => {
  for (const wire of WIRES) {
    it(`preview from genesis over ${wire} gives the oracle's digests`, async (t) => {
      const { checkpoints } = readOracle('preview-from-genesis.json');
      const chain = await openImmutableChain(fixtures('cardano', 'immutable', 'preview-from-genesis'), cardanoNetwork('preview'));
      const net = await serveFor(t, chain);
      const store = await openStore({ data: join(net.data, 'store'), network: 'preview', config });
      later(t, () => store.close());
      const [middle, last] = [checkpoints[139], checkpoints[279]];
      assert.equal(toHex(chain.tip.point!.hash), last.hash);
      const from = source(net.url(wire), chain);
      await store.follow(from, { until: { kind: 'slot', slot: middle.slot } });
      assertCheckpoint(store, middle);
      const started = performance.now();
      const { blocks, reason } = await store.follow(from);
      assert.deepEqual([blocks, reason], [last.blocks - middle.blocks, 'end']);
      assertCheckpoint(store, last);
      t.diagnostic(`${Math.round((1000 * blocks) / (performance.now() - started))} blocks/s, both sides in one process`);
      await until(() => net.responder.clients === 0, 'gone');
    });
  }

  it('mainnet’s first epoch, boundary block first, over n2n', async (t) => {
    const { checkpoints } = readOracle('mainnet-byron-epoch0.json');
    const data = folder(t);
    const only = join(data, 'immutable');
    mkdirSync(only);
    const from = fixtures('cardano', 'immutable', 'mainnet');
    for (const name of readdirSync(from)) if (name.startsWith('00000.')) writeFileSync(join(only, name), readFileSync(join(from, name)));
    const chain = await openImmutableChain(only, cardanoNetwork('mainnet'));
    const net = await serveFor(t, chain);
    const store = await openStore({ data: join(data, 'store'), network: 'mainnet', genesis: fixtures('cardano', 'genesis'), config });
    later(t, () => store.close());
    await store.follow(source(net.url('n2n'), chain));
    assertCheckpoint(store, checkpoints[checkpoints.length - 1]);
  });
});

describe('a relay of a folder of our own', () => {
  /** A devnet's blocks as chunks, `per` a chunk, without indexes. */
  function chunked(t: Parameters<typeof folder>[0], blocks: number, per: number) {
    const devnet = new DevnetChain({ seed: 4, addresses: 3, txPerBlock: 1 });
    const path = folder(t);
    const put = (count: number): void => {
      for (let i = 0; i < count; i++) {
        const number = Math.floor(devnet.blocks.length / per);
        appendFileSync(join(path, `${String(number).padStart(5, '0')}.chunk`), devnet.mine());
      }
    };
    put(blocks);
    const network = networkFromGenesis('devnet', devnet.genesisByron, devnet.genesisShelley);
    return { devnet, path, put, network };
  }

  it('tells its tip, era and epoch, and refuses what is not in the blocks instead of making it up', async (t) => {
    const { path, network } = chunked(t, 10, 100);
    const ended: string[] = [];
    const chain = await openImmutableChain(path, network);
    const net = await serveFor(t, chain, undefined, (why) => ended.push(why?.message ?? 'goodbye'));
    const refused = [
      ['parameters', /protocol parameters are not known/],
      ['utxoWhole', /no unspent set/],
      ['genesisConfig', /in the genesis files/],
    ] as const;
    for (const [about, why] of refused) {
      const mux = new Mux(connect(join(net.data, 'socket')), { peer: 'the relay' });
      later(t, () => mux.close());
      const client = await N2cClient.over(mux, network);
      await client.ask({ at: 'volatileTip' }, async (ledger) => {
        assert.deepEqual([await ledger.tip(), await ledger.currentEra(), await ledger.epoch()], [chain.tip, 6, 0]);
        await assert.rejects(ledger.ask({ about: 'era', eraIndex: 6, question: { about } }), { code: 'SOURCE_UNREACHABLE' });
      });
      await until(() => net.responder.clients === 0, 'gone');
      assert.match(ended.pop()!, why);
    }
  });

  it('is followed while it grows, within a chunk and into the next', async (t) => {
    const { devnet, path, put, network } = chunked(t, 45, 20);
    const chain = await openImmutableChain(path, network, 20);
    const net = await serveFor(t, chain);
    const store = await openStore({
      data: join(net.data, 'store'),
      network: 'devnet',
      config,
      genesis: { byron: devnet.genesisByron, shelley: devnet.genesisShelley },
    });
    later(t, () => store.close());
    const following = follow(store, source(net.url('n2n'), chain));
    for (const more of [0, 3, 1, 30, 7, 60]) {
      put(more);
      await until(() => store.fold.head?.height === devnet.blocks.length - 1, `height ${devnet.blocks.length - 1}`);
      assert.equal(store.digest().digest, devnet.digest());
    }
    await following.stop();
    assert.deepEqual(chain.view({ at: 'point', point: devnet.blocks[3] }), 'pointTooOld');
  });

  it('a block that is half written is not served', async (t) => {
    const { devnet, path, network } = chunked(t, 5, 20);
    const next = devnet.mine();
    appendFileSync(join(path, '00000.chunk'), next.subarray(0, 400));
    const chain = await openImmutableChain(path, network, 20);
    assert.equal(chain.tip.height, 4);
    appendFileSync(join(path, '00000.chunk'), next.subarray(400));
    await until(() => chain.tip.height === 5, 'the rest of it');
    await chain.close();
  });

  it('gives any range, in any order, and none for what is not there', async (t) => {
    const { devnet, path, network } = chunked(t, 90, 20);
    const chain = await openImmutableChain(path, network);
    const net = await serveFor(t, chain);
    const mux = new Mux(connect(net.responder.port!, '127.0.0.1'), { peer: 'the relay' });
    await proposeVersions(mux, 'n2n', 42);
    const session = new Session(mux, BLOCK_FETCH, 'initiator');
    const { blocks } = devnet;
    const fetch = async (from: number, to: number): Promise<number[]> => {
      session.send({ kind: 'requestRange', from: blocks[from], to: blocks[to] });
      const got: number[] = [];
      for (let message = await session.receive(); ; message = await session.receive()) {
        if (message.kind === 'batchDone' || message.kind === 'noBlocks') return got;
        if (message.kind === 'block') {
          const { raw } = message;
          got.push(blocks.findIndex((block) => equalBytes(block.raw, raw)));
        }
      }
    };
    for (const [from, to] of [
      [0, 4],
      [5, 30],
      [31, 31],
      [10, 12],
      [88, 89],
      [89, 89],
      [0, 89],
      [19, 20],
    ]) {
      assert.deepEqual(
        await fetch(from, to),
        Array.from({ length: to - from + 1 }, (_, i) => from + i),
        `${from}..${to}`,
      );
    }
    assert.deepEqual(await fetch(7, 3), []);
    const strange = { slot: blocks[5].slot, hash: new Uint8Array(32) };
    session.send({ kind: 'requestRange', from: blocks[2], to: strange });
    assert.equal((await session.receive()).kind, 'noBlocks');
    session.send({ kind: 'requestRange', from: strange, to: blocks[8] });
    assert.equal((await session.receive()).kind, 'noBlocks');
    await mux.close();
  });

  it('a folder without chunks is told at once', async (t) => {
    await assert.rejects(openImmutableChain(folder(t), cardanoNetwork('preview')), { code: 'SOURCE_UNREACHABLE' });
  });
});
