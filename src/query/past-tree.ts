/**
 * The tree over the unspent set as it was after an earlier block: that of today
 * with the blocks since undone, in memory. The tree is a function of the set, so
 * it is the very tree of that time, with its root and its proofs.
 *
 * Undoing costs some ten microseconds an output, so trees made last are
 * remembered. When the chain has grown, only the new blocks are undone.
 */
import type { OutputLeaf } from '../ledgers/ledger.ts';
import type { ChainRow } from '../projections/chain.ts';
import type { Coin } from '../projections/coin.ts';
import { CSMT, csmtKey, csmtNodes, csmtValue } from '../projections/csmt/csmt.ts';
import { csmt, NodeOverlay, type NodeReader, writeAll } from '../proofs/index.ts';
import { blockByHash } from '../state/blocks.ts';
import type { Head } from '../state/head.ts';
import { equalBytes } from '../util/bytes.ts';
import { isUnspentError, UnspentError } from '../util/errors.ts';
import { PAST_POINTS_MAX, PAST_TREE_CHANGES_MAX } from '../util/limits.ts';
import { finish, type Steps } from '../util/steps.ts';
import { addedSince } from './since.ts';
import type { StoreColumns } from './store-columns.ts';

/** Outputs undone in one step: a few milliseconds. */
const STEP_CHANGES = 500;

/** Outputs that a block had and that are spent now (`Overlays`). */
type SpentSince = (point: ChainRow) => readonly Coin[];

interface CachedTree {
  readonly point: Uint8Array;
  readonly tip: Uint8Array;
  readonly tree: NodeOverlay;
  /** Outputs by which it differs from the tree of its tip, at most. */
  readonly changes: number;
}

/** One of these serves every query of a store. */
export class PastTrees {
  private readonly changesMax: number;
  private entries: CachedTree[] = [];
  /** How many were made from the point on, and from an older tip on. */
  built = 0;
  extended = 0;

  constructor(changesMax = PAST_TREE_CHANGES_MAX) {
    this.changesMax = changesMax;
  }

  /** For a block of our chain whose undo records above it are all there. */
  at(point: ChainRow, head: Head, columns: StoreColumns, leaf: OutputLeaf, spentSince: SpentSince): NodeReader {
    return finish(this.making(point, head, columns, leaf, spentSince));
  }

  /** The same in steps of so many outputs. */
  *making(point: ChainRow, head: Head, columns: StoreColumns, leaf: OutputLeaf, spentSince: SpentSince): Steps<NodeReader> {
    const nodes = csmtNodes(columns.reader);
    const mine = this.entries.filter((entry) => equalBytes(entry.point, point.hash));
    const exact = mine.find((entry) => equalBytes(entry.tip, head.hash));
    if (exact !== undefined) {
      this.remember(exact, exact);
      return exact.tree.over(nodes);
    }
    const older = mine.map((entry) => ({ entry, tip: blockByHash(columns.reader, entry.tip) })).find(({ tip }) => tip !== null);
    const from = older?.tip ?? point;
    const changes = this.changes(point, leaf, spentSince(from), addedSince(columns, from, head), older?.entry.changes ?? 0);
    const tree = yield* undone(nodes, changes);
    // What the older one has was written over the tree that `tree` is.
    if (older !== undefined) writeAll(older.entry.tree.pendingWrites(), tree);
    if (older === undefined) this.built++;
    else this.extended++;
    const count = changes.length + (older?.entry.changes ?? 0);
    this.remember({ point: point.hash, tip: head.hash, tree, changes: count }, older?.entry);
    return tree;
  }

  private changes(point: ChainRow, leaf: OutputLeaf, spent: readonly Coin[], added: Iterable<Coin>, before: number): csmt.Change[] {
    const changes: csmt.Change[] = [];
    for (const coin of spent) changes.push({ key: csmtKey(leaf, coin), value: csmtValue(leaf, coin), expect: 'absent' });
    for (const coin of added) {
      changes.push({ key: csmtKey(leaf, coin), value: null, expect: 'present' });
      if (before + changes.length > this.changesMax) throw tooMany(point, this.changesMax);
    }
    if (before + changes.length > this.changesMax) throw tooMany(point, this.changesMax);
    return changes;
  }

  private remember(entry: CachedTree, instead: CachedTree | undefined): void {
    this.entries = [entry, ...this.entries.filter((each) => each !== instead)].slice(0, PAST_POINTS_MAX);
    // All of them together take no more than one may.
    let changes = 0;
    this.entries = this.entries.filter((each, i) => {
      changes += each.changes;
      return i === 0 || changes <= this.changesMax;
    });
  }
}

/** In portions: each output stands in the changes once, so that it does not matter in which. */
function* undone(nodes: NodeReader, changes: readonly csmt.Change[]): Steps<NodeOverlay> {
  const tree = new NodeOverlay(nodes);
  try {
    for (let at = 0; at < changes.length; at += STEP_CHANGES) {
      csmt.update(tree, tree, changes.slice(at, at + STEP_CHANGES));
      yield;
    }
  } catch (error) {
    if (!isUnspentError(error)) throw error;
    throw new UnspentError('STORE_DAMAGED', `${CSMT} is not the tree of the unspent set: ${error.message}`, { column: CSMT }, error);
  }
  return tree;
}

function tooMany({ height }: ChainRow, changesMax: number): UnspentError {
  return new UnspentError('LIMIT', `more than ${changesMax} outputs came or went since height ${height}; ask for a newer point`, {
    height,
    changesMax,
  });
}
