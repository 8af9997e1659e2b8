/**
 * SD68 at length: random lives of a node on the embedded transaction store,
 * beside the model, with P1 to P8 after each step; a twentieth of them on SQLite
 * and on PostgreSQL. UNSPENT_CAMPAIGN_CALLS (1,000,000 unless said) and
 * UNSPENT_CAMPAIGN_SEED (1 unless said) change their length and their course; a
 * failure names its seed. On SQL a process is also killed before every statement
 * of a pass, and every fail-safe rule is switched off.
 */
import { after, test } from 'node:test';
import { openMemory } from '../../src/engine/memory.ts';
import { TX_STORE_COLUMNS } from '../../src/txstore/embedded/columns.ts';
import { PostgresServer, withoutPostgres } from '../support/sql/postgres-server.ts';
import { SqliteFiles } from '../support/sql/sqlite-files.ts';
import { LONG_LIVES, runRandomTxLives, SHORT_LIVES } from '../txstore/random.ts';
import { runEveryKilledPass } from '../txstore/sql/crashes.ts';
import { makeTxSchema } from '../txstore/sql/databases.ts';
import { runMutations } from '../txstore/sql/mutations.ts';
import { liveOnSql, SQL_LIVES } from '../txstore/sql/random.ts';
import { openEmbedded, SMALL_CACHE_BYTES } from '../txstore/support/embedded.ts';
import type { OpenTxStore } from '../txstore/support/world.ts';

const CALLS = Number(process.env['UNSPENT_CAMPAIGN_CALLS'] ?? 1_000_000);
const FIRST_SEED = Number(process.env['UNSPENT_CAMPAIGN_SEED'] ?? 1);

let lives = 0;
/** Every other life has room for few records at hand. */
const open: OpenTxStore = (settings, limit) =>
  openEmbedded(openMemory(TX_STORE_COLUMNS), settings, limit, lives++ % 2 === 0 ? SMALL_CACHE_BYTES : undefined);

for (const [what, kind, calls] of [
  ['short lives, small windows', SHORT_LIVES, CALLS],
  ['long lives, a window of 60 blocks', LONG_LIVES, Math.ceil(CALLS / 10)],
] as const) {
  test(`transaction store: ${what}`, async (t) => {
    const counts = await runRandomTxLives(kind, open, calls, FIRST_SEED);
    t.diagnostic(JSON.stringify(Object.fromEntries(counts)));
  });
}

const files = new SqliteFiles(makeTxSchema);
const server = withoutPostgres ? null : await PostgresServer.start(makeTxSchema);
after(async () => {
  files[Symbol.dispose]();
  await server?.stop();
});

for (const databases of [files, ...(server === null ? [] : [server])]) {
  test(`transaction store: short lives on ${databases.name}`, async (t) => {
    const calls = Math.ceil(CALLS / 20);
    const counts = await liveOnSql({ url: await databases.freshUrl(), kind: SQL_LIVES, calls, seed: FIRST_SEED });
    t.diagnostic(JSON.stringify(Object.fromEntries(counts)));
  });
  runEveryKilledPass(databases);
  runMutations(databases);
}
