/**
 * How far a database is in the events of a chain: one row for each chain, moved
 * in the transaction that takes an event in. So whoever crashes, and however many
 * processes feed one database, every event is taken in exactly once.
 *
 * Each store has a table of its own, so that two of them can share a database.
 */
import { sql } from 'kysely';
import type { ColumnTypes } from './column-types.ts';
import type { DatabaseTransaction } from './database.ts';

/** The statement that makes the table. */
export function feedTable(name: string, { table }: ColumnTypes): string {
  return `CREATE TABLE ${name} (feed text PRIMARY KEY, feed_position text NOT NULL)${table}`;
}

export interface FeedMove {
  /** One name for one chain. */
  readonly feed: string;
  /** Where the feed was before; null: the beginning. */
  readonly after: string | null;
  readonly position: string;
}

export class FeedPositions<Tables> {
  readonly #table: string;

  /** `table`: as `feedTable` made it. */
  constructor(table: string) {
    this.#table = table;
  }

  /** Those that have begun. */
  async names({ db }: DatabaseTransaction<Tables>): Promise<readonly string[]> {
    const { rows } = await sql<{ feed: string }>`SELECT feed FROM ${sql.table(this.#table)} ORDER BY feed`.execute(db);
    return rows.map(({ feed }) => feed);
  }

  /** Null: nothing was taken in yet. */
  async read({ db }: DatabaseTransaction<Tables>, feed: string): Promise<string | null> {
    const table = sql.table(this.#table);
    const { rows } = await sql<{ feed_position: string }>`SELECT feed_position FROM ${table} WHERE feed = ${feed}`.execute(db);
    return rows[0]?.feed_position ?? null;
  }

  /** False: the feed is elsewhere, because another process reads it, too. Whoever comes second waits for the first, and finds that. */
  async move({ db }: DatabaseTransaction<Tables>, { feed, after, position }: FeedMove): Promise<boolean> {
    const table = sql.table(this.#table);
    const { numAffectedRows } =
      after === null
        ? await sql`INSERT INTO ${table} (feed, feed_position) VALUES (${feed}, ${position}) ON CONFLICT DO NOTHING`.execute(db)
        : await sql`UPDATE ${table} SET feed_position = ${position} WHERE feed = ${feed} AND feed_position = ${after}`.execute(db);
    return numAffectedRows === 1n;
  }
}
