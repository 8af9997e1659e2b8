/** The URL of a wallet database: as it is set, or a file beside the store. */
import { join } from 'node:path';

const FILE = 'wallets.sqlite';

/** `setting`: `wallet.database`. `data`: the directory of the store. */
export function walletDatabaseUrl(setting: string, data: string): string {
  return setting === '' ? `sqlite:${join(data, FILE)}` : setting;
}

/** Null: it is not a file. */
export function walletDatabaseFile(url: string): string | null {
  return /^sqlite:(?:\/\/)?(.+)$/.exec(url)?.[1] ?? null;
}
