/**
 * Who may ask about wallets, and the database behind the answers. Wallets are
 * never shown without a token of their own, not even on loopback: it is
 * `wallet.token`, or that of a file beside the store which only its owner reads.
 * The database is opened with the first request that has the token.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { LedgerAnswers } from '../../sources/source.ts';
import { UnspentError } from '../../util/errors.ts';
import { walletDatabaseUrl } from '../../wallet/database-url.ts';
import type { FamilyWallets } from '../../wallet/family-wallets.ts';
import { withShownIds } from '../../wallet/shown-ids.ts';
import type { ServerContext } from '../context.ts';
import { tokenCheck } from '../http/safety.ts';
import { WALLET_TOKEN_FILE, walletToken } from './wallet-token.ts';

export class WalletAccess {
  readonly #server: ServerContext;
  #isToken: ((authorization: string | undefined) => boolean) | undefined;
  #opening: Promise<FamilyWallets> | undefined;

  constructor(server: ServerContext) {
    this.#server = server;
  }

  /** How long a request may wait for something to happen. */
  get waitSecondsMax(): number {
    return this.#server.config.server.waitSecondsMax;
  }

  /** Throws UNAUTHORIZED, and UNSUPPORTED where there is no store beside which wallets and their token could be. */
  check({ raw }: FastifyRequest, reply: FastifyReply): void {
    const { copy, config } = this.#server;
    if (copy !== undefined && (config.wallet.database === '' || config.wallet.token === '')) {
      throw new UnspentError(
        'UNSUPPORTED',
        'this server reads a published copy and has no directory for wallets: say where they are (wallet.database) and by which token they are shown (wallet.token)',
      );
    }
    this.#isToken ??= tokenCheck(walletToken(this.#server.config));
    if (this.#isToken(raw.headers.authorization)) return;
    reply.header('www-authenticate', 'Bearer realm="unspent wallets"');
    const message = `wallets are shown only with their token: wallet.token, or that of the file ${WALLET_TOKEN_FILE} beside the store`;
    throw new UnspentError('UNAUTHORIZED', message);
  }

  /** What the body gives, as text. */
  async answer(reply: FastifyReply, body: (wallets: FamilyWallets) => Promise<unknown>, status = 200): Promise<FastifyReply> {
    const wallets = await this.#wallets();
    try {
      const value = await body(wallets);
      return reply
        .code(status)
        .header('cache-control', 'no-store')
        .header('content-type', 'application/json; charset=utf-8')
        .send(JSON.stringify(value));
    } catch (error) {
      throw withShownIds(error, wallets.notation);
    }
  }

  readonly submit = (raw: Uint8Array): Promise<Uint8Array> => this.#server.submit(raw);

  /** What the node that is followed says of its ledger. Throws UNSUPPORTED where none is followed that answers. */
  readonly ledger = (): Promise<LedgerAnswers> => this.#server.ledger();

  async close(): Promise<void> {
    const wallets = await this.#opening?.catch(() => undefined);
    await wallets?.store.close();
  }

  /** One that could not be opened, or that has failed for good, is opened anew with the next request. */
  async #wallets(): Promise<FamilyWallets> {
    for (;;) {
      this.#opening ??= this.#open().catch((error: unknown) => {
        this.#opening = undefined;
        throw error;
      });
      const opening = this.#opening;
      const wallets = await opening;
      if (wallets.store.isHealthy) return wallets;
      if (this.#opening !== opening) continue;
      this.#opening = undefined;
      // What the failed one has left open is of no use to anybody.
      await wallets.store.close().catch(() => undefined);
    }
  }

  #open(): Promise<FamilyWallets> {
    const { config, network } = this.#server;
    return network.family.wallets.open(walletDatabaseUrl(config.wallet.database, config.data), network.parameters, config.wallet);
  }
}
