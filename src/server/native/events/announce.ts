/**
 * Events of the wire from the walk between two snapshots. Forward a block is
 * told before its changes, created before spent; undone, all of it is told in
 * reverse.
 *
 * Between blocks null comes out, so that whoever reads may pause.
 *
 * Roots are told of the newest block only: the snapshot is at that one, and to
 * have those of the blocks before it would mean to undo what came since.
 */
import { ALL, PositionWriter } from '../../../events/position.ts';
import { walk } from '../../../events/walk.ts';
import type { Network } from '../../../families/family.ts';
import type { ChainRow } from '../../../projections/chain.ts';
import type { BlockChanges } from '../../../query/changes.ts';
import type { Roots } from '../../../query/proofs.ts';
import type { Query, Utxo } from '../../../query/query.ts';
import { Renderer, renderPoint } from '../../../query/render.ts';
import { equalBytes } from '../../../util/bytes.ts';
import { isUnspentError } from '../../../util/errors.ts';
import { Announcement, type EventName, frame } from './announcement.ts';
import { SubscribedKeys } from './subscription.ts';

/** What the listeners asked for; nothing else is worked out. */
export interface EventSelection {
  readonly blocks: boolean;
  readonly outputs: boolean;
}

/** What a block did was pruned: from here on there are no events of outputs. */
export class PrunedGap {
  readonly why: string;

  constructor(why: string) {
    this.why = why;
  }
}

/** What events are told of: the chain, and the roots of the store. */
export interface EventContext {
  readonly network: Network;
  /** Of the newest block of a query; null: none is kept. */
  rootsOf(query: Query): Roots | null;
}

export type Announcements = Generator<Announcement | PrunedGap | null, void, void>;

/** From the head of one query to that of another. */
export function* announceMove(from: Query, to: Query, wanted: EventSelection, told: EventContext): Announcements {
  const old = new Announcer(from, wanted, told);
  const teller = new Announcer(to, wanted, told);
  for (const step of walk(from, to)) {
    if (step.kind === 'undone') yield* old.undo(step.row, step.parent);
    else if (step.kind === 'turned') yield teller.rollback(step.at, step.undone, false);
    else if (wantsBlocks(wanted)) yield* teller.block(step.row);
    else return;
  }
}

/** From a block of the query's own chain, of which so many changes were seen, to its head. */
export function* announceSince(to: Query, from: ChainRow | null, seen: number, wanted: EventSelection, told: EventContext): Announcements {
  const teller = new Announcer(to, wanted, told);
  if (from !== null && seen !== ALL) yield* teller.changes(from, seen);
  if (wantsBlocks(wanted)) for (const row of to.blocksAfter(from)) yield* teller.block(row);
}

/** For a reader whose block is gone, and with it what it did: back to the newest block it shares with us. */
export function rollbackTo(to: Query, row: ChainRow | null, undone: number, told: EventContext): Announcement {
  return new Announcer(to, NOTHING, told).rollback(row, undone, true);
}

function wantsBlocks({ blocks, outputs }: EventSelection): boolean {
  return blocks || outputs;
}

const NOTHING: EventSelection = { blocks: false, outputs: false };

/** Tells of the blocks of one query. */
class Announcer {
  private readonly query: Query;
  private readonly wanted: EventSelection;
  private readonly told: EventContext;
  private readonly positions: PositionWriter;
  private readonly renderer: Renderer;
  /** Set once a block was met whose changes are not known. */
  private gap = false;

  constructor(query: Query, wanted: EventSelection, told: EventContext) {
    this.query = query;
    this.wanted = wanted;
    this.told = told;
    this.positions = new PositionWriter(query);
    this.renderer = new Renderer(query, told.network.dialect);
  }

  *block(row: ChainRow): Announcements {
    if (this.wanted.blocks) yield this.blockEvent('block', row, row, 0);
    yield* this.changes(row, 0);
    yield null;
  }

  /** The block's changes behind those that were seen. */
  *changes(row: ChainRow, seen: number): Announcements {
    const changes = this.look(row);
    if (changes === null || changes instanceof PrunedGap) return yield changes;
    const { created, spent } = changes;
    for (let i = seen; i < created.length; i++) yield this.output('created', row, i + 1, { ...created[i], spent: null });
    for (let i = Math.max(0, seen - created.length); i < spent.length; i++)
      yield this.output('spent', row, created.length + i + 1, spent[i]);
  }

  *undo(row: ChainRow, parent: ChainRow | null): Announcements {
    const changes = this.look(row);
    if (changes instanceof PrunedGap) yield changes;
    else if (changes !== null) {
      const { created, spent } = changes;
      for (let i = spent.length - 1; i >= 0; i--) yield this.output('unspent', row, created.length + i, spent[i]);
      for (let i = created.length - 1; i >= 0; i--) yield this.output('uncreated', row, i, { ...created[i], spent: null });
    }
    if (this.wanted.blocks) yield this.blockEvent('undo', row, parent, ALL);
    yield null;
  }

  rollback(to: ChainRow | null, undone: number, resumed: boolean): Announcement {
    return new Announcement('rollback', null, () =>
      frame('rollback', this.positions.at(to, ALL), { to: renderPoint(to, this.told.network.dialect), undone, resumed }),
    );
  }

  /** What the block did; null if no listener asked for it. */
  private look(row: ChainRow): BlockChanges | PrunedGap | null {
    if (!this.wanted.outputs || this.gap) return null;
    try {
      return this.query.changes(row);
    } catch (error) {
      if (!isUnspentError(error) || error.code !== 'PRUNED') throw error;
      this.gap = true;
      return new PrunedGap(error.message);
    }
  }

  /** `place` and `seen` are where the reader is after it. */
  private blockEvent(name: 'block' | 'undo', row: ChainRow, place: ChainRow | null, seen: number): Announcement {
    const write = (): string =>
      frame(name, this.positions.at(place, seen), { ...this.renderer.block(row), ...(name === 'block' && this.roots(row)) });
    return new Announcement('block', null, write);
  }

  private roots(row: ChainRow): { readonly roots: Roots } | null {
    const { head } = this.query;
    const roots = head !== null && equalBytes(head.hash, row.hash) ? this.told.rootsOf(this.query) : null;
    return roots === null ? null : { roots };
  }

  private output(name: EventName, row: ChainRow, seen: number, utxo: Utxo): Announcement {
    const write = (): string => frame(name, this.positions.at(row, seen), this.renderer.utxo(utxo));
    return new Announcement('utxo', new SubscribedKeys(utxo, this.told.network.ledger), write);
  }
}
