/**
 * Wallets on SQL at length: a lost connection and a killed process before every
 * statement of every call (W82), sixteen processes that want the same coins, round
 * after round (W63, W64), a batch in each of its 720 orders (W56), and a disk that
 * is full (W81). Random lives are in wallet-random.campaign.ts. One of the two
 * databases alone: UNSPENT_CAMPAIGN_DATABASE, `sqlite` or `postgres`.
 */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { openWalletStore } from '../../src/wallet/open.ts';
import type { TestDatabases } from '../support/sql/databases.ts';
import { PostgresServer, withoutPostgres } from '../support/sql/postgres-server.ts';
import { fileOf } from '../support/sql/sqlite-files.ts';
import { everyOrder } from '../wallet/scenarios/batches.ts';
import { runContention } from '../wallet/sql/contention.ts';
import { runEveryKill, runPostgresCrashes } from '../wallet/sql/crashes.ts';
import { runFullDisk } from '../wallet/sql/full-disk.ts';
import { makeWalletSchema, WalletFiles } from '../wallet/sql/wallet-files.ts';
import { openMemoryWallets } from '../wallet/support/open-memory.ts';
import { type OpenWalletStore, World } from '../wallet/support/world.ts';

const RACE = { singles: 1000, selections: 20, coinsEach: 5 };

const DATABASE = process.env['UNSPENT_CAMPAIGN_DATABASE'];

/** The tablespaces of a server are its own: it writes there as whoever it runs as. */
async function inTablespace(server: PostgresServer, directory: string): Promise<string> {
  const url = await server.freshUrl();
  await server.execute(`CREATE TABLESPACE small LOCATION '${directory}'`);
  await server.execute(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET TABLESPACE small`);
  return url;
}

function runEveryOrder(name: string, open: OpenWalletStore): void {
  describe(`wallets: ${name}`, () => {
    it('W56 a batch of six ends in one state, in each of its 720 orders', async () => {
      await using world = await World.open(open);
      await everyOrder(world, 1);
    });
  });
}

const openFresh = (databases: TestDatabases): OpenWalletStore => {
  return async () => {
    const store = await openWalletStore(await databases.freshUrl(), { isDurable: false });
    return { store, rows: () => store.rows(), close: () => store.close() };
  };
};

runEveryOrder('in memory', openMemoryWallets);

if (DATABASE !== 'postgres') {
  const files = new WalletFiles();
  after(() => files[Symbol.dispose]());
  runEveryOrder(files.name, openFresh(files));
  runFullDisk(files.name, async (directory) => {
    const file = join(directory, 'wallets.sqlite');
    copyFileSync(fileOf(await files.freshUrl()), file);
    return `sqlite:${file}`;
  });
  runContention(files, 16, RACE);
  runEveryKill(files);
}

if (!withoutPostgres && DATABASE !== 'sqlite') {
  const server = await PostgresServer.start(makeWalletSchema);
  after(() => server.stop());
  runEveryOrder(server.name, openFresh(server));
  runFullDisk(server.name, (directory) => inTablespace(server, directory));
  runContention(server, 16, RACE);
  runPostgresCrashes(server, 1);
  runEveryKill(server);
}
