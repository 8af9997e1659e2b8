/** Statements on a wallet database behind the back of the store: what a test breaks, empties or looks at. */
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { fileOf } from './sqlite-store.ts';

/** One or several statements without parameters; the rows of the last. Foreign keys hold. */
export async function executeIn(url: string, statements: string): Promise<readonly Record<string, unknown>[]> {
  if (url.startsWith('sqlite:')) {
    using database = new DatabaseSync(fileOf(url), { timeout: 10_000 });
    const parts = statements.split(/;\s*(?=[A-Z])/);
    for (const part of parts.slice(0, -1)) database.exec(part);
    return database.prepare(parts.at(-1) ?? '').all();
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const result = (await client.query(statements)) as pg.QueryResult | pg.QueryResult[];
    return (Array.isArray(result) ? result.at(-1) : result)?.rows ?? [];
  } finally {
    await client.end();
  }
}

/** Empties the database of a store that stays open: far cheaper than a new one, whose statements are to be prepared. */
export async function emptyDatabase(url: string): Promise<void> {
  if (!url.startsWith('sqlite:')) {
    const truncate = 'TRUNCATE blocks, wallets, feed_positions, wallet_events RESTART IDENTITY CASCADE';
    await executeIn(url, `${truncate}; UPDATE event_counter SET last_sequence = 0`);
    return;
  }
  using database = new DatabaseSync(fileOf(url), { timeout: 10_000, enableForeignKeyConstraints: false });
  const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all() as { readonly name: string }[];
  const emptied = tables.filter(({ name }) => !SEEDED_TABLES.includes(name)).map(({ name }) => `DELETE FROM ${name}`);
  database.exec(`PRAGMA synchronous = OFF; BEGIN IMMEDIATE; ${emptied.join('; ')}; UPDATE event_counter SET last_sequence = 0; COMMIT`);
}

/** What every wallet database has from the beginning. */
const SEEDED_TABLES = ['address_types', 'wallet_schema', 'event_counter', 'sqlite_stat1'];
