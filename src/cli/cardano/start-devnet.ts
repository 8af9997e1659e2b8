/**
 * `start` without arguments: a Cardano chain of one's own, followed over a real
 * socket and served, so that there is something to see on a bare machine:
 * blocks, a rollback, an address with outputs.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { devnetLedger, devnetMempool } from '../../chains/cardano/devnet/ledger-feed.ts';
import { LiveDevnet, type LiveOptions } from '../../chains/cardano/devnet/live.ts';
import { makeWallet } from '../../chains/cardano/devnet/wallet.ts';
import { serveChain } from '../../chains/cardano/responder/index.ts';
import { type Config, isGiven, withValues } from '../../config/schema.ts';
import { readIdentity } from '../../engine/directory.ts';
import { openNetwork } from '../../families/networks.ts';
import { openNetworkSource } from '../../families/open-source.ts';
import { formatAddress } from '../../ledgers/cardano/index.ts';
import type { Served } from '../../server/serve.ts';
import { walletPageUrl } from '../../server/wallets/wallet-token.ts';
import type { OpenStore } from '../../store/store.ts';
import { UnspentError } from '../../util/errors.ts';
import type { Context } from '../context.ts';
import { withEverything } from '../everything.ts';
import { remarkShape } from '../fill-text.ts';
import { FollowLog } from '../follow-log.ts';
import { ada, pairs } from '../format.ts';
import { followCommands } from '../start-control.ts';
import { followAndReport, withServer } from '../start-follow.ts';
import { devnetCommands } from './devnet-control.ts';
import { DEMO_WALLET, makeDemoWallet } from './wallet/demo-wallet.ts';

export const DEVNET = 'devnet';
const JOURNAL = 'devnet.journal';
const CHAIN: LiveOptions = { seed: 1, cages: true, scripts: true };
const FUNDED = 10_000_000_000n;
/** What the demo wallet is paid while the newcomer looks. */
const SALE = 25_000_000n;
/** Blocks there are at once, so that the first look is not at nothing. */
const FIRST_BLOCKS = 20;
const INTERVAL_MS = 2000;
/** The first fork is for the newcomer's eyes: soon, and not too soon. */
const FIRST_FORK_MS = 12_000;
const FIRST_FORK_DEPTH = 3;
const FORKS = { everyBlocks: 30, depthMax: 5 };

/** The devnet remembers itself beside the store, so that the two still fit after a restart. */
export async function startDevnet(context: Context): Promise<void> {
  const { output } = context;
  const { config } = context.settings;
  const { genesis } = new LiveDevnet(CHAIN);
  await context.withStore(
    async (store) => {
      const journal = join(store.data, JOURNAL);
      if (store.fold.head !== null && !existsSync(journal)) {
        throw new UnspentError(
          'SOURCE_FORK',
          `${store.data} holds another devnet's chain, and this one begins anew; use another --data DIR`,
        );
      }
      const devnet = new LiveDevnet({ ...CHAIN, forks: FORKS, journal });
      const { address } = makeWallet(CHAIN.seed);
      const isNew = devnet.blocks.length === 0;
      if (isNew) devnet.fund(address, FUNDED);
      devnet.mine(isNew ? FIRST_BLOCKS : 1);
      const responder = await serveChain(devnet, { port: 0 });
      const soon = [setTimeout(() => devnet.fork(FIRST_FORK_DEPTH), FIRST_FORK_MS)];
      // The fork takes it out of its block, and another block has it again.
      if (isNew) soon.push(setTimeout(() => devnet.fund(address, SALE), FIRST_FORK_MS - 2 * INTERVAL_MS));
      remarkShape(context, store);
      const hasWallet = await makeDemoWallet(context, formatAddress(address));
      try {
        await withServer(context, store, async (served) => {
          const url = `n2n://127.0.0.1:${responder.port}`;
          if (!output.json) output.line(introduction(url, store, formatAddress(address), served, hasWallet));
          else if (served !== null) context.log.info('server', 'serving', `to look at it, open ${served.url}`, { url: served.url });
          devnet.setInterval(INTERVAL_MS);
          const lines = new FollowLog(store, context.log, { isShown: () => context.terminal.region?.isDrawn === true });
          const commands = [...followCommands(store, lines, served), ...devnetCommands(devnet)];
          await followAndReport(
            context,
            store,
            // Over its socket it is read as any node is; what a socket of that kind does not carry, it is asked directly.
            {
              ...openNetworkSource(url, store.network, { onPeer: (status) => lines.peer(status) }),
              ledger: devnetLedger(devnet),
              mempool: devnetMempool(devnet),
            },
            lines,
            commands,
            served,
          );
        });
      } finally {
        for (const timer of soon) clearTimeout(timer);
        await devnet.close();
        await responder.close();
      }
    },
    { create: true, network: DEVNET, genesis, config: withCages(withEverything(config, openNetwork(DEVNET, genesis).ledger)) },
  );
}

/** Cages can be followed only from the first block on, so it is a new store that begins to, unless a setting says otherwise. */
function withCages(config: Config): Config {
  if (readIdentity(config.data) !== null) return config;
  return withValues(config, {
    ...(isGiven(config, 'cage.enabled') ? {} : { 'cage.enabled': true }),
    ...(isGiven(config, 'cage.deployments') || isGiven(config, 'cage.blueprint') ? {} : { 'cage.deployments': DEVNET }),
  });
}

function introduction(url: string, store: OpenStore, address: string, served: Served | null, hasWallet: boolean): string {
  const rows: [string, string][] = [
    ...(served === null ? [] : [['page', `open ${served.url} in a browser`] as [string, string]]),
    ['devnet', `a chain of your own, a block every ${INTERVAL_MS / 1000} s, served at ${url}`],
    ['store', `${store.data}, following it over that socket`],
    ...(served === null
      ? []
      : [['clients', `of Kupo, Blockfrost and Ogmios: ${served.url}kupo, /blockfrost and /ogmios`] as [string, string]]),
    ...(hasWallet ? walletRows(store, served) : []),
    ['soon', 'a fork: the last blocks are undone, exactly, and others take their place'],
    ['try', `query address ${address}`],
    ['', `(${ada(FUNDED)} ada are there) or: status, digest, fork 5, help; Ctrl-C stops`],
  ];
  return `${pairs(rows)}\n`;
}

function walletRows({ config, data }: OpenStore, served: Served | null): [string, string][] {
  const command = `in another terminal: unspent wallet history ${DEMO_WALLET} --data ${data}`;
  if (served === null) return [['wallet', command]];
  return [
    ['wallet', `open ${walletPageUrl(served.url, config)}`],
    ['', `or, ${command}`],
  ];
}
