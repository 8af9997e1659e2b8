/** Statements on a database behind the back of its store: what a test breaks, empties or looks at. */
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { fileOf } from './sqlite-files.ts';

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
