/**
 * Datums and scripts by hash: the first place wins, whichever way they came, and
 * goes with its block. Switched on in the middle of a chain's life, no unspent
 * output is ever without its row, whatever is undone afterwards.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { blake2b224, blake2b256 } from '../../src/crypto/hash.ts';
import type { Block, NamedBytes, OutputTraits } from '../../src/ledgers/ledger.ts';
import { chainKey } from '../../src/projections/chain.ts';
import type { Coin } from '../../src/projections/coin.ts';
import type { ForwardBlock, Projection, Undo } from '../../src/projections/projection.ts';
import { readSeen, seenProjection } from '../../src/projections/seen/seen.ts';
import { fromHex, toHex } from '../../src/util/bytes.ts';
import { engineFor, ledger, makeCoin, move } from '../support/coins.ts';
import { assertCode, assertSameDump, dump, TEST_SEED } from '../support/harness.ts';

/** What blocks show, by number: datums are few, so that they come back. */
const DATUMS = [0, 1, 2, 3].map((n) => Uint8Array.of(n));
const SCRIPT = fromHex('820142aabb');

interface Drawn {
  /** Datums of the outputs it creates; -1: an output without. */
  readonly outputs: readonly number[];
  readonly witnesses: readonly number[];
}

/** A block with its outputs, and with witnesses that the traits below find. */
interface Shown extends ForwardBlock {
  readonly witnesses: readonly number[];
}

function show({ outputs, witnesses }: Drawn, height: number): Shown {
  const slot = 20 * height;
  const created = outputs.map((datum, index) =>
    makeCoin({ tx: height, index, height, slot, ...(datum < 0 ? {} : { datum: DATUMS[datum] }) }),
  );
  const id = makeCoin({ tx: height }).keyBytes.slice(0, 32);
  const hash = blake2b256(id);
  const block = { height, slot, hash, txs: [{ id, valid: true, spends: [], creates: [] }] } as unknown as Block;
  return { block, key: chainKey(height, false), height, slot, hash, txs: block.txs, created, spent: [], witnesses };
}

function traitsFor(shown: readonly Shown[]): OutputTraits {
  const named = (n: number): NamedBytes => ({ hash: blake2b256(DATUMS[n]), bytes: DATUMS[n] });
  return {
    ...ledger.traits!,
    witnesses: (block) => shown[block.height].witnesses.map((n) => ({ txIndex: 0, kind: 'datum', item: named(n) })),
  };
}

function step(blocks: readonly Shown[]) {
  return { blocks, added: blocks.flatMap(({ created }) => created), removed: [] };
}

/** The rows there should be after these blocks, in plain words: hash, height, output or `w`. */
function wanted(blocks: readonly Shown[], drawn: readonly Drawn[]): string[] {
  const rows = new Map<string, string>();
  for (const { height } of blocks) {
    const see = (n: number, where: string | number) => {
      const hash = toHex(blake2b256(DATUMS[n]));
      if (!rows.has(hash)) rows.set(hash, `${hash} ${height} ${where}`);
    };
    for (const [index, datum] of drawn[height].outputs.entries()) if (datum >= 0) see(datum, index);
    for (const datum of drawn[height].witnesses) see(datum, 'w');
  }
  return [...rows.values()].sort();
}

class Life {
  readonly projection: Projection;
  readonly engine: ReturnType<typeof engineFor>;
  readonly undos: (Uint8Array | undefined)[] = [];

  constructor(shown: readonly Shown[]) {
    this.projection = seenProjection('datum', traitsFor(shown));
    this.engine = engineFor(this.projection);
  }

  forward(blocks: readonly Shown[]): void {
    const batch = this.engine.batch();
    const undo = this.projection.apply(step(blocks), this.engine, batch);
    batch.commit();
    blocks.forEach((_, i) => {
      this.undos.push(undo?.[i]);
    });
  }

  /** These blocks were the last; newest first in the step, as the fold does it. */
  back(blocks: readonly Shown[], added: readonly Coin[] = [], undo: Undo = this.undos.splice(-blocks.length).reverse()): void {
    const batch = this.engine.batch();
    const newestFirst = [...blocks].reverse();
    const removed = blocks.flatMap(({ created }) => created);
    this.projection.revert({ blocks: newestFirst, added, removed }, undo, this.engine, batch);
    batch.commit();
  }

  rows(): string[] {
    return Array.from(this.engine.scan('datum'), ([hash, value]) => {
      const row = readSeen(value);
      assert.deepEqual(blake2b256(row.bytes), new Uint8Array(hash));
      return `${toHex(hash)} ${row.height} ${row.index ?? 'w'}`;
    });
  }
}

/** Hash and height. Which of several outputs of one block a fill meets first is chance, and makes no difference to its undo. */
const blocksOf = (life: Life) => life.rows().map((row) => row.slice(0, row.lastIndexOf(' ')));

const drawnBlocks = fc.array(
  fc.record({
    outputs: fc.array(fc.integer({ min: -1, max: 3 }), { maxLength: 3 }),
    witnesses: fc.array(fc.nat({ max: 3 }), { maxLength: 3 }),
  }),
  { minLength: 1, maxLength: 12 },
);
const sizes = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 4 });

describe('what was seen', () => {
  it('is kept with its first place and undone with its block, however the blocks are grouped', () => {
    const property = fc.property(drawnBlocks, sizes, sizes, (drawn, groups, pieces) => {
      const shown = drawn.map(show);
      const life = new Life(shown);
      const dumps = [dump(life.engine)];
      const singly = new Life(shown);
      for (const [i, block] of shown.entries()) {
        singly.forward([block]);
        assert.deepEqual(singly.rows(), wanted(shown.slice(0, i + 1), drawn));
        dumps.push(dump(singly.engine));
      }
      for (let at = 0, i = 0; at < shown.length; at += groups[i++ % groups.length])
        life.forward(shown.slice(at, at + groups[i % groups.length]));
      assert.deepEqual(life.undos, singly.undos, 'the undo is that of single blocks');
      assertSameDump(dump(life.engine), dumps[shown.length], 'in groups');
      for (let left = shown.length, i = 0; left > 0; i++) {
        const piece = Math.min(left, pieces[i % pieces.length]);
        left -= piece;
        life.back(shown.slice(left, left + piece));
        assertSameDump(dump(life.engine), dumps[left], `back to ${left} blocks`);
      }
    });
    fc.assert(property, { seed: TEST_SEED, numRuns: 500 });
  });

  it('goes with its block also when the block knows nothing of it', () => {
    const property = fc.property(drawnBlocks, fc.nat({ max: 11 }), fc.integer({ min: 1, max: 9 }), (drawn, at, portion) => {
      const shown = drawn.map((one) => ({ ...one, witnesses: [] })).map(show);
      const later = new Life(shown);
      // Switched on after all blocks: filled from the outputs, in no order of time.
      const coins = shown
        .flatMap(({ created }) => created)
        .sort((a, b) => toHex(blake2b256(a.keyBytes)).localeCompare(toHex(blake2b256(b.keyBytes))));
      for (let i = 0; i < coins.length; i += portion) move(later.engine, later.projection, coins.slice(i, i + portion));
      const everSince = new Life(shown);
      everSince.forward(shown);
      assert.deepEqual(blocksOf(later), blocksOf(everSince), 'filled');
      const kept = Math.min(at, shown.length);
      later.back(
        shown.slice(kept),
        [],
        shown.slice(kept).map(() => undefined),
      );
      everSince.back(shown.slice(kept));
      assert.deepEqual(blocksOf(later), blocksOf(everSince), 'after going back');
    });
    fc.assert(property, { seed: TEST_SEED, numRuns: 300 });
  });

  it('leaves a younger place for an older one: a fill, or an output that is unspent again', () => {
    const [older, witnessed, younger] = [
      { outputs: [1], witnesses: [] },
      { outputs: [], witnesses: [1, 2] },
      { outputs: [1, 2], witnesses: [] },
    ].map(show);
    const hash = toHex(blake2b256(DATUMS[1]));
    const second = toHex(blake2b256(DATUMS[2]));
    const shown = [older, witnessed, younger];

    const filled = new Life(shown);
    filled.forward([witnessed]);
    filled.forward([younger]);
    move(filled.engine, filled.projection, older.created);
    assert.deepEqual(filled.rows().sort(), [`${hash} 0 0`, `${second} 1 w`].sort());
    filled.back([younger]);
    filled.back([witnessed]);
    assert.deepEqual(filled.rows(), [`${hash} 0 0`], 'the undo of the witness does not take what an older output shows');

    const unspentAgain = new Life(shown);
    unspentAgain.forward([younger]);
    unspentAgain.back([show({ outputs: [], witnesses: [] }, 2)], older.created, [undefined]);
    assert.deepEqual(unspentAgain.rows().sort(), [`${hash} 0 0`, `${second} 2 1`].sort());

    const atOnce = new Life(shown);
    atOnce.forward([younger]);
    atOnce.back([younger], older.created);
    assert.deepEqual(atOnce.rows(), [`${hash} 0 0`], 'gone and back in the same step');
  });

  it('is a script too, the same whether it was a reference or a witness', () => {
    const projection = seenProjection('script', ledger.traits!);
    const engine = engineFor(projection);
    move(engine, projection, [makeCoin({ tx: 5, index: 2, height: 9, slot: 77, script: SCRIPT })]);
    const [[hash, value]] = [...engine.scan('script')];
    assert.equal(toHex(hash), toHex(blake2b224(fromHex('01aabb'))));
    const { txId, bytes, ...row } = readSeen(value);
    assert.deepEqual(row, { height: 9, slot: 77, index: 2 });
    assert.deepEqual([toHex(txId), toHex(bytes)], [`00000005${'00'.repeat(28)}`, toHex(SCRIPT)]);
  });

  it('of a damaged undo is an error', () => {
    const blocks = [show({ outputs: [], witnesses: [1] }, 0)];
    const life = new Life(blocks);
    life.forward(blocks);
    assertCode(() => life.back(blocks, [], [new Uint8Array(31)]), 'STORE_DAMAGED');
  });
});
