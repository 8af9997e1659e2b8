/**
 * SD68 at length: random lives of a node on the embedded transaction store,
 * beside the model, with P1 to P8 after each step; a twentieth of them on SQLite
 * and on PostgreSQL. UNSPENT_CAMPAIGN_CALLS (1,000,000 unless said) and
 * UNSPENT_CAMPAIGN_SEED (1 unless said) change their length and their course; a
 * failure names its seed. On SQL a process is also killed before every statement
 * of a pass, and every fail-safe rule is switched off.
 */
import { after, test } from 'node:test';
import { PostgresServer, withoutPostgres } from '../support/sql/postgres-server.ts';
import { SqliteFiles } from '../support/sql/sqlite-files.ts';
import { answerOfThread } from '../support/thread.ts';
import { LONG_LIVES, SHORT_LIVES } from '../txstore/random.ts';
import type { EmbeddedTxWork } from '../txstore/random-worker.ts';
import { runEveryKilledPass } from '../txstore/sql/crashes.ts';
import { makeTxSchema } from '../txstore/sql/databases.ts';
import { runMutations } from '../txstore/sql/mutations.ts';
import { liveOnSql, SQL_LIVES } from '../txstore/sql/random.ts';

const CALLS = Number(process.env['UNSPENT_CAMPAIGN_CALLS'] ?? 1_000_000);
const FIRST_SEED = Number(process.env['UNSPENT_CAMPAIGN_SEED'] ?? 1);

for (const [what, kind, calls] of [
  ['short lives, small windows', SHORT_LIVES, CALLS],
  ['long lives, a window of 60 blocks', LONG_LIVES, Math.ceil(CALLS / 10)],
] as const) {
  test(`transaction store: ${what}`, async (t) => {
    const work: EmbeddedTxWork = { kind, calls, seed: FIRST_SEED };
    const counts = await answerOfThread<ReadonlyMap<string, number>>(new URL('../txstore/random-worker.ts', import.meta.url), work);
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
