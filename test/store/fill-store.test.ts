/**
 * Switches of a store that has blocks already: on, it fills while it follows,
 * over restarts in between; off, the columns are emptied. Whatever was done,
 * what is ready is byte for byte what a store holds that was made with these
 * settings and never changed.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readIdentity, writeIdentity } from '../../src/engine/directory.ts';
import { KEY_BYTES } from '../../src/ledgers/ledger.ts';
import type { FollowSettings } from '../../src/store/store.ts';
import { switchable } from '../support/fill-rig.ts';
import { assertCode, assertSameDump, dump } from '../support/harness.ts';
import {
  ALL,
  ASSET,
  assertStraight,
  coded,
  data,
  devnet,
  fillPart,
  fillSome,
  identity,
  names,
  openWith,
  STAKE,
  sourceTo,
  straight,
  using,
} from './fill-store-rig.ts';

describe('switching on', () => {
  it('knows every projection there is', () => {
    assert.deepEqual(names(ALL).slice(3).sort(), switchable(devnet).sort());
  });

  it('fills while it follows, and following ends when the fill has', async () => {
    await using(openWith([]), (store) => store.follow(sourceTo(20, 5)));
    await using(openWith(ALL), async (store) => {
      assert.deepEqual(store.reshaped, { added: names(ALL).slice(3), removed: [] });
      assert.ok(store.fills().every(({ done }) => done === 0));
      const seen: number[] = [];
      let steps = 0;
      const settings: FollowSettings = {
        onFill: (fills) => seen.push(fills[0]?.done ?? 1),
        onFillStep: () => steps++,
      };
      // One block each: there is more to fill than turns between them.
      const { blocks, reason } = await store.follow(sourceTo(22, 1), settings);
      assert.equal(blocks, 2);
      assert.equal(reason, 'end');
      assert.ok(steps > 2 && seen.length === steps);
      assert.deepEqual(seen, [...seen].sort(), 'it only goes on');
      assert.equal(seen.at(-1), 1);
      await assertStraight(store, ALL, 'filled while following');
      await store.follow(sourceTo(40, 3));
      await assertStraight(store, ALL, 'followed on');
      store.rollback(devnet.chain.blocks[4]);
      await assertStraight(store, ALL, 'back below the switch');
    });
    assert.deepEqual(identity().projections, names(ALL));
  });

  for (const name of ALL) {
    it(`${name} by itself, with reorganisations meanwhile`, async () => {
      await using(openWith([]), (store) => store.follow(sourceTo(25, 5)));
      await using(openWith([name]), async (store) => {
        for (let turn = 0; store.fills().length > 0; turn++) {
          store.rollback(devnet.chain.blocks[18 - 3 * turn]);
          await fillSome(store, 1);
          store.fold.apply(devnet.blocks(19 - 3 * turn, 30 - turn));
        }
        await assertStraight(store, [name], name);
      });
    });
  }

  it('goes on after a restart, with the settings it then has', async () => {
    await using(openWith([]), (store) => store.follow(sourceTo(20, 5)));
    const first = [STAKE, 'utxo.balances'];
    await using(openWith(first), async (store) => {
      await fillPart(store, 1);
      assert.ok(store.fills()[0].done > 0.05);
    });
    const both = [...first, ASSET];
    await using(openWith(both), async (store) => {
      assert.deepEqual(store.reshaped, { added: ['index.asset'], removed: [] });
      const done = new Map(store.fills().map((fill) => [fill.projection, fill.done]));
      assert.ok(done.get('index.stake')! > 0.05);
      assert.equal(done.get('index.asset'), 0);
      await fillPart(store, 2);
      store.rollback(devnet.chain.blocks[3]);
    });
    await using(openWith(both), async (store) => {
      assert.deepEqual(store.reshaped, { added: [], removed: [] });
      await store.follow(sourceTo(30, 4));
      await assertStraight(store, both, 'after two restarts');
    });
  });

  it('needs no fill in an empty store', async () => {
    await using(openWith([]), () => {});
    await using(openWith(ALL), async (store) => {
      assert.deepEqual(store.reshaped.added, names(ALL).slice(3));
      assert.deepEqual(store.fills(), []);
      await store.follow(sourceTo(10, 1));
      await assertStraight(store, ALL, 'from the first block');
      assertSameDump(dump(store.engine), await straight(ALL, 10), 'from the first block');
    });
  });

  it('is not asked before it is ready', async () => {
    await using(openWith([STAKE]), (store) => store.follow(sourceTo(20, 5)));
    await using(openWith([STAKE, ASSET]), async (store) => {
      await fillPart(store, 1);
      const ask = () => store.read((query) => [...query.byKey('asset', new Uint8Array(KEY_BYTES))]);
      assertCode(ask, 'INDEX_NOT_READY');
      assert.deepEqual(store.status().fills, store.fills());
      assert.deepEqual(store.verify().faults, [], 'verify leaves out what is not ready');
      assert.ok(!('utxo_asset' in store.verify().indexRows));
      await store.fill();
      assert.deepEqual(ask(), []);
      assert.ok('utxo_asset' in store.verify().indexRows);
    });
  });
});

describe('switching off', () => {
  it('drops the columns; on again, it starts anew', async () => {
    await using(openWith(ALL), (store) => store.follow(sourceTo(20, 5)));
    const less = ALL.filter((name) => name !== ASSET && name !== 'utxo.balances');
    await using(openWith(less), async (store) => {
      assert.deepEqual(store.reshaped, { added: [], removed: ['index.asset', 'balance.address', 'balance.stake'] });
      assert.ok(!store.engine.columns.some(({ name }) => name === 'utxo_asset'));
      store.read((query) => assertCode(() => [...query.byKey('asset', new Uint8Array(KEY_BYTES))], 'UNSUPPORTED'));
      await store.follow(sourceTo(25, 2));
      await assertStraight(store, less, 'with fewer');
      store.rollback(devnet.chain.blocks[15]);
    });
    assert.deepEqual(identity().projections, names(less));
    assert.ok(identity().columns.includes('utxo_asset'), 'RocksDB still has it');
    await using(openWith(ALL), async (store) => {
      assert.deepEqual(store.reshaped.added, ['index.asset', 'balance.address', 'balance.stake']);
      assert.equal([...store.engine.scan('utxo_asset'), ...store.engine.scan('balance_address')].length, 0);
      await store.follow(sourceTo(30, 2));
      await assertStraight(store, ALL, 'on again');
    });
  });

  it('in the middle of a fill, and both ways at once', async () => {
    await using(openWith([STAKE]), (store) => store.follow(sourceTo(20, 5)));
    await using(openWith([STAKE, ASSET]), (store) => fillPart(store, 2));
    await using(openWith(['utxo.index.policy']), async (store) => {
      assert.deepEqual(store.reshaped, { added: ['index.policy'], removed: ['index.stake', 'index.asset'] });
      assert.deepEqual(
        store.fills().map(({ projection }) => projection),
        ['index.policy'],
      );
      await fillPart(store, 1);
    });
    await using(openWith([STAKE, ASSET]), async (store) => {
      assert.ok(store.fills().every(({ done }) => done === 0) && store.fills().length === 2);
      await store.follow(sourceTo(28, 2));
      await assertStraight(store, [STAKE, ASSET], 'there and back');
    });
  });
});

describe('whoever only looks', () => {
  it('finds the store as it is, whatever the settings say', async () => {
    await using(openWith([STAKE, ASSET]), (store) => store.follow(sourceTo(20, 5)));
    const before = readFileSync(join(data, 'unspent.json'), 'utf8');
    await using(openWith(['utxo.datums'], { create: false }), async (store) => {
      assert.deepEqual(store.reshaped, { added: [], removed: [] });
      assert.deepEqual(store.status().projections, names([STAKE, ASSET]));
      store.rollback(devnet.chain.blocks[10]);
      await assertStraight(store, [STAKE, ASSET], 'rolled back');
    });
    assert.equal(readFileSync(join(data, 'unspent.json'), 'utf8'), before);
    await using(openWith(['utxo.datums'], { create: false, reshape: true }), (store) => {
      assert.deepEqual(store.reshaped, { added: ['datums'], removed: ['index.stake', 'index.asset'] });
    });
  });

  it('changes nothing of a store that another has open', async () => {
    await using(openWith([STAKE]), async (store) => {
      const before = readFileSync(join(data, 'unspent.json'), 'utf8');
      await assert.rejects(openWith([ASSET]), coded('STORE_LOCKED'));
      assert.equal(readFileSync(join(data, 'unspent.json'), 'utf8'), before);
      await store.follow(sourceTo(3, 1));
    });
    await using(openWith([STAKE]), (store) => assertStraight(store, [STAKE], 'untouched'));
  });
});

describe('what cannot be switched', () => {
  it('is refused, and nothing changes', async () => {
    await using(openWith([STAKE]), (store) => store.follow(sourceTo(5, 5)));
    const before = readFileSync(join(data, 'unspent.json'), 'utf8');
    for (const set of [['utxo.enabled=false'], ['utxo.delta.selfContained=true']]) {
      await assert.rejects(openWith([STAKE], { set }), coded('STORE_SHAPE'));
      await using(openWith([STAKE], { create: false, set }), ({ ignored }) => assert.equal(`${ignored}`, set[0].split('=')[0]));
    }
    assert.equal(readFileSync(join(data, 'unspent.json'), 'utf8'), before);
    const known = readIdentity(data)!;
    writeIdentity(data, { ...known, projections: [...(known['projections'] as string[]), 'index.colour'] });
    for (const create of [true, false]) await assert.rejects(openWith([STAKE], { create }), coded('STORE_SHAPE'));
  });
});
