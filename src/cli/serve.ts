/**
 * `serve`: an existing store over HTTP, without following anything. What was
 * switched on and is not filled yet is filled meanwhile, what is outside the
 * window is pruned, and wallets get the blocks that they have not got yet.
 */
import type { Command } from 'commander';
import { renderPoint } from '../query/render.ts';
import type { OpenStore } from '../store/store.ts';
import { UnspentError } from '../util/errors.ts';
import { runBoth } from '../util/run-both.ts';
import { type Context, stoppable } from './context.ts';
import { pairs, pointText } from './format.ts';
import { aborted, onAbort } from './interrupt.ts';
import { startServer } from './start-server.ts';
import { followWallets } from './wallet/follow-wallets.ts';

export function registerServe(program: Command): void {
  program
    .command('serve')
    .description('serve an existing store over HTTP, with a page to look at')
    .option('--port <n>', 'port to listen on; 0 takes a free one (default: 8437, or the next that is free)')
    .option('--host <address>', 'address to listen on (default: 127.0.0.1)')
    .addHelpText(
      'after',
      `
Blocks are not followed: \`start\` does both. Wallets get the blocks that the store has.
An address that others can reach needs server.token or server.allowPublic.

Examples:
  $ unspent serve
  $ unspent serve --data ./preview --port 9000`,
    )
    .action(stoppable(serveStore));
}

function serveStore(context: Context): Promise<void> {
  const { output, stop } = context;
  return context.withStore(async (store) => {
    onAbort(stop, () => output.remark('stopping; once more to end at once'));
    const served = await startServer(context, store);
    const { head } = store.fold;
    if (output.json)
      output.document({
        url: served.url,
        data: store.data,
        network: store.network.name,
        point: renderPoint(head, store.network.dialect),
      });
    else
      output.line(
        pairs([
          ['page', served.url],
          ['api', `${served.url}api/v1/`],
          ['store', `${store.data}, ${pointText(head, store.network.dialect)}; Ctrl-C stops`],
        ]),
      );
    const ended = new AbortController();
    await runBoth(
      stop,
      (signal) => Promise.race([aborted(signal), served.ended]).finally(() => ended.abort()),
      (signal) => upkeep(context, store, AbortSignal.any([signal, ended.signal])),
    );
    await served.close();
    throw new UnspentError('INTERRUPTED', 'stopped serving');
  });
}

/** What a store needs that nothing is followed into, and the wallets beside it. */
function upkeep(context: Context, store: OpenStore, signal: AbortSignal): Promise<unknown> {
  return runBoth(
    signal,
    (stop) => followWallets(context, store, stop),
    (stop) =>
      runBoth(
        stop,
        (both) => store.fill({ signal: both }),
        (both) => store.keepPruned(both),
      ),
  );
}
