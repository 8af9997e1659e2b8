/**
 * `start`: follows a chain, stays, and serves it. With no arguments it makes a
 * devnet of its own and follows it over a real socket, so that there is something
 * to see on a bare machine: blocks, a rollback, an address with outputs. While it
 * runs it answers over HTTP and on standard input, because nobody else can open
 * the store.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { LiveDevnet, type LiveOptions } from '../chains/cardano/devnet/live.ts';
import { makeWallet } from '../chains/cardano/devnet/wallet.ts';
import { serveChain } from '../chains/cardano/responder/index.ts';
import { readIdentity } from '../engine/directory.ts';
import { openNetwork } from '../families/networks.ts';
import { openEmbedded, openNetworkSource, SOURCE_FORMS } from '../families/open-source.ts';
import { formatAddress } from '../ledgers/cardano/index.ts';
import type { Served } from '../server/serve.ts';
import type { OpenOptions, OpenStore } from '../store/store.ts';
import { UnspentError } from '../util/errors.ts';
import { action, type Context } from './context.ts';
import { devnetCommands } from './devnet-control.ts';
import { withEverything } from './everything.ts';
import { remarkShape } from './fill-text.ts';
import { ada, pairs } from './format.ts';
import { followCommands } from './start-control.ts';
import { followAndReport, lineWriter, withServer } from './start-follow.ts';
import { FollowLines } from './start-lines.ts';
import { REGTEST, startRegtestStore } from './start-regtest.ts';
import { checkPort } from './start-server.ts';

const NETWORK = 'devnet';
const JOURNAL = 'devnet.journal';
const SEED = 1;
const FUNDED = 10_000_000_000n;
/** Blocks there are at once, so that the first look is not at nothing. */
const FIRST_BLOCKS = 20;
const INTERVAL_MS = 2000;
/** The first fork is for the newcomer's eyes: soon, and not too soon. */
const FIRST_FORK_MS = 12_000;
const FIRST_FORK_DEPTH = 3;
const FORKS = { everyBlocks: 30, depthMax: 5 };

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
Reads commands from standard input, one a line; type help. Ctrl-C stops at a block; the same command goes on from there.

Examples:
  $ unspent start
  $ unspent start --network bitcoin-regtest --data ./regtest
  $ unspent start --network preview --source n2n://127.0.0.1:3001
  $ unspent start --network mainnet --genesis /node/config --source n2c:/node/node.socket --data ./mainnet`,
    )
    .action(action(start));
}

function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}

async function start(context: Context): Promise<void> {
  const { source: urls } = context.options as unknown as { readonly source?: readonly string[] };
  await checkPort(context);
  if (urls !== undefined) return startWith(context, urls);
  const { network, data } = context.settings.config;
  // A store of the other chain that can be made here needs no telling twice.
  const wanted = network === '' && readIdentity(data)?.network === REGTEST ? REGTEST : network;
  if (wanted === REGTEST) return startRegtestStore(context);
  if (wanted === '' || wanted === NETWORK) return startDevnet(context);
  throw new UnspentError(
    'USAGE',
    `start without --source makes a devnet of its own (${NETWORK} or ${REGTEST}); to follow ${wanted}, say where its blocks come from`,
  );
}

function startWith(context: Context, urls: readonly string[]): Promise<void> {
  const { output, settings } = context;
  const embedded = openEmbedded(urls);
  const making: OpenOptions = {
    create: true,
    ...(embedded?.source.genesis !== undefined && settings.config.genesis === '' ? { genesis: embedded.source.genesis } : {}),
    ...(embedded !== null && settings.config.network === '' ? { network: embedded.network } : {}),
  };
  return context.withStore(async (store) => {
    const lines = new FollowLines(store, lineWriter(context));
    const source = embedded?.source ?? openNetworkSource(urls, store.network, { onPeer: (status) => lines.peer(status) });
    remarkShape(context, store);
    await withServer(context, store, async (served) => {
      if (!output.json) output.remark(`following ${source.name} into ${store.data}; type help`);
      if (served !== null) output.remark(`to look at it, open ${served.url}`);
      await followAndReport(context, store, source, lines, followCommands(store, lines, served), served);
    });
  }, making);
}

/** The devnet remembers itself beside the store, so that the two still fit after a restart. */
async function startDevnet(context: Context): Promise<void> {
  const { output } = context;
  const options: LiveOptions = { seed: SEED };
  const { genesis } = new LiveDevnet(options);
  await context.withStore(
    async (store) => {
      const journal = join(store.data, JOURNAL);
      if (store.fold.head !== null && !existsSync(journal)) {
        throw new UnspentError(
          'SOURCE_FORK',
          `${store.data} holds another devnet's chain, and this one begins anew; use another --data DIR`,
        );
      }
      const devnet = new LiveDevnet({ ...options, forks: FORKS, journal });
      const { address } = makeWallet(SEED);
      const isNew = devnet.blocks.length === 0;
      if (isNew) devnet.fund(address, FUNDED);
      devnet.mine(isNew ? FIRST_BLOCKS : 1);
      const responder = await serveChain(devnet, { port: 0 });
      const firstFork = setTimeout(() => devnet.fork(FIRST_FORK_DEPTH), FIRST_FORK_MS);
      remarkShape(context, store);
      try {
        await withServer(context, store, async (served) => {
          const url = `n2n://127.0.0.1:${responder.port}`;
          if (!output.json) output.line(introduction(url, store, formatAddress(address), served));
          else if (served !== null) output.remark(`to look at it, open ${served.url}`);
          devnet.setInterval(INTERVAL_MS);
          const lines = new FollowLines(store, lineWriter(context));
          const commands = [...followCommands(store, lines, served), ...devnetCommands(devnet)];
          await followAndReport(
            context,
            store,
            openNetworkSource(url, store.network, { onPeer: (status) => lines.peer(status) }),
            lines,
            commands,
            served,
          );
        });
      } finally {
        clearTimeout(firstFork);
        await devnet.close();
        await responder.close();
      }
    },
    { create: true, network: NETWORK, genesis, config: withEverything(context.settings.config, openNetwork(NETWORK, genesis).ledger) },
  );
}

function introduction(url: string, store: OpenStore, address: string, served: Served | null): string {
  const rows: [string, string][] = [
    ...(served === null ? [] : [['page', `open ${served.url} in a browser`] as [string, string]]),
    ['devnet', `a chain of your own, a block every ${INTERVAL_MS / 1000} s, served at ${url}`],
    ['store', `${store.data}, following it over that socket`],
    ['soon', 'a fork: the last blocks are undone, exactly, and others take their place'],
    ['try', `query address ${address}`],
    ['', `(${ada(FUNDED)} ada are there) or: status, digest, fork 5, help; Ctrl-C stops`],
  ];
  return `${pairs(rows)}\n`;
}
