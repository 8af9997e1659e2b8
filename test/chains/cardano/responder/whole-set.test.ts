/**
 * The whole unspent set of a node over its local socket, and a store that begins
 * with it: the digest of a store that read every block, also after following on
 * and through forks. And the answer cut into its entries however it arrives.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { loadConfig } from '../../../../src/config/load.ts';
import { Renderer } from '../../../../src/query/render.ts';
import { writeEraResult, writeUtxo } from '../../../../src/sources/cardano/ouroboros/queries.ts';
import { UtxoSplitter } from '../../../../src/sources/cardano/ouroboros/utxo-splitter.ts';
import { importNodeSet } from '../../../../src/store/node-sets.ts';
import { exportSnapshot } from '../../../../src/store/snapshots.ts';
import { type OpenStore, openStore } from '../../../../src/store/store.ts';
import { toHex } from '../../../../src/util/bytes.ts';
import { CborWriter } from '../../../../src/util/cbor-write.ts';
import { isUnspentError } from '../../../../src/util/errors.ts';
import { assertFails } from '../../../snapshot/world.ts';
import { until } from '../../../support/patience.ts';
import { assertNothingHeld, assertSame, later, type Net, openFollower, serveDevnet, source } from './net.ts';

/** Settled after twenty blocks. */
const OPTIONS = { seed: 12, addresses: 3, txPerBlock: 3, byronEpochSlots: 200 };
const K = 20;

function importFrom(net: Net, data: string, set: readonly string[] = [], url = net.url('n2c')) {
  const { config } = loadConfig({ flags: { set: ['network=devnet', `data=${data}`, ...set] }, env: {} });
  return importNodeSet(url, { config, genesis: net.devnet.genesis });
}

async function opened(t: TestContext, net: Net, data: string): Promise<OpenStore> {
  const store = await openStore({ data, network: 'devnet', genesis: net.devnet.genesis, config: loadConfig({}).config });
  later(t, () => store.close());
  return store;
}

describe('a store from the whole set of a node', () => {
  it('is that of every block, follows on, and goes through forks', async (t) => {
    const net = await serveDevnet(t, 120, undefined, OPTIONS);
    const { devnet } = net;
    assert.equal(devnet.network.k, K);
    const data = join(net.data, 'begun');
    const done = await importFrom(net, data, ['utxo.balances=true', 'utxo.index.policy=true', 'utxo.datums=true']);
    assert.equal(done.point.height, 120 - K, 'the first block that is settled');
    const whole = await openFollower(t, net.data, 'whole', devnet);
    await whole.follow(source(net.url('n2n'), devnet), { until: { kind: 'height', height: done.point.height } });
    assert.equal(done.digest, whole.digest().digest, 'at the block it began with');
    const store = await opened(t, net, data);
    const agree = async (when: string): Promise<void> => {
      for (const each of [whole, store]) await each.follow(source(net.url('n2c'), devnet));
      assertSame(whole, devnet, when);
      assertSame(store, devnet, when);
      assert.deepEqual(store.verify().faults, [], when);
    };
    await agree('at the tip');
    devnet.fork(K - 1);
    await agree('after the deepest fork');
    devnet.mine(30);
    devnet.fork(5);
    await agree('after more');
  });

  it('says what it does not know, and gives nothing away as known', async (t) => {
    const net = await serveDevnet(t, 40, undefined, OPTIONS);
    const data = join(net.data, 'begun');
    const { point } = await importFrom(net, data);
    const store = await opened(t, net, data);
    store.read((query) => {
      const renderer = new Renderer(query, store.network.dialect);
      for (const utxo of query.unspent()) {
        const { slot, block, at_or_before } = renderer.utxo(utxo);
        assert.deepEqual([block, slot, at_or_before], [point.height, point.slot, true]);
      }
    });
    await assertFails(() => exportSnapshot(store, join(net.data, 'export')), 'UNSUPPORTED', 'an export');
  });

  it('refuses what it could not keep, and leaves nothing behind', async (t) => {
    const net = await serveDevnet(t, 40, undefined, OPTIONS);
    const data = join(net.data, 'none');
    for (const set of ['proofs.setHash=true', 'proofs.csmt=true', 'utxo.store=mmr'])
      await assertFails(() => importFrom(net, data, [set]), 'UNSUPPORTED', set);
    await assertFails(() => importFrom(net, data, [], net.url('n2n')), 'USAGE', 'a public port');
    await assertFails(() => importFrom(net, data, [], `n2c:${join(net.data, 'nobody')}`), 'SOURCE_UNREACHABLE', 'no socket');
    assert.ok(!existsSync(data));
    await until(() => net.responder.clients === 0, 'the connections are gone');
    assertNothingHeld(net);
  });
});

describe('the answer with a whole set', () => {
  const entry = (n: number) => ({
    input: { txId: new Uint8Array(32).fill(n), index: n },
    output: new CborWriter().array(2).bytes(new Uint8Array(n)).uint(n).take(),
  });
  const entries = Array.from({ length: 40 }, (_, i) => entry(i));
  const messageOf = (count: number): Uint8Array => {
    const result = writeEraResult(writeUtxo(entries.slice(0, count)));
    return new CborWriter(result.length + 8).array(2).uint(4).raw(result).take();
  };
  const split = (message: Uint8Array, size: number): string[] => {
    const splitter = new UtxoSplitter(1e9);
    const found: string[] = [];
    for (let at = 0; at < message.length; at += size) {
      const isLast = at + size >= message.length;
      for (const { input, output } of splitter.entries(message.slice(at, at + size), isLast))
        found.push(`${toHex(input.txId)}#${input.index} ${toHex(output)}`);
    }
    return found;
  };
  const wanted = (count: number): string[] =>
    entries.slice(0, count).map(({ input, output }) => `${toHex(input.txId)}#${input.index} ${toHex(output)}`);

  it('is cut into its entries however it arrives', () => {
    for (const count of [0, 1, 23, 24, 40])
      for (const size of [1, 2, 7, 50, 333, 100_000])
        assert.deepEqual(split(messageOf(count), size), wanted(count), `${count} in pieces of ${size}`);
  });

  it('is refused where it is of another era, or no set', () => {
    const mismatch = new CborWriter().array(2).uint(4).array(2).array(2).uint(5).text('Babbage').array(2).uint(6).text('Conway').take();
    const list = new CborWriter().array(2).uint(4).array(1).array(1).uint(1).take();
    const badInput = new CborWriter().array(2).uint(4).array(1).map(1).uint(1).uint(2).take();
    for (const message of [mismatch, list, badInput])
      for (const size of [1, 1000])
        assert.throws(
          () => split(message, size),
          (error) => isUnspentError(error, 'PROTOCOL'),
        );
  });
});
