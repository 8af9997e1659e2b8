/**
 * A store: one data directory, one network, one fold. The library's front door
 * (`openStore`), and what every command works on. It wires the rooms together and
 * does nothing else.
 */
import type { Config, SettingKey } from '../config/schema.ts';
import { readIdentity, storeFailure, writeIdentity } from '../engine/directory.ts';
import type { Engine, EngineFactory } from '../engine/engine.ts';
import type { UncleanShutdown } from '../engine/open.ts';
import { EventReaders } from '../events/event-readers.ts';
import type { EventForm, StoreEvents, StoreEventsOptions } from '../events/store-events.ts';
import type { Network } from '../families/family.ts';
import { openNetworkSource } from '../families/open-source.ts';
import type { Point } from '../ledgers/ledger.ts';
import type { ChainRow } from '../projections/chain.ts';
import type { ProjectionTable } from '../projections/registry.ts';
import type { Commitment, CommitmentOptions } from '../query/commitment.ts';
import { type Digest, digestOf } from '../query/digest.ts';
import { Overlays } from '../query/overlay.ts';
import { parsePlace, pointAt } from '../query/place.ts';
import { Prover, type Roots } from '../query/proofs.ts';
import { Query } from '../query/query.ts';
import { type FollowResult, follow } from '../sources/follow.ts';
import type { Source } from '../sources/source.ts';
import { FIRST_LIMITS, type FillProgress, Fills, nextLimits } from '../state/fill.ts';
import { Fold } from '../state/fold.ts';
import { NO_TOTALS, type Totals } from '../state/head.ts';
import { PruneSchedule } from '../state/prune-schedule.ts';
import type { PruneCounts } from '../state/pruned.ts';
import { UnspentError } from '../util/errors.ts';
import { runBoth } from '../util/run-both.ts';
import { nextTurn } from '../util/time-slice.ts';
import { dropPins } from './backup/pinned-store.ts';
import { checkBegun, markBegun } from './begun.ts';
import { ChainConsumers } from './consumers.ts';
import { listenForCommands } from './control/listener.ts';
import { beginReshape, checkOwnEngine, NewDirectory, openEngine, planOpening, rememberChanges } from './directory.ts';
import type { FillSettings, FollowSettings, FollowState } from './following.ts';
import { genesisNeeded, type StoreIdentity, type StorePlan } from './identity.ts';
import { openStoreTxs } from './open-txs.ts';
import { configFrom, type OpenOptions } from './options.ts';
import { StorePlace } from './place.ts';
import { storeProjections } from './projections.ts';
import { followPace, keptHash, type Publishing } from './publishing.ts';
import { beginFills, type ShapeChange } from './shape.ts';
import type { StoreTxs } from './store-txs.ts';
import { keyEstimates, type StoreStatus, summaryOf } from './summary.ts';
import { checkFinished } from './unfinished.ts';
import { type Verification, verifyStore } from './verify/verify.ts';

/** What a set is at before the first block. */
const NO_HASH = new Uint8Array(32);

export type { FillSettings, FollowSettings, FollowState } from './following.ts';
export type { OpenOptions } from './options.ts';
export type { StoreStatus } from './summary.ts';

export async function openStore(options: OpenOptions = {}): Promise<OpenStore> {
  const said = configFrom(options);
  const data = options.data ?? said.data;
  const mayCreate = options.create !== false;
  const present = readIdentity(data) as StoreIdentity | null;
  if (present === null && !mayCreate) throw new UnspentError('STORE_MISSING', `there is no store in ${data}`, { data });
  checkFinished(present, data, options.unfinished === true);
  checkBegun(present, data);
  checkOwnEngine(present, options.engine, data);
  const reshape = options.reshape ?? mayCreate;
  const may = { shape: reshape, windows: options.windows ?? reshape };
  const table = storeProjections(options.projections);
  const { identity, plan, shape } = await planOpening(present, { ...options, data, config: said }, may, mayCreate, table);
  // Before anything is made: such a store could never take its first block.
  if (identity === null && plan.config.utxo.enabled && !plan.network.hasGenesis) throw genesisNeeded(plan.network);
  const made = identity === null ? new NewDirectory(data) : null;
  try {
    const store = await openPlanned(data, identity, plan, shape, made, table, options.engine);
    if (options.control !== false) store.controlFailure = await listenForCommands(store, options.holder ?? 'a program');
    return store;
  } catch (error) {
    made?.remove();
    throw storeFailure(error, data);
  }
}

async function openPlanned(
  data: string,
  identity: StoreIdentity | null,
  { facts, network, config, ignored }: StorePlan,
  shape: ShapeChange,
  made: NewDirectory | null,
  table: ProjectionTable,
  own: EngineFactory | undefined,
): Promise<OpenStore> {
  const isReshaped = identity !== null && shape.added.length + shape.removed.length > 0;
  if (identity === null) writeIdentity(data, { ...facts, ...shape.after });
  else if (isReshaped) await beginReshape(data, identity, config, network, shape, table, own);
  const engine = await openEngine(data, config, shape, own);
  try {
    dropPins(data);
    beginFills(engine, shape);
    if (identity !== null) rememberChanges(data, identity, facts, shape.after, isReshaped);
    const fills = new Fills(engine, shape.projections, network.ledger);
    const fold = new Fold(engine, network.ledger, fills.projections, {
      utxo: config.utxo.enabled,
      partial: facts.partial,
      selfContained: facts.selfContained,
      ...facts.windows,
      fsync: false,
    });
    markBegun(identity, data, fold);
    const unclosed = engine.unclosed ?? null;
    const store = new OpenStore({ data, network, config, ignored, engine, fold, fills, shape, table, made, unclosed });
    store.txs = await openStoreTxs(store);
    await store.txs?.refresh();
    return store;
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/** What a store is made of. */
interface StoreParts {
  readonly data: string;
  readonly network: Network;
  readonly config: Config;
  readonly ignored: readonly SettingKey[];
  readonly engine: Engine;
  readonly fold: Fold;
  readonly fills: Fills;
  readonly shape: Pick<ShapeChange, 'added' | 'removed'>;
  readonly table: ProjectionTable;
  readonly made: NewDirectory | null;
  readonly unclosed: UncleanShutdown | null;
}

/** A store that this process has open, with all its parts: what the commands and the server work on. */
export class OpenStore {
  readonly data: string;
  readonly network: Network;
  /** The settings it runs with: of those it remembers, its own where nobody may change them or nobody said anything. */
  readonly config: Config;
  /** Settings that were given and are not what the store has. */
  readonly ignored: readonly SettingKey[];
  readonly fold: Fold;
  readonly engine: Engine;
  /** Names of what was switched on and off when it was opened. */
  readonly reshaped: { readonly added: readonly string[]; readonly removed: readonly string[] };
  /** Who had the store open before and did not close it: it was recovered from its logs. */
  readonly unclosed: UncleanShutdown | null;
  /** What is followed now, and why following ended, if it failed. */
  following: FollowState | null = null;
  followFailure: Error | null = null;
  /** Readers of the engine in other threads, and where they serve it. They are closed first, because the engine must outlive them. */
  readonly readers = new Set<{ close(): Promise<void>; readonly url?: string | undefined }>();
  /** Why other processes cannot have their commands run by this one; null: they can, or were not to. */
  controlFailure: string | null = null;
  /** Records of transactions; null: it keeps none (`txs.store`). */
  txs: StoreTxs | null = null;
  /** Who publishes it to a copy elsewhere (`publish.to`); null: nobody in this process. */
  publishing: Publishing | null = null;
  /** Who takes in its blocks and stores how far it is. */
  readonly consumers = new ChainConsumers();
  private readonly filling: Fills;
  private readonly table: ProjectionTable;
  private readonly schedule: PruneSchedule;
  private readonly place: StorePlace;
  private readonly overlays = new Overlays();
  private readonly eventReaders: EventReaders;
  /** Null: it was there before. */
  private readonly made: NewDirectory | null;

  constructor({ data, network, config, ignored, engine, fold, fills, shape, table, made, unclosed }: StoreParts) {
    this.data = data;
    this.network = network;
    this.config = config;
    this.ignored = ignored;
    this.made = made;
    this.place = new StorePlace(data);
    this.engine = engine;
    this.fold = fold;
    this.filling = fills;
    this.table = table;
    this.unclosed = unclosed;
    this.reshaped = { added: shape.added.map((projection) => projection.name), removed: shape.removed };
    this.eventReaders = new EventReaders(fold, network.ledger, network.dialect, this.overlays);
    const { pruneBatchSize, pruneScheduleSeconds } = config.utxo;
    const published = (): Uint8Array | null => keptHash(this.publishing);
    this.schedule = new PruneSchedule(fold, { batchBlocks: pruneBatchSize, intervalMs: 1000 * pruneScheduleSeconds, published });
  }

  /**
   * Follows a source until it ends, `until` is reached, or the signal says so. Stops at a block. What was switched on
   * is filled meanwhile, and to its end where the source ends first; what leaves the window is pruned.
   */
  async follow(source: string | Source, settings: FollowSettings = {}): Promise<FollowResult> {
    if (this.config.utxo.enabled && this.fold.head === null && !this.network.hasGenesis) throw genesisNeeded(this.network);
    const from = typeof source === 'string' ? openNetworkSource(source, this.network) : source;
    const following: FollowState = { source: from, progress: null };
    const followSource = (signal: AbortSignal): Promise<FollowResult> =>
      follow(from, this.fold, this.network.ledger, {
        until: settings.until ?? { kind: 'end' },
        follow: settings.follow ?? false,
        signal,
        ...followPace(this),
        onProgress(progress) {
          following.progress = progress;
          settings.onProgress?.(progress);
        },
        onRollback: settings.onRollback,
      });
    this.following = following;
    this.followFailure = null;
    const ended = new AbortController();
    const followToEnd = (signal: AbortSignal): Promise<FollowResult> =>
      this.followAndFill(followSource, { ...settings, signal })
        .then(async (followed) => {
          await this.txs?.reached(signal);
          return followed;
        })
        .finally(() => ended.abort());
    try {
      const [followed] = await runBoth(settings.signal ?? ended.signal, followToEnd, (stop) =>
        this.keepPruned(AbortSignal.any([stop, ended.signal])),
      );
      return followed;
    } catch (error) {
      this.followFailure = error as Error;
      throw error;
    } finally {
      this.following = null;
    }
  }

  private async followAndFill(follow: (signal: AbortSignal) => Promise<FollowResult>, settings: FollowSettings): Promise<FollowResult> {
    const signal = settings.signal ?? new AbortController().signal;
    if (this.filling.isDone) return follow(signal);
    const fill = (fillSignal: AbortSignal): Promise<boolean> =>
      this.fill({ signal: fillSignal, onProgress: settings.onFill, onStep: settings.onFillStep });
    const [followed, isFilled] = await runBoth(signal, follow, fill);
    return isFilled ? followed : { ...followed, reason: 'interrupted' };
  }

  /**
   * Fills what was switched on, a step of some milliseconds at a time: blocks, rollbacks and readers get their turn
   * in between. False: the signal came first; the next call goes on from there.
   */
  async fill({ signal, onProgress, onStep, limits }: FillSettings = {}): Promise<boolean> {
    let pace = limits ?? FIRST_LIMITS;
    while (!this.filling.isDone) {
      if (signal?.aborted) return false;
      const started = performance.now();
      const rows = this.filling.step(pace);
      const seconds = (performance.now() - started) / 1000;
      pace = limits ?? nextLimits(pace, seconds);
      onStep?.(seconds, rows);
      for (const watcher of this.fold.watchers) watcher.filled?.(rows, seconds);
      onProgress?.(this.filling.progress());
      await nextTurn();
    }
    return true;
  }

  /** What is not ready yet, and how far it is. */
  fills(): readonly FillProgress[] {
    return this.filling.progress();
  }

  /** Reads pinned to this moment. Release it, or use `read`. */
  query(): Query {
    const columns = this.engine.columns.map((column) => column.name);
    return new Query(this.engine.snapshot(columns), columns, this.network.ledger, this.overlays);
  }

  read<T>(body: (query: Query) => T): T {
    const query = this.query();
    try {
      return body(query);
    } finally {
      query.release();
    }
  }

  /**
   * The blocks that are applied and undone from now on, or since `after`, with what they created and spent: see
   * `StoreEvents`. Throws USAGE when `after` is no position, EXPIRED when the events after it cannot be told any more,
   * UNSUPPORTED when the store keeps no outputs.
   */
  events(options: StoreEventsOptions = {}): StoreEvents {
    return this.eventsAs(options, (event) => event);
  }

  /** The same in another form. */
  eventsAs<E>(options: StoreEventsOptions, form: EventForm<E>): StoreEvents<E> {
    return this.eventReaders.read(options, form);
  }

  /** `slot:N`, `height:N`, a block hash, `origin`, or a bare number, which is a slot. */
  locate(place: string): Point | null {
    const { dialect } = this.network;
    return this.read((query) => pointAt(query, parsePlace(place, dialect.parseId), dialect));
  }

  /** Proofs of what the store says now, or said at a place (as `locate` reads it). */
  prove<T>(body: (prover: Prover) => T, place?: string): T {
    const { network, fold } = this;
    const projections = fold.projections.map(({ name }) => name);
    return this.read((query) => {
      const point = place === undefined ? null : pointAt(query, parsePlace(place, network.dialect.parseId), network.dialect);
      return body(new Prover(query, place === undefined ? query : query.at(point), { network, projections }));
    });
  }

  /** Of the structures that are on and ready. */
  roots(place?: string): Roots {
    return this.prove((prover) => prover.roots(), place);
  }

  /** Returns the number of blocks undone. */
  rollback(to: Point | null): number {
    return this.fold.rollback(to);
  }

  /** Prunes on schedule until the signal comes. `follow` does so itself. Throws STORE_GONE where its directory is not there any more. */
  async keepPruned(signal: AbortSignal): Promise<void> {
    await Promise.all([this.schedule.run(signal), this.txs?.run(signal), this.place.watch(signal)]);
  }

  /** One bounded batch of pruning. */
  prune(blocksMax = this.config.utxo.pruneBatchSize): PruneCounts {
    return this.schedule.step(blocksMax);
  }

  digest(onRows?: (rows: number) => void): Digest {
    this.needUtxo('a digest');
    return digestOf(this.engine, onRows);
  }

  /** What a node says of its unspent set, from one walk over ours; null where nodes of the family say nothing of the kind. MuHash costs most of it. */
  commitment(options: CommitmentOptions = {}): Commitment | null {
    this.needUtxo('a commitment');
    const { family } = this.network;
    if (family.commitment === undefined) return null;
    const kept = this.read((query) => query.setHash(this.network.ledger.setHash));
    const found = family.commitment(this.engine, this.fold.head?.hash ?? NO_HASH, { ...options, muhash: options.muhash ?? kept === null });
    return { ...found, muhash: found.muhash ?? kept?.hash ?? null };
  }

  /** Checks what is ready against the unspent set, or of that only some. */
  verify(onProgress?: (what: string, rows: number) => void, only?: readonly string[]): Verification {
    const projections = this.ready().filter((name) => only?.includes(name) ?? true);
    return verifyStore(this.engine, this.network.ledger, { projections, table: this.table, onProgress });
  }

  status(): StoreStatus {
    const { fold, engine } = this;
    const columns = engine.columns.map(({ name }) => name);
    return {
      ...this.read((query) => summaryOf(query, this.config)),
      data: this.data,
      network: this.network.name,
      projections: fold.projections.map((projection) => projection.name),
      fills: this.fills(),
      engine: engine.stats(),
      keys: keyEstimates(columns, (column) => engine.stats(column)),
    };
  }

  /** What the unspent set adds up to; null: the store keeps none (`utxo.enabled`). */
  totals(): Totals | null {
    return this.config.utxo.enabled ? (this.fold.head ?? NO_TOTALS) : null;
  }

  /** Names of the projections that can be relied on. */
  private ready(): readonly string[] {
    const filling = this.fills().map((fill) => fill.projection);
    return this.fold.projections.map(({ name }) => name).filter((name) => !filling.includes(name));
  }

  /** The oldest point we can go back to; null: the origin. */
  horizon(): ChainRow | null {
    return this.fold.horizon;
  }

  async close(): Promise<void> {
    await Promise.all([...this.readers].map((reader) => reader.close()));
    this.eventReaders.close();
    await this.txs?.close();
    await this.engine.close();
  }

  /** Closes it after a failure: a store that was made by this opening and has no block yet is removed again. */
  async discard(): Promise<void> {
    await this.close();
    if (this.fold.head === null) this.made?.remove();
  }

  private needUtxo(what: string): void {
    if (!this.config.utxo.enabled) throw new UnspentError('UNSUPPORTED', `${what} needs the unspent set, and utxo.enabled is off`);
  }
}
