/**
 * `start`: follows a chain, stays, and serves it. With no source it makes a chain
 * of its own (`local-chains.ts`) and follows that. While it runs it answers over
 * HTTP, on standard input, and to other commands (store/control/).
 */
import type { Command } from 'commander';
import { readIdentity } from '../engine/directory.ts';
import { familyOfNetwork } from '../families/networks.ts';
import { familyOfSource, openEmbedded, openNetworkSource, SOURCE_FORMS } from '../families/open-source.ts';
import type { OpenOptions } from '../store/store.ts';
import { UnspentError } from '../util/errors.ts';
import { type Context, longRunning } from './context.ts';
import { remarkShape } from './fill-text.ts';
import { FollowLog } from './follow-log.ts';
import { LOCAL_CHAINS, localChain, USUAL_CHAIN } from './local-chains.ts';
import { followCommands } from './start-control.ts';
import { followAndReport, withServer } from './start-follow.ts';
import { checkPorts } from './start-server.ts';
import { collect } from './wallet/operands.ts';

export function registerStart(program: Command): void {
  program
    .command('start')
    .description('follow a chain, stay at its tip, and serve it; without arguments, a devnet of its own')
    .option('--source <url>', `where blocks come from: ${SOURCE_FORMS.join(', ')}; may be repeated for nodes`, collect)
    .option('--port <n>', 'port of the page and the API; 0 takes a free one (default: 8437, or the next that is free)')
    .option('--no-server', 'follow only')
    .addHelpText(
      'after',
      `
Reads commands from standard input, one a line; type help. Commands in other terminals (status, query, ...) ask this one.
Ctrl-C stops at a block; the same command goes on from there.

Examples:
  $ unspent start
  $ unspent start --network bitcoin-regtest --data ./regtest
  $ unspent start --network preview --source n2n://127.0.0.1:3001
  $ unspent start --network mainnet --genesis /node/config --source n2c:/node/node.socket --data ./mainnet`,
    )
    .action(longRunning(start));
}

async function start(context: Context): Promise<void> {
  const { source: urls } = context.options as unknown as { readonly source?: readonly string[] };
  if (urls !== undefined) {
    await checkPorts(context, familyOfSource(urls));
    return startWith(context, urls);
  }
  const { network, data } = context.settings.config;
  // A store of a chain that can be made here needs no telling twice.
  const chain = localChain(network === '' ? readIdentity(data)?.network : network) ?? (network === '' ? USUAL_CHAIN : null);
  await checkPorts(context, chain === null ? null : familyOfNetwork(chain.network));
  if (chain !== null) return chain.start(context);
  // A name that is none has to be told first: nobody has blocks of it.
  familyOfNetwork(network);
  const networks = LOCAL_CHAINS.map((each) => each.network).join(' or ');
  throw new UnspentError(
    'USAGE',
    `start without --source makes a devnet of its own (${networks}); to follow ${network}, say where its blocks come from`,
  );
}

function startWith(context: Context, urls: readonly string[]): Promise<void> {
  const { output, log, settings } = context;
  const embedded = openEmbedded(urls);
  const making: OpenOptions = {
    create: true,
    ...(embedded?.source.genesis !== undefined && settings.config.genesis === '' ? { genesis: embedded.source.genesis } : {}),
    ...(embedded !== null && settings.config.network === '' ? { network: embedded.network } : {}),
  };
  return context.withStore(async (store) => {
    const lines = new FollowLog(store, context.log, { isShown: () => context.terminal.region?.isDrawn === true });
    const source = embedded?.source ?? openNetworkSource(urls, store.network, { onPeer: (status) => lines.peer(status) });
    remarkShape(context, store);
    await withServer(context, store, async (served) => {
      log.info('sources', 'following', `following ${source.name} into ${store.data}${output.json ? '' : '; type help'}`, {
        source: source.name,
      });
      if (served !== null) log.info('server', 'serving', `to look at it, open ${served.url}`, { url: served.url });
      await followAndReport(context, store, source, lines, followCommands(store, lines, served), served);
    });
  }, making);
}
