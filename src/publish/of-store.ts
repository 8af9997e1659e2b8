/** A store that this process has open, as a publisher sees it. */
import { type Config, SETTING_KEYS, SETTINGS, type SettingKey, settingValue } from '../config/schema.ts';
import type { Network } from '../families/family.ts';
import { storeProjections } from '../store/projections.ts';
import type { OpenStore } from '../store/store.ts';
import type { Setting, SettingValue } from '../util/setting.ts';
import type { PublishedFacts } from './identity.ts';
import type { PublishedStore } from './published-store.ts';

/** What there is to know of it besides its engine, in plain data: a thread is sent it. */
export interface PublishedParts {
  readonly network: { readonly name: string; readonly parameters: Network['parameters'] };
  readonly config: Config;
  readonly projections: readonly string[];
  readonly facts: PublishedFacts;
}

export function publishedParts({ network, config, fold }: OpenStore): PublishedParts {
  const { partial, selfContained, pruneDepth, rollbackWindow } = fold.options;
  return {
    network: { name: network.name, parameters: network.parameters },
    config,
    projections: fold.projections.map(({ name }) => name),
    facts: {
      network: network.name,
      family: network.family.name,
      parameters: network.parameters,
      partial,
      selfContained,
      windows: { pruneDepth, rollbackWindow },
      settings: shapingSettings(config),
    },
  };
}

/** In the thread of the store; the projections of a program's own are not published (`table`). */
export function publishedStore(store: OpenStore): PublishedStore {
  const { config, projections, facts } = publishedParts(store);
  return {
    engine: store.engine,
    network: store.network,
    projections,
    facts,
    table: storeProjections(),
    readSetting: (key) => settingValue(config, key as SettingKey),
  };
}

/** Those that decide what a store keeps. None of them is a secret. */
function shapingSettings(config: Config): Record<string, SettingValue> {
  const keys = SETTING_KEYS.filter(
    (key) => (SETTINGS[key] as Setting).shapesStore === true && !key.startsWith('txs.') && key !== 'genesis',
  );
  return Object.fromEntries(keys.map((key) => [key, settingValue(config, key)]));
}
