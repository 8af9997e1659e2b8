/**
 * Who may ask about wallets, and the database behind the answers. Wallets are
 * never shown without a token of their own, not even on loopback: it is
 * `wallet.token`, or that of a file beside the store which only its owner reads.
 * The database is opened with the first request that has the token.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { needBitcoin } from '../../../families/bitcoin.ts';
import { UnspentError } from '../../../util/errors.ts';
import { openWalletContext, walletSettings } from '../../../wallet/bitcoin/operations/open-context.ts';
import { withShownIds } from '../../../wallet/bitcoin/operations/shown-ids.ts';
import type { WalletContext } from '../../../wallet/bitcoin/operations/wallet-context.ts';
import { walletDatabaseUrl } from '../../../wallet/database-url.ts';
import type { ServerContext } from '../../context.ts';
import { tokenCheck } from '../../http/safety.ts';
import { WALLET_TOKEN_FILE, walletToken } from './wallet-token.ts';

export class WalletAccess {
  readonly #server: ServerContext;
  #isToken: ((authorization: string | undefined) => boolean) | undefined;
  #opening: Promise<WalletContext> | undefined;

  constructor(server: ServerContext) {
    this.#server = server;
  }

  /** How long a request may wait for something to happen. */
  get waitSecondsMax(): number {
    return this.#server.config.server.waitSecondsMax;
  }

  /** Throws UNAUTHORIZED. */
  check({ raw }: FastifyRequest, reply: FastifyReply): void {
    this.#isToken ??= tokenCheck(walletToken(this.#server.config));
    if (this.#isToken(raw.headers.authorization)) return;
    reply.header('www-authenticate', 'Bearer realm="unspent wallets"');
    const message = `wallets are shown only with their token: wallet.token, or that of the file ${WALLET_TOKEN_FILE} beside the store`;
    throw new UnspentError('UNAUTHORIZED', message);
  }

  /** What the body gives, as text. */
  async answer(reply: FastifyReply, body: (wallets: WalletContext) => Promise<unknown>, status = 200): Promise<FastifyReply> {
    try {
      const value = await body(await this.#wallets());
      return reply
        .code(status)
        .header('cache-control', 'no-store')
        .header('content-type', 'application/json; charset=utf-8')
        .send(JSON.stringify(value));
    } catch (error) {
      throw withShownIds(error);
    }
  }

  readonly submit = (raw: Uint8Array): Promise<Uint8Array> => this.#server.submit(raw);

  async close(): Promise<void> {
    const wallets = await this.#opening?.catch(() => undefined);
    await wallets?.store.close();
  }

  /** One that could not be opened is tried again with the next request. */
  #wallets(): Promise<WalletContext> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  #open(): Promise<WalletContext> {
    const { config, network } = this.#server;
    const { parameters } = needBitcoin(network, 'a wallet');
    const url = walletDatabaseUrl(config.wallet.database, config.data);
    return openWalletContext(url, { network: parameters, ...walletSettings(config.wallet) });
  }
}
