/**
 * The settings a store is opened with: what was given, else what the store
 * was made with or changed to, else the default. So a store that is opened
 * again stays as it is, whatever flags it was made with.
 */
import { type Config, isGiven, SETTING_KEYS, SETTINGS, type SettingKey, settingValue, withValues } from '../config/schema.ts';
import type { Network } from '../families/family.ts';
import { SWITCHES, type SwitchGroup } from '../projections/registry.ts';
import { isTxsDatabase, TXS_SWITCH } from '../projections/txs-switch.ts';
import type { Windows } from '../state/pruned.ts';
import { txsEntry } from '../txstore/chain/entry.ts';
import { type SettingValue, switchValue } from '../util/setting.ts';
import type { StoreIdentity } from './identity.ts';

/** Which of the settings that a store remembers may be changed by what is said. */
export interface AllowedChanges {
  /** What it keeps: projections and how it writes undo records. */
  readonly shape: boolean;
  readonly windows: boolean;
}

export interface StoreSettings {
  readonly config: Config;
  /** Said, and not what the store has or may become. */
  readonly ignored: readonly SettingKey[];
}

const WINDOW_KEYS: readonly SettingKey[] = ['utxo.pruneDepth', 'utxo.rollbackWindow'];

/** `identity` null: of a new store. */
export function settingsOf(config: Config, identity: StoreIdentity | null, network: Network, may: AllowedChanges): StoreSettings {
  const windows = windowsOf(config, identity?.windows ?? null, network, identity === null || may.windows);
  const kept = identity === null ? {} : keptSettings(identity, config);
  const keys = SETTING_KEYS.filter((key) => key in kept);
  const isKept = (key: SettingKey): boolean => !may.shape || !isGiven(config, key);
  const effective = withValues(config, {
    ...Object.fromEntries(keys.filter(isKept).map((key) => [key, kept[key]])),
    'utxo.pruneDepth': windows.pruneDepth,
    'utxo.rollbackWindow': windows.rollbackWindow,
  });
  const ignored = [...keys, ...WINDOW_KEYS].filter((key) => isGiven(config, key) && isOther(config, effective, key));
  return { config: effective, ignored };
}

function isOther(said: Config, effective: Config, key: SettingKey): boolean {
  const value = settingValue(said, key);
  return value !== settingValue(effective, key) && !(WINDOW_KEYS.includes(key) && value === 0);
}

/** The settings that a store answers for itself: a switch is on where something it switches is kept. */
function keptSettings({ projections, selfContained, txs }: StoreIdentity, config: Config): Partial<Record<SettingKey, SettingValue>> {
  const isKept = ({ entries }: SwitchGroup): boolean => entries.some(({ name }) => projections.includes(name));
  const keepsTxs = projections.includes(txsEntry.name);
  return {
    ...Object.fromEntries(SWITCHES.map((each) => [each.setting.key, switchValue(each.setting, isKept(each))])),
    'utxo.delta.selfContained': selfContained,
    // A database beside the store is none of its columns: it has only what it is told of it.
    ...(isTxsDatabase(config.txs.store) && !keepsTxs ? {} : { 'txs.store': switchValue(TXS_SWITCH, keepsTxs) }),
    ...(txs === undefined ? {} : { 'txs.retention': txs.retention, 'txs.window': txs.window }),
    // It only says which switches count; those above are what came of it.
    'utxo.indexingStrategy': SETTINGS['utxo.indexingStrategy'].default,
  };
}

/** What is not said fits itself to what is. */
function windowsOf(config: Config, kept: Windows | null, network: Network, may: boolean): Windows {
  const blocks = network.family.windowBlocks(network);
  const { pruneDepth, rollbackWindow } = kept ?? { pruneDepth: blocks, rollbackWindow: 2 * blocks };
  if (!may) return { pruneDepth, rollbackWindow };
  const { pruneDepth: depth, rollbackWindow: window } = config.utxo;
  return {
    pruneDepth: depth > 0 ? depth : window > 0 ? Math.min(pruneDepth, window) : pruneDepth,
    rollbackWindow: window > 0 ? window : Math.max(rollbackWindow, depth),
  };
}
