/**
 * Snapshots of a store: out of one, checked by themselves, and into a new one.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../config/schema.ts';
import type { Network } from '../families/family.ts';
import { openNetwork } from '../families/networks.ts';
import type { Point } from '../ledgers/ledger.ts';
import { CHAIN } from '../projections/chain.ts';
import type { ProjectionEntry } from '../projections/entry.ts';
import { SPENT, UNSPENT } from '../projections/utxo.ts';
import { knownPoint } from '../query/known-point.ts';
import { StoreColumns } from '../query/store-columns.ts';
import { unspentAt } from '../query/whole-set.ts';
import { checkLoadable, loadSnapshot } from '../snapshot/load.ts';
import type { SnapshotManifest } from '../snapshot/manifest.ts';
import { openSnapshot, readSnapshot, type SnapshotFolder } from '../snapshot/read.ts';
import { type WriteOptions, writeSnapshot } from '../snapshot/write.ts';
import type { GenesisTexts } from '../sources/source.ts';
import { keptHeader, readNodeSetLacks } from '../state/base.ts';
import { DELTA } from '../state/delta.ts';
import { readHead } from '../state/head.ts';
import { toHex } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';
import { beginStore } from './begin.ts';
import { planStore } from './identity.ts';
import { configFrom, type SettingValues } from './options.ts';
import { storeProjections } from './projections.ts';
import { planShape } from './shape.ts';
import type { OpenStore } from './store.ts';

export type { SnapshotManifest } from '../snapshot/manifest.ts';

export interface ExportOptions extends WriteOptions {
  /** A block of the store's chain; default: the one it is at. */
  readonly at?: Point | undefined;
}

/** Writes the unspent set of a store, as it is at this moment, to a new folder; the store may be followed meanwhile. */
export async function exportSnapshot(store: OpenStore, folder: string, options: ExportOptions = {}): Promise<SnapshotManifest> {
  const { network, engine } = store;
  const names = [CHAIN, 'chain_hash', UNSPENT, SPENT, DELTA];
  if (!store.config.utxo.enabled) throw new UnspentError('UNSUPPORTED', 'a snapshot is of the unspent set, and utxo.enabled is off');
  const reader = engine.snapshot(names);
  try {
    const columns = new StoreColumns(reader, names, network.ledger);
    const head = readHead(reader);
    if (head === null) throw new UnspentError('UNSUPPORTED', 'the store has no block yet: there is nothing to take a snapshot of');
    const lacks = readNodeSetLacks(reader);
    if (lacks !== null)
      throw new UnspentError(
        'UNSUPPORTED',
        `the store began with a node's own set, which lacks the ${lacks} of each output: its snapshot would be another than that of every other store`,
      );
    // It would be passed on as the whole set, and it is not.
    if (store.fold.options.partial || head.missing > 0)
      throw new UnspentError('UNSUPPORTED', 'the store began in the middle of the chain without a snapshot: it lacks outputs from before');
    const row = knownPoint(columns, head, options.at ?? head);
    if (row === null) throw new UnspentError('STORE_DAMAGED', 'the block of the snapshot has no row');
    const { height, slot, hash, boundary, era } = row;
    const header = network.ledger.headers.inExtra(row.extra) ?? keptHeader(reader, row);
    if (header === undefined) throw new UnspentError('STORE_DAMAGED', `the store lacks the header of the block at height ${height}`);
    const facts = {
      network: networkFacts(network),
      point: { height, slot, hash: network.dialect.formatId(hash), boundary },
      era,
      header: toHex(header),
    };
    return await writeSnapshot(folder, facts, unspentAt(columns, head, row), network.ledger, options);
  } finally {
    reader.release();
  }
}

function networkFacts(network: Network): SnapshotManifest['network'] {
  const { name, family, parameters } = network;
  const own = family.ownParameters(network);
  return { name, family: family.name, magic: parameters.magic, ...(own === null ? {} : { parameters: own }) };
}

/** Hashes that somebody trusted gave, in hex: the snapshot must have them. */
export interface ExpectedHashes {
  /** Of the manifest: it covers every byte. */
  readonly id?: string | undefined;
  /** Of the unspent set. */
  readonly setHash?: string | undefined;
  /** Of the block that the snapshot is of, as people write it: height and slot follow from its header. */
  readonly block?: string | undefined;
}

/** What a snapshot is checked against. */
export interface VerifySnapshotOptions extends ExpectedHashes {
  /** The network it must be of. Default: whichever it says. */
  readonly network?: string | undefined;
  /** Folder with the genesis files of a private network, or their texts. */
  readonly genesis?: string | GenesisTexts | undefined;
  /** Aborting it stops the work. */
  readonly signal?: AbortSignal | undefined;
  /** Told now and then how many of all outputs were read. */
  readonly onRows?: ((rows: number, total: number) => void) | undefined;
}

/** Checks all of a snapshot, without a store. Throws SNAPSHOT_INVALID. */
export async function verifySnapshot(folder: string, options: VerifySnapshotOptions = {}): Promise<SnapshotManifest> {
  const snapshot = await openSnapshot(folder);
  checkExpected(snapshot, options);
  const { name, parameters } = snapshot.manifest.network;
  checkName(name, options.network ?? '');
  const network = openNetwork(name, null, parameters);
  checkFacts(snapshot.manifest, network);
  await readSnapshot(snapshot, network.ledger, progress(snapshot, options));
  return snapshot.manifest;
}

/** How a store is made of a snapshot. */
export interface ImportOptions extends VerifySnapshotOptions {
  /** Directory of the new store. Default: the setting `data`. */
  readonly data?: string | undefined;
  /** Settings of the new store. They go before environment variables (`UNSPENT_*`) and ./unspent.toml. */
  readonly settings?: SettingValues | undefined;
  /**
   * All settings, loaded already; `settings` is then left aside.
   * @internal
   */
  readonly config?: Config | undefined;
  /** Projections of the program's own, kept beside ours; each must be fillable. */
  readonly projections?: readonly ProjectionEntry[] | undefined;
}

/** Makes a store of a snapshot. Throws SNAPSHOT_INVALID, STORE_EXISTS, UNSUPPORTED, and leaves nothing behind. */
export async function importSnapshot(folder: string, options: ImportOptions = {}): Promise<SnapshotManifest> {
  const config = configFrom(options);
  const data = options.data ?? config.data;
  const snapshot = await openSnapshot(folder);
  checkExpected(snapshot, options);
  const { name, parameters } = snapshot.manifest.network;
  checkName(name, options.network ?? config.network);
  const genesis = options.genesis ?? config.genesis;
  // Where genesis files are given they say what the network is, and the manifest must agree.
  const wishes = { data, config, network: name, genesis, ...(genesis === '' ? { parameters } : {}) };
  const { facts, network } = planStore(null, wishes, { shape: true, windows: true });
  checkFacts(snapshot.manifest, network);
  const shape = planShape(null, config, network.ledger, storeProjections(options.projections));
  checkLoadable(shape.projections);
  const onRows = (rows: number): void => options.onRows?.(rows, snapshot.manifest.utxos);
  await beginStore({ data, config, shape, facts }, (engine) =>
    loadSnapshot(engine, shape.projections, snapshot, network.ledger, { signal: options.signal, onRows }),
  );
  return snapshot.manifest;
}

function progress({ manifest }: SnapshotFolder, { signal, onRows }: VerifySnapshotOptions) {
  return { signal, onRows: (rows: number): void => onRows?.(rows, manifest.utxos) };
}

function checkExpected({ manifest }: SnapshotFolder, expected: ExpectedHashes): void {
  const { id, roots, point } = manifest;
  const pairs = [
    ['id', expected.id, id],
    ['set hash', expected.setHash, roots.setHash],
    ['block', expected.block, point.hash],
  ] as const;
  for (const [what, wanted, is] of pairs) {
    if (wanted === undefined || wanted.toLowerCase() === is) continue;
    throw new UnspentError('SNAPSHOT_INVALID', `the snapshot has the ${what} ${is}, not ${wanted}`, { wanted, is });
  }
}

function checkName(name: string, wanted: string): void {
  if (wanted === '' || wanted === name) return;
  throw new UnspentError('STORE_NETWORK', `the snapshot is of network '${name}', not of '${wanted}'`, { snapshot: name, wanted });
}

/** The manifest says of its network what we know of it. */
function checkFacts({ network: said }: SnapshotManifest, network: Network): void {
  const known = networkFacts(network);
  if (isDeepStrictEqual({ ...said }, { ...known })) return;
  const message = `the snapshot is of a network '${said.name}' with other parameters (magic ${said.magic}) than ours (magic ${known.magic})`;
  throw new UnspentError('STORE_NETWORK', message, { magic: said.magic, known: known.magic });
}
