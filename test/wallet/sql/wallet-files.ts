/** Wallet stores in databases of the tests. */
import type { SqlDatabaseOptions } from '../../../src/sql/database.ts';
import { openWalletStore } from '../../../src/wallet/open.ts';
import type { SqlWalletStore } from '../../../src/wallet/sql/store.ts';
import type { MakeSchema } from '../../support/sql/databases.ts';
import { SqliteFiles } from '../../support/sql/sqlite-files.ts';

export const makeWalletSchema: MakeSchema = async (url) => (await openWalletStore(url)).close();

export class WalletFiles extends SqliteFiles {
  constructor() {
    super(makeWalletSchema);
  }

  /** An empty store. It does not wait for the disk: no test cuts the power. */
  async openFresh(options: SqlDatabaseOptions = {}): Promise<SqlWalletStore> {
    return openWalletStore(await this.freshUrl(), { isDurable: false, ...options });
  }
}
