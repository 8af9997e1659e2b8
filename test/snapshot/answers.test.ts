/**
 * What a store that began with a snapshot says of outputs from before it: where
 * they came from is known, the block itself is not. Nothing is made up, and
 * nothing is taken for damage.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { scriptKey } from '../../src/ledgers/bitcoin/index.ts';
import { outpointIndex } from '../../src/ledgers/outpoint.ts';
import { AT, outputOffset } from '../../src/projections/coin.ts';
import { UNSPENT } from '../../src/projections/utxo.ts';
import { Renderer } from '../../src/query/render.ts';
import { txStatus } from '../../src/server/bitcoin/esplora/txs.ts';
import { utxoWriter } from '../../src/server/bitcoin/esplora/utxo.ts';
import type { OpenStore } from '../../src/store/store.ts';
import { readU32 } from '../../src/util/bytes.ts';
import { TEST_SEED } from '../support/harness.ts';
import { applyIn, bitcoin, cardano, exported, imported, synced, temporary, type World, withStore } from './world.ts';

const TAKEN = 130;

async function begun(world: World, body: (store: OpenStore) => void, taken = TAKEN): Promise<void> {
  const folder = temporary();
  await synced(world, join(folder, 'first'), taken + 1, 50, (store) => exported(store, join(folder, 'snapshot')));
  await imported(world, join(folder, 'snapshot'), join(folder, 'begun'));
  await withStore(world, join(folder, 'begun'), (store) => {
    applyIn(store, world.blocks.slice(taken + 1), 4);
    body(store);
  });
}

/** Unspent outputs from below, of and above the snapshot's block. */
function keysOf(store: OpenStore, base: number): { older: Uint8Array[]; newer: Uint8Array[] } {
  const [older, newer]: [Uint8Array[], Uint8Array[]] = [[], []];
  for (const [key, value] of store.engine.scan(UNSPENT)) (readU32(value, AT.height) < base ? older : newer).push(key);
  assert.ok(older.length > 0 && newer.length > 0);
  return { older, newer };
}

describe('an output from before the snapshot', () => {
  const chain = cardano(TEST_SEED + 12, 'conway');
  it('of Cardano has its place and its time, and no block', () =>
    begun(chain, (store) => {
      const { older, newer } = keysOf(store, chain.blocks[TAKEN].height);
      store.read((query) => {
        const renderer = new Renderer(query, store.network.dialect);
        const shown = (key: Uint8Array) => renderer.utxo(query.outpoint(key.subarray(0, 32), outpointIndex(key))!);
        for (const key of older) {
          const { block_hash, block_time, slot, block } = shown(key);
          assert.equal(block_hash, undefined);
          assert.ok(typeof block_time === 'number' && slot >= 0 && block >= 0);
        }
        for (const key of newer) assert.equal(shown(key).block_hash?.length, 64);
      });
    }));

  it('does not take a boundary block for its own', () => {
    const ancient = cardano(TEST_SEED, 'ancient');
    const taken = ancient.blocks.findIndex(({ boundary }, i) => boundary && i > 0);
    const { height } = ancient.blocks[taken];
    return begun(
      ancient,
      (store) => {
        // To the boundary block: what came with the block before it, whose height it has, is still there.
        store.rollback(ancient.blocks[taken]);
        const here = [...store.engine.scan(UNSPENT)].filter(([, value]) => readU32(value, AT.height) === height);
        assert.ok(here.length > 0, 'outputs of that height');
        store.read((query) => {
          const renderer = new Renderer(query, store.network.dialect);
          for (const [key] of here) {
            const { block, block_hash } = renderer.utxo(query.outpoint(key.subarray(0, 32), outpointIndex(key))!);
            assert.deepEqual([block, block_hash], [height, undefined]);
          }
        });
      },
      taken,
    );
  });

  const forged = bitcoin(TEST_SEED + 13);
  it('of Bitcoin has its height, and neither block nor time', () =>
    begun(forged, (store) => {
      const { older, newer } = keysOf(store, TAKEN);
      store.read((query) => {
        const renderer = new Renderer(query, store.network.dialect);
        const write = utxoWriter(query);
        for (const [keys, known] of [
          [older, false],
          [newer, true],
        ] as const) {
          for (const key of keys) {
            const [txId, index] = [key.subarray(0, 32), outpointIndex(key)];
            const utxo = query.outpoint(txId, index)!;
            const { block_hash, block_time, block } = renderer.utxo(utxo);
            assert.deepEqual([block_hash !== undefined, block_time !== undefined, block], [known, known, utxo.output.height]);
            const fields = ['confirmed', 'block_height', ...(known ? ['block_hash', 'block_time'] : [])];
            const { status } = JSON.parse(write({ txId, index, value: utxo.output.value, height: utxo.output.height })) as {
              status: object;
            };
            assert.deepEqual(Object.keys(status), fields);
            assert.deepEqual(txStatus(query, txId), status);
          }
        }
        assert.deepEqual(txStatus(query, new Uint8Array(32)), { confirmed: false });
      });
      // The index finds them all the same.
      const [, value] = [...store.engine.scan(UNSPENT)].find(([, stored]) => readU32(stored, AT.height) < TAKEN)!;
      const script = value.subarray(outputOffset(value, 0) + 9);
      assert.ok([...store.read((query) => [...query.byKey('address', scriptKey(script))])].length > 0);
    }));
});
