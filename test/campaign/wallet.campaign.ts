/**
 * Wallets on SQL at length: random lives beside the model, a lost connection and
 * a killed process before every statement of every call, and sixteen processes
 * that want the same coins, round after round. UNSPENT_CAMPAIGN_EVENTS (calls on
 * SQLite, 100,000 unless said, and a fifth of it on PostgreSQL) and
 * UNSPENT_CAMPAIGN_SEED change its length and its course.
 */
import { after } from 'node:test';
import { PostgresServer, withoutPostgres } from '../support/sql/postgres-server.ts';
import { runRandomWallets } from '../wallet/random.ts';
import { runContention } from '../wallet/sql/contention.ts';
import { runEveryKill, runPostgresCrashes } from '../wallet/sql/crashes.ts';
import { liveInThread } from '../wallet/sql/random-thread.ts';
import { makeWalletSchema, WalletFiles } from '../wallet/sql/wallet-files.ts';

const EVENTS = Number(process.env['UNSPENT_CAMPAIGN_EVENTS'] ?? 100_000);
const FIRST_SEED = Number(process.env['UNSPENT_CAMPAIGN_SEED'] ?? 1);
const RACE = { singles: 60, selections: 20, coinsEach: 5 };

const files = new WalletFiles();
after(() => files[Symbol.dispose]());
runRandomWallets('SQLite', async (lives) => liveInThread(await files.freshUrl(), { ...lives, firstSeed: FIRST_SEED }), {
  events: EVENTS,
  compareEvery: 20,
});
runContention(files, 16, RACE);
runEveryKill(files);

if (!withoutPostgres) {
  const server = await PostgresServer.start(makeWalletSchema);
  after(() => server.stop());
  runRandomWallets('PostgreSQL', async (lives) => liveInThread(await server.freshUrl(), { ...lives, firstSeed: FIRST_SEED }), {
    events: EVENTS / 5,
    compareEvery: 20,
  });
  runContention(server, 16, RACE);
  runPostgresCrashes(server, 1);
  runEveryKill(server);
}
