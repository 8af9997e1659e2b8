/**
 * Events of an open store: where they begin, how they end, what is refused, and
 * that a reader beside a fold at full speed misses nothing.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { ALL, PositionWriter } from '../../src/events/position.ts';
import type { BlockEvent, StoreEvent, StoreEvents } from '../../src/events/store-events.ts';
import type { Run, Source } from '../../src/sources/source.ts';
import { type OpenStore, openStore } from '../../src/store/store.ts';
import { toHex } from '../../src/util/bytes.ts';
import { assertCode, Devnet, devnetOptions } from '../support/harness.ts';

const root = mkdtempSync(join(tmpdir(), 'unspent-events-'));
after(() => rmSync(root, { recursive: true, force: true }));

let stores = 0;

async function storeOf(devnet: Devnet, ...sets: string[]): Promise<OpenStore> {
  const { genesisByron: byron, genesisShelley: shelley } = devnet.chain;
  const { config } = loadConfig({ flags: { set: sets }, env: {} });
  return await openStore({ data: join(root, `store-${stores++}`), network: 'devnet', genesis: { byron, shelley }, config, control: false });
}

function grow(store: OpenStore, devnet: Devnet, count: number): void {
  store.fold.apply(devnet.mine(count));
}

async function take(events: StoreEvents, count: number): Promise<StoreEvent[]> {
  const taken: StoreEvent[] = [];
  while (taken.length < count) {
    const { done, value } = await events.next();
    assert.ok(done !== true);
    taken.push(value);
  }
  return taken;
}

const outline = (event: StoreEvent): string =>
  event.kind === 'rollback' ? `to ${event.to?.height}` : `${event.kind} ${event.block.height}`;

describe('events of a store', () => {
  it('begin where they are told to', async () => {
    const devnet = new Devnet(devnetOptions(1, 'conway'));
    const store = await storeOf(devnet);
    grow(store, devnet, 5);
    const third = devnet.chain.blocks[2];
    const begins = [
      { options: {}, first: 'applied 5' },
      { options: { after: null }, first: 'applied 0' },
      { options: { after: 'origin' }, first: 'applied 0' },
      { options: { after: third }, first: 'applied 3' },
      { options: { after: toHex(third.hash) }, first: 'applied 3' },
      { options: { after: store.read((query) => new PositionWriter(query).at(query.blockByHash(third.hash), ALL)) }, first: 'applied 3' },
    ];
    const readers = begins.map(({ options, first }) => ({ events: store.events(options), first }));
    grow(store, devnet, 1);
    for (const { events, first } of readers) assert.deepEqual((await take(events, 1)).map(outline), [first]);
    assert.equal(store.readers.size, 0, 'nobody waits for them');
    await store.close();
    for (const { events } of readers) assert.equal((await events.next()).done, true);
  });

  it('tell what blocks did, and undo it newest first', async () => {
    const devnet = new Devnet(devnetOptions(2, 'conway'));
    const store = await storeOf(devnet);
    const events = store.events();
    grow(store, devnet, 3);
    const applied = (await take(events, 3)) as BlockEvent[];
    const made = devnet.chain.blocks[1].txs.flatMap(({ creates }) => creates.map(({ key }) => key));
    assert.deepEqual(
      applied[1].created.map(({ txId, index }) => `${toHex(txId)}#${index}`),
      made,
    );
    store.rollback(devnet.pointBelow(2));
    const undone = (await take(events, 2)) as BlockEvent[];
    for (const [i, { position, kind, ...told }] of undone.entries()) {
      const { position: _, kind: __, ...before } = applied[2 - i];
      assert.equal(kind, 'undone');
      assert.deepEqual(told, before, 'all that it had done');
      assert.equal(position, applied[1 - i].position, 'where its reader was before');
    }
    store.rollback(null);
    assert.deepEqual((await take(events, 1)).map(outline), ['undone 0']);
    assert.equal(events.position, '-.');
    await store.close();
  });

  it('end with the loop, the signal and the store, and hold nothing then', async () => {
    const devnet = new Devnet(devnetOptions(3, 'conway'));
    const store = await storeOf(devnet);
    grow(store, devnet, 3);
    for await (const event of store.events({ after: null })) if (outline(event) === 'applied 1') break;
    const stop = new AbortController();
    const waiting = store.events({ signal: stop.signal });
    const next = waiting.next();
    stop.abort();
    assert.deepEqual(await next, { done: true, value: undefined });
    assert.equal((await store.events({ after: null, signal: stop.signal }).next()).done, true);
    const last = store.events();
    const [first, second] = [last.next(), last.next()];
    grow(store, devnet, 1);
    const told = await first;
    assert.ok(told.done !== true);
    assert.equal(outline(told.value), 'applied 3');
    await store.close();
    assert.equal((await second).done, true, 'whoever waits is told that it is over');
    assert.equal(last.position, told.value.position);
    assertCode(() => store.events(), 'CLOSED');
  });

  it('refuse what is no position, and what cannot be told any more', async () => {
    const devnet = new Devnet(devnetOptions(4, 'conway'));
    const store = await storeOf(devnet, 'utxo.pruneDepth=5', 'utxo.rollbackWindow=10');
    grow(store, devnet, 3);
    const lagging = store.events({ after: null });
    const [{ position }] = await take(lagging, 1);
    assertCode(() => store.events({ after: 'yesterday' }), 'USAGE');
    assertCode(() => store.events({ after: position.replace('-.', '1.') }), 'USAGE');
    grow(store, devnet, 30);
    while (!store.prune().done);
    // A position in the window, below it, before the first block, and of a chain that is not ours.
    assert.deepEqual((await take(store.events({ after: devnet.pointBelow(5) }), 1)).map(outline), ['applied 28']);
    const refused = { code: 'EXPIRED', message: /cannot be told any more: .*above height 27|from height 27 on/ };
    assert.throws(() => store.events({ after: devnet.pointBelow(6) }), refused);
    assertCode(() => store.events({ after: position }), 'EXPIRED');
    assertCode(() => store.events({ after: 'origin' }), 'EXPIRED');
    const stranger = new Devnet(devnetOptions(5, 'conway')).mine(1)[0];
    assertCode(() => store.events({ after: stranger }), 'EXPIRED');
    await assert.rejects(lagging.next(), refused);
    assert.equal((await lagging.next()).done, true);
    await store.close();
  });

  it('need a store that keeps outputs', async () => {
    const devnet = new Devnet(devnetOptions(6, 'conway'));
    const store = await storeOf(devnet, 'utxo.enabled=false');
    assertCode(() => store.events(), 'UNSUPPORTED');
    await store.close();
  });
});

/** Hands over blocks as fast as they are taken, with a fork behind every hundredth. */
class FastSource implements Source {
  readonly name = 'fast';
  private readonly devnet: Devnet;
  private readonly rounds: number;

  constructor(devnet: Devnet, rounds: number) {
    this.devnet = devnet;
    this.rounds = rounds;
  }

  async *runs(): AsyncIterable<Run> {
    for (let i = 0; i < this.rounds; i++) {
      const from = this.devnet.chain.blocks.length;
      this.devnet.mine(100);
      const forward = this.devnet.chain.blocks.slice(from).map(({ raw }) => ({ kind: 'forward', raw, intact: true }) as const);
      yield { events: forward, atTip: false };
      this.devnet.chain.rollback(3);
      yield { events: [{ kind: 'back', point: this.devnet.pointBelow(0) }], atTip: false };
    }
  }
}

describe('a reader beside a fold at full speed', () => {
  it('hears of every block once and in order, and leaves the fold its turns', async () => {
    const devnet = new Devnet(devnetOptions(7, 'conway'));
    const store = await storeOf(devnet, 'sync.groupBlocks=40');
    const chain: string[] = [];
    const unspent = new Map<string, bigint>();
    const counts = { applied: 0, undone: 0, commits: 0 };
    store.fold.watchers.add({ applied: () => counts.commits++ });
    let turns = 0;
    const events = store.events({ after: null });
    const reading = (async () => {
      for await (const event of events) {
        assert.ok(event.kind !== 'rollback');
        counts[event.kind]++;
        const { block, created, spent } = event;
        const [added, removed] = event.kind === 'applied' ? [created, spent] : [spent, created];
        for (const { txId, index, output } of added) unspent.set(`${toHex(txId)}#${index}`, output.value);
        for (const { txId, index } of removed) assert.ok(unspent.delete(`${toHex(txId)}#${index}`));
        if (event.kind === 'applied') {
          if (chain.length > 0) assert.equal(toHex(block.prevHash), chain.at(-1));
          chain.push(toHex(block.hash));
        } else assert.equal(chain.pop(), toHex(block.hash));
        // Now and then it is slow, and the fold goes on without it.
        if (++turns % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
      }
    })();
    await store.follow(new FastSource(devnet, 6));
    const seenMeanwhile = counts.applied;
    const { tip } = devnet.chain;
    while (chain.at(-1) !== toHex(tip!.hash)) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(
      new Map([...unspent].sort()),
      new Map(Array.from(devnet.chain.utxos.values(), ({ key, lovelace }) => [key, lovelace] as const).sort()),
    );
    assert.ok(counts.commits >= 15, 'the blocks came in groups');
    assert.equal(counts.applied - counts.undone, devnet.chain.blocks.length);
    assert.ok(seenMeanwhile > 0, 'it read while the fold wrote');
    await store.close();
    await reading;
  });
});
