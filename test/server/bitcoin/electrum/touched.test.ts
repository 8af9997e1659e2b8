/**
 * From one look at the chain to the next: where they part, and which scripts
 * the new blocks touch, whichever way that is found out.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scriptKey } from '../../../../src/ledgers/bitcoin/index.ts';
import { ChainTracker } from '../../../../src/query/chain-difference.ts';
import { newestHeight } from '../../../../src/server/bitcoin/electrum/scripts.ts';
import { touchedBy } from '../../../../src/server/bitcoin/electrum/touched.ts';
import { equalBytes, toHex } from '../../../../src/util/bytes.ts';
import { ElectrumRig, SCRIPTS } from './rig.ts';

/** More scripts than would be asked one by one. */
const MANY = 1_000_000;
const LIMITS = { rememberedMax: 4320, blocksMax: 16 };

test('reading the new blocks and asking each script say the same', async () => {
  const rig = await ElectrumRig.open({ seed: 77 });
  const tracker = new ChainTracker(LIMITS);
  rig.store.read((query) => tracker.follow(query));
  let seen = [...rig.model.blocks];
  let [reorganised, found] = [0, 0];
  for (let i = 0; i < 80; i++) {
    for (let n = rig.random(3); n >= 0; n--) rig.step();
    rig.store.read((query) => {
      const followed = tracker.follow(query);
      const move = followed ?? { turned: false, fork: rig.model.blocks.length - 1, blocks: [] };
      const { blocks } = rig.model;
      const shared = blocks.findIndex((raw, height) => seen[height] === undefined || !equalBytes(raw, seen[height]));
      const fork = shared < 0 ? blocks.length - 1 : shared - 1;
      assert.deepEqual([move.fork, move.blocks?.length], [fork, blocks.length - 1 - fork]);
      assert.equal(followed !== null, fork < Math.max(seen.length, blocks.length) - 1);
      assert.equal(move.turned, fork < seen.length - 1);
      if (fork < seen.length - 1) reorganised++;
      const read = touchedBy(query, move, MANY)!;
      for (const script of SCRIPTS) {
        const key = scriptKey(script);
        assert.equal(read.has(toHex(key)), newestHeight(query, key) > fork, `step ${i}`);
        if (read.has(toHex(key))) found++;
      }
      assert.equal(move.blocks!.length > 0 ? touchedBy(query, move, SCRIPTS.length) : null, null, 'a few are asked one by one');
    });
    seen = [...rig.model.blocks];
  }
  assert.ok(reorganised > 3 && found > 30, 'there was something to find');
  await rig.close();
});

test('many blocks at once, and a fork deeper than anybody remembers', async () => {
  const rig = await ElectrumRig.open();
  const tracker = new ChainTracker({ ...LIMITS, rememberedMax: 1 });
  rig.store.read((query) => tracker.follow(query));
  for (let i = 0; i < 30; i++) rig.mine();
  rig.store.read((query) => {
    const move = tracker.follow(query);
    assert.deepEqual(move, { turned: false, fork: 0, blocks: null });
    assert.equal(touchedBy(query, move, MANY), null);
    assert.equal(tracker.follow(query), null);
  });
  // Only the tip of those was remembered: whatever is below it may be another chain.
  rig.back(2);
  rig.store.read((query) => assert.deepEqual(tracker.follow(query), { turned: true, fork: -1, blocks: null }));
  await rig.close();
});
