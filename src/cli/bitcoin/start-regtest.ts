/**
 * `start --network bitcoin-regtest`: a Bitcoin chain of one's own, served over
 * P2P and followed over that socket, with everything kept that clients of this
 * family ask for. A newcomer sees blocks, a fork, an address with coins, an
 * Esplora server and an Electrum server, and needs no node.
 */
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { GUEST_SCRIPT, RegtestDevnet } from '../../chains/bitcoin/regtest/index.ts';
import { serveP2p } from '../../chains/bitcoin/responder/index.ts';
import { openNetwork } from '../../families/networks.ts';
import { openNetworkSource } from '../../families/open-source.ts';
import { bitcoinNetwork, formatAddress } from '../../ledgers/bitcoin/index.ts';
import type { Served, ServeOptions } from '../../server/serve.ts';
import { walletPageUrl } from '../../server/wallets/wallet-token.ts';
import type { OpenStore } from '../../store/store.ts';
import { UnspentError } from '../../util/errors.ts';
import type { Context } from '../context.ts';
import { withEverything } from '../everything.ts';
import { remarkShape } from '../fill-text.ts';
import { FollowLog } from '../follow-log.ts';
import { pairs } from '../format.ts';
import { followCommands } from '../start-control.ts';
import { followAndReport, withServer } from '../start-follow.ts';
import { btc, regtestCommands } from './regtest-control.ts';
import { DEMO_WALLET, playDemoWallet } from './wallet/demo-wallet.ts';

export const REGTEST = 'bitcoin-regtest';
const JOURNAL = 'regtest.journal';
const SEED = 1;
/** What the guest, whose address the newcomer is shown, has to begin with. */
const FUNDED = [300_000_000n, 25_000_000n, 1_234_567n];
/** Blocks there are at once: coinbases can be spent after a hundred, and then a few with something in them. */
const RIPE_BLOCKS = 104;
const FIRST_BLOCKS = 16;
const INTERVAL_MS = 2000;
/** The first fork is for the newcomer's eyes: soon, and not too soon. */
const FIRST_FORK_MS = 12_000;
const FIRST_FORK_DEPTH = 3;
const FORKS = { everyBlocks: 30, depthMax: 5 };
/** Where Electrum servers are usually found. */
const ELECTRUM_PORT = 50_001;

/** The chain remembers itself beside the store, so that the two still fit after a restart. */
export async function startRegtestStore(context: Context): Promise<void> {
  const config = withEverything(context.settings.config, openNetwork(REGTEST, null).ledger);
  await context.withStore((store) => startIn(context, store), { create: true, network: REGTEST, config });
}

async function startIn(context: Context, store: OpenStore): Promise<void> {
  const { output } = context;
  const devnet = openChain(store);
  const responder = await serveP2p(devnet, { port: 0 });
  const firstFork = setTimeout(() => devnet.fork(FIRST_FORK_DEPTH), FIRST_FORK_MS);
  remarkShape(context, store);
  try {
    const body = async (served: Served | null): Promise<void> => {
      const url = `p2p://127.0.0.1:${responder.port}`;
      if (!output.json) output.line(introduction(url, store, served));
      else if (served !== null) context.log.info('server', 'serving', `to look at it, open ${served.url}`, { url: served.url });
      devnet.setInterval(INTERVAL_MS);
      const lines = new FollowLog(store, context.log, { isShown: () => context.terminal.region?.isDrawn === true });
      const commands = [...followCommands(store, lines, served), ...regtestCommands(devnet)];
      const source = openNetworkSource(url, store.network, { onPeer: (status) => lines.peer(status) });
      const end = new AbortController();
      const demo = playDemoWallet(context, devnet, end.signal);
      try {
        await followAndReport(context, store, source, lines, commands, served);
      } finally {
        end.abort();
        await demo;
      }
    };
    await withServer(context, store, body, await electrumPorts(context));
  } finally {
    clearTimeout(firstFork);
    devnet.pause();
    await responder.close();
    await devnet.close();
  }
}

/** Throws SOURCE_FORK when the store is not of the chain beside it. */
function openChain(store: OpenStore): RegtestDevnet {
  const journal = join(store.data, JOURNAL);
  if (store.fold.head !== null && !existsSync(journal)) {
    throw new UnspentError('SOURCE_FORK', `${store.data} holds another regtest chain, and this one begins anew; use another --data DIR`);
  }
  const devnet = new RegtestDevnet({ seed: SEED, forks: FORKS, journal });
  if (devnet.height > RIPE_BLOCKS) devnet.mine();
  else {
    devnet.mine(RIPE_BLOCKS - devnet.height);
    for (const sats of FUNDED) {
      devnet.fund(GUEST_SCRIPT, sats);
      devnet.mine();
    }
    devnet.mine(FIRST_BLOCKS - FUNDED.length);
  }
  return devnet;
}

/** The one that is set; else the usual one where it is free, or any: any too for who wants any for the page. */
async function electrumPorts({ options, settings: { config, origins } }: Context): Promise<Pick<ServeOptions, 'ports'>> {
  if (origins['electrum.port'].from !== 'default') return {};
  const isUsual = (options as { readonly port?: string }).port !== '0' && (await isFree(ELECTRUM_PORT, config.electrum.host));
  return { ports: { electrum: { tcp: isUsual ? ELECTRUM_PORT : 0 } } };
}

function isFree(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}

function introduction(url: string, store: OpenStore, served: Served | null): string {
  const address = formatAddress(bitcoinNetwork(REGTEST), GUEST_SCRIPT)!;
  const tcp = served?.ports['electrum']?.['tcp'];
  const rows: [string, string][] = [
    ...(served === null ? [] : [['page', `open ${served.url} in a browser`] as [string, string]]),
    ...(served === null ? [] : [['esplora', `${served.url}api`] as [string, string]]),
    ...(tcp === undefined ? [] : [['electrum', `${store.config.electrum.host}:${tcp} (TCP, no TLS)`] as [string, string]]),
    ['regtest', `a chain of your own, a block every ${INTERVAL_MS / 1000} s, served at ${url}`],
    ['store', `${store.data}, following it over that socket`],
    ...(served === null ? [] : [['wallet', `open ${walletPageUrl(served.url, store.config)}`] as [string, string]]),
    [served === null ? 'wallet' : '', `or, in another terminal: unspent wallet history ${DEMO_WALLET} --data ${store.data}`],
    ['', 'payments, one replaced, and what the fork does to them'],
    ['soon', 'a fork: the last blocks are undone, exactly, and others take their place'],
    ['try', `query address ${address}`],
    ...(served === null ? [] : [['', `curl ${served.url}api/address/${address}/utxo`] as [string, string]]),
    ['', `(${btc(FUNDED.reduce((sum, sats) => sum + sats, 0n))} and more are there)`],
    ['', 'or: status, digest, fork 5, mine 3, fund ADDRESS SATS, help; Ctrl-C stops'],
  ];
  return `${pairs(rows)}\n`;
}
