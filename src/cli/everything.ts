/**
 * The settings of a chain that the program makes itself: everything that its
 * ledger supports is kept, unless a setting was given, because such a chain
 * is there to be explored.
 */
import { type Config, isGiven, type SettingKey, withValues } from '../config/schema.ts';
import { readIdentity } from '../engine/directory.ts';
import type { Ledger } from '../ledgers/ledger.ts';
import { supports } from '../projections/entry.ts';
import { SWITCHES } from '../projections/registry.ts';
import { switchValue } from '../util/setting.ts';

/** The settings with those switches on, except those that were given. A store that exists stays as it is. */
export function withEverything(config: Config, ledger: Ledger): Config {
  if (readIdentity(config.data) !== null) return config;
  const on = SWITCHES.filter(({ entries }) => entries.some((entry) => supports(entry, ledger) && entry.onRequestOnly !== true));
  const open = on.filter(({ setting }) => !isGiven(config, setting.key as SettingKey));
  return withValues(config, Object.fromEntries(open.map(({ setting }) => [setting.key, switchValue(setting, true)])));
}
