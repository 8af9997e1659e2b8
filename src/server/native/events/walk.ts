/**
 * Events as a pure function of two snapshots: what it takes to get from the
 * chain of one to the chain of the other. Blocks that are not in the newer one
 * are undone, newest first, with what the older one knows of them; then come the
 * newer one's, oldest first. Forward a block is told before its changes, created
 * before spent; undone, all of it is told in reverse.
 *
 * Between blocks null comes out, so that whoever reads may pause.
 *
 * Roots are told of the newest block only: the snapshot is at that one, and to
 * have those of the blocks before it would mean to undo what came since.
 */

import { ALL, PositionWriter } from '../../../events/position.ts';
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

/** What somebody listens to: the rest is not worked out. */
export interface Wanted {
  readonly blocks: boolean;
  readonly outputs: boolean;
}

/** What a block did was pruned: from here on there are no events of outputs. */
export class Gap {
  readonly why: string;

  constructor(why: string) {
    this.why = why;
  }
}

/** What events are told of: the chain, and the roots of the store. */
export interface Told {
  readonly network: Network;
  /** Of the newest block of a query; null: none is kept. */
  rootsOf(query: Query): Roots | null;
}

export type Events = Generator<Announcement | Gap | null, void, void>;

/** From the head of one query to that of another. */
export function* walk(from: Query, to: Query, wanted: Wanted, told: Told): Events {
  const old = new Teller(from, wanted, told);
  let row = headRow(from);
  let undone = 0;
  while (row !== null && to.blockByHash(row.hash) === null) {
    const parent = from.blockByHash(row.prevHash);
    yield* old.undo(row, parent);
    undone++;
    row = parent;
  }
  const teller = new Teller(to, wanted, told);
  if (undone > 0) yield teller.rollback(row, undone, false);
  yield* teller.above(row);
}

/** From a block of the query's own chain, of which so many changes were seen, to its head. */
export function* walkOn(to: Query, from: ChainRow | null, seen: number, wanted: Wanted, told: Told): Events {
  const teller = new Teller(to, wanted, told);
  if (from !== null && seen !== ALL) yield* teller.changes(from, seen);
  yield* teller.above(from);
}

/** For a reader whose block is gone, and with it what it did: back to the newest block it shares with us. */
export function rollbackTo(to: Query, row: ChainRow | null, undone: number, told: Told): Announcement {
  return new Teller(to, NOTHING, told).rollback(row, undone, true);
}

export function headRow(query: Query): ChainRow | null {
  return query.head === null ? null : query.blockByHash(query.head.hash);
}

const NOTHING: Wanted = { blocks: false, outputs: false };

/** Tells of the blocks of one query. */
class Teller {
  private readonly query: Query;
  private readonly wanted: Wanted;
  private readonly told: Told;
  private readonly ids: PositionWriter;
  private readonly renderer: Renderer;
  /** Set once a block was met whose changes are not known. */
  private gap = false;

  constructor(query: Query, wanted: Wanted, told: Told) {
    this.query = query;
    this.wanted = wanted;
    this.told = told;
    this.ids = new PositionWriter(query);
    this.renderer = new Renderer(query, told.network.dialect);
  }

  /** Every block behind that one (null: all of them), oldest first. */
  *above(from: ChainRow | null): Events {
    const { blocks, outputs } = this.wanted;
    if (!blocks && !outputs) return;
    for (const row of this.query.blocksAfter(from)) {
      if (blocks) yield this.block('block', row, row, 0);
      yield* this.changes(row, 0);
      yield null;
    }
  }

  /** The block's changes behind those that were seen. */
  *changes(row: ChainRow, seen: number): Events {
    const changes = this.look(row);
    if (changes === null || changes instanceof Gap) return yield changes;
    const { created, spent } = changes;
    for (let i = seen; i < created.length; i++) yield this.output('created', row, i + 1, { ...created[i], spent: null });
    for (let i = Math.max(0, seen - created.length); i < spent.length; i++)
      yield this.output('spent', row, created.length + i + 1, spent[i]);
  }

  *undo(row: ChainRow, parent: ChainRow | null): Events {
    const changes = this.look(row);
    if (changes instanceof Gap) yield changes;
    else if (changes !== null) {
      const { created, spent } = changes;
      for (let i = spent.length - 1; i >= 0; i--) yield this.output('unspent', row, created.length + i, spent[i]);
      for (let i = created.length - 1; i >= 0; i--) yield this.output('uncreated', row, i, { ...created[i], spent: null });
    }
    if (this.wanted.blocks) yield this.block('undo', row, parent, ALL);
    yield null;
  }

  rollback(to: ChainRow | null, undone: number, resumed: boolean): Announcement {
    return new Announcement('rollback', null, () =>
      frame('rollback', this.ids.at(to, ALL), { to: renderPoint(to, this.told.network.dialect), undone, resumed }),
    );
  }

  /** What the block did; null when nobody wants to know. */
  private look(row: ChainRow): BlockChanges | Gap | null {
    if (!this.wanted.outputs || this.gap) return null;
    try {
      return this.query.changes(row);
    } catch (error) {
      if (!isUnspentError(error) || error.code !== 'PRUNED') throw error;
      this.gap = true;
      return new Gap(error.message);
    }
  }

  /** `place` and `seen` are where the reader is after it. */
  private block(name: 'block' | 'undo', row: ChainRow, place: ChainRow | null, seen: number): Announcement {
    const write = (): string =>
      frame(name, this.ids.at(place, seen), { ...this.renderer.block(row), ...(name === 'block' && this.roots(row)) });
    return new Announcement('block', null, write);
  }

  private roots(row: ChainRow): { readonly roots: Roots } | null {
    const { head } = this.query;
    const roots = head !== null && equalBytes(head.hash, row.hash) ? this.told.rootsOf(this.query) : null;
    return roots === null ? null : { roots };
  }

  private output(name: EventName, row: ChainRow, seen: number, utxo: Utxo): Announcement {
    const write = (): string => frame(name, this.ids.at(row, seen), this.renderer.utxo(utxo));
    return new Announcement('utxo', new SubscribedKeys(utxo, this.told.network.ledger.traits), write);
  }
}
