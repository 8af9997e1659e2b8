/**
 * What every `start` does once there is a store and a source: a server beside
 * the follower, commands on standard input, lines about what happens, and an
 * orderly end at a block.
 */
import { renderPoint } from '../query/render.ts';
import type { Served, ServeOptions } from '../server/serve.ts';
import type { Source } from '../sources/source.ts';
import { watchRemarks } from '../store/remarks.ts';
import type { OpenStore } from '../store/store.ts';
import { UnspentError } from '../util/errors.ts';
import { runBoth } from '../util/run-both.ts';
import { followTxs } from './bitcoin/follow-txs.ts';
import type { Context } from './context.ts';
import { type ControlCommand, readControl } from './control.ts';
import type { FollowLog } from './follow-log.ts';
import { pointText } from './format.ts';
import { aborted, onAbort } from './interrupt.ts';
import { showLiveView } from './live/live-view.ts';
import { withPublishing } from './publish.ts';
import { announceReady } from './service-manager.ts';
import { isServed, startServer } from './start-server.ts';
import { followWallets } from './wallet/follow-wallets.ts';

/** A server that is there for as long as the body is, where one is wanted. */
export async function withServer(
  context: Context,
  store: OpenStore,
  body: (served: Served | null) => Promise<void>,
  more: Pick<ServeOptions, 'ports'> = {},
): Promise<void> {
  if (!isServed(context)) {
    announceReady(context);
    return body(null);
  }
  const served = await startServer(context, store, { ...more, follows: true });
  announceReady(context);
  try {
    await body(served);
  } finally {
    await served.close();
  }
}

export async function followAndReport(
  context: Context,
  store: OpenStore,
  source: Source,
  lines: FollowLog,
  commands: readonly ControlCommand[],
  served: Served | null,
): Promise<void> {
  const { output, log, stop: asked } = context;
  onAbort(asked, () => log.info('cli', 'stopping', 'stopping at the next block; once more to end at once'));
  const quit = new AbortController();
  const view = showLiveView(context, store, [...commands.map(({ syntax }) => syntax.split(' ')[0]), 'help', 'quit']);
  const control = readControl(commands, (text) => output.answer(text), view?.input ?? process.stdin);
  void control.quit.then(() => quit.abort());
  const signal = AbortSignal.any([asked, quit.signal]);
  const stopWatching = watchRemarks(store, (text) => log.warn('store', text.split(':')[0], text));
  try {
    await withPublishing(context, store, () =>
      runBoth(
        signal,
        (stop) => Promise.all([serveUntil(served, stop), followWallets(context, store, stop), followTxs(store, stop)]),
        async (stop) => {
          await store.follow(source, {
            follow: true,
            signal: stop,
            onProgress: (now) => lines.progress(now),
            onRollback: (to, undone) => lines.onRollback(to, undone),
          });
          // A source that ends leaves nothing to wait for.
          quit.abort();
        },
      ),
    );
  } finally {
    stopWatching();
    lines.close();
    control.stop();
    view?.close();
  }
  const { head } = store.fold;
  if (output.json)
    output.document({
      point: renderPoint(head, store.network.dialect),
      utxos: store.totals()?.utxos ?? null,
      value: store.totals()?.value.toString() ?? null,
    });
  if (asked.aborted) throw new UnspentError('INTERRUPTED', `stopped at ${pointText(head, store.network.dialect)}`);
  log.info('cli', 'stopped', `stopped at ${pointText(head, store.network.dialect)}`);
}

/** Stops serving as soon as it is told to, while the fold still goes to its block. Rejects when the server fails. */
async function serveUntil(served: Served | null, stop: AbortSignal): Promise<void> {
  if (served === null) return;
  await Promise.race([aborted(stop), served.ended]);
  await served.close();
}
