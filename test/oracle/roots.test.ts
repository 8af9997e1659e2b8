/**
 * The tree over the unspent set of the preview network from its first block:
 * its root at each checkpoint of the oracle, on the way up, back through the
 * window and up again, as it is kept and as it is worked out for earlier blocks.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Coin } from '../../src/projections/coin.ts';
import { csmtKey, csmtValue } from '../../src/projections/csmt/csmt.ts';
import { csmt, MemoryNodes } from '../../src/proofs/index.ts';
import type { OpenStore } from '../../src/store/store.ts';
import { toHex } from '../../src/util/bytes.ts';
import { needsFixtures } from '../support/fixtures.ts';
import { assertCheckpoint, assertSound, type Checkpoint, chunks, opener, readOracle, rootOf } from './oracle.ts';
import { rootAt } from './preview-roots.ts';

const SOURCE = 'preview-from-genesis';
/** Checkpoints between two trees that are built from nothing. */
const BUILT_EVERY = 40;

const followTo = (store: OpenStore, { slot }: Required<Checkpoint>) => store.follow(chunks(SOURCE), { until: { kind: 'slot', slot } });

/** Of a tree that is made at once, from the outputs that are unspent now. */
function rootFromScratch(store: OpenStore): string {
  const leaf = store.network.ledger.leaf!;
  const changes = Array.from(store.engine.scan('utxo_unspent'), ([key, stored]) => {
    const coin = new Coin(key, 0, stored, 0, stored.length, false);
    return { key: csmtKey(leaf, coin), value: csmtValue(leaf, coin) };
  });
  return toHex(csmt.update(new MemoryNodes(), new MemoryNodes(), changes).root!);
}

test('roots of preview from genesis', needsFixtures, async (t) => {
  const { checkpoints } = readOracle('preview-from-genesis.json');
  const last = checkpoints.length - 1;
  const store = await opener(t)({ network: 'preview' }, { set: ['proofs.csmt=true'] });

  await t.test('at each checkpoint, and as built from nothing', async () => {
    for (const [i, checkpoint] of checkpoints.entries()) {
      await followTo(store, checkpoint);
      assert.equal(rootOf(store), rootAt(i), checkpoint.at);
      if (i % BUILT_EVERY === 0 || i === last) assert.equal(rootFromScratch(store), rootAt(i), `${checkpoint.at}, built anew`);
    }
    assertCheckpoint(store, checkpoints[last]);
    assertSound(store);
  });

  const horizon = store.fold.horizonHeight ?? 0;
  const inside = [...checkpoints.entries()].filter(([i, { blockNo }]) => blockNo >= horizon && i < last);

  await t.test('of each checkpoint inside the window, worked out from the tip', () => {
    assert.ok(inside.length >= 8, `${inside.length} checkpoints above height ${horizon}`);
    for (const [i, { slot, at }] of inside) assert.equal(rootOf(store, `slot:${slot}`), rootAt(i), at);
  });

  await t.test('back to each of them, and forward again', async () => {
    for (const [i, { hash, at }] of inside.toReversed()) {
      store.rollback(store.locate(hash));
      assert.equal(rootOf(store), rootAt(i), `back at ${at}`);
    }
    assertSound(store);
    for (const [i, checkpoint] of [...inside.slice(1), [last, checkpoints[last]] as const]) {
      await followTo(store, checkpoint);
      assert.equal(rootOf(store), rootAt(i), `again at ${checkpoint.at}`);
    }
    store.rollback(store.locate(inside[0][1].hash));
    await followTo(store, checkpoints[last]);
    assert.equal(rootOf(store), rootAt(last));
    assertSound(store);
  });
});
