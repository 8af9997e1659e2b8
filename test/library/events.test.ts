/**
 * Events of the library's store: the documents of the reads, resumed exactly
 * once, through rollbacks.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { isUnspentError, open, type Store, type StoreEventJson, type UtxoJson } from '../../src/index.ts';
import { openDevnet } from '../../src/sources.ts';

const source = openDevnet('devnet:?blocks=120&rollbacks=0');
const nameOf = ({ tx_hash, output_index }: UtxoJson): string => `${tx_hash}#${output_index}`;

/** What a program would keep: the unspent outputs, as events tell of them. */
class Mirror {
  readonly utxos = new Map<string, UtxoJson>();
  position = 'origin';

  take(event: StoreEventJson): void {
    assert.ok(event.kind !== 'rollback');
    const [come, go] = event.kind === 'applied' ? [event.created, event.spent] : [event.spent, event.created];
    for (const utxo of come) this.utxos.set(nameOf(utxo), utxo);
    for (const utxo of go) assert.ok(this.utxos.delete(nameOf(utxo)), `${nameOf(utxo)} was there`);
    this.position = event.position;
  }

  async read(store: Store, events: number): Promise<StoreEventJson[]> {
    const taken: StoreEventJson[] = [];
    for await (const event of store.events({ after: this.position })) {
      this.take(event);
      taken.push(event);
      if (taken.length === events) break;
    }
    return taken;
  }
}

describe('events of a store of the library', () => {
  const data = mkdtempSync(join(tmpdir(), 'unspent-library-'));
  let store: Store;

  before(async () => {
    store = await open({ data, network: 'devnet', genesis: source.genesis, settings: { 'engine.memtableBytes': '8MiB' } });
    await store.follow(source);
  });
  after(async () => {
    await store.close();
    rmSync(data, { recursive: true, force: true });
  });

  const assertIsStore = (mirror: Mirror): void => {
    assert.equal(mirror.utxos.size, store.totals()?.utxos);
    for (const [name, utxo] of mirror.utxos) {
      const { spent_at_slot: _1, spent_at_block: _2, ...found } = store.utxo(name) ?? assert.fail(name);
      assert.equal(found.lovelace_amount, utxo.lovelace_amount);
      assert.equal(found.block_hash, utxo.block_hash);
      assert.equal(found.owner_addr, utxo.owner_addr);
    }
  };

  it('add up to the store, in portions, and block by block', async () => {
    const mirror = new Mirror();
    const first = await mirror.read(store, 50);
    assert.deepEqual(
      first.map((event) => event.kind !== 'rollback' && event.block.height),
      Array.from({ length: 50 }, (_, height) => height),
    );
    assert.deepEqual(first[7].kind === 'applied' && first[7].block, store.block('height:7'));
    await mirror.read(store, 70);
    assertIsStore(mirror);
  });

  it('undo what was undone, with the blocks that are no more', async () => {
    const mirror = new Mirror();
    await mirror.read(store, 120);
    const events = store.events({ after: mirror.position });
    const last = store.block('height:119');
    assert.equal(store.rollback('height:110'), 9);
    for (let i = 0; i < 9; i++) {
      const { value } = await events.next();
      assert.ok(value?.kind === 'undone' && value.block.height === 119 - i);
      if (i === 0) assert.deepEqual(value.block, last);
      for (const utxo of value.created) assert.equal(utxo.block_hash, value.block.hash, 'of the block that is gone');
      mirror.take(value);
    }
    assertIsStore(mirror);
    assert.equal(events.position, mirror.position);
    await store.follow(source);
    for (let i = 0; i < 9; i++) mirror.take((await events.next()).value ?? assert.fail());
    await events[Symbol.asyncDispose]();
    assert.equal((await events.next()).done, true);
    assertIsStore(mirror);
  });

  it('begin behind a block, end with the signal and with the store, and refuse what is no position', async () => {
    const stop = new AbortController();
    const events = store.events({ after: store.block('height:117') ?? assert.fail(), signal: stop.signal });
    const { value } = await events.next();
    assert.ok(value?.kind === 'applied' && value.block.height === 118 && !events.isCurrent);
    await events.next();
    assert.ok(events.isCurrent);
    stop.abort();
    assert.equal((await events.next()).done, true);
    assert.throws(
      () => store.events({ after: 'x' }),
      (error) => isUnspentError(error, 'USAGE'),
    );
  });
});
