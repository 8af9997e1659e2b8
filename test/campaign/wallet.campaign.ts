/**
 * Wallets on SQL at length: a lost connection and a killed process before every
 * statement of every call, and sixteen processes that want the same coins, round
 * after round. Random lives are in wallet-random.campaign.ts.
 */
import { after } from 'node:test';
import { PostgresServer, withoutPostgres } from '../support/sql/postgres-server.ts';
import { runContention } from '../wallet/sql/contention.ts';
import { runEveryKill, runPostgresCrashes } from '../wallet/sql/crashes.ts';
import { makeWalletSchema, WalletFiles } from '../wallet/sql/wallet-files.ts';

const RACE = { singles: 1000, selections: 20, coinsEach: 5 };

const files = new WalletFiles();
after(() => files[Symbol.dispose]());
runContention(files, 16, RACE);
runEveryKill(files);

if (!withoutPostgres) {
  const server = await PostgresServer.start(makeWalletSchema);
  after(() => server.stop());
  runContention(server, 16, RACE);
  runPostgresCrashes(server, 1);
  runEveryKill(server);
}
