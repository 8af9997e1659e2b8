/** The map of ids beside a plain one. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Random } from '../../src/chains/random.ts';
import { toHex } from '../../src/util/bytes.ts';
import { distinctIds, IdMap } from '../../src/util/id-map.ts';

/** Ids that differ in one of their bytes only, and others. */
function someIds(random: Random, count: number): Uint8Array[] {
  return Array.from({ length: count }, () => {
    const id = random.chance(0.5) ? new Uint8Array(32) : random.bytes(32);
    id[random.int(32)] = random.int(256);
    return id;
  });
}

describe('maps of ids', () => {
  it('find what a plain map finds', () => {
    const random = new Random(1);
    for (const expected of [0, 800]) {
      const [found, wanted] = [new IdMap<number>(expected), new Map<string, number>()];
      for (const [n, id] of someIds(random, 1000).entries()) {
        found.set(id, n);
        wanted.set(toHex(id), n);
      }
      assert.equal(found.size, wanted.size);
      assert.deepEqual(
        found.ids.map((id) => toHex(id)),
        [...wanted.keys()],
      );
      assert.deepEqual(found.values(), [...wanted.values()]);
      for (const id of someIds(random, 1000)) {
        assert.equal(found.has(id), wanted.has(toHex(id)));
        assert.equal(found.get(id), wanted.get(toHex(id)));
      }
    }
  });

  it('name each id once, in the order of the first', () => {
    const random = new Random(2);
    for (const count of [0, 1, 5, 8, 9, 500]) {
      const ids = someIds(random, count).flatMap((id) => [id, id.slice()]);
      assert.deepEqual(
        distinctIds(ids).map((id) => toHex(id)),
        [...new Set(ids.map((id) => toHex(id)))],
      );
    }
  });
});
