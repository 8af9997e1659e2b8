/**
 * Publishing: brings a copy to where the store is, change by change, and keeps
 * it there. One round looks at the newest state of the store, undoes in the copy
 * what is not on its chain, prunes what the store has pruned, and applies the
 * blocks that follow. The store never waits for it.
 *
 * It goes on from what the copy says of itself, so it does not matter who
 * published before, nor how that one ended.
 */

import type { Row } from '../engine/engine.ts';
import { PositionWriter, pointPosition, positionAt } from '../events/position.ts';
import { CHAIN, type ChainRow } from '../projections/chain.ts';
import { isHistoryElsewhere, ONLY_COPY, ONLY_COPY_KEY } from '../projections/history/elsewhere.ts';
import { startHeightKey } from '../projections/start-height.ts';
import { blockByHash } from '../state/blocks.ts';
import { type Head, readHead } from '../state/head.ts';
import { canUndoAbove, HORIZON_KEY } from '../state/horizon.ts';
import { readPruned } from '../state/pruned.ts';
import { compareBytes, equalBytes } from '../util/bytes.ts';
import { assert, isUnspentError, UnspentError } from '../util/errors.ts';
import {
  PUBLISH_BLOCKS_PAGE,
  PUBLISH_GROUP_BYTES,
  PUBLISH_GROUP_ROWS,
  PUBLISH_LOAD_BYTES,
  PUBLISH_LOAD_ROWS,
  PUBLISH_PLAN_BYTES_MAX,
  PUBLISH_UNDO_BLOCKS,
  PUBLISH_UPKEEP_ROWS,
} from '../util/limits.ts';
import { type AppliedBlocks, appliedSince, prunedTo, undoNewest } from './block-changes.ts';
import { type CopyChange, changeBytes, changeRows } from './change.ts';
import { isHistory, isSameCopy } from './identity.ts';
import { HeldState, type PublishedState, RemoteState } from './published-state.ts';
import { type PublishedStore, StoreMoment } from './published-store.ts';
import { addDifference, reservedRows, sameValue, trackReserved } from './reserved-rows.ts';
import { netted, RowChanges } from './row-changes.ts';
import type { Claim, CopyTarget, PublishedHead, SnapshotLoad } from './target.ts';

/** What a publisher has done since it leads. */
export interface PublishCounts {
  blocks: number;
  undone: number;
  rows: number;
  bytes: number;
  snapshots: number;
}

export interface PublisherOptions {
  /** Told after each commit of the copy. */
  readonly onPublished?: ((head: PublishedHead, changes: readonly CopyChange[], seconds: number) => void) | undefined;
  /** Told while a snapshot is sent. */
  readonly onLoaded?: ((rows: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Leads a copy that it has claimed. After any failure it is of no use any more: claim again, and make another. */
export class Publisher {
  readonly counts: PublishCounts = { blocks: 0, undone: 0, rows: 0, bytes: 0, snapshots: 0 };
  private readonly store: PublishedStore;
  private readonly target: CopyTarget;
  private readonly options: PublisherOptions;
  private head: PublishedHead;
  private identity: Claim['identity'];
  private state: PublishedState;
  /** The reserved rows of the copy; null: not read yet. */
  private reserved: Map<string, Uint8Array> | null = null;
  /** Whether the copy says that it has history that stores may have forgotten; null: not read yet. */
  private isOnlyCopy: boolean | null = null;

  constructor(store: PublishedStore, target: CopyTarget, { head, identity }: Claim, options: PublisherOptions = {}) {
    this.store = store;
    this.target = target;
    this.options = options;
    this.head = head;
    this.identity = identity;
    this.state = new RemoteState(target.rows);
  }

  get published(): PublishedHead {
    return this.head;
  }

  /** The newest block below which the store may forget history, because the copy has it and says so. Null: none. */
  get kept(): Uint8Array | null {
    return this.isOnlyCopy === true && isHistoryElsewhere(this.store.readSetting) ? this.head.hash : null;
  }

  /** Lets go of the snapshot that is held. */
  close(): void {
    this.state.release();
  }

  /** Whether the copy can be brought to this state by changes. Throws STORE_NETWORK, STORE_SCHEMA. */
  get needsSnapshot(): boolean {
    const moment = new StoreMoment(this.store);
    try {
      return !this.isContinued(moment);
    } finally {
      moment.release();
    }
  }

  private isContinued(moment: StoreMoment): boolean {
    return this.head.isComplete && this.identity !== null && isSameCopy(this.identity, moment.identity);
  }

  /** Brings the copy to the newest state there is. Throws EXPIRED where only a snapshot can. */
  async advance(): Promise<void> {
    const moment = new StoreMoment(this.store);
    let isHeld = false;
    try {
      if (!this.isContinued(moment)) throw new UnspentError('EXPIRED', 'the copy begins with a snapshot');
      if (this.target.rows === null) await this.advanceBlocks(moment);
      else await this.advanceColumns(moment);
      if (isHistoryElsewhere(this.store.readSetting)) await this.markOnlyCopy(moment);
      this.state.release();
      this.state = new HeldState(moment.snapshot);
      isHeld = true;
    } finally {
      if (!isHeld) moment.release();
    }
  }

  /** From the commit of this on nobody begins the copy anew with less, and the store may forget. */
  private async markOnlyCopy({ snapshot, query }: StoreMoment): Promise<void> {
    assert(this.target.rows !== null, 'history is kept in columns');
    if (this.isOnlyCopy === true) return;
    const head = readHead(snapshot);
    const columns = [{ column: CHAIN, puts: [[ONLY_COPY_KEY, ONLY_COPY] as const], deletes: [] }];
    const row = query.headRow();
    await this.publish([{ kind: 'upkeep', count: 1, block: head, head, position: positionAt(row, new PositionWriter(query)), columns }]);
    this.isOnlyCopy = true;
  }

  /** Throws STORE_SHAPE where what this store has forgotten is not in the copy. */
  private async readOnlyCopy({ elsewhere, snapshot, scope }: StoreMoment): Promise<void> {
    const { rows } = this.target;
    if (this.isOnlyCopy === null && rows !== null)
      this.isOnlyCopy = this.head.isComplete && (await rows.get(CHAIN, [ONLY_COPY_KEY]))[0] !== undefined;
    if (elsewhere === 0) return;
    const starts = scope.projections.filter(isHistory).map(startHeightKey);
    const theirs = rows === null ? [] : await rows.get(CHAIN, starts);
    if (this.isOnlyCopy === true && starts.every((key, i) => sameValue(snapshot.get(CHAIN, key), theirs[i]))) return;
    throw new UnspentError('STORE_SHAPE', `the history below height ${elsewhere}, which this store has forgotten, is not in this copy`);
  }

  private async advanceColumns(moment: StoreMoment): Promise<void> {
    await this.readOnlyCopy(moment);
    this.reserved ??= await this.state.read((reader) => reservedRows(reader, moment.scope));
    const from = await this.undoLeft(moment);
    if (!canUndoAbove(moment.snapshot, from, moment.needsSpent)) throw expired(from);
    await this.prune(moment);
    await this.publishGroups(this.withReserved(moment, this.planApplied(moment, from).changes));
  }

  /** Of a copy that keeps no columns: it undoes by height, and nothing of it is pruned. */
  private async advanceBlocks(moment: StoreMoment): Promise<void> {
    const from = await this.newestShared(moment);
    if (!canUndoAbove(moment.snapshot, from, moment.needsSpent)) throw expired(from);
    const { head, changes } = this.planApplied(moment, from);
    const isBack = this.head.hash !== null && (from === null || !equalBytes(this.head.hash, from.hash));
    if (isBack)
      await this.publish([{ kind: 'rollback', count: 1, block: from, head, position: this.positionOf(moment, head), columns: [] }]);
    await this.publishGroups(changes);
  }

  /** The newest block of the copy that is on the chain of the store; null: none. */
  private async newestShared(moment: StoreMoment): Promise<ChainRow | null> {
    const { hash } = this.head;
    const newest = hash === null ? null : blockByHash(moment.snapshot, hash);
    if (hash === null || newest !== null) return newest;
    const { blocks } = this.target;
    assert(blocks !== undefined, 'a copy without columns tells its blocks');
    for (let below: number | null = null; ; ) {
      const page = await blocks.below(below, PUBLISH_BLOCKS_PAGE);
      for (const block of page) {
        const row = blockByHash(moment.snapshot, block.hash);
        if (row !== null) return row;
      }
      const last = page.at(-1);
      if (last === undefined) return null;
      below = last.height;
    }
  }

  /** Undoes in the copy what is not on the chain of the store. Returns the block that it is at then. */
  private async undoLeft(moment: StoreMoment): Promise<ChainRow | null> {
    for (;;) {
      const { hash } = this.head;
      const row = hash === null ? null : blockByHash(moment.snapshot, hash);
      if (hash === null || row !== null) return row;
      const { row: block, below, undo } = await this.state.read((reader) => undoNewest(reader, moment)).catch(asExpired);
      const changes = new RowChanges();
      changes.add(undo);
      // The mark belongs to the rollback; other reserved rows may tell of pruning, which comes after it.
      changes.set(CHAIN, HORIZON_KEY, moment.snapshot.get(CHAIN, HORIZON_KEY));
      const position = below === null ? positionAt(null) : pointPosition(below);
      await this.publishAndRead({ kind: 'undone', count: 1, block, head: below, position, columns: changes.list() });
    }
  }

  /** Deletes in the copy what the store has pruned. */
  private async prune(moment: StoreMoment): Promise<void> {
    const to = readPruned(moment.snapshot);
    for (let isDone = false; !isDone; ) {
      const [portion, head] = await this.state.read((reader) => {
        const pruned = readPruned(reader);
        const isThere = pruned.spent >= to.spent && pruned.deltas >= to.deltas;
        return [isThere ? null : prunedTo(reader, to, moment, PUBLISH_UPKEEP_ROWS), readHead(reader)] as const;
      });
      if (portion === null) return;
      isDone = portion.isDone;
      if (portion.columns.length === 0) continue;
      await this.publishAndRead({
        kind: 'upkeep',
        count: 1,
        block: head,
        head,
        position: this.positionOf(moment, head),
        columns: portion.columns,
      });
    }
  }

  /** What leads from a block to the newest, and the head there. */
  private planApplied(moment: StoreMoment, from: ChainRow | null): { readonly head: Head | null; readonly changes: Iterable<CopyChange> } {
    const positions = new PositionWriter(moment.query, moment.query.horizon(this.store.facts.windows));
    // Tables for people are told of each block, because rows say which one spent them.
    const stepRows = this.target.rows === null ? 0 : PUBLISH_GROUP_ROWS;
    const bounds = { bytesMax: PUBLISH_PLAN_BYTES_MAX, portion: PUBLISH_UNDO_BLOCKS, stepRows };
    const applied = appliedSince(moment.snapshot, from, moment, bounds);
    const changeOf = ({ count, row, head, columns }: AppliedBlocks): CopyChange => {
      return { kind: 'applied', count, block: row, head, position: positionAt(row, positions), columns };
    };
    return { head: applied.from, changes: Iterator.from(applied.steps).map(changeOf) };
  }

  /** The last change also says what upkeep has made of the reserved rows; where there is none, it is a change of its own. */
  private *withReserved(moment: StoreMoment, changes: Iterable<CopyChange>): Iterable<CopyChange> {
    const after = new Map(this.reserved);
    let last: CopyChange | null = null;
    for (const change of changes) {
      if (last !== null) yield last;
      last = change;
      trackReserved(after, change);
    }
    const rows = new RowChanges();
    if (!addDifference(after, reservedRows(moment.snapshot, moment.scope), rows)) {
      if (last !== null) yield last;
      return;
    }
    const head = readHead(moment.snapshot);
    if (last !== null)
      yield {
        ...last,
        columns: [...last.columns.filter(({ column }) => column !== CHAIN), ...netted([chainOf(last), { columns: rows.list() }])],
      };
    else yield { kind: 'upkeep', count: 1, block: head, head, position: this.positionOf(moment, head), columns: rows.list() };
  }

  private positionOf(moment: StoreMoment, head: Head | null): string {
    const row = head === null ? null : blockByHash(moment.snapshot, head.hash);
    return row === null ? (head === null ? positionAt(null) : pointPosition(head)) : positionAt(row, new PositionWriter(moment.query));
  }

  private async publishGroups(changes: Iterable<CopyChange>): Promise<void> {
    let group: CopyChange[] = [];
    let [rows, bytes] = [0, 0];
    for (const change of changes) {
      rows += changeRows(change);
      bytes += changeBytes(change);
      if (group.length > 0 && (rows > PUBLISH_GROUP_ROWS || bytes > PUBLISH_GROUP_BYTES)) {
        await this.publish(group);
        [group, rows, bytes] = [[], changeRows(change), changeBytes(change)];
      }
      group.push(change);
    }
    if (group.length > 0) await this.publish(group);
  }

  /** Of a change after which the state of the copy is read again. */
  private async publishAndRead(change: CopyChange): Promise<void> {
    await this.publish([change]);
    this.state.moved(change.columns);
  }

  private async publish(changes: readonly CopyChange[]): Promise<void> {
    this.options.signal?.throwIfAborted();
    const started = performance.now();
    const { height } = this.head;
    this.head = await this.target.publish(changes);
    for (const change of changes) {
      if (this.reserved !== null) trackReserved(this.reserved, change);
      this.counts.rows += changeRows(change);
      this.counts.bytes += changeBytes(change);
      if (change.kind === 'applied') this.counts.blocks += change.count;
      if (change.kind === 'undone') this.counts.undone++;
      if (change.kind === 'rollback') this.counts.undone += (height ?? -1) - (change.head?.height ?? -1);
    }
    this.options.onPublished?.(this.head, changes, (performance.now() - started) / 1000);
  }

  /** Sends the newest state there is as a whole. Readers see the copy before it until that is done. */
  async sendSnapshot(): Promise<void> {
    const moment = new StoreMoment(this.store);
    let isHeld = false;
    try {
      if (this.identity !== null) isSameCopy(this.identity, moment.identity);
      await this.checkReplacing(moment);
      const load = await this.target.load(moment.identity);
      try {
        await this.sendRows(moment, load);
        const head = readHead(moment.snapshot);
        this.head = await load.finish({ head, position: this.positionOf(moment, head) });
      } catch (error) {
        await load.abandon().catch(() => undefined);
        throw error;
      }
      this.identity = moment.identity;
      this.reserved = reservedRows(moment.snapshot, moment.scope);
      this.counts.snapshots++;
      this.state.release();
      this.state = new HeldState(moment.snapshot);
      isHeld = true;
    } finally {
      if (!isHeld) moment.release();
    }
  }

  /** Throws STORE_SHAPE where the copy, or what the store has forgotten, would lose history by beginning anew. */
  private async checkReplacing(moment: StoreMoment): Promise<void> {
    if (moment.elsewhere > 0) {
      const message = `the copy cannot begin anew: the history below height ${moment.elsewhere} is not in this store any more`;
      throw new UnspentError('STORE_SHAPE', message, { elsewhere: moment.elsewhere });
    }
    await this.readOnlyCopy(moment);
    const lost = (this.identity?.projections ?? []).filter((name) => isHistory(name) && !moment.scope.projections.includes(name));
    if (this.isOnlyCopy !== true || lost.length === 0) return;
    throw new UnspentError('STORE_SHAPE', `the copy has history that is nowhere else, and this store does not keep ${lost.join(', ')}`);
  }

  private async sendRows({ snapshot, scope }: StoreMoment, load: SnapshotLoad): Promise<void> {
    let sent = 0;
    for (const { name } of scope.columns) {
      let rows: (readonly [Uint8Array, Uint8Array])[] = [];
      let bytes = 0;
      const flush = async (): Promise<void> => {
        this.options.signal?.throwIfAborted();
        await load.rows(name, rows);
        sent += rows.length;
        this.counts.rows += rows.length;
        this.counts.bytes += bytes;
        [rows, bytes] = [[], 0];
        this.options.onLoaded?.(sent);
      };
      const isMarked = name === CHAIN && this.isOnlyCopy === true;
      for (const row of isMarked ? withRow(snapshot.scan(name), [ONLY_COPY_KEY, ONLY_COPY]) : snapshot.scan(name)) {
        if (scope.isLocal(name, row[0]) && row[0] !== ONLY_COPY_KEY) continue;
        rows.push(row);
        bytes += row[0].length + row[1].length;
        if (rows.length >= PUBLISH_LOAD_ROWS || bytes >= PUBLISH_LOAD_BYTES) await flush();
      }
      if (rows.length > 0) await flush();
    }
  }
}

/** Rows in key order, with one more in its place. */
function* withRow(rows: Iterable<Row>, more: Row): Iterable<Row> {
  let isTold = false;
  for (const row of rows) {
    if (!isTold && compareBytes(row[0], more[0]) > 0) {
      yield more;
      isTold = true;
    }
    yield row;
  }
  if (!isTold) yield more;
}

/** What a change does to the column that has the reserved rows. */
function chainOf({ columns }: CopyChange): Pick<CopyChange, 'columns'> {
  return { columns: columns.filter(({ column }) => column === CHAIN) };
}

function expired(row: ChainRow | null): UnspentError {
  const place = row === null ? 'the origin' : `height ${row.height}`;
  return new UnspentError('EXPIRED', `the copy is at ${place}, and what the blocks above it did is pruned: it begins anew`);
}

/** What the copy lacks for undoing a block is no damage of the store: it has been pruned there. */
function asExpired(error: unknown): never {
  if (isUnspentError(error, 'STORE_DAMAGED') || isUnspentError(error, 'HORIZON'))
    throw new UnspentError('EXPIRED', `the copy cannot be undone any further: ${error.message}`, {}, error);
  throw error;
}
