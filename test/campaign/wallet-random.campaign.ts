/**
 * W83 at length: random lives of wallets beside the model, a million calls on
 * SQLite (UNSPENT_CAMPAIGN_EVENTS) and a tenth of it on PostgreSQL, in twenty
 * parts with a seed each. A campaign that was stopped goes on with the part that
 * UNSPENT_CAMPAIGN_PART names, from 1; `3-6` are some of them. A life that fails
 * is told with its seed; it goes into test/wallet/random.ts. One of the two
 * databases alone: UNSPENT_CAMPAIGN_DATABASE, `sqlite` or `postgres`.
 */
import { after } from 'node:test';
import { mix32 } from '../../src/chains/random.ts';
import { PostgresServer, withoutPostgres } from '../support/sql/postgres-server.ts';
import { runRandomWallets } from '../wallet/random.ts';
import { liveInThread } from '../wallet/sql/random-thread.ts';
import { makeWalletSchema, WalletFiles } from '../wallet/sql/wallet-files.ts';

const EVENTS = Number(process.env['UNSPENT_CAMPAIGN_EVENTS'] ?? 1_000_000);
const SEED = Number(process.env['UNSPENT_CAMPAIGN_SEED'] ?? 1);
const DATABASE = process.env['UNSPENT_CAMPAIGN_DATABASE'];
const PARTS = 20;
const [FIRST_PART, LAST_PART = PARTS] = (process.env['UNSPENT_CAMPAIGN_PART'] ?? '1').split('-').map(Number);
const parts = Array.from({ length: LAST_PART - FIRST_PART + 1 }, (_, n) => FIRST_PART + n);
const seedOf = (part: number): number => mix32(SEED, part);

if (DATABASE !== 'postgres') {
  const files = new WalletFiles();
  after(() => files[Symbol.dispose]());
  for (const part of parts)
    runRandomWallets(`SQLite, part ${part} of ${PARTS}`, async (lives) => liveInThread(await files.freshUrl(), lives), {
      events: EVENTS / PARTS,
      length: 80,
      compareEvery: 40,
      firstSeed: seedOf(part),
    });
}

if (!withoutPostgres && DATABASE !== 'sqlite') {
  const server = await PostgresServer.start(makeWalletSchema);
  after(() => server.stop());
  for (const part of parts)
    runRandomWallets(`PostgreSQL, part ${part} of ${PARTS}`, async (lives) => liveInThread(await server.freshUrl(), lives), {
      events: EVENTS / 10 / PARTS,
      length: 160,
      // Ten thousand states in all whose balances are those of their coins: W74.
      compareEvery: 10,
      firstSeed: seedOf(part),
    });
}
