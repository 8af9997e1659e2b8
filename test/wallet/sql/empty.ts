/** Wallet databases without wallets. */
import { DatabaseSync } from 'node:sqlite';
import { executeIn } from '../../support/sql/execute.ts';
import { fileOf } from '../../support/sql/sqlite-files.ts';

/** Empties a database with its schema: far cheaper than a new one. Whoever has it open forgets what he knows of it. */
export async function emptyDatabase(url: string): Promise<void> {
  if (!url.startsWith('sqlite:')) {
    const truncate = 'TRUNCATE blocks, wallets, feed_positions, wallet_events RESTART IDENTITY CASCADE';
    await executeIn(url, `${truncate}; ${EVENTS_ANEW}`);
    return;
  }
  using database = new DatabaseSync(fileOf(url), { timeout: 10_000, enableForeignKeyConstraints: false });
  const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all() as { readonly name: string }[];
  const emptied = tables.filter(({ name }) => !SEEDED_TABLES.includes(name)).map(({ name }) => `DELETE FROM ${name}`);
  database.exec(`PRAGMA synchronous = OFF; BEGIN IMMEDIATE; ${emptied.join('; ')}; ${EVENTS_ANEW}; COMMIT`);
}

const EVENTS_ANEW = 'UPDATE event_counter SET last_sequence = 0, trimmed_sequence = 0';

/** What every wallet database has from the beginning. */
const SEEDED_TABLES = ['address_types', 'wallet_schema', 'event_counter', 'watch_counter', 'sqlite_stat1'];
