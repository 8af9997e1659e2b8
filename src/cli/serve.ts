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
import { type Context, longRunning } from './context.ts';
import { pointText } from './format.ts';
import { aborted, onAbort } from './interrupt.ts';
import { copyUrl, servePublished } from './serve-copy.ts';
import { announceReady } from './service-manager.ts';
import { startServer } from './start-server.ts';
import { followWallets } from './wallet/follow-wallets.ts';
import { collect } from './wallet/operands.ts';

export function registerServe(program: Command): void {
  program
    .command('serve')
    .description('serve an existing store over HTTP, with a page to look at')
    .option('--port <n>', 'port to listen on; 0 takes a free one (default: 8437, or the next that is free)')
    .option('--host <address>', 'address to listen on (default: 127.0.0.1)')
    .option(
      '--from <url>',
      'read a published copy in place of a store: postgres://user@host/database?schema=unspent or cassandra://user@host/keyspace',
    )
    .option('--source <url>', 'with --from: a node that takes what is submitted here; may be repeated', collect)
    .addHelpText(
      'after',
      `
Blocks are not followed: \`start\` does both. Wallets get the blocks that the store has.
An address that others can reach needs server.token or server.allowPublic.

With --from there is no store here: a copy that \`unspent publish\` writes is read from its database. Any number of such
servers may read one copy; each answer is of one published block. The URL can also be the setting server.from, which
keeps its password off the command line.

Examples:
  $ unspent serve
  $ unspent serve --data ./preview --port 9000
  $ unspent serve --from postgres://reader@db.example/chain --port 9001`,
    )
    .action(longRunning(serveAny));
}

function serveAny(context: Context): Promise<void> {
  const url = copyUrl(context);
  return url === null ? serveStore(context) : servePublished(context, url);
}

function serveStore(context: Context): Promise<void> {
  const { output, log, stop } = context;
  return context.withStore(async (store) => {
    onAbort(stop, () => log.info('cli', 'stopping', 'stopping; once more to end at once'));
    const served = await startServer(context, store);
    announceReady(context);
    const { head } = store.fold;
    if (output.json)
      output.document({
        url: served.url,
        data: store.data,
        network: store.network.name,
        point: renderPoint(head, store.network.dialect),
      });
    else
      output.pairs([
        ['page', served.url],
        ['api', `${served.url}api/v1/`],
        ['store', `${store.data}, ${pointText(head, store.network.dialect)}; Ctrl-C stops`],
      ]);
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
