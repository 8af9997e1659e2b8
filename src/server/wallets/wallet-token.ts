/**
 * The token of the wallets: `wallet.token`, or that of a file beside the store
 * which only its owner reads, made with the first use of it. The server asks for
 * it, and `start` gives it to whoever started it, as a link to the page.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config/schema.ts';
import { readRegular } from '../../files/regular.ts';
import { UnspentError } from '../../util/errors.ts';

export const WALLET_TOKEN_FILE = 'wallets.token';
const TOKEN_BYTES = 32;
const TOKEN_FILE_BYTES_MAX = 1000;

/** Throws IO, also for a file without a token: without one everybody would be let in. */
export function walletToken({ wallet, data }: Pick<Config, 'wallet' | 'data'>): string {
  if (wallet.token !== '') return wallet.token;
  const file = join(data, WALLET_TOKEN_FILE);
  try {
    if (!existsSync(file)) writeToken(file);
    const token = new TextDecoder().decode(readRegular(file, { bytesMax: TOKEN_FILE_BYTES_MAX, links: 'refuse' })).trim();
    if (token === '') throw new Error(`${file} is empty; delete it, and another one is made`);
    return token;
  } catch (cause) {
    throw new UnspentError('IO', `the token of the wallets cannot be read: ${(cause as Error).message}`, {}, cause);
  }
}

/** Written beside it and then given its name, so that nobody reads a part of it, and the first of two processes wins. */
function writeToken(file: string): void {
  const draft = `${file}.${randomBytes(8).toString('hex')}`;
  writeFileSync(draft, `${randomBytes(TOKEN_BYTES).toString('hex')}\n`, { flag: 'wx', mode: 0o600 });
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** The page of the wallets, for whoever may see it: what stands behind the # stays in the browser. */
export function walletPageUrl(url: string, config: Pick<Config, 'wallet' | 'data'>): string {
  return `${url}#wallet-token=${encodeURIComponent(walletToken(config))}`;
}
