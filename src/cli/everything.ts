/**
 * What a chain of one's own is for is looking: everything is kept that nobody
 * has decided about.
 */
import { type Config, isSaid, type SettingKey, withValues } from '../config/schema.ts';
import { readIdentity } from '../engine/directory.ts';
import type { Context } from './context.ts';

/** The settings with these switches on, but for those that somebody has set, and for a store that is there: that one stays as it is. */
export function withSwitches({ settings: { config } }: Context, keys: readonly SettingKey[]): Config {
  if (readIdentity(config.data) !== null) return config;
  return withValues(config, Object.fromEntries(keys.filter((key) => !isSaid(config, key)).map((key) => [key, true])));
}
