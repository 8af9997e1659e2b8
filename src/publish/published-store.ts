/**
 * A store as a publisher sees it: its engine, and what it takes to say what its
 * blocks did. The same in the process of the store and in a thread beside it.
 */
import type { Engine, Snapshot } from '../engine/engine.ts';
import type { Network } from '../families/family.ts';
import type { Projection } from '../projections/projection.ts';
import { type ProjectionTable, selectProjections } from '../projections/registry.ts';
import { UNSPENT } from '../projections/utxo.ts';
import { Query } from '../query/query.ts';
import { undoNeedsSpent } from '../state/horizon.ts';
import type { SettingReader } from '../util/setting.ts';
import type { Undoable } from './block-changes.ts';
import { type PublishedFacts, type PublishedIdentity, PublishedScope } from './identity.ts';

export interface PublishedStore {
  readonly engine: Engine;
  readonly network: Network;
  /** Names of those it keeps, ready or not. */
  readonly projections: readonly string[];
  readonly table: ProjectionTable;
  readonly readSetting: SettingReader;
  readonly facts: PublishedFacts;
}

/** One moment of a store, with what of it is published. */
export class StoreMoment implements Undoable {
  readonly snapshot: Snapshot;
  readonly query: Query;
  readonly scope: PublishedScope;
  readonly identity: PublishedIdentity;
  readonly options: { readonly utxo: boolean };
  readonly needsSpent: boolean;
  readonly isLocal: Undoable['isLocal'];
  private readonly store: PublishedStore;

  constructor(store: PublishedStore) {
    this.store = store;
    const columns = store.engine.columns.map(({ name }) => name);
    this.snapshot = store.engine.snapshot(columns);
    this.query = new Query(this.snapshot, columns, store.network.ledger.traits);
    this.scope = new PublishedScope(this.snapshot, this.projectionsOf(store.projections));
    this.isLocal = (column, key) => this.scope.isLocal(column, key);
    this.identity = this.scope.identity(store.facts);
    this.options = { utxo: columns.includes(UNSPENT) };
    this.needsSpent = undoNeedsSpent({ ...this.options, selfContained: store.facts.selfContained });
  }

  makeProjections(): readonly Projection[] {
    return this.projectionsOf(this.scope.projections);
  }

  release(): void {
    this.query.release();
  }

  private projectionsOf(names: readonly string[]): readonly Projection[] {
    const { network, table, readSetting } = this.store;
    return selectProjections(names, network.ledger, table, readSetting);
  }
}
