/**
 * Every setting of the system in one table: its type, default, allowed values
 * and one line of documentation. Flags, `UNSPENT_*` variables, the TOML file,
 * `config show`, docs/reference/config.md and the type `Config` all follow from
 * it, so a setting is added here and nowhere else.
 */
import { GROUP_BLOCKS_MAX } from '../util/limits.ts';

const MB = 1_000_000;

/** More blocks than any chain has: a window of this size keeps everything. */
const WINDOW_BLOCKS_MAX = 100_000_000;

/** Memory budgets reach the engine as 32-bit numbers. */
const ENGINE_BYTES_MAX = 4_000 * MB;

/** What SQLite, as Node compiles it, maps at most. */
const SQLITE_MMAP_BYTES_MAX = 2_000 * MB;

export type SettingValue = boolean | number | string;

type Kind =
  | { readonly type: 'boolean'; readonly default: boolean }
  | { readonly type: 'integer'; readonly default: number; readonly min: number; readonly max: number }
  | { readonly type: 'string'; readonly default: string; readonly filled?: true }
  | { readonly type: 'oneOf'; readonly default: string; readonly values: readonly string[] }
  | { readonly type: 'bytes'; readonly default: number; readonly min: number; readonly max: number };

export type Setting = Kind & {
  readonly doc: string;
  /** The store holds other data, or other columns, when this changes. */
  readonly shapesStore?: true;
  /** A value the type allows and this version refuses, with the reason. */
  readonly unavailable?: { readonly value: SettingValue; readonly why: string };
};

export const SETTINGS = {
  network: {
    type: 'string',
    default: '',
    shapesStore: true,
    doc: 'Name of the network; empty: the one the store was made for.',
  },
  data: { type: 'string', default: './data', filled: true, doc: 'Directory of the store.' },
  genesis: {
    type: 'string',
    default: '',
    shapesStore: true,
    doc: 'Directory of the genesis files, for a network whose genesis is not built in.',
  },
  'utxo.enabled': {
    type: 'boolean',
    default: true,
    shapesStore: true,
    doc: 'Keep unspent outputs. When off, no UTXO column is opened and no UTXO projection runs.',
  },
  'utxo.store': {
    type: 'oneOf',
    values: ['classic', 'mmr'],
    default: 'classic',
    shapesStore: true,
    doc: '`mmr` keeps beside the unspent set a Merkle mountain range over every output there ever was: proofs that an output is unspent or spent. Only from the first block on.',
  },
  'utxo.pruneDepth': {
    type: 'integer',
    default: 0,
    min: 0,
    max: WINDOW_BLOCKS_MAX,
    shapesStore: true,
    doc: "Blocks below the tip after which a spent output is forgotten. 0: as the store has it; a new one takes the network's k (2160; preview 432), and 2160 where the network is private or has none.",
  },
  'utxo.rollbackWindow': {
    type: 'integer',
    default: 0,
    min: 0,
    max: WINDOW_BLOCKS_MAX,
    shapesStore: true,
    doc: 'Blocks below the tip for which undo records are kept; at least `utxo.pruneDepth`. 0: as the store has it; a new one takes twice what `utxo.pruneDepth` would be by itself.',
  },
  'utxo.pruneBatchSize': {
    type: 'integer',
    default: 500,
    min: 1,
    max: 1_000_000,
    doc: 'Blocks pruned at most in one batch; a batch is bounded by rows as well.',
  },
  'utxo.pruneScheduleSeconds': {
    type: 'integer',
    default: 5,
    min: 1,
    max: 86_400,
    doc: 'Seconds between prunings, whether blocks come or not. While there is more to forget than fits into a few milliseconds, it goes on without a pause.',
  },
  'utxo.index.addressHash': {
    type: 'boolean',
    default: true,
    shapesStore: true,
    doc: 'Index unspent outputs by address.',
  },
  'utxo.index.paymentCredential': {
    type: 'boolean',
    default: true,
    shapesStore: true,
    doc: 'Index unspent outputs by payment credential.',
  },
  'utxo.index.stakeCredential': {
    type: 'boolean',
    default: true,
    shapesStore: true,
    doc: 'Index unspent outputs by stake credential.',
  },
  'utxo.index.policy': {
    type: 'boolean',
    default: false,
    shapesStore: true,
    doc: 'Index unspent outputs by the policies of their assets.',
  },
  'utxo.index.asset': { type: 'boolean', default: false, shapesStore: true, doc: 'Index unspent outputs by each asset they hold.' },
  'utxo.index.datumHash': {
    type: 'boolean',
    default: false,
    shapesStore: true,
    doc: 'Index unspent outputs by the hash of their datum, inline or not.',
  },
  'utxo.index.referenceScript': {
    type: 'boolean',
    default: false,
    shapesStore: true,
    doc: 'Index unspent outputs by the hash of the reference script they carry.',
  },
  'utxo.balances': {
    type: 'boolean',
    default: false,
    shapesStore: true,
    doc: 'Keep the balance of every address and stake credential, so that asking for one costs the same however many outputs it has.',
  },
  'utxo.datums': { type: 'boolean', default: false, shapesStore: true, doc: 'Keep every datum seen, by hash.' },
  'utxo.scripts': { type: 'boolean', default: false, shapesStore: true, doc: 'Keep every script seen, by hash.' },
  'utxo.history': {
    type: 'boolean',
    default: false,
    shapesStore: true,
    doc: 'Bitcoin family: keep every transaction, what happened to every script, and who spent what, for ever. Esplora and Electrum clients ask for it.',
  },
  'proofs.setHash': {
    type: 'boolean',
    default: false,
    shapesStore: true,
    doc: 'Keep a hash of the whole unspent set (MuHash3072; for the Bitcoin family as a node computes it, with bogosize): two stores compare in one line, without a walk over the set.',
  },
  'proofs.csmt': {
    type: 'boolean',
    default: false,
    shapesStore: true,
    doc: 'Keep a Merkle tree over the unspent set, by owner: proofs that an output is unspent, that an owner has no such output, and that these are all outputs of an owner.',
  },
  'utxo.indexingStrategy': {
    type: 'oneOf',
    values: ['both', 'address_hash', 'payment_credential'],
    default: 'both',
    shapesStore: true,
    doc: 'Which indexes the `utxo.index` switches may turn on: `both` all of them, `address_hash` only that one, `payment_credential` only the two credential indexes.',
  },
  'utxo.delta.selfContained': {
    type: 'boolean',
    default: false,
    shapesStore: true,
    doc: 'Keep what spent outputs held in the undo records instead of `utxo_spent`, so that rollback reaches past `utxo.pruneDepth`.',
  },
  'utxo.disableWal': {
    type: 'boolean',
    default: false,
    unavailable: { value: true, why: "the engine's binding cannot write without its log" },
    doc: 'Write without the write-ahead log.',
  },
  'sync.groupBlocks': {
    type: 'integer',
    default: 1000,
    min: 1,
    max: GROUP_BLOCKS_MAX,
    doc: 'Blocks in one commit while far behind the tip; 1: every block its own commit.',
  },
  'engine.kind': {
    type: 'oneOf',
    values: ['auto', 'rocks', 'sqlite'],
    default: 'auto',
    doc: 'The engine of a new store; `auto`: RocksDB, or SQLite where RocksDB does not run. A store keeps the engine it was made with.',
  },
  'engine.memtableBytes': {
    type: 'bytes',
    default: 96 * MB,
    min: MB,
    max: ENGINE_BYTES_MAX,
    doc: 'Memory for writes not yet sorted onto the disk, over all columns. SQLite: size of the log, on disk, at which it is moved into the tables.',
  },
  'engine.cacheBytes': {
    type: 'bytes',
    default: 160 * MB,
    min: MB,
    max: ENGINE_BYTES_MAX,
    doc: 'Memory for blocks read from the disk, over all columns. SQLite: of the writer; each reader has a sixteenth of it beside that.',
  },
  'engine.mmapBytes': {
    type: 'bytes',
    default: 0,
    min: 0,
    max: SQLITE_MMAP_BYTES_MAX,
    doc: 'SQLite: how much of its file is mapped into memory to be read. Lookups take less, but a disk that fails kills the process.',
  },
  'engine.compression': {
    type: 'boolean',
    default: false,
    doc: 'RocksDB: zstd dictionaries on top of plain zstd, for chains whose outputs resemble each other more than hashes do.',
  },
  'server.enabled': { type: 'boolean', default: true, doc: 'Whether `start` serves HTTP.' },
  'server.host': { type: 'string', default: '127.0.0.1', filled: true, doc: 'Address to listen on.' },
  'server.port': { type: 'integer', default: 8437, min: 0, max: 65_535, doc: 'Port to listen on; 0 takes one that is free.' },
  'server.token': {
    type: 'string',
    default: '',
    doc: 'If set, every request but health and readiness needs `Authorization: Bearer TOKEN`.',
  },
  'server.allowPublic': {
    type: 'boolean',
    default: false,
    doc: 'Allow an address other than loopback without a token. Behind a proxy that guards it, for instance.',
  },
  'server.hosts': {
    type: 'string',
    default: '',
    doc: 'Host names, separated by commas, that requests may be addressed to besides the own address.',
  },
  'server.rowsMax': { type: 'integer', default: 1000, min: 1, max: 100_000, doc: 'Rows of one page at most.' },
  'server.connectionsMax': { type: 'integer', default: 1000, min: 1, max: 100_000, doc: 'Open connections at most.' },
  'server.streamsMax': {
    type: 'integer',
    default: 64,
    min: 1,
    max: 10_000,
    doc: 'Event streams and streamed answers at the same time, each, at most.',
  },
  'server.waitSecondsMax': { type: 'integer', default: 30, min: 0, max: 600, doc: 'Seconds a request may wait for a slot it asks for.' },
  'electrum.host': { type: 'string', default: '127.0.0.1', filled: true, doc: 'Bitcoin family: address the Electrum server listens on.' },
  'electrum.port': { type: 'integer', default: 0, min: 0, max: 65_535, doc: 'TCP port of the Electrum server, usually 50001; 0: none.' },
  'electrum.tlsPort': { type: 'integer', default: 0, min: 0, max: 65_535, doc: 'The same over TLS, usually 50002; 0: none.' },
  'electrum.wsPort': { type: 'integer', default: 0, min: 0, max: 65_535, doc: 'The same over WebSocket, usually 50003; 0: none.' },
  'electrum.tlsCert': { type: 'string', default: '', doc: 'File with the certificate chain for TLS, as PEM.' },
  'electrum.tlsKey': { type: 'string', default: '', doc: 'File with its private key, as PEM.' },
  'electrum.allowPublic': { type: 'boolean', default: false, doc: 'Allow an address other than loopback.' },
  'electrum.sessionsMax': { type: 'integer', default: 1000, min: 1, max: 100_000, doc: 'Electrum sessions at the same time at most.' },
  'electrum.subscriptionsMax': {
    type: 'integer',
    default: 50_000,
    min: 1,
    max: 10_000_000,
    doc: 'Scripts one Electrum session may be subscribed to at most.',
  },
  'electrum.historyMax': {
    type: 'integer',
    default: 200_000,
    min: 1,
    max: 100_000_000,
    doc: 'Transactions of one script that an Electrum answer may list at most.',
  },
  'status.refreshSeconds': { type: 'integer', default: 5, min: 1, max: 3600, doc: 'Seconds between refreshes of the status.' },
  'metrics.sampleEngineSeconds': {
    type: 'integer',
    default: 30,
    min: 1,
    max: 3600,
    doc: "Seconds between samples of the engine's own counters.",
  },
} as const satisfies Record<string, Setting>;

export type SettingKey = keyof typeof SETTINGS;

type ValueOf<S> = S extends { readonly type: 'boolean' }
  ? boolean
  : S extends { readonly values: readonly (infer V)[] }
    ? V
    : S extends { readonly type: 'string' }
      ? string
      : number;

/** Values by dotted key. */
export type Values = { readonly [K in SettingKey]: ValueOf<(typeof SETTINGS)[K]> };

type Head<K> = K extends `${infer H}.${string}` ? H : K;
type Below<T, H extends string> = { readonly [K in keyof T as K extends `${H}.${infer Rest}` ? Rest : never]: T[K] };
type Nest<T> = { readonly [H in Head<keyof T & string> & string]: H extends keyof T ? T[H] : Nest<Below<T, H>> };

/** Values as a tree: `config.utxo.index.addressHash`. */
export type Config = Nest<Values> & {
  /** The settings that somebody named, even if it was to give them their default: a store keeps its own ways in all others. */
  readonly given: readonly SettingKey[];
};

export const SETTING_KEYS = Object.keys(SETTINGS) as readonly SettingKey[];

export function settingOf(key: SettingKey): Setting {
  return SETTINGS[key];
}

export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(SETTINGS, key);
}

/** The tables of the file: `utxo`, `utxo.index`, ... */
export const GROUPS: ReadonlySet<string> = new Set(
  SETTING_KEYS.flatMap((key) => key.split('.').map((_, depth, parts) => parts.slice(0, depth).join('.'))).filter((group) => group !== ''),
);

export function settingValue(config: Config, key: SettingKey): SettingValue {
  return key
    .split('.')
    .reduce((inside, part) => inside[part] as Record<string, unknown>, config as Record<string, unknown>) as unknown as SettingValue;
}

/** Whether somebody decided about it: by naming it, or by a value that is not the default. */
export function isSaid(config: Config, key: SettingKey): boolean {
  return config.given.includes(key) || settingValue(config, key) !== SETTINGS[key].default;
}

/** The same settings with other values in some places. */
export function withValues(config: Config, changes: Partial<Record<SettingKey, SettingValue>>): Config {
  const changed = structuredClone(config) as Record<string, unknown>;
  for (const [key, value] of Object.entries(changes)) {
    const parts = key.split('.');
    const leaf = parts.pop() ?? key;
    const group = parts.reduce((inside, part) => inside[part] as Record<string, unknown>, changed);
    group[leaf] = value;
  }
  return changed as Config;
}

function kebab(key: SettingKey): string {
  return key.replaceAll('.', '-').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `utxo.pruneDepth` -> `UNSPENT_UTXO_PRUNE_DEPTH`. */
export function variableOf(key: SettingKey): string {
  return `UNSPENT_${kebab(key).replaceAll('-', '_').toUpperCase()}`;
}

/** `utxo.pruneDepth` -> `--utxo-prune-depth`. */
export function flagOf(key: SettingKey): string {
  return `--${kebab(key)}`;
}

/** The indexes to keep: the switches, as far as the strategy lets them. */
export function indexesOf(config: Config): Config['utxo']['index'] {
  const { index, indexingStrategy: strategy } = config.utxo;
  return {
    addressHash: index.addressHash && strategy !== 'payment_credential',
    paymentCredential: index.paymentCredential && strategy !== 'address_hash',
    stakeCredential: index.stakeCredential && strategy !== 'address_hash',
    policy: index.policy,
    asset: index.asset,
    datumHash: index.datumHash,
    referenceScript: index.referenceScript,
  };
}
