/**
 * What a chain of one's own is for is looking: everything is kept that nobody
 * has decided about.
 */
import type { Config, SettingKey } from '../config/schema.ts';
import type { Context } from './context.ts';

/** The settings with these switches on, but for those that somebody has set. */
export function withSwitches({ settings: { config, origins } }: Context, keys: readonly SettingKey[]): Config {
  const wanted = structuredClone(config) as Record<string, unknown>;
  for (const key of keys.filter((each) => origins[each].from === 'default')) {
    const parts = key.split('.');
    const group = parts.slice(0, -1).reduce((inside, part) => inside[part] as Record<string, unknown>, wanted);
    group[parts[parts.length - 1]] = true;
  }
  return wanted as unknown as Config;
}
