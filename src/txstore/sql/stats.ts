/** How much a transaction store on SQL holds. */
import { sql } from 'kysely';
import { isUnspentError } from '../../util/errors.ts';
import { TXS_COUNT_EXACT_MAX } from '../../util/limits.ts';
import type { TxStoreDatabase, TxStoreTransaction } from './tables.ts';

/** Counting all rows of PostgreSQL reads all of them: of many it gives what the server last estimated. */
export async function countRecords({ db, kind }: TxStoreTransaction): Promise<number> {
  const some = kind === 'postgres' ? sql`(SELECT 1 FROM tx LIMIT ${TXS_COUNT_EXACT_MAX}) AS counted` : sql.raw('tx');
  const { rows } = await sql<{ count: number }>`SELECT COUNT(*) AS count FROM ${some}`.execute(db);
  const count = Number(rows[0].count);
  if (kind === 'sqlite' || count < TXS_COUNT_EXACT_MAX) return count;
  const estimate = await sql<{ count: number }>`SELECT CAST(reltuples AS bigint) AS count FROM pg_class
    WHERE oid = CAST('tx' AS regclass)`.execute(db);
  return Math.max(count, estimate.rows[0]?.count ?? 0);
}

const SIZE = {
  sqlite: 'SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size',
  postgres: `SELECT CAST(SUM(pg_total_relation_size(CAST(name AS regclass))) AS bigint) AS bytes
    FROM (VALUES ('tx'), ('tx_in'), ('tx_out'), ('tx_block'), ('conflicting_child'), ('tombstone')) AS tables (name)`,
} as const;

/** SQLSTATE of a function that is not there. */
const UNDEFINED_FUNCTION = '42883';

/** Bytes; 0 where a server that speaks PostgreSQL's protocol cannot say. */
export async function databaseBytes(database: TxStoreDatabase): Promise<number> {
  try {
    const { rows } = await database.readOne(({ db, kind }) => sql.raw<{ bytes: number }>(SIZE[kind]).execute(db));
    return rows[0].bytes;
  } catch (error) {
    if (isUnspentError(error, 'DATABASE') && error.meta['reason'] === UNDEFINED_FUNCTION) return 0;
    throw error;
  }
}
