/**
 * Who may ask about wallets, and the database behind the answers. Wallets are
 * never shown without a token of their own, not even on loopback: it is
 * `wallet.token`, or that of a file beside the store which only its owner reads.
 * The database is opened with the first request that has the token.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../../config/schema.ts';
import { needBitcoin } from '../../../families/bitcoin.ts';
import { readRegular } from '../../../files/regular.ts';
import { UnspentError } from '../../../util/errors.ts';
import { loadKeys } from '../../../wallet/bitcoin/load-keys.ts';
import { withShownIds } from '../../../wallet/bitcoin/operations/shown-ids.ts';
import { WalletContext } from '../../../wallet/bitcoin/operations/wallet-context.ts';
import { walletDatabaseUrl } from '../../../wallet/database-url.ts';
import { openWalletStore } from '../../../wallet/open.ts';
import type { ServerContext } from '../../context.ts';
import { tokenCheck } from '../../http/safety.ts';

const TOKEN_FILE = 'wallets.token';
const TOKEN_BYTES = 32;
const TOKEN_FILE_BYTES_MAX = 1000;

export class WalletAccess {
  readonly #server: ServerContext;
  #isToken: ((authorization: string | undefined) => boolean) | undefined;
  #opening: Promise<WalletContext> | undefined;

  constructor(server: ServerContext) {
    this.#server = server;
  }

  /** Throws UNAUTHORIZED. */
  check({ raw }: FastifyRequest, reply: FastifyReply): void {
    this.#isToken ??= tokenCheck(walletToken(this.#server.config));
    if (this.#isToken(raw.headers.authorization)) return;
    reply.header('www-authenticate', 'Bearer realm="unspent wallets"');
    const message = `wallets are shown only with their token: wallet.token, or that of the file ${TOKEN_FILE} beside the store`;
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

  async #open(): Promise<WalletContext> {
    const { config, network } = this.#server;
    const { parameters } = needBitcoin(network, 'a wallet');
    const keys = await loadKeys();
    const store = await openWalletStore(walletDatabaseUrl(config.wallet.database, config.data));
    return new WalletContext({ store, network: parameters, keys, gapLimit: config.wallet.gapLimit, now: Date.now });
  }
}

/** The one that is set; else that of the file, which is made if it is not there. Throws IO. */
function walletToken({ wallet, data }: Config): string {
  if (wallet.token !== '') return wallet.token;
  const file = join(data, TOKEN_FILE);
  try {
    if (!existsSync(file)) writeFileSync(file, `${randomBytes(TOKEN_BYTES).toString('hex')}\n`, { flag: 'wx', mode: 0o600 });
    return new TextDecoder().decode(readRegular(file, { bytesMax: TOKEN_FILE_BYTES_MAX, links: 'refuse' })).trim();
  } catch (cause) {
    throw new UnspentError('IO', `the token of the wallets cannot be read: ${(cause as Error).message}`, {}, cause);
  }
}
