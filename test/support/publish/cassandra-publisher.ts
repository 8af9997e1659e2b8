/** The publisher itself, as suites of readers want one: told when to publish. */
import { PROJECTIONS } from '../../../src/projections/registry.ts';
import { openTarget } from '../../../src/publish/open.ts';
import type { PublishedStore } from '../../../src/publish/published-store.ts';
import type { CopyPublisher, MakeCopy } from '../copy/mirror.ts';
import type { Published } from '../copy/test-publisher.ts';
import { publishOnce, startPublisher } from './rig.ts';

export function cassandraCopy(url: string): MakeCopy {
  return async (published) => {
    const store = asPublishedStore(published);
    const target = await openTarget(url, 'columns', store);
    const publisher = await startPublisher(store, target);
    const copy: CopyPublisher = {
      get seq() {
        return publisher.published.seq;
      },
      publish: async () => {
        await publishOnce(publisher);
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
