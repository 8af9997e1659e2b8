/**
 * What a chain of one's own is for is looking: everything is kept that its
 * ledger supports and nobody has decided about.
 */
import { type Config, isGiven, type SettingKey, withValues } from '../config/schema.ts';
import { readIdentity } from '../engine/directory.ts';
import type { Ledger } from '../ledgers/ledger.ts';
import { supports } from '../projections/entry.ts';
import { SWITCHES } from '../projections/registry.ts';
import { switchValue } from '../util/setting.ts';

/** The settings with those switches on, but for the ones that somebody has set, and for a store that is there: it stays as it is. */
export function withEverything(config: Config, ledger: Ledger): Config {
  if (readIdentity(config.data) !== null) return config;
  const on = SWITCHES.filter(({ entries }) => entries.some((entry) => supports(entry, ledger) && entry.onRequestOnly !== true));
  const open = on.filter(({ setting }) => !isGiven(config, setting.key as SettingKey));
  return withValues(config, Object.fromEntries(open.map(({ setting }) => [setting.key, switchValue(setting, true)])));
}
