/**
 * The fold: state over blocks. One step (one block, or a run of whole blocks
 * while far behind) is one atomic batch over every projection; going back is
 * the inverse of that, newest first. Nothing else writes.
 *
 * Whatever fails, fails before the batch is committed: the store is then still
 * at the block it was at.
 *
 * Where the engine commits in a thread of its own, steps forward may be ahead of
 * what is committed (`applyAhead`). The head is the committed one, and watchers
 * are told of commits; all but `applyAhead` wait for what is on its way first.
 */
import type { Batch, CommitsAhead, Engine, Landed } from '../engine/engine.ts';
import type { Block, Ledger, Point } from '../ledgers/ledger.ts';
import { CHAIN, CHAIN_HASH, type ChainRow, chainKey, readChainRow } from '../projections/chain.ts';
import type { Projection, Step, Undo } from '../projections/projection.ts';
import { compareBytes, equalBytes } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';
import { keyAfter } from '../util/key-range.ts';
import { ROLLBACK_BLOCKS_MAX } from '../util/limits.ts';
import { blockAtHeight, blockAtKey, blocksFrom } from './blocks.ts';
import { type CommitState, Commits } from './commits.ts';
import { DELTA, type DeltaInput, DeltaWriter } from './delta.ts';
import { ForwardPlanner, type PlannedBlock } from './forward.ts';
import { type Head, headKey, META_PREFIX, NO_TOTALS, readHead, writeHead } from './head.ts';
import {
  canUndoAbove,
  forgottenHeight,
  horizonBlock,
  horizonDepth,
  horizonHeight,
  readHorizonMark,
  undoNeedsSpent,
  writeHorizonMark,
} from './horizon.ts';
import type { PruneCounts } from './pruned.ts';
import { blocksToUndo, movedTotals, writeStepBack } from './step-back.ts';

export interface FoldOptions {
  readonly utxo: boolean;
  readonly partial: boolean;
  readonly selfContained: boolean;
  /** In blocks below the tip: spent outputs are kept for `pruneDepth`, deltas for `rollbackWindow` (DESIGN decision 6). */
  readonly pruneDepth: number;
  readonly rollbackWindow: number;
  /** Whether each commit waits for the disk. */
  readonly fsync: boolean;
}

/** What a block follows. */
type LinkedTip = Point & Pick<Head, 'boundary'>;

export interface AppliedCounts {
  readonly blocks: number;
  readonly created: number;
  readonly spent: number;
}

/** Called after each commit of the fold, forward or back. For displays and servers: a watcher never writes to the store. */
export interface FoldWatcher {
  applied?(applied: AppliedCounts, seconds: number): void;
  rolledBack?(to: Point | null, undone: number, seconds: number): void;
  /** A batch of pruning that found something. */
  pruned?(counts: PruneCounts, seconds: number): void;
  /** A step of filling what was switched on later, over so many outputs. */
  filled?(rows: number, seconds: number): void;
}

/**
 * Told when a step has landed, which is handed over before all is known that is to be done then. It knows nothing of the
 * step: a few are on their way at a time, and blocks and coins that lived until they land would be most of the memory.
 */
class Landing {
  effect: Landed = () => {};
  readonly told: Landed = (failure) => this.effect(failure);
}

export class Fold {
  readonly watchers = new Set<FoldWatcher>();
  readonly engine: Engine;
  readonly projections: readonly Projection[];
  readonly options: FoldOptions;
  readonly ledger: Ledger;
  private readonly planner: ForwardPlanner;
  private readonly needsSpent: boolean;
  private readonly deltaWriter = new DeltaWriter();
  private readonly commits: Commits;

  constructor(engine: Engine, ledger: Ledger, projections: readonly Projection[], options: FoldOptions) {
    this.engine = engine;
    this.ledger = ledger;
    this.projections = projections;
    this.options = options;
    this.planner = new ForwardPlanner(ledger, options);
    this.needsSpent = undoNeedsSpent(options);
    this.commits = new Commits(() => ({ head: recover(engine), horizonMark: readHorizonMark(engine) }));
  }

  /** The block we are at, and what it adds up to; null before the first block. */
  get head(): Head | null {
    return this.commits.committed.head;
  }

  /** The block that the next one must follow: the head, or one that is on its way to be. */
  get newest(): Head | null {
    return this.commits.planned.head;
  }

  /** The oldest height we can go back to; null: all the way to the origin. */
  get horizonHeight(): number | null {
    this.settle();
    return horizonHeight(this.engine, this.head?.height ?? 0, this.options, this.needsSpent);
  }

  /** The block there; null: the origin. */
  get horizon(): ChainRow | null {
    this.settle();
    return horizonBlock(this.engine, this.head?.height ?? 0, this.options, this.needsSpent);
  }

  /**
   * Applies blocks that follow one another, in as few atomic steps as possible.
   * A block we already have is passed over. When one cannot be applied, all
   * before it are committed and the error is thrown.
   */
  apply(blocks: readonly Block[]): AppliedCounts {
    this.settle();
    return this.applySteps(blocks, null);
  }

  /**
   * The same, but it may return before the steps are committed, if the engine has a thread for that. Call `settle` in
   * the end: it throws what went wrong with them, as does the next call before it does anything.
   */
  applyAhead(blocks: readonly Block[]): AppliedCounts {
    this.commits.throwFailure();
    const ahead = this.engine.ahead?.() ?? null;
    if (ahead === null) return this.apply(blocks);
    return this.commits.ahead(ahead, () => this.applySteps(blocks, ahead));
  }

  /** Many blocks are about to be applied: a thread that commits ahead is made ready for them, if the engine has one. */
  expectMany(): void {
    this.engine.ahead?.();
  }

  /** Whether steps are on their way to be committed. */
  get isAhead(): boolean {
    return this.commits.planned !== this.commits.committed;
  }

  /** Waits until all steps are committed. If one could not be, the store is at the block before it, and this says why. */
  settle(): void {
    this.commits.settle();
  }

  private applySteps(blocks: readonly Block[], ahead: CommitsAhead | null): AppliedCounts {
    const { fresh, failure } = this.link(blocks);
    let applied: AppliedCounts = { blocks: 0, created: 0, spent: 0 };
    for (let rest = fresh; rest.length > 0; ) {
      const planned = this.planner.plan(this.newest ?? undefined, rest, this.engine);
      if (planned.taken > 0) applied = sum(applied, this.commitForward(planned.step, ahead));
      if (planned.failure !== null) throw planned.failure;
      rest = rest.slice(planned.taken);
    }
    if (failure !== null) throw failure;
    return applied;
  }

  /** The blocks that extend our chain, in order, and what is wrong with the first that does not. */
  private link(blocks: readonly Block[]): { fresh: readonly Block[]; failure: UnspentError | null } {
    const fresh: Block[] = [];
    let tip: LinkedTip | null = this.newest;
    for (const block of blocks) {
      if (tip !== null && block.prevHash !== null && equalBytes(block.prevHash, tip.hash)) {
        const why = this.misplaced(block, tip);
        if (why !== null) return { fresh, failure: this.unlinked(block, tip, why) };
      } else if (tip === null) {
        if (!this.options.partial && !this.ledger.isFirst(block)) return { fresh, failure: notFirst(block) };
      } else if (this.has(block.hash) || fresh.some((other) => equalBytes(other.hash, block.hash))) {
        continue;
      } else {
        return {
          fresh,
          failure: this.unlinked(block, tip, `its previous hash is ${block.prevHash ? this.ledger.formatId(block.prevHash) : 'none'}`),
        };
      }
      fresh.push(block);
      tip = block;
    }
    return { fresh, failure: null };
  }

  /** Why a block cannot stand where it says, behind one whose hash it names; null: it can. */
  private misplaced({ height, slot, boundary }: Block, tip: LinkedTip): string | null {
    if (height !== tip.height + 1 && !(boundary && height === tip.height)) return `its height is ${height} after ${tip.height}`;
    // Outputs are told apart by the slots of their blocks (`projections/place.ts`). Only a boundary block, which has no
    // transactions, shares its own.
    const first = tip.boundary ? tip.slot : tip.slot + 1;
    return this.ledger.hasSlots && slot < first ? `its slot is ${slot} after ${tip.slot}` : null;
  }

  private unlinked(block: Block, tip: Point, why: string): UnspentError {
    const [hash, ours] = [this.ledger.formatId(block.hash), this.ledger.formatId(tip.hash)];
    const message = `block ${hash} (height ${block.height}) does not follow our tip ${ours}: ${why}`;
    return new UnspentError('BLOCK_UNLINKED', message, { hash, tip: ours });
  }

  /** Points to find common ground with a source: the tip, then exponentially older ones, down to the horizon. */
  recentPoints(): Point[] {
    this.settle();
    const { head } = this;
    if (head === null) return [];
    const floor = Math.max(0, this.horizonHeight ?? 0);
    const points: Point[] = [point(head)];
    for (let back = 1; ; back *= 2) {
      const height = Math.max(floor, head.height - back);
      const row = this.rowAt(height);
      if (row !== null && !equalBytes(row.hash, points[points.length - 1].hash)) points.push(point(row));
      if (height === floor) return points;
    }
  }

  /** The newest block of that height, or null. */
  rowAt(height: number): ChainRow | null {
    return blockAtHeight(this.engine, height);
  }

  /** From the first of that height up to the tip. */
  blocksFrom(height: number): Iterable<ChainRow> {
    return blocksFrom(this.engine, height);
  }

  has(hash: Uint8Array): boolean {
    return this.engine.get(CHAIN_HASH, hash) !== undefined;
  }

  /** The block of that hash on our chain, or null. */
  pointOf(hash: Uint8Array): Point | null {
    const key = this.engine.get(CHAIN_HASH, hash);
    return key === undefined ? null : point(blockAtKey(this.engine, key));
  }

  private commitForward(step: Step<PlannedBlock>, ahead: CommitsAhead | null): AppliedCounts {
    const started = performance.now();
    const landing = new Landing();
    const batch = ahead === null ? this.engine.batch() : ahead.batch(landing.told);
    const undos = this.projections.map((projection) => [projection.name, projection.apply(step, this.engine, batch)] as const);
    const own = undos.filter(([, undo]) => undo !== undefined) as (readonly [string, Undo])[];
    let missing = 0;
    let created = 0;
    let spent = 0;
    for (let i = 0; i < step.blocks.length; i++) {
      const entry = step.blocks[i];
      const delta = { missing: entry.missing, txs: entry.deltaTxs, spent: entry.spent, undo: ownUndo(own, i) };
      batch.put(DELTA, entry.key, this.deltaWriter.write(delta, this.options.selfContained));
      missing += entry.missing;
      created += entry.created.length;
      spent += entry.spent.length;
    }
    const { block } = step.blocks[step.blocks.length - 1];
    // Once the window alone puts the horizon at the mark or above it, the mark is deleted.
    const { head, horizonMark } = this.commits.planned;
    const isPassed = block.height - horizonDepth(this.options, this.needsSpent) >= horizonMark;
    const next: CommitState = {
      horizonMark: isPassed ? -1 : horizonMark,
      head: { ...point(block), boundary: block.boundary, era: block.era, ...movedTotals(head ?? NO_TOTALS, step, missing) },
    };
    const applied = { blocks: step.blocks.length, created, spent };
    landing.effect = this.onLanded(next, applied, started);
    this.commit(batch, next);
    this.planner.forget();
    if (ahead === null) {
      landing.told(null);
      this.commits.throwFailure();
    }
    return applied;
  }

  /** What is done when a step has landed. Made here, so that it holds on to nothing else of the step. */
  private onLanded(next: CommitState, applied: AppliedCounts, started: number): Landed {
    const tell = (): void => {
      const seconds = (performance.now() - started) / 1000;
      for (const watcher of this.watchers) watcher.applied?.(applied, seconds);
    };
    return (failure) => this.commits.landed(next, tell, failure);
  }

  /** Goes back until `to` is the tip (null: to the origin). Throws POINT_UNKNOWN or HORIZON, having changed nothing. */
  rollback(to: Point | null): number {
    this.settle();
    const target = to === null ? null : this.locate(to.hash);
    const horizon = this.horizonHeight;
    const { head } = this;
    if (head === null || (target !== null && equalBytes(target.row.hash, head.hash))) return 0;
    if (horizon !== null && (target === null || target.row.height < horizon || !canUndoAbove(this.engine, target.row, this.needsSpent))) {
      const wanted = target === null ? 'the origin' : `height ${target.row.height}`;
      throw new UnspentError('HORIZON', `cannot go back to ${wanted}: the horizon is at height ${horizon} (tip ${head.height})`, {
        horizon,
        tip: head.height,
      });
    }
    const started = performance.now();
    let undone = 0;
    while (this.head !== null && !(target !== null && equalBytes(target.row.hash, this.head.hash)))
      undone += this.stepBack(this.head, target?.key ?? null);
    for (const watcher of this.watchers) watcher.rolledBack?.(to, undone, (performance.now() - started) / 1000);
    return undone;
  }

  /** From now on the store cannot go back below this height: what undoing those blocks takes is about to be deleted. */
  raiseHorizon(height: number): void {
    if (height <= (this.horizonHeight ?? -1) || this.head === null) return;
    const batch = this.engine.batch();
    writeHorizonMark(batch, height);
    batch.commit({ fsync: this.options.fsync });
    this.commits.reached({ head: this.head, horizonMark: height });
  }

  private locate(hash: Uint8Array): { key: Uint8Array; row: ChainRow } {
    const key = this.engine.get(CHAIN_HASH, hash);
    if (key !== undefined) return { key, row: blockAtKey(this.engine, key) };
    const name = this.ledger.formatId(hash);
    throw new UnspentError('POINT_UNKNOWN', `block ${name} is not on our chain`, { hash: name });
  }

  /** One atomic step back towards the block at `floor`, which stays. */
  private stepBack(from: Head, floor: Uint8Array | null): number {
    // At or below what pruning has deleted no mark is needed: that limits the horizon for ever. So a store that is rolled
    // back to its base is byte for byte what it was there.
    const horizon = this.horizonHeight ?? -1;
    const horizonMark = horizon > forgottenHeight(this.engine, this.needsSpent) ? horizon : -1;
    const undone = blocksToUndo(this.engine, keyAfter(headKey(from)), floor, ROLLBACK_BLOCKS_MAX);
    const batch = this.engine.batch();
    const next = { head: writeStepBack(undone, from, this, this.engine, batch), horizonMark };
    this.commit(batch, next);
    this.commits.reached(next);
    return undone.length;
  }

  private commit(batch: Batch, next: CommitState): void {
    writeHead(batch, next.head);
    if (next.horizonMark !== this.commits.planned.horizonMark) writeHorizonMark(batch, next.horizonMark);
    // What is read after a commit has failed is another state than the one this goes on from.
    this.commits.throwFailure();
    batch.commit({ fsync: this.options.fsync });
    this.commits.planned = next;
  }
}

/** The undo bytes for block `i` of every projection that returned some. */
function ownUndo(own: readonly (readonly [string, Undo])[], i: number): DeltaInput['undo'] {
  if (own.length === 0) return NO_UNDO;
  const undo: (readonly [name: string, bytes: Uint8Array])[] = [];
  for (const [name, each] of own) {
    const bytes = each[i];
    if (bytes !== undefined) undo.push([name, bytes]);
  }
  return undo;
}

const NO_UNDO: DeltaInput['undo'] = [];

function point({ height, slot, hash }: Point): Point {
  // Not `slice`: of a Buffer that would be a view.
  return { height, slot, hash: new Uint8Array(hash) };
}

function sum(a: AppliedCounts, b: AppliedCounts): AppliedCounts {
  return { blocks: a.blocks + b.blocks, created: a.created + b.created, spent: a.spent + b.spent };
}

/** The head at the start. It was written in its block's batch: if it disagrees with the chain, something other than the fold has written here. */
function recover(engine: Engine): Head | null {
  const head = readHead(engine);
  const [last] = engine.scan(CHAIN, { lt: Uint8Array.of(META_PREFIX), reverse: true, limit: 1 });
  if (head === null && last === undefined) return null;
  if (head === null || last === undefined || compareBytes(last[0], chainKey(head.height, head.boundary)) !== 0) {
    throw new UnspentError('STORE_DAMAGED', 'the head of the store is not its last block');
  }
  if (!equalBytes(readChainRow(last[0], last[1]).hash, head.hash)) {
    throw new UnspentError('STORE_DAMAGED', `the block at height ${head.height} is not the one the head names`);
  }
  return head;
}

function notFirst(block: Block): UnspentError {
  return new UnspentError(
    'NOT_FROM_GENESIS',
    `the first block offered has height ${block.height} and slot ${block.slot}; the store is empty`,
    {
      height: block.height,
      slot: block.slot,
    },
  );
}
