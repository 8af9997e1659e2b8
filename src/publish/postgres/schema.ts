/**
 * The tables of a copy in PostgreSQL that are the same whatever is published: the
 * head, which is the fence, and the identity. All of it stands in one schema, so
 * that several copies fit in one database.
 *
 * Every snapshot has tables of its own, `c_<column>` the first and
 * `c<generation>_<column>` those after it, and the head says which ones are
 * read. So a reader that is in the middle of the copy before never meets rows of
 * another.
 */
import type { PostgresConnection } from '../../sql/postgres-connection.ts';
import { parsePostgresUrl } from '../../sql/postgres-hosts.ts';
import { isUnspentError, UnspentError } from '../../util/errors.ts';
import { PUBLISH_PARTITION_BLOCKS } from '../../util/limits.ts';

export const DEFAULT_SCHEMA = 'unspent';

/** PostgreSQL cuts longer names without a word. */
const NAME_BYTES_MAX = 63;

export interface CopyPlace {
  /** For the driver. */
  readonly url: string;
  readonly schema: string;
  /** Without secrets. */
  readonly name: string;
  /** Heights in one part of a table for people (`?partition=`). */
  readonly partitionBlocks: number;
}

/** Where a copy stands: the URL for the driver, and the schema in it (`?schema=`). Throws USAGE. */
export function copyPlace(url: string): CopyPlace {
  const parsed = parsePostgresUrl(url);
  const schema = parsed.parameters.get('schema') ?? DEFAULT_SCHEMA;
  if (!/^[a-z_][a-z0-9_]{0,40}$/.test(schema))
    throw new UnspentError('USAGE', `the schema of a copy is a name of lower-case letters, digits and _, not '${schema.slice(0, 80)}'`);
  const partitionBlocks = Number(parsed.parameters.get('partition') ?? PUBLISH_PARTITION_BLOCKS);
  if (!Number.isSafeInteger(partitionBlocks) || partitionBlocks < 1)
    throw new UnspentError('USAGE', 'partition is a number of blocks: how many heights stand in one part of a table');
  parsed.parameters.delete('schema');
  parsed.parameters.delete('partition');
  const hosts = parsed.hosts.map((host) => host.replace(/:\d+$/, '')).join(',');
  return { url: parsed.text(), schema, partitionBlocks, name: `postgres ${hosts}${parsed.path} ${schema}` };
}

/** A name as SQL has it. Throws UNSUPPORTED for one that is too long. */
export function quoted(name: string): string {
  if (Buffer.byteLength(name) > NAME_BYTES_MAX)
    throw new UnspentError('UNSUPPORTED', `'${name}' is longer than a name of PostgreSQL may be (${NAME_BYTES_MAX} bytes)`);
  return `"${name.replaceAll('"', '""')}"`;
}

/** What stands before the column in the name of its table. */
export function tablePrefix(generation: number): string {
  return generation <= 1 ? 'c_' : `c${generation}_`;
}

/** Of a table of a copy; null: it is none. */
export function generationOf(table: string): number | null {
  const digits = /^c([0-9]*)_/.exec(table)?.[1];
  return digits === undefined ? null : digits === '' ? 1 : Number(digits);
}

const HEAD = (schema: string): string => `CREATE TABLE IF NOT EXISTS ${schema}.head (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  seq bigint NOT NULL,
  epoch bigint NOT NULL,
  generation bigint NOT NULL,
  form text NOT NULL,
  publisher text,
  lease_until timestamptz,
  height bigint,
  slot bigint,
  hash bytea,
  position text,
  utxos bigint,
  value numeric,
  published_at timestamptz,
  complete boolean NOT NULL
)`;

const IDENTITY = (schema: string): string => `CREATE TABLE IF NOT EXISTS ${schema}.identity (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  document text NOT NULL
)`;

/** Makes what is not there. Throws STORE_SHAPE where the schema holds a copy of the other form. */
export async function prepareSchema(connection: PostgresConnection, schema: string, form: string): Promise<void> {
  const name = quoted(schema);
  const statements = [
    `CREATE SCHEMA IF NOT EXISTS ${name}`,
    HEAD(name),
    IDENTITY(name),
    `INSERT INTO ${name}.head (one, seq, epoch, generation, form, complete) VALUES (true, 0, 0, 0, '${form}', false) ON CONFLICT (one) DO NOTHING`,
  ];
  for (const statement of statements) await makeOnce(connection, statement);
  const [row] = await connection.query(`SELECT form FROM ${name}.head`);
  if (row?.['form'] !== form) {
    const message = `the schema '${schema}' holds a copy of the form '${row?.['form']}'; publish '${form}' to another one (?schema=NAME)`;
    throw new UnspentError('STORE_SHAPE', message, { schema });
  }
}

/** Two that make the same thing at once do not both succeed, even with IF NOT EXISTS: the second finds it made. */
export async function makeOnce(connection: PostgresConnection, statement: string): Promise<void> {
  for (let attempts = 0; ; attempts++) {
    try {
      await connection.query(statement);
      return;
    } catch (error) {
      const isMade = isUnspentError(error, 'DATABASE') && /^(23505|42P07|42P06|42710)$/.test(String(error.meta?.['reason']));
      if (!isMade || attempts === 3) throw error;
    }
  }
}
