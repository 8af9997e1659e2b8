/**
 * What publishing costs the sync of the same process: a chain is followed from
 * its first block, once alone and once with a thread that publishes every block
 * of it meanwhile. The copy is there from the start, so that nothing waits until
 * the store is near its tip, which is what a copy that begins does by itself.
 */
import { publishedStore } from '../src/publish/of-store.ts';
import { PostgresColumns } from '../src/publish/postgres/columns-target.ts';
import { Publisher } from '../src/publish/publisher.ts';
import { startPublishing } from '../src/publish/start.ts';
import type { PublishThread } from '../src/publish/thread/thread.ts';
import type { PublishReport } from '../src/store/publishing.ts';
import type { OpenStore } from '../src/store/store.ts';
import { pause } from '../src/util/pause.ts';
import type { PostgresServer } from '../test/support/sql/postgres-server.ts';
import { openSampleStore, type SampleChain } from './publish-chains.ts';
import { collectGarbage, ownProcessorSeconds, timed } from './support.ts';

export interface SyncFigures {
  readonly seconds: number;
  /** Processor time until the sync ended: of the thread that folds, and of the whole process. */
  readonly foldSeconds: number;
  readonly processSeconds: number;
  /** Of the whole process, until the copy was there as well. */
  readonly publishedSeconds: number;
  /** Blocks that the copy was behind when the sync ended. */
  readonly behind: number;
  readonly rows: number;
}

const LOOK_MS = 100;

/** `server` null: nothing is published. */
export async function measureSync(chain: SampleChain, server: PostgresServer | null): Promise<SyncFigures> {
  const { store, close } = await openSampleStore(chain);
  try {
    const publishing = server === null ? null : await publishEmpty(store, await server.unusedUrl());
    collectGarbage();
    const [own, thread] = [ownProcessorSeconds(), process.threadCpuUsage()];
    const { seconds } = await timed(() => store.follow(`immutable:${chain.chunks}`));
    const { user, system } = process.threadCpuUsage(thread);
    const processSeconds = ownProcessorSeconds() - own;
    const height = store.fold.head?.height ?? 0;
    const behind = publishing === null ? 0 : height - (publishing.report.height ?? -1);
    if (publishing !== null) await waitFor(publishing, ({ height: published }) => published === height);
    const publishedSeconds = ownProcessorSeconds() - own;
    const rows = publishing?.report.rows ?? 0;
    await publishing?.close();
    return { seconds, foldSeconds: (user + system) / 1e6, processSeconds, publishedSeconds, behind, rows };
  } finally {
    await close();
  }
}

/** A copy of the empty store, and the thread that keeps it. */
async function publishEmpty(store: OpenStore, url: string): Promise<PublishThread> {
  const target = new PostgresColumns(url);
  const publisher = new Publisher(publishedStore(store), target, await target.claim(new AbortController().signal));
  await publisher.sendSnapshot();
  publisher.close();
  await target.close();
  const publishing = await startPublishing(store, url, 'columns');
  await waitFor(publishing, ({ state }) => state === 'publishing');
  return publishing;
}

/** It looks seldom: what it takes is in the figures. */
async function waitFor(publishing: PublishThread, isSo: (report: PublishReport) => boolean): Promise<void> {
  const looking = (async () => {
    while (!isSo(publishing.report)) await pause(LOOK_MS, {});
  })();
  await Promise.race([looking, publishing.ended]);
}
