/** `wallet follow`: wallets here, and the chain on another machine. Feeds them from its server for as long as it runs. */
import type { Command } from 'commander';
import { keepFed } from '../../server/wallets/keep-fed.ts';
import { type ErrorCode, UnspentError } from '../../util/errors.ts';
import { LOG_PROGRESS_MS } from '../../util/limits.ts';
import type { Log } from '../../util/log.ts';
import { withoutSecret } from '../../util/secret.ts';
import { walletDatabaseUrl } from '../../wallet/database-url.ts';
import { followServer } from '../../wallet/feed/follow-server.ts';
import type { ServerFacts } from '../../wallet/feed/server-facts.ts';
import { type Context, longRunning } from '../context.ts';
import { count, counted } from '../format.ts';
import { onAbort } from '../interrupt.ts';
import { announceReady } from '../service-manager.ts';
import { withWallets } from './open-wallets.ts';
import { neededServer, serverOptions } from './wallet-server.ts';

/** Whoever started it has to do something first. */
const ENDS: readonly ErrorCode[] = ['EXPIRED', 'UNAUTHORIZED', 'PROTOCOL'];

export function registerFollow(wallet: Command): void {
  serverOptions(wallet.command('follow'), 'the server that feeds them')
    .description('feed the wallets from a server on another machine, for as long as it runs')
    .addHelpText(
      'after',
      `
The server is \`unspent start\` or \`unspent serve\` with utxo.history; it need not know of the wallets. Blocks, the past of
new wallets and the mempool come from it. A server that is lost is asked again; Ctrl-C stops, and the same command goes on.
Where wallet.server is set, create, sync, rescan and broadcast use that server, too.

Examples:
  $ unspent wallet follow --server http://node.example:8437 --data ./shop
  $ UNSPENT_WALLET_SERVER_TOKEN=... unspent wallet follow --server https://node.example --wallet-database postgres://shop@db/wallets`,
    )
    .action(longRunning(follow));
}

async function follow(context: Context): Promise<void> {
  const { log, stop } = context;
  const server = await neededServer(context);
  const shown = withoutSecret(server.url);
  onAbort(stop, () => log.info('cli', 'stopping', 'stopping; once more to end at once'));
  const lines = new FollowLines(log, shown);
  let isBegun = false;
  const begin = (facts: ServerFacts): void => {
    lines.begin(facts);
    if (isBegun) return;
    isBegun = true;
    announceReady(context);
    showBegin(context, shown, facts);
  };
  await keepFed(
    () =>
      withWallets(
        context,
        (wallets) =>
          followServer(wallets, {
            ...server,
            signal: stop,
            onBegin: begin,
            onMove: (height) => lines.moved(height),
            onLost: (error) => lines.lost(error),
          }),
        { create: true, needs: 'follows' },
      ),
    {
      signal: stop,
      final: ENDS,
      onFailure: (error, again) => {
        if (!again) throw error;
        lines.lost(error);
      },
    },
  );
  throw new UnspentError('INTERRUPTED', 'stopped following');
}

function showBegin({ output, settings }: Context, server: string, { network, version, tip }: ServerFacts): void {
  const { config } = settings;
  const database = withoutSecret(walletDatabaseUrl(config.wallet.database, config.data));
  if (output.json) output.document({ server, version, network, height: tip?.height ?? null, database });
  else
    output.pairs([
      ['server', `${server}: ${network}, ${tip === null ? 'no block yet' : `height ${count(tip.height)}`}`],
      ['wallets', `${database}; Ctrl-C stops`],
    ]);
}

/** What is told while it goes on: how far the wallets are, and what becomes of the server. */
class FollowLines {
  readonly #log: Log;
  readonly #server: string;
  /** The newest block that is known of: of the server when it was asked, or of the wallets. */
  #tip = -1;
  #isBehind = true;
  #toldAt = 0;
  /** What was said of a server that does not answer, until it does. */
  readonly #lost = new Set<string>();

  constructor(log: Log, server: string) {
    this.#log = log;
    this.#server = server;
  }

  begin({ tip }: ServerFacts): void {
    this.#tip = tip?.height ?? -1;
    this.#isBehind = true;
  }

  moved(height: number | null): void {
    if (this.#lost.size > 0) this.#log.info('wallet', 'found', `${this.#server} answers again`);
    this.#lost.clear();
    if (height === null) return;
    const behind = this.#tip - height;
    if (behind <= 0) {
      this.#tip = height;
      const text = this.#isBehind ? `the wallets are at height ${count(height)}, the newest` : `block ${count(height)}`;
      this.#isBehind = false;
      this.#log.info('wallet', 'block', text, { height });
    } else if (performance.now() - this.#toldAt >= LOG_PROGRESS_MS) {
      this.#toldAt = performance.now();
      this.#log.info('wallet', 'behind', `the wallets are at height ${count(height)}, ${counted(behind, 'block')} behind`, {
        height,
        behind,
      });
    }
  }

  /** The same words once. */
  lost({ code, message }: UnspentError): void {
    if (this.#lost.has(message)) return;
    this.#lost.add(message);
    this.#log.warn('wallet', 'lost', `the wallets are not fed, and that is tried again: ${message}`, { code });
  }
}
