/** How a store is opened, and the settings it is opened with. */
import { loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import type { EngineFactory } from '../engine/engine.ts';
import type { ProjectionEntry } from '../projections/entry.ts';
import type { GenesisTexts } from '../sources/source.ts';

/** Settings by their key, as docs/reference/config.md lists them: `{ 'utxo.balances': true }`. */
export type SettingValues = Readonly<Record<string, string | number | boolean>>;

/** How a store is opened. */
export interface OpenOptions {
  /** Directory of the store. Default: the setting `data` (./data). */
  readonly data?: string | undefined;
  /** Needed only to create a store. */
  readonly network?: string | undefined;
  /** Folder with the genesis files, or their texts. */
  readonly genesis?: string | GenesisTexts | undefined;
  /** Settings of this opening. They go before environment variables (`UNSPENT_*`) and ./unspent.toml. */
  readonly settings?: SettingValues | undefined;
  /** Make the store when there is none. Default true. */
  readonly create?: boolean | undefined;
  /** A new store may start in the middle of the chain; inputs from before are then counted as missing. */
  readonly partial?: boolean | undefined;
  /**
   * Whether the store takes the shape the settings ask for: what they switch on is filled, what they switch off is
   * dropped, what they do not name stays. Default: as `create`, so that whoever only comes to look changes nothing.
   */
  readonly reshape?: boolean | undefined;
  /** Whether `utxo.pruneDepth` and `utxo.rollbackWindow`, where the settings give them, replace those of the store. Default: as `reshape`. */
  readonly windows?: boolean | undefined;
  /**
   * Projections of the program's own, kept beside ours. A store that keeps one can be opened only with its entry; one
   * that has blocks already takes it only if it is fillable, and where the shape may change (`reshape`).
   */
  readonly projections?: readonly ProjectionEntry[] | undefined;
  /** An engine of the program's own, in place of RocksDB or SQLite. A store that was made with one can be opened only with it. */
  readonly engine?: EngineFactory | undefined;
  /**
   * Whether commands of other processes of the same user are answered while this one has the store open, over a socket in
   * the data directory that only that user can reach. Default true.
   */
  readonly control?: boolean | undefined;
  /**
   * What this process is called where another one is told that it has the store open.
   * @internal
   */
  readonly holder?: string | undefined;
  /**
   * Also what is being restored and not a store yet.
   * @internal
   */
  readonly unfinished?: boolean | undefined;
  /**
   * All settings, loaded already; `settings` is then left aside.
   * @internal
   */
  readonly config?: Config;
}

/** Whoever takes settings takes them as a program gives them, or loaded already. */
interface Configured {
  readonly settings?: SettingValues | undefined;
  readonly config?: Config | undefined;
}

/** Throws CONFIG. */
export function configFrom({ config, settings = {} }: Configured): Config {
  const set = Object.entries(settings).map(([key, value]) => `${key}=${value}`);
  return config ?? loadConfig({ env: process.env, flags: { set } }).config;
}
