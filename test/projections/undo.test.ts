/**
 * The contract for whoever adds a projection: one that overwrites what it keeps
 * and returns its own undo gets exactly that back, block by block and newest
 * first, however the blocks were grouped; and it is told what leaves the window.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openMemory } from '../../src/engine/memory.ts';
import type { Projection, PrunedBlock } from '../../src/projections/projection.ts';
import { selectProjections } from '../../src/projections/registry.ts';
import { deltaColumn } from '../../src/state/delta.ts';
import { Fold } from '../../src/state/fold.ts';
import { pruneStep } from '../../src/state/pruned.ts';
import { concatBytes } from '../../src/util/bytes.ts';
import { Expected } from '../support/expected.ts';
import { assertSameDump, Devnet, devnetOptions, dump, KEEP_ALL } from '../support/harness.ts';

const COLUMN = 'latest';
const KEY = Uint8Array.of(1);

/** Keeps the newest block that had a transaction: what it replaced only its undo knows. */
function latestBusy(pruned: PrunedBlock[]): Projection {
  return {
    name: 'latest',
    columns: [{ name: COLUMN, access: 'point', weight: 1 }],
    apply(step, view, batch) {
      let now = view.get(COLUMN, KEY);
      const undo = step.blocks.map(({ txs, hash }) => {
        if (txs.length === 0) return undefined;
        const before = now === undefined ? Uint8Array.of(0) : concatBytes(Uint8Array.of(1), now);
        now = hash;
        return before;
      });
      if (now !== undefined) batch.put(COLUMN, KEY, now);
      return undo;
    },
    revert(_step, undo, _view, batch) {
      for (const before of undo) {
        if (before === undefined) continue;
        if (before[0] === 0) batch.del(COLUMN, KEY);
        else batch.put(COLUMN, KEY, before.subarray(1));
      }
    },
    prune(block, _batch) {
      pruned.push(block);
      return 0;
    },
  };
}

function folded(devnet: Devnet, pruned: PrunedBlock[] = []) {
  const projections = [...selectProjections(KEEP_ALL, devnet.ledger), latestBusy(pruned)];
  const engine = openMemory([...projections.flatMap(({ columns }) => columns), deltaColumn]);
  const options = { utxo: true, partial: false, selfContained: false, pruneDepth: 100, rollbackWindow: 100, fsync: false };
  return { engine, projections, fold: new Fold(engine, devnet.ledger, projections, options) };
}

describe('a projection with an undo of its own', () => {
  it('is undone exactly, in groups and in pieces', () => {
    const devnet = new Devnet(devnetOptions(12, 'ancient'));
    const { engine, fold } = folded(devnet);
    const dumps = [dump(engine)];
    const { blocks } = devnet.chain;
    for (const block of devnet.mine(60)) {
      fold.apply([block]);
      dumps.push(dump(engine));
    }
    const grouped = folded(devnet);
    for (let at = 0; at < 60; at += 9) grouped.fold.apply(devnet.blocks(at, at + 9));
    assertSameDump(dump(grouped.engine), dumps[60], 'in groups');
    for (const kept of [59, 52, 51, 30, 29, 4, 0]) {
      grouped.fold.rollback(blocks[kept - 1] ?? null);
      assertSameDump(dump(grouped.engine), dumps[kept], `back to ${kept} blocks`);
    }
  });

  it('is told what each block that leaves the window had spent', () => {
    const devnet = new Devnet(devnetOptions(12, 'conway'));
    const pruned: PrunedBlock[] = [];
    const { engine, fold, projections } = folded(devnet, pruned);
    fold.apply(devnet.mine(40));
    pruneStep(engine, projections, fold.head!.height, { pruneDepth: 10, rollbackWindow: 20 }, 100);
    assert.equal(pruned.length, 30);
    const expected = new Expected(devnet);
    const kept = new Set(expected.spentRows(29));
    const leaving = expected.spentRows(-1).filter((row) => !kept.has(row));
    assert.deepEqual(
      pruned.flatMap(({ spentKeys }) => spentKeys.map((key) => Buffer.from(key).toString('hex'))).sort(),
      leaving.map((row) => row.slice(0, row.indexOf(' '))),
    );
  });
});
