/**
 * A store: one data directory, one network, one fold. The library's front door
 * (`open`), and what every command works on. It wires the rooms together and
 * does nothing else.
 */

import { loadConfig } from './config/load.ts';
import type { Config } from './config/schema.ts';
import { indexesOf } from './config/schema.ts';
import { checkNetwork, databaseDirectory, type Identity, readIdentity, SCHEMA_VERSION, writeIdentity } from './engine/directory.ts';
import type { Engine, EngineStats } from './engine/engine.ts';
import { openRocks } from './engine/rocks.ts';
import type { CardanoNetwork } from './ledgers/cardano/index.ts';
import { KEY_KINDS, type KeyKind, type Point } from './ledgers/ledger.ts';
import { type Network, networkNames, openNetwork, withoutGenesis } from './networks.ts';
import type { ChainRow } from './projections/chain.ts';
import { type Selection, selectProjections } from './projections/registry.ts';
import { type Digest, digestOf } from './query/digest.ts';
import { parsePlace, pointAt } from './query/place.ts';
import { Query } from './query/query.ts';
import { type Verification, verifyStore } from './query/verify.ts';
import { follow, type Pumped, type PumpOptions } from './sources/follow.ts';
import { type GenesisTexts, readGenesisFiles } from './sources/genesis-files.ts';
import { openSource } from './sources/open.ts';
import type { Source } from './sources/source.ts';
import { DELTA, deltaColumn } from './state/delta.ts';
import { Fold } from './state/fold.ts';
import type { Head } from './state/head.ts';
import { PruneSchedule } from './state/prune-schedule.ts';
import { type PruneCounts, type Pruned, readPruned } from './state/pruned.ts';
import { UnspentError } from './util/errors.ts';
import { VERSION } from './version.ts';

export interface OpenOptions {
  /** Directory of the store. Default: the setting `data` (./data). */
  readonly data?: string;
  /** Needed only to create a store. */
  readonly network?: string;
  /** Folder with the genesis files, or their texts. */
  readonly genesis?: string | GenesisTexts;
  /** Settings; default: defaults, environment and ./unspent.toml. */
  readonly config?: Config;
  /** Make the store when there is none. Default true. */
  readonly create?: boolean;
  /** A new store may start in the middle of the chain; inputs from before are then counted as missing. */
  readonly partial?: boolean;
}

/** What a store remembers about itself in unspent.json. */
interface StoreIdentity extends Identity {
  readonly family: string;
  readonly parameters: CardanoNetwork;
  readonly partial: boolean;
  readonly selfContained: boolean;
  readonly projections: readonly string[];
  readonly createdBy: string;
}

export interface FollowSettings {
  readonly until?: PumpOptions['until'];
  readonly follow?: boolean;
  readonly signal?: AbortSignal;
  readonly onProgress?: PumpOptions['onProgress'];
  readonly onRollback?: PumpOptions['onRollback'];
}

export interface StoreStatus {
  readonly data: string;
  readonly network: string;
  readonly partial: boolean;
  readonly head: Head | null;
  readonly horizon: Point | null;
  readonly pruned: Pruned;
  readonly projections: readonly string[];
  readonly engine: EngineStats;
}

export async function open(options: OpenOptions = {}): Promise<Store> {
  const config = options.config ?? loadConfig({ env: process.env }).config;
  const data = options.data ?? config.data;
  const identity = readIdentity(data) as StoreIdentity | null;
  const name = options.network ?? config.network;
  if (identity === null && options.create === false) throw new UnspentError('STORE_MISSING', `there is no store in ${data}`, { data });
  if (identity === null && name === '') {
    throw new UnspentError(
      'NETWORK_NEEDED',
      `there is no store in ${data} yet, and no network was named; there are ${networkNames().join(', ')}`,
    );
  }
  if (identity !== null && name !== '') checkNetwork(identity, name);
  const wanted = wantedIdentity(identity, config, name, options);
  const selection = selectionOf(config);
  if (identity !== null) checkShape(identity, wanted);
  else {
    // Said before anything is made: a store that could never take its first block helps nobody.
    if (selection.utxo && !wanted.network.hasGenesis) throw genesisNeeded(wanted.network);
    writeIdentity(data, { ...wanted.identity });
  }
  const projections = selectProjections(selection);
  const engine = await openRocks(databaseDirectory(data), [...projections.flatMap((projection) => projection.columns), deltaColumn], {
    createIfMissing: true,
    memtableBytes: config.engine.memtableBytes,
    cacheBytes: config.engine.cacheBytes,
    compression: config.engine.compression,
  });
  try {
    const fold = new Fold(engine, wanted.network.ledger, projections, {
      utxo: selection.utxo,
      partial: wanted.identity.partial,
      selfContained: config.utxo.delta.selfContained,
      pruneDepth: config.utxo.pruneDepth,
      rollbackWindow: config.utxo.rollbackWindow,
      fsync: false,
    });
    if (identity !== null && wanted.identity.partial && !identity.partial) becomePartial(data, wanted.identity, fold);
    return new Store(data, wanted.network, config, selection, engine, fold);
  } catch (error) {
    await engine.close();
    throw error;
  }
}

function wantedIdentity(
  existing: StoreIdentity | null,
  config: Config,
  name: string,
  options: OpenOptions,
): { identity: StoreIdentity; network: Network } {
  const networkName = existing?.network ?? name;
  const given = options.genesis ?? config.genesis;
  const texts = typeof given === 'string' ? (given === '' ? null : readGenesisFiles(given, networkName)) : given;
  const partial = existing?.partial || (options.partial ?? false);
  const found = openNetwork(networkName, texts, existing?.parameters);
  const network = partial && !found.hasGenesis ? withoutGenesis(found) : found;
  const identity = {
    schema: SCHEMA_VERSION,
    network: networkName,
    family: network.family,
    parameters: network.parameters,
    partial,
    selfContained: config.utxo.delta.selfContained,
    projections: selectProjections(selectionOf(config)).map((projection) => projection.name),
    createdBy: `unspent ${VERSION}`,
  };
  return { identity, network };
}

function genesisNeeded({ name }: Network): UnspentError {
  return new UnspentError('GENESIS_NEEDED', `the genesis of '${name}' is not built in, and the store is empty`, {
    network: name,
  });
}

/** A store that has no block yet may still learn that its chain is partial; a first try without the flag must not spoil it. */
function becomePartial(data: string, identity: StoreIdentity, fold: Fold): void {
  if (fold.head !== null)
    throw new UnspentError('STORE_SHAPE', `the store in ${data} began at the first block of the chain; only an empty one can be partial`);
  writeIdentity(data, { ...identity });
}

function selectionOf(config: Config): Selection {
  const { addressHash, paymentCredential, stakeCredential } = indexesOf(config);
  return { utxo: config.utxo.enabled, indexes: { address: addressHash, payment: paymentCredential, stake: stakeCredential } };
}

/** Columns that were not kept from the start would answer wrongly; refuse rather than guess. */
function checkShape(existing: StoreIdentity, wanted: { identity: StoreIdentity }): void {
  const [have, want] = [existing.projections, wanted.identity.projections];
  if (have.join() !== want.join()) {
    throw new UnspentError('STORE_SHAPE', `the store keeps ${have.join(', ')}; the settings ask for ${want.join(', ')}`, { have, want });
  }
  if (existing.selfContained !== wanted.identity.selfContained) {
    throw new UnspentError('STORE_SHAPE', `the store was made with utxo.delta.selfContained = ${existing.selfContained}`);
  }
}

export class Store {
  readonly data: string;
  readonly network: Network;
  readonly config: Config;
  readonly fold: Fold;
  readonly engine: Engine;
  private readonly selection: Selection;
  private readonly schedule: PruneSchedule;

  constructor(data: string, network: Network, config: Config, selection: Selection, engine: Engine, fold: Fold) {
    this.data = data;
    this.network = network;
    this.config = config;
    this.selection = selection;
    this.engine = engine;
    this.fold = fold;
    const { pruneBatchSize, pruneScheduleSeconds } = config.utxo;
    this.schedule = new PruneSchedule(fold, { batchBlocks: pruneBatchSize, intervalMs: 1000 * pruneScheduleSeconds }, Date.now());
  }

  /** Follows a source until it ends, `until` is reached, or the signal says so. Stops at a block. */
  async follow(source: string | Source, settings: FollowSettings = {}): Promise<Pumped> {
    if (this.selection.utxo && this.fold.head === null && !this.network.hasGenesis) throw genesisNeeded(this.network);
    const { applyAsync, applyQueueSize } = this.config.utxo;
    return follow(typeof source === 'string' ? openSource(source, this.network) : source, this.fold, this.network.ledger, {
      until: settings.until ?? { kind: 'end' },
      follow: settings.follow ?? false,
      signal: settings.signal ?? new AbortController().signal,
      groupBlocks: this.config.sync.groupBlocks,
      queueSize: applyAsync ? applyQueueSize : 0,
      prune: this.schedule,
      onProgress: settings.onProgress,
      onRollback: settings.onRollback,
    });
  }

  /** Reads pinned to this moment. Release it, or use `read`. */
  query(): Query {
    const columns = this.engine.columns.map((column) => column.name).filter((name) => name !== DELTA);
    return new Query(this.engine.snapshot(columns), columns);
  }

  read<T>(body: (query: Query) => T): T {
    const query = this.query();
    try {
      return body(query);
    } finally {
      query.release();
    }
  }

  /** `slot:N`, `height:N`, a block hash, `origin`, or a bare number, which is a slot. */
  locate(place: string): Point | null {
    return this.read((query) => pointAt(query, parsePlace(place)));
  }

  /** Returns the number of blocks undone. */
  rollback(to: Point | null): number {
    return this.fold.rollback(to);
  }

  /** One bounded batch of pruning. */
  prune(blocksMax = this.config.utxo.pruneBatchSize): PruneCounts {
    return this.schedule.step(blocksMax);
  }

  digest(onRows?: (rows: number) => void): Digest {
    this.needUtxo('a digest');
    return digestOf(this.engine, onRows);
  }

  verify(onProgress?: (what: string, rows: number) => void): Verification {
    const indexes = KEY_KINDS.filter((kind: KeyKind) => this.selection.indexes[kind]);
    return verifyStore(this.engine, this.network.ledger, { indexes, utxo: this.selection.utxo, onProgress });
  }

  status(): StoreStatus {
    const { fold, engine } = this;
    return {
      data: this.data,
      network: this.network.name,
      partial: fold.options.partial,
      head: fold.head,
      horizon: this.horizon(),
      pruned: readPruned(engine),
      projections: fold.projections.map((projection) => projection.name),
      engine: engine.stats(),
    };
  }

  /** The oldest point we can go back to; null: the origin. */
  horizon(): ChainRow | null {
    const height = this.fold.horizonHeight;
    return height === null ? null : this.fold.rowAt(height);
  }

  async close(): Promise<void> {
    await this.engine.close();
  }

  private needUtxo(what: string): void {
    if (!this.selection.utxo) throw new UnspentError('UNSUPPORTED', `${what} needs the unspent set, and utxo.enabled is off`);
  }
}
