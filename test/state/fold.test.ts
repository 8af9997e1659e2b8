/**
 * The fold against a world that misbehaves: blocks that come twice, do not
 * link or spend what is not there, rollbacks it must refuse, an engine that
 * fails, a store that something else has written to. Whatever it is, the store
 * stays at a block, and says so.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Block, Tx } from '../../src/ledgers/ledger.ts';
import { CHAIN, chainKey } from '../../src/projections/chain.ts';
import { metaKey, readHead, writeHead } from '../../src/state/head.ts';
import { UnspentError } from '../../src/util/errors.ts';
import { assertIsModel } from '../support/expected.ts';
import { forge, forgeAfter, spendNothing } from '../support/forged.ts';
import { assertCode, assertRefused, assertSameDump, Devnet, devnetOptions, dump, memoryRig, type Rig } from '../support/harness.ts';
import { WatchedEngine } from '../support/watched-engine.ts';

function grown(blocks: number, options: Parameters<typeof memoryRig>[1] = {}, seed = 1): Rig {
  const rig = memoryRig(new Devnet(devnetOptions(seed, 'conway')), options);
  rig.forward(blocks, [7]);
  return rig;
}

/** A block with a transaction that spends and creates. */
function busy(blocks: readonly Block[]): { block: Block; tx: Tx } {
  for (const block of blocks) {
    const tx = block.txs.find(({ spends, creates }) => spends.length > 0 && creates.length > 0);
    if (tx !== undefined) return { block, tx };
  }
  throw new Error('no such block');
}

describe('linking', () => {
  it('takes a block twice as once', () => {
    const rig = grown(20);
    const before = dump(rig.engine);
    const blocks = rig.devnet.blocks();
    assert.deepEqual(rig.fold.apply([blocks[19]]), { blocks: 0, created: 0, spent: 0 });
    assert.deepEqual(rig.fold.apply([blocks[3], blocks[0], blocks[19]]), { blocks: 0, created: 0, spent: 0 });
    assertSameDump(dump(rig.engine), before, 'after blocks we have');
    const [a, b, c] = rig.devnet.mine(3);
    assert.equal(rig.fold.apply([blocks[18], blocks[19], a, a, b, a, blocks[5], c, c]).blocks, 3);
    assertIsModel(rig);
  });

  it('refuses a block that does not follow, and keeps those before it', () => {
    const rig = grown(20);
    const [next, after] = rig.devnet.mine(2);
    assertRefused(rig, () => rig.fold.apply([after]), 'BLOCK_UNLINKED');
    assertRefused(rig, () => rig.fold.apply([forge(next, { prevHash: null })]), 'BLOCK_UNLINKED');
    const stranger = forge(after, { prevHash: new Uint8Array(32).fill(9) });
    assertCode(() => rig.fold.apply([next, stranger]), 'BLOCK_UNLINKED');
    assert.deepEqual(rig.fold.head?.hash, next.hash);
    rig.apply([after]);
    assertIsModel(rig);
  });

  it('refuses a wrong height', () => {
    const rig = grown(5);
    const [next] = rig.devnet.mine(1);
    for (const height of [next.height + 1, next.height - 1, 0]) {
      assertRefused(rig, () => rig.fold.apply([forge(next, { height })]), 'BLOCK_UNLINKED');
    }
    // Only a boundary block has the height of the one before it, and none is further on.
    assertRefused(rig, () => rig.fold.apply([forge(next, { height: next.height + 1, boundary: true })]), 'BLOCK_UNLINKED');
  });

  it('refuses a slot that is not behind the one before it, by which outputs are told apart', () => {
    const rig = grown(5);
    const { slot } = rig.fold.head!;
    const [next, after] = rig.devnet.mine(2);
    for (const wrong of [slot, slot - 1, 0]) assertRefused(rig, () => rig.fold.apply([forge(next, { slot: wrong })]), 'BLOCK_UNLINKED');
    assertCode(() => rig.fold.apply([next, forge(after, { slot: next.slot })]), 'BLOCK_UNLINKED');
    rig.apply([after]);
    assertIsModel(rig);
  });

  it('refuses to begin in the middle', () => {
    const rig = grown(0);
    const blocks = rig.devnet.mine(3);
    assertRefused(rig, () => rig.fold.apply(blocks.slice(1)), 'NOT_FROM_GENESIS');
    rig.apply(blocks);
    assertIsModel(rig);
  });

  it('knows its blocks by hash and by height', () => {
    const rig = grown(12);
    for (const block of rig.devnet.blocks()) {
      assert.ok(rig.fold.has(block.hash));
      assert.deepEqual(rig.fold.pointOf(block.hash), { height: block.height, slot: block.slot, hash: block.hash });
      assert.deepEqual(rig.fold.rowAt(block.height)?.hash, block.hash);
    }
    assert.equal(rig.fold.pointOf(new Uint8Array(32)), null);
    assert.equal(rig.fold.rowAt(12), null);
    const heights = rig.fold.recentPoints().map(({ height }) => height);
    assert.deepEqual(heights, [11, 10, 9, 7, 3, 0]);
  });
});

describe('a missing input', () => {
  it('stops the fold at that block: all before it stays, nothing of it does', () => {
    const rig = grown(10);
    const good = rig.devnet.mine(8);
    const { block, tx } = busy(good.slice(2, 7));
    const at = good.indexOf(block);
    const tip = good[at - 1];
    const txs = block.txs.map((each) => (each === tx ? spendNothing(tx) : each));
    const bad = forgeAfter(tip, block, txs);
    const onBad = forge(good[at + 1], { prevHash: bad.hash, hash: good[at + 1].hash });
    assertCode(() => rig.fold.apply([...good.slice(0, at), bad, onBad, ...good.slice(at + 2)]), 'INPUT_MISSING');
    assert.deepEqual(rig.fold.head?.hash, tip.hash);
    const straight = memoryRig(rig.devnet);
    straight.apply(rig.devnet.blocks(0, 10 + at));
    assertSameDump(dump(rig.engine), dump(straight.engine), 'up to the good block');
    assertRefused(rig, () => rig.fold.apply([bad]), 'INPUT_MISSING');
    rig.apply(good.slice(at));
    assertIsModel(rig);
  });

  it('says which block, output and transaction', () => {
    const rig = grown(30);
    const { block, tx } = busy(rig.devnet.mine(5));
    const bad = forgeAfter(rig.devnet.blocks()[29], block, [spendNothing({ ...tx, spends: [] })]);
    assert.throws(
      () => rig.fold.apply([bad]),
      (error) => error instanceof UnspentError && error.meta['height'] === 30 && error.message.includes(Buffer.from(tx.id).toString('hex')),
    );
  });

  it('names the first of two bad blocks', () => {
    const rig = grown(30);
    const tip = rig.devnet.blocks()[29];
    const { block, tx } = busy(rig.devnet.mine(6));
    const missing = forgeAfter(tip, block, [spendNothing({ ...tx, spends: [] })]);
    const twice = forgeAfter(missing, { ...missing, raw: block.raw }, [{ ...tx, spends: [tx.spends[0], tx.spends[0]] }]);
    assert.throws(
      () => rig.fold.apply([missing, twice]),
      (error) => error instanceof UnspentError && error.code === 'INPUT_MISSING' && error.meta['height'] === 30,
    );
    assert.deepEqual(rig.fold.head?.hash, tip.hash);
  });

  it('is what a second spend is: in one transaction, one block, one group, and later', () => {
    const rig = grown(30);
    const tip = rig.devnet.blocks()[29];
    const { block, tx } = busy(rig.devnet.mine(6).slice(0, 1).concat(rig.devnet.blocks(30)));
    rig.apply(rig.devnet.blocks(30, rig.devnet.blocks().indexOf(block)));
    const below = rig.devnet.blocks()[rig.devnet.blocks().indexOf(block) - 1] ?? tip;
    const again: Tx = { id: block.hash, valid: true, spends: [tx.spends[0]], creates: [] };
    const inTx = forgeAfter(below, block, [{ ...again, spends: [tx.spends[0], tx.spends[0]] }]);
    assertRefused(rig, () => rig.fold.apply([inTx]), 'INPUT_MISSING');
    const inBlock = forgeAfter(below, block, [...block.txs, again]);
    assertRefused(rig, () => rig.fold.apply([inBlock]), 'INPUT_MISSING');
    const later = forgeAfter(block, block, [again]);
    assertCode(() => rig.fold.apply([block, later]), 'INPUT_MISSING');
    assert.deepEqual(rig.fold.head?.hash, block.hash);
    assertRefused(rig, () => rig.fold.apply([later]), 'INPUT_MISSING');
  });

  it('is not what a second making of an output is', () => {
    const rig = grown(30);
    const tip = rig.devnet.blocks()[29];
    const { block, tx } = busy(rig.devnet.mine(6));
    const made: Tx = { id: tx.id, valid: true, spends: [], creates: tx.creates };
    assertRefused(rig, () => rig.fold.apply([forgeAfter(tip, block, [made, made])]), 'OUTPUT_DUPLICATE');
  });
});

describe('a store that begins in the middle', () => {
  for (const flavour of ['conway', 'ancient'] as const) {
    it(`counts what it cannot find, and takes the count back exactly (${flavour})`, () => {
      const devnet = new Devnet(devnetOptions(3, flavour));
      devnet.mine(20);
      const rig = memoryRig(devnet, { partial: true });
      const dumps = [dump(rig.engine)];
      const known = new Set<string>();
      let missing = 0;
      for (const block of devnet.mine(50)) {
        rig.apply([block]);
        const { txs } = devnet.chain.blocks[20 + dumps.length - 1];
        for (const { spends, creates } of txs) {
          missing += spends.filter(({ key }) => !known.has(key)).length;
          for (const { key } of creates) known.add(key);
        }
        assert.equal(rig.fold.head?.missing, missing);
        dumps.push(dump(rig.engine));
      }
      assert.ok(missing > 0);
      const grouped = memoryRig(devnet, { partial: true });
      grouped.apply(devnet.blocks(20), [13, 1, 30]);
      assertSameDump(dump(grouped.engine), dumps.at(-1)!, 'in groups');
      for (const kept of [49, 48, 30, 12, 1]) {
        rig.fold.rollback(devnet.chain.blocks[20 + kept - 1]);
        assertSameDump(dump(rig.engine), dumps[kept], `back to ${kept} blocks`);
      }
      rig.fold.rollback(null);
      assertSameDump(dump(rig.engine), dumps[0], 'back to nothing');
    });
  }
});

describe('going back', () => {
  it('refuses points it does not know, and points below the horizon', () => {
    const rig = grown(60, { pruneDepth: 10, rollbackWindow: 20 });
    const { blocks } = rig.devnet.chain;
    const unknown = { height: 55, slot: blocks[55].slot, hash: new Uint8Array(32) };
    assertRefused(rig, () => rig.fold.rollback(unknown), 'POINT_UNKNOWN');
    assert.equal(rig.fold.horizonHeight, 49);
    for (const below of [blocks[48], blocks[0], null]) assertRefused(rig, () => rig.fold.rollback(below), 'HORIZON');
    assert.equal(rig.fold.rollback(blocks[59]), 0);
    assert.equal(rig.fold.rollback(blocks[49]), 10);
    rig.devnet.chain.rollback(10);
    assertIsModel(rig);
  });

  for (const selfContained of [false, true]) {
    it(`cannot pass the horizon in two steps, whatever was pruned (self-contained: ${selfContained})`, async () => {
      const windows = { pruneDepth: 10, rollbackWindow: selfContained ? 10 : 20, selfContained };
      const rig = grown(60, windows);
      const { blocks } = rig.devnet.chain;
      assert.equal(rig.fold.rollback(blocks[49]), 10, 'to the horizon');
      assert.equal(rig.fold.horizonHeight, 49);
      rig.read((query) => assert.equal(query.horizon(rig.options)?.height, 49));
      for (const below of [blocks[48], blocks[40], null]) assertRefused(rig, () => rig.fold.rollback(below), 'HORIZON');
      await rig.restart();
      assertRefused(rig, () => rig.fold.rollback(blocks[48]), 'HORIZON');
      rig.fold.apply(rig.devnet.blocks(50, 55));
      assert.equal(rig.fold.horizonHeight, 49, 'it does not move before the window does');
      assertRefused(rig, () => rig.fold.rollback(blocks[48]), 'HORIZON');
      rig.fold.apply(rig.devnet.blocks(55, 59));
      assert.equal(rig.fold.horizonHeight, 49);
      rig.fold.apply(rig.devnet.blocks(59));
      assertSameDump(dump(rig.engine), dump(grown(60, windows).engine), 'as if it had never gone back');
    });
  }

  it('of a self-contained store refuses only below the larger window', () => {
    const rig = grown(60, { pruneDepth: 10, rollbackWindow: 20, selfContained: true });
    assert.equal(rig.fold.horizonHeight, 39);
    assertRefused(rig, () => rig.fold.rollback(rig.devnet.chain.blocks[38]), 'HORIZON');
    assert.equal(rig.fold.rollback(rig.devnet.chain.blocks[39]), 20);
    rig.devnet.chain.rollback(20);
    assertIsModel(rig);
  });

  it('of an empty store does nothing', () => {
    const rig = grown(0);
    assert.equal(rig.fold.rollback(null), 0);
    assertRefused(rig, () => rig.fold.rollback({ height: 0, slot: 0, hash: new Uint8Array(32) }), 'POINT_UNKNOWN');
  });
});

describe('a commit that fails', () => {
  it('changes nothing, forward or back, and the fold goes on', () => {
    const rig = grown(20, { wrap: (engine) => new WatchedEngine(engine) });
    const engine = rig.engine as WatchedEngine;
    const next = rig.devnet.mine(4);
    const before = dump(engine);
    engine.failure = new UnspentError('DISK_FULL', 'no space is left');
    assertRefused(rig, () => rig.fold.apply(next), 'DISK_FULL');
    assertSameDump(dump(engine), before, 'after the failed commit');
    rig.apply(next.slice(0, 2), [2]);
    rig.apply(next.slice(2), [2]);
    assertIsModel(rig);
    engine.failure = new UnspentError('DISK_FULL', 'no space is left');
    assertRefused(rig, () => rig.fold.rollback(rig.devnet.pointBelow(9)), 'DISK_FULL');
    assert.equal(rig.fold.rollback(rig.devnet.pointBelow(9)), 9);
    rig.devnet.chain.rollback(9);
    assertIsModel(rig);
  });
});

describe('recovery', () => {
  it('stands where the last commit left it', async () => {
    const rig = grown(25);
    const { head } = rig.fold;
    await rig.restart();
    assert.deepEqual(rig.fold.head, head);
    rig.forward(3);
    assertIsModel(rig);
  });

  const faults: readonly [string, (rig: Rig) => void][] = [
    ['the last block is gone', (rig) => write(rig, (batch) => batch.del(CHAIN, chainKey(24, false)))],
    ['the head is gone', (rig) => write(rig, (batch) => batch.del(CHAIN, metaKey('head')))],
    [
      'all blocks are gone',
      (rig) => write(rig, (batch) => rig.devnet.blocks().map(({ height }) => batch.del(CHAIN, chainKey(height, false)))),
    ],
    [
      'the head names another hash',
      (rig) => write(rig, (batch) => writeHead(batch, { ...readHead(rig.engine)!, hash: new Uint8Array(32) })),
    ],
    ['the head names another height', (rig) => write(rig, (batch) => writeHead(batch, { ...readHead(rig.engine)!, height: 23 }))],
    ['the head is cut', (rig) => write(rig, (batch) => batch.put(CHAIN, metaKey('head'), new Uint8Array(80)))],
    ['there is a block above the head', (rig) => write(rig, (batch) => batch.put(CHAIN, chainKey(25, false), new Uint8Array(81)))],
  ];
  for (const [what, damage] of faults) {
    it(`refuses a store where ${what}`, () => {
      const rig = grown(25);
      damage(rig);
      const before = dump(rig.engine);
      assertCode(() => rig.newFold(), 'STORE_DAMAGED');
      assertSameDump(dump(rig.engine), before, 'left untouched');
    });
  }

  it('notices when what it needs to undo a block is gone', () => {
    for (const column of ['delta', 'utxo_spent', 'utxo_unspent']) {
      const rig = grown(25);
      const rows = [...rig.engine.scan(column)];
      write(rig, (batch) => {
        for (const [key] of rows) batch.del(column, key);
      });
      assertRefused(rig, () => rig.fold.rollback(rig.devnet.pointBelow(20)), 'STORE_DAMAGED');
    }
  });
});

function write({ engine }: Rig, body: (batch: ReturnType<Rig['engine']['batch']>) => void): void {
  const batch = engine.batch();
  body(batch);
  batch.commit();
}
