/** The publisher itself, as suites of readers want one: told when to publish. */
import { PROJECTIONS } from '../../../src/projections/registry.ts';
import { openTarget, type TargetOptions } from '../../../src/publish/open.ts';
import type { PublishedStore } from '../../../src/publish/published-store.ts';
import type { CopyPublisher, MakeCopy } from '../copy/mirror.ts';
import type { Published } from '../copy/test-publisher.ts';
import { publishOnce, startPublisher } from './rig.ts';

/** One that tells how often it had to send the whole state. */
export interface ToldPublisher extends CopyPublisher {
  readonly snapshots: number;
}

/** Of either kind of database. */
export function publishedCopy(url: string, options: TargetOptions = {}): MakeCopy<ToldPublisher> {
  return async (published) => {
    const store = asPublishedStore(published);
    const target = await openTarget(url, 'columns', store, options);
    const publisher = await startPublisher(store, target);
    let snapshots = 0;
    const copy: ToldPublisher = {
      get snapshots() {
        return snapshots;
      },
      get seq() {
        return publisher.published.seq;
      },
      publish: async () => {
        if (await publishOnce(publisher)) snapshots++;
        await target.renew();
      },
      close: async () => {
        publisher.close();
        await target.close();
      },
    };
    return { url, publisher: copy };
  };
}

function asPublishedStore({ engine, network, projections, windows }: Published): PublishedStore {
  const { name, family, parameters } = network;
  const facts = { network: name, family: family.name, parameters, partial: false, selfContained: false, windows, settings: {} };
  return { engine, network, projections, table: PROJECTIONS, readSetting: () => '', facts };
}
