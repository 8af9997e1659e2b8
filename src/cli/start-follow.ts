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
import { pointText } from './format.ts';
import { aborted, onAbort } from './interrupt.ts';
import type { FollowLines } from './start-lines.ts';
import { isServed, startServer } from './start-server.ts';
import { followWallets } from './wallet/follow-wallets.ts';

/** A server that is there for as long as the body is, where one is wanted. */
export async function withServer(
  context: Context,
  store: OpenStore,
  body: (served: Served | null) => Promise<void>,
  more: Pick<ServeOptions, 'ports'> = {},
): Promise<void> {
  if (!isServed(context)) return body(null);
  const served = await startServer(context, store, { ...more, follows: true });
  try {
    await body(served);
  } finally {
    await served.close();
  }
}

export function lineWriter({ output }: Context): (text: string) => void {
  return output.json ? (text) => output.remark(text) : (text) => output.line(text);
}

export async function followAndReport(
  context: Context,
  store: OpenStore,
  source: Source,
  lines: FollowLines,
  commands: readonly ControlCommand[],
  served: Served | null,
): Promise<void> {
  const { output, stop: asked } = context;
  const say = lineWriter(context);
  onAbort(asked, () => output.remark('stopping at the next block; once more to end at once'));
  const quit = new AbortController();
  const control = readControl(commands, say);
  void control.quit.then(() => quit.abort());
  const signal = AbortSignal.any([asked, quit.signal]);
  const stopWatching = watchRemarks(store, say);
  try {
    await runBoth(
      signal,
      (stop) => Promise.all([serveUntil(served, stop), followWallets(context, store, stop), followTxs(store, stop)]),
      async (stop) => {
        await store.follow(source, {
          follow: true,
          signal: stop,
          onProgress: (now) => lines.progress(now),
          onRollback: (to, undone) => lines.rolledBack(to, undone),
          onFill: (fills) => lines.filled(fills),
        });
        // A source that ends leaves nothing to wait for.
        quit.abort();
      },
    );
  } finally {
    stopWatching();
    control.stop();
  }
  const { head } = store.fold;
  if (output.json)
    output.document({
      point: renderPoint(head, store.network.dialect),
      utxos: store.totals()?.utxos ?? null,
      value: store.totals()?.value.toString() ?? null,
    });
  if (asked.aborted) throw new UnspentError('INTERRUPTED', `stopped at ${pointText(head, store.network.dialect)}`);
  output.remark(`stopped at ${pointText(head, store.network.dialect)}`);
}

/** Stops serving as soon as it is told to, while the fold still goes to its block. Rejects when the server fails. */
async function serveUntil(served: Served | null, stop: AbortSignal): Promise<void> {
  if (served === null) return;
  await Promise.race([aborted(stop), served.ended]);
  await served.close();
}
