/**
 * The cache of upper nodes changes nothing but what is read: rows and roots are
 * those of tries without it, also when batches are lost, when somebody else
 * writes, when a trie goes back, and when the cache is too small for them.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Random } from '../../../../src/chains/random.ts';
import type { Engine, Reader } from '../../../../src/engine/engine.ts';
import { openMemory } from '../../../../src/engine/memory.ts';
import { CAGE_NODES, cageColumns } from '../../../../src/projections/cardano/cage/rows.ts';
import { TrieCache } from '../../../../src/projections/cardano/cage/trie-cache.ts';
import { CageTries } from '../../../../src/projections/cardano/cage/tries.ts';
import type { mpf } from '../../../../src/proofs/index.ts';
import { toHex, utf8 } from '../../../../src/util/bytes.ts';
import { TEST_SEED } from '../../../support/harness.ts';

const TRIES = 3;
const KEYS = 600;

const rowsOf = (reader: Reader): string[] => Array.from(reader.scan(CAGE_NODES), ([key, value]) => `${toHex(key)} ${toHex(value)}`);

interface TrieChanges {
  readonly trie: number;
  readonly changes: readonly mpf.Change[];
}

function randomChanges(random: Random): TrieChanges {
  const keys = new Set(Array.from({ length: 1 + random.int(40) }, () => random.int(KEYS)));
  const changes = Array.from(keys, (key) => ({
    key: utf8(`key ${key}`),
    value: random.chance(0.3) ? null : utf8(`value ${random.int(100)}`),
  }));
  return { trie: random.int(TRIES), changes };
}

/** One step with these changes, one after the other; `lost`: its batch is never written; `view`: where it reads. */
function step(engine: Engine, cache: TrieCache, all: readonly TrieChanges[], { lost = false, view = engine as Reader } = {}): void {
  const tries = new CageTries(view, cache);
  for (const { trie, changes } of all) tries.update(trie, changes);
  const batch = engine.batch();
  tries.flush(batch);
  if (lost) batch.clear();
  else batch.commit();
}

describe('the cache of upper nodes', () => {
  for (const [name, bytesMax] of [
    ['with room for all', undefined],
    ['too small for them', 30_000],
    ['without room', 0],
  ] as const)
    it(`changes nothing of the tries: ${name}`, () => {
      for (let run = 0; run < 3; run++) {
        const random = new Random(TEST_SEED + run, 0);
        const [plain, cached] = [openMemory(cageColumns), openMemory(cageColumns)];
        const cache = new TrieCache(bytesMax);
        for (let i = 0; i < 40; i++) {
          const all = Array.from({ length: 1 + random.int(3) }, () => randomChanges(random));
          if (random.chance(0.15)) {
            step(cached, cache, all, { lost: true });
            continue;
          }
          step(plain, new TrieCache(), all);
          step(cached, random.chance(0.1) ? new TrieCache() : cache, all);
          assert.deepEqual(rowsOf(cached), rowsOf(plain), `run ${run}, step ${i}`);
          if (bytesMax !== undefined) assert.ok(cache.bytesKept <= bytesMax, `${cache.bytesKept} bytes are kept`);
        }
      }
    });

  it('spares the engine all but the lowest nodes', () => {
    const engine = openMemory(cageColumns);
    const cache = new TrieCache();
    const facts = (from: number, count: number): TrieChanges => ({
      trie: 0,
      changes: Array.from({ length: count }, (_, i) => ({ key: utf8(`fact ${from + i}`), value: utf8('value') })),
    });
    step(engine, cache, [facts(0, 20_000)]);
    let read = 0;
    const view: Reader = {
      get: (column, key) => engine.get(column, key),
      getMany: (column, keys) => {
        read += keys.length;
        return engine.getMany(column, keys);
      },
      scan: (column, options) => engine.scan(column, options),
    };
    for (let i = 0; i < 200; i++) step(engine, cache, [facts(20_000 + i, 1)], { view });
    assert.ok(read <= 10, `${read} nodes were read for 200 insertions`);
    const plain = openMemory(cageColumns);
    step(plain, new TrieCache(), [facts(0, 20_200)]);
    assert.deepEqual(rowsOf(engine), rowsOf(plain));
  });
});
