/**
 * A store as a publisher sees it: its engine, and what it takes to say what its
 * blocks did. The same in the process of the store and in a thread beside it.
 */
import type { Engine, Reader, Snapshot } from '../engine/engine.ts';
import type { Network } from '../families/family.ts';
import { PUBLISH_HISTORY, PUBLISH_HISTORY_KEY, readElsewhere } from '../projections/history/elsewhere.ts';
import type { OwnerKeys } from '../projections/packed.ts';
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

/** What it takes to tell what of a store is published, whoever has it open. */
export type ViewedStore = Pick<PublishedStore, 'network' | 'projections' | 'table' | 'readSetting'> & {
  readonly columns: readonly string[];
  readonly selfContained: boolean;
};

/** What of a store is published, as one reader of it shows, and what it takes to undo its blocks. */
export class PublishedView implements Undoable {
  readonly scope: PublishedScope;
  readonly options: { readonly utxo: boolean };
  readonly ledger: OwnerKeys;
  readonly needsSpent: boolean;
  readonly isLocal: Undoable['isLocal'];
  private readonly store: ViewedStore;

  constructor(reader: Reader, store: ViewedStore) {
    this.store = store;
    this.ledger = store.network.ledger;
    this.scope = new PublishedScope(reader, this.projectionsOf(store.projections));
    this.isLocal = (column, key) => this.scope.isLocal(column, key);
    this.options = { utxo: store.columns.includes(UNSPENT) };
    this.needsSpent = undoNeedsSpent({ ...this.options, selfContained: store.selfContained });
  }

  makeProjections(): readonly Projection[] {
    return this.projectionsOf(this.scope.projections);
  }

  private projectionsOf(names: readonly string[]): readonly Projection[] {
    const { network, table, readSetting } = this.store;
    // A copy keeps what the store leaves to it.
    const ofCopy: SettingReader = (key) => (key === PUBLISH_HISTORY_KEY ? PUBLISH_HISTORY.default : readSetting(key));
    return selectProjections(names, network.ledger, table, ofCopy);
  }
}

/** One moment of a store, with what of it is published. */
export class StoreMoment extends PublishedView {
  readonly snapshot: Snapshot;
  readonly query: Query;
  readonly identity: PublishedIdentity;
  /** The height of the first block whose history the store has: what is below it the copy has alone. */
  readonly elsewhere: number;

  constructor(store: PublishedStore) {
    const columns = store.engine.columns.map(({ name }) => name);
    const snapshot = store.engine.snapshot(columns);
    super(snapshot, { ...store, columns, selfContained: store.facts.selfContained });
    this.snapshot = snapshot;
    this.query = new Query(snapshot, columns, store.network.ledger);
    this.identity = this.scope.identity(store.facts);
    this.elsewhere = readElsewhere(snapshot);
  }

  release(): void {
    this.query.release();
  }
}
