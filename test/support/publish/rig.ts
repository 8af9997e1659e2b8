/** A fold as a publisher sees it, and a publisher that is told when to work. */
import type { Engine } from '../../../src/engine/engine.ts';
import { openNetwork } from '../../../src/families/networks.ts';
import type { Ledger } from '../../../src/ledgers/ledger.ts';
import { PROJECTIONS } from '../../../src/projections/registry.ts';
import type { PublishedStore } from '../../../src/publish/published-store.ts';
import { Publisher, type PublisherOptions } from '../../../src/publish/publisher.ts';
import type { CopyTarget } from '../../../src/publish/target.ts';
import type { FoldOptions } from '../../../src/state/fold.ts';
import { isUnspentError } from '../../../src/util/errors.ts';
import type { SettingReader } from '../../../src/util/setting.ts';

interface Folded {
  readonly engine: Engine;
  readonly fold: { readonly options: FoldOptions; readonly projections: readonly { readonly name: string }[] };
}

/** `ledger`: the one of the rig, where the network's own knows another genesis. */
export function publishedStore(
  { engine, fold }: Folded,
  networkName: string,
  ledger?: Ledger,
  readSetting: SettingReader = () => '',
): PublishedStore {
  const known = openNetwork(networkName, null);
  const network = ledger === undefined ? known : { ...known, ledger };
  const { partial, selfContained, pruneDepth, rollbackWindow } = fold.options;
  return {
    engine,
    network,
    projections: fold.projections.map(({ name }) => name),
    table: PROJECTIONS,
    readSetting,
    facts: {
      network: network.name,
      family: network.family.name,
      parameters: network.parameters,
      partial,
      selfContained,
      windows: { pruneDepth, rollbackWindow },
      settings: {},
    },
  };
}

/** A publisher that was just started. */
export async function startPublisher(store: PublishedStore, target: CopyTarget, options?: PublisherOptions): Promise<Publisher> {
  return new Publisher(store, target, await target.claim(new AbortController().signal), options);
}

/** One round, with a snapshot where only that helps. True: it took one. */
export async function publishOnce(publisher: Publisher): Promise<boolean> {
  try {
    await publisher.advance();
    return false;
  } catch (error) {
    if (!isUnspentError(error, 'EXPIRED')) throw error;
    await publisher.sendSnapshot();
    return true;
  }
}
