/**
 * What every projection must do: one suite, run on any. The one idea, checked:
 * undoing blocks gives the state before, byte for byte in every column, however
 * the blocks were grouped and the way back was cut; a store that has been on
 * another branch is the store that never was; and one that is filled later is
 * what it would be had it been on from the start.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Random } from '../chains/random.ts';
import type { Engine } from '../engine/engine.ts';
import { openMemory } from '../engine/memory.ts';
import type { Block } from '../ledgers/ledger.ts';
import { chainProjection } from '../projections/chain.ts';
import { type ProjectionEntry, supports } from '../projections/entry.ts';
import type { Projection } from '../projections/projection.ts';
import { transactionsProjection } from '../projections/transactions.ts';
import { utxoProjection } from '../projections/utxo.ts';
import { deltaColumn } from '../state/delta.ts';
import { Fills, writeFillStart } from '../state/fill.ts';
import { Fold } from '../state/fold.ts';
import { BRANCH_MAKERS } from './branch-makers.ts';
import { assertSameDump, dump } from './columns-dump.ts';
import type { TwoBranches } from './two-branches.ts';

/** How a projection is tested. */
export interface PropertyOptions {
  /** Random chains of each family that are tried. Default: 20. */
  readonly runs?: number | undefined;
  /** Seed of the first of them; a failure names its own. Default: 1. */
  readonly seed?: number | undefined;
}

const RUNS = 20;
const FOLD_OPTIONS = { utxo: true, partial: false, pruneDepth: 2160, rollbackWindow: 4320, fsync: false } as const;
/** Outputs of one step of a fill: few, so that blocks come in between. */
const FILL_LIMITS = { rows: 7, bytes: 1 << 20 } as const;

/**
 * Declares the tests that every projection has to pass, with `node:test`: call it at the top of a test file. Chains of
 * each family that the projection supports are made from seeds and folded in memory, with and without self-contained
 * undo records.
 */
export function projectionProperties(entry: ProjectionEntry, options: PropertyOptions = {}): void {
  const { runs = RUNS, seed: first = 1 } = options;
  const each = (check: (made: TwoBranches, random: Random) => void): void => {
    let tried = 0;
    for (let seed = first; seed < first + runs; seed++) {
      for (const make of BRANCH_MAKERS) {
        const random = new Random(seed);
        const made = make(random);
        if (!supports(entry, made.ledger)) continue;
        tried++;
        try {
          check(made, random);
        } catch (error) {
          throw new Error(`seed ${seed}, ${made.ledger.family}: ${(error as Error).message}`, { cause: error });
        }
      }
    }
    assert.ok(tried > 0, 'it supports the ledger of a family');
  };

  describe(`projection contract: ${entry.name}`, () => {
    it('has the name of its entry, and columns of its own', () => each(({ ledger }) => checkNames(entry.make(ledger), entry)));
    it('undoes blocks byte for byte, however they were grouped', () => each((made, random) => checkReversible(entry, made, random)));
    it('does not remember a branch that was left', () => each((made, random) => checkForks(entry, made, random)));
    it('filled later, is what it would be from the start', () => each((made, random) => checkFill(entry, made, random)));
  });
}

class FoldRig {
  readonly engine: Engine;
  readonly projections: readonly Projection[];
  readonly fold: Fold;
  readonly #random: Random;

  constructor(entry: ProjectionEntry, { ledger }: TwoBranches, random: Random, selfContained = random.chance(0.5)) {
    this.projections = [chainProjection(), transactionsProjection(ledger), utxoProjection(ledger), entry.make(ledger)];
    this.engine = openMemory([...this.projections.flatMap(({ columns }) => columns), deltaColumn]);
    this.fold = new Fold(this.engine, ledger, this.projections, { ...FOLD_OPTIONS, selfContained });
    this.#random = random;
  }

  /** In groups of random sizes; `between` is called after each. */
  apply(blocks: readonly Block[], between: () => void = () => undefined): void {
    for (let at = 0; at < blocks.length; between()) {
      const size = 1 + this.#random.int(12);
      this.fold.apply(blocks.slice(at, at + size));
      at += size;
    }
  }

  /** In pieces of random sizes, until `kept` of the blocks are left. */
  back(blocks: readonly Block[], kept: number): void {
    for (let left = blocks.length; left > kept; ) {
      const piece = Math.min(left - kept, 1 + this.#random.int(12));
      left -= piece;
      assert.equal(this.fold.rollback(blocks[left - 1] ?? null), piece);
    }
  }
}

function checkNames(projection: Projection, entry: ProjectionEntry): void {
  assert.equal(projection.name, entry.name);
  const taken = ['chain', 'chain_hash', 'tx', 'utxo_unspent', 'utxo_spent', 'delta'];
  for (const { name } of projection.columns) assert.ok(!taken.includes(name), `the column ${name} belongs to another projection`);
}

function checkReversible(entry: ProjectionEntry, made: TwoBranches, random: Random): void {
  const rig = new FoldRig(entry, made, random);
  const { first, shared } = made;
  const empty = dump(rig.engine);
  rig.apply(first.slice(0, shared));
  const before = dump(rig.engine);
  rig.apply(first.slice(shared));
  const far = dump(rig.engine);
  rig.back(first, shared);
  assertSameDump(dump(rig.engine), before, `after ${first.length - shared} blocks forward and back`);
  rig.apply(first.slice(shared));
  assertSameDump(dump(rig.engine), far, 'forward again, in other groups');
  rig.back(first, 0);
  assertSameDump(dump(rig.engine), empty, 'back at the origin');
}

function checkForks(entry: ProjectionEntry, made: TwoBranches, random: Random): void {
  const { first, second, shared } = made;
  const turned = new FoldRig(entry, made, random, false);
  turned.apply(first);
  turned.back(first, shared);
  turned.apply(second.slice(shared));
  const straight = new FoldRig(entry, made, random, false);
  straight.apply(second);
  assertSameDump(dump(turned.engine), dump(straight.engine), 'after a fork');
}

/** Only of those that say so: of others nothing is promised. */
function checkFill(entry: ProjectionEntry, made: TwoBranches, random: Random): void {
  if (entry.make(made.ledger).fillable !== 'exact') return;
  const { first, second, shared } = made;
  const whole = new FoldRig(entry, made, random, false);
  whole.apply(second);
  const late = new FoldRig(entry, made, random, false);
  late.apply(first);
  for (const { name } of late.projections.at(-1)?.columns ?? []) late.engine.clear(name);
  const batch = late.engine.batch();
  writeFillStart(batch, entry.name);
  batch.commit();
  const fills = new Fills(late.engine, late.projections, made.ledger);
  const fold = new Fold(late.engine, made.ledger, fills.projections, { ...FOLD_OPTIONS, selfContained: false });
  // Blocks go and come while it is filled.
  fills.step(FILL_LIMITS);
  fold.rollback(first[shared - 1] ?? null);
  for (const block of second.slice(shared)) {
    if (!fills.isDone) fills.step(FILL_LIMITS);
    fold.apply([block]);
  }
  while (!fills.isDone) fills.step(FILL_LIMITS);
  const own = new Set(late.projections.at(-1)?.columns.map(({ name }) => name));
  const rows = (engine: Engine): ReturnType<typeof dump> => new Map([...dump(engine)].filter(([name]) => own.has(name)));
  assertSameDump(rows(late.engine), rows(whole.engine), 'filled while blocks came and went');
}
