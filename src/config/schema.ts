/**
 * Every setting of the system in one table: its type, default, allowed values
 * and one line of documentation. Flags, `UNSPENT_*` variables, the TOML file,
 * `config show`, docs/reference/config.md and the type `Config` all follow from
 * it, so a setting is added here and nowhere else; one that switches a
 * projection on stands in the entry of that projection.
 */
import type { SwitchedEntry } from '../projections/entry.ts';
import { HISTORY_DEPTH } from '../projections/history/forget.ts';
import { type PROJECTIONS, SWITCHES } from '../projections/registry.ts';
import { TXS_SWITCH } from '../projections/txs-switch.ts';
import {
  GAP_LIMIT_DEFAULT,
  GAP_LIMIT_MAX,
  GROUP_BLOCKS_MAX,
  WALLET_EVENTS_MAX,
  WALLET_FEE_MAX,
  WALLET_FEE_RATE_MAX,
  WINDOW_BLOCKS_MAX,
} from '../util/limits.ts';
import type { Setting, SettingValue } from '../util/setting.ts';
import { ENGINE_SETTINGS } from './engine-settings.ts';
import { OBSERVATION_SETTINGS } from './observation-settings.ts';
import { PUBLISH_SETTINGS } from './publish-settings.ts';

/** The settings that switch projections on: each stands with its projection. */
type ProjectionSwitches = {
  readonly [E in Extract<(typeof PROJECTIONS)[number], SwitchedEntry> as E['setting']['key']]: E['setting'];
};

const PROJECTION_SWITCHES = Object.fromEntries(SWITCHES.map(({ setting }) => [setting.key, setting])) as unknown as ProjectionSwitches;

/** The port that a wire shape has of its own; 0: none. */
const shapePort = (doc: string) => ({ type: 'integer', default: 0, min: 0, max: 65_535, doc }) as const;

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
  ...PROJECTION_SWITCHES,
  'utxo.indexingStrategy': {
    type: 'oneOf',
    values: ['both', 'address_hash', 'payment_credential'],
    default: 'both',
    shapesStore: true,
    doc: 'Which indexes the `utxo.index` switches may turn on: `both` all of them, `address_hash` only that one, `payment_credential` only the two credential indexes.',
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
  'utxo.delta.selfContained': {
    type: 'boolean',
    default: false,
    shapesStore: true,
    doc: 'Keep what spent outputs held in the undo records instead of `utxo_spent`, so that rollback reaches past `utxo.pruneDepth`.',
  },
  'cage.deployments': {
    type: 'string',
    default: '',
    shapesStore: true,
    doc: 'The cages that `cage.enabled` follows: `VERSION:HASH` of a state script, for v2 also `v2:HASH:CODE` with the compiled code of the request script, with commas between; `public` stands for the known public ones, `devnet` for that of the embedded devnet. Empty: as the store has it; a new one takes the public ones.',
  },
  'cage.blueprint': {
    type: 'string',
    default: '',
    shapesStore: true,
    doc: 'In place of `cage.deployments`: a file with the blueprint (CIP-57) of a cage of v2. The hash of its state script and its request script follow from the code in it. The store remembers them; the file is not needed again.',
  },
  'cage.scripts': {
    type: 'string',
    default: '',
    doc: 'Files with blueprints (CIP-57), with commas between: the code of the state scripts of cages, which the server puts into transactions that it builds (docs/reference/mpfs.md). That of `cage.blueprint` need not be named again.',
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
  ...ENGINE_SETTINGS,
  'server.enabled': { type: 'boolean', default: true, doc: 'Whether `start` serves HTTP.' },
  'server.host': { type: 'string', default: '127.0.0.1', filled: true, doc: 'Address to listen on.' },
  'server.port': { type: 'integer', default: 8437, min: 0, max: 65_535, doc: 'Port to listen on; 0 takes one that is free.' },
  'server.from': { type: 'string', default: '', secret: 'password', doc: 'Published copy that `serve` reads: its URL, as in `--from`.' },
  'server.token': {
    type: 'string',
    default: '',
    secret: 'all',
    doc: 'If set, every request but health and readiness needs `Authorization: Bearer TOKEN`. Better in the variable or a settings file: other users of a machine can read its command lines.',
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
  'server.threads': { type: 'integer', default: 1, min: 1, max: 64, doc: 'Threads that answer requests on the same ports (Linux).' },
  'server.connectionsMax': { type: 'integer', default: 1000, min: 1, max: 100_000, doc: 'Open connections at most.' },
  'server.streamsMax': {
    type: 'integer',
    default: 64,
    min: 1,
    max: 10_000,
    doc: 'Event streams and streamed answers at the same time, each, at most.',
  },
  'server.waitSecondsMax': { type: 'integer', default: 30, min: 0, max: 600, doc: 'Seconds a request may wait for a slot it asks for.' },
  'server.cors': {
    type: 'string',
    default: '',
    doc: 'Origins whose pages may use this server from a browser, such as `https://app.example.org`, with commas between. `*`: pages of every origin may read, on a server that is public (`server.allowPublic`, or an address other than loopback).',
  },
  'kupo.port': shapePort('Cardano: port on which the Kupo API is at the root, usually 1442; 0: none. It is under `/kupo` in any case.'),
  'blockfrost.port': shapePort(
    'Cardano: port on which the Blockfrost API is at the root, usually 3000; 0: none. It is under `/blockfrost` in any case.',
  ),
  'ogmios.port': shapePort(
    'Cardano: port on which the Ogmios API is at the root, usually 1337; 0: none. It is under `/ogmios` in any case.',
  ),
  'utxorpc.port': shapePort('Cardano: port of the UTxO RPC server (gRPC over HTTP/2 without TLS), usually 50051; 0: none.'),
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
  'wallet.database': {
    type: 'string',
    default: '',
    secret: 'password',
    doc: 'Database of the wallets, `sqlite:FILE` or `postgres://USER:PASSWORD@HOST/NAME`. Empty: the file `wallets.sqlite` in the directory of the store.',
  },
  'wallet.token': {
    type: 'string',
    default: '',
    secret: 'all',
    doc: 'What requests to `/api/v1/wallets` need as `Authorization: Bearer TOKEN`, also on loopback. Empty: the token in the file `wallets.token` in the directory of the store, which is made for its owner alone.',
  },
  'wallet.server': {
    type: 'string',
    default: '',
    secret: 'password',
    doc: 'Server on another machine that feeds the wallets and takes their transactions, as in `--server` of `unspent wallet`: `http://HOST:8437`.',
  },
  'wallet.serverToken': { type: 'string', default: '', secret: 'all', doc: 'Its `server.token`.' },
  'wallet.gapLimit': {
    type: 'integer',
    default: GAP_LIMIT_DEFAULT,
    min: 1,
    max: GAP_LIMIT_MAX,
    doc: 'Unused addresses in a row after which a wallet looks for no more (BIP44).',
  },
  'wallet.feeMax': {
    type: 'integer',
    default: WALLET_FEE_MAX,
    min: 0,
    max: 2_100_000_000_000_000,
    doc: 'Bitcoin family: satoshi that a transaction of a wallet may cost at most.',
  },
  'wallet.feeRateMax': {
    type: 'integer',
    default: WALLET_FEE_RATE_MAX,
    min: 1,
    max: 1_000_000,
    doc: 'Bitcoin family: the highest fee rate that may be asked for, in sat/vB.',
  },
  'wallet.eventsMax': {
    type: 'integer',
    default: WALLET_EVENTS_MAX,
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    doc: 'Events of wallets that the database keeps, of all wallets together; whoever reads them and is further behind is told so (`EXPIRED`). 0: all.',
  },
  'txs.store': TXS_SWITCH,
  'txs.retention': {
    type: 'integer',
    default: 288,
    min: 0,
    max: WINDOW_BLOCKS_MAX,
    shapesStore: true,
    doc: 'Blocks from the moment that all outputs of a transaction are spent, or that it lost, until its record is looked at for deletion; at least `txs.window`. 0: nothing is ever deleted.',
  },
  'txs.window': {
    type: 'integer',
    default: 0,
    min: 0,
    max: WINDOW_BLOCKS_MAX,
    shapesStore: true,
    doc: 'Blocks that must lie on every spender of a transaction before its record may go. The store then cannot go back further. 0: as `txs.retention`.',
  },
  'txs.unminedBlocks': {
    type: 'integer',
    default: 2016,
    min: 1,
    max: WINDOW_BLOCKS_MAX,
    doc: 'Blocks after which a transaction that is in no block, and that the mempool of the node does not have, is given up.',
  },
  'txs.minHeight': { type: 'integer', default: 0, min: 0, max: WINDOW_BLOCKS_MAX, doc: 'No record is deleted below this height.' },
  'txs.skipCatchUp': {
    type: 'boolean',
    default: true,
    doc: 'Delete no record while the store is far behind its source. `false`: a first sync needs less space, and more time.',
  },
  'utxo.historyDepth': HISTORY_DEPTH,
  'txs.boundHistory': {
    type: 'boolean',
    default: false,
    doc: 'With a record, delete the bytes of its transaction from the history (`utxo.history`), too: whoever asks for them is told PRUNED. Its id, its place and what it did to scripts stay.',
  },
  'txs.dryRun': { type: 'boolean', default: false, doc: 'Only count the records that would be deleted.' },
  'backup.directory': {
    type: 'string',
    default: '',
    doc: 'Folder for backups that are asked for over HTTP (`POST /api/v1/backups`). Empty, or without `server.token`: there is no such route.',
  },
  'backup.keep': {
    type: 'integer',
    default: 0,
    min: 0,
    max: 100_000,
    doc: 'Backups that stay in that folder; when another one is whole, older ones are deleted. 0: all.',
  },
  ...PUBLISH_SETTINGS,
  ...OBSERVATION_SETTINGS,
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
export function isGiven(config: Config, key: SettingKey): boolean {
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
