/** Publishing beside a fold, in a thread of its own. */
import type { OpenStore } from '../store/store.ts';
import { publishedStore } from './of-store.ts';
import { openTarget } from './open.ts';
import { PublishRunner } from './runner.ts';
import type { CopyTarget } from './target.ts';
import { PublishThread } from './thread/thread.ts';

/** Throws USAGE for a URL that names no copy, UNSUPPORTED where a package is missing: before the thread is there. */
export async function startPublishing(store: OpenStore, to: string, form: CopyTarget['form']): Promise<PublishThread> {
  const published = publishedStore(store);
  const target = await openTarget(to, form, published);
  const { report } = new PublishRunner(published, target, { follow: true });
  await target.close();
  return new PublishThread(store, to, form, report);
}
