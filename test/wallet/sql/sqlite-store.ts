/** Wallet stores in SQLite files of a directory that goes with the test process. */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openWalletStore } from '../../../src/wallet/open.ts';
import type { SqlDatabaseOptions } from '../../../src/wallet/sql/database.ts';
import type { SqlWalletStore } from '../../../src/wallet/sql/store.ts';
import type { TestDatabases } from './databases.ts';

export class SqliteFiles implements TestDatabases, Disposable {
  readonly name = 'SQLite';
  readonly #directory = mkdtempSync(join(tmpdir(), 'unspent-wallets-'));
  #count = 0;

  #template: Promise<string> | undefined;

  /** The URL of a database that does not exist yet. */
  async unusedUrl(): Promise<string> {
    return `sqlite:${join(this.#directory, `${++this.#count}.sqlite`)}`;
  }

  /** The URL of an empty database. Its schema is made once and copied. */
  async freshUrl(): Promise<string> {
    this.#template ??= this.#makeTemplate();
    const url = await this.unusedUrl();
    copyFileSync(fileOf(await this.#template), fileOf(url));
    return url;
  }

  /** An empty store. It does not wait for the disk: no test cuts the power. */
  async openFresh(options: SqlDatabaseOptions = {}): Promise<SqlWalletStore> {
    return openWalletStore(await this.freshUrl(), { isDurable: false, ...options });
  }

  async #makeTemplate(): Promise<string> {
    const url = await this.unusedUrl();
    await (await openWalletStore(url)).close();
    return url;
  }

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

export function fileOf(url: string): string {
  return url.slice('sqlite:'.length);
}
