/** Copies of a database at rest. */
import { copyFileSync } from 'node:fs';
import type { TestDatabases } from './databases.ts';
import { executeIn } from './execute.ts';
import { fileOf } from './sqlite-files.ts';

/** Nobody has it open: SQLite's log was moved into the file when the last connection was closed. */
export async function copyOf(databases: TestDatabases, url: string): Promise<string> {
  const copy = await databases.unusedUrl();
  if (databases.name === 'SQLite') {
    copyFileSync(fileOf(url), fileOf(copy));
    return copy;
  }
  const [from, to] = [url, copy].map((one) => new URL(one).pathname.slice(1));
  const server = url.replace(`/${from}?`, '/postgres?');
  await executeIn(server, `DROP DATABASE ${to}`);
  await executeIn(server, `CREATE DATABASE ${to} TEMPLATE ${from}`);
  return copy;
}
