/**
 * A store with a mountain range is checked row by row: whatever is changed,
 * missing or left over in its columns is found, before compaction and after.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OUTPOINT_BYTES } from '../../../src/ledgers/outpoint.ts';
import { CHAIN } from '../../../src/projections/chain.ts';
import { MMR_BITMAP, MMR_LEAF, MMR_NODES, MMR_PRUNE, MMR_STATE_KEY } from '../../../src/projections/mmr/rows.ts';
import { type Fault, verifyStore } from '../../../src/store/verify/verify.ts';
import { writeU64 } from '../../../src/util/bytes.ts';
import { randomFrom } from '../../support/forged-chain.ts';
import { TEST_SEED } from '../../support/harness.ts';
import { type MmrRig, mmrRig, VERIFY_MMR, wideChain } from '../../support/mmr-rig.ts';

function grown(prune: boolean): MmrRig {
  const chain = wideChain(TEST_SEED);
  const rig = mmrRig(chain.ledger, { pruneDepth: 4, rollbackWindow: 8 });
  // More leaves than sixteen chunks of the bitmap have.
  chain.mine(12);
  rig.apply(chain.blocks(), [8]);
  if (prune) rig.prune();
  return rig;
}

function faultsOf(rig: MmrRig): readonly Fault[] {
  return verifyStore(rig.engine, rig.ledger, VERIFY_MMR).faults;
}

function write(rig: MmrRig, column: string, key: Uint8Array, value: Uint8Array | undefined): void {
  const batch = rig.engine.batch();
  if (value === undefined) batch.del(column, key);
  else batch.put(column, key, value);
  batch.commit();
}

/** The store with another value in one row; undefined: without the row. */
function assertFound(rig: MmrRig, column: string, key: Uint8Array, value: Uint8Array | undefined, what: string): void {
  const before = rig.engine.get(column, key);
  write(rig, column, key, value);
  assert.notEqual(faultsOf(rig).length, 0, `${column}: ${what}`);
  write(rig, column, key, before);
}

const flipped = (value: Uint8Array, at: number): Uint8Array => value.map((byte, i) => (i === at ? byte ^ 1 : byte));

describe('verify, of a mountain range', () => {
  for (const prune of [false, true]) {
    it(`finds every row that is changed or missing${prune ? ', after compaction' : ''}`, () => {
      const rig = grown(prune);
      const random = randomFrom(TEST_SEED);
      assert.deepEqual(faultsOf(rig), []);
      for (const column of [MMR_NODES, MMR_LEAF, MMR_BITMAP, MMR_PRUNE]) {
        const rows = [...rig.engine.scan(column)];
        if (column === MMR_PRUNE && !prune) continue;
        assert.ok(rows.length > 4, column);
        for (let n = 0; n < 3; n++) {
          const [key, value] = rows[random(rows.length)];
          assertFound(rig, column, key, undefined, 'missing');
          if (value.length === 0) continue;
          assertFound(rig, column, key, flipped(value, random(value.length)), 'changed');
          assertFound(rig, column, key, value.subarray(1), 'cut');
        }
      }
      const state = rig.engine.get(CHAIN, MMR_STATE_KEY)!;
      for (let at = 6; at < state.length - 4; at += 160) assertFound(rig, CHAIN, MMR_STATE_KEY, flipped(state, at), 'another state');
      assert.deepEqual(faultsOf(rig), []);
    });
  }

  it('finds rows that are left over', () => {
    const rig = grown(true);
    const position = (at: number): Uint8Array => {
      const key = new Uint8Array(8);
      writeU64(key, 0, at);
      return key;
    };
    const hash = new Uint8Array(32).fill(1);
    const pair = new Uint8Array(64).fill(1);
    assertFound(rig, MMR_NODES, position(1_000_000), pair, 'behind the end');
    assertFound(rig, MMR_PRUNE, position(1_000_000), new Uint8Array(0), 'behind the end');
    assertFound(rig, MMR_LEAF, new Uint8Array(OUTPOINT_BYTES), new Uint8Array(5), 'of no output');
    assertFound(rig, MMR_BITMAP, Uint8Array.of(0, 0, 0, 1, 0), new Uint8Array(128).fill(1), 'a chunk behind the last');
    assertFound(rig, MMR_BITMAP, Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 9, 9), hash, 'a node of no chunk');
    const nodes = new Set(Array.from(rig.engine.scan(MMR_NODES), ([key]) => key.join()));
    for (let at = 0, found = 0; found < 4; at++) {
      if (nodes.has(position(at).join())) continue;
      found++;
      assertFound(rig, MMR_NODES, position(at), pair, 'a leaf, or freed');
    }
    for (let at = 0; at < 30_000; at += 5003) {
      if (rig.engine.get(MMR_PRUNE, position(at)) === undefined) assertFound(rig, MMR_PRUNE, position(at), new Uint8Array(0), 'not freed');
    }
  });
});
