/**
 * The statements that make the tables and views of a copy for people. Tables of
 * a snapshot in the making have a prefix, which `renamed` takes away when it is
 * whole; so readers see the copy before it until then, and names never change.
 */
import { UnspentError } from '../../../util/errors.ts';
import { columnType, type SqlTable } from './tables.ts';
import type { SqlView } from './views.ts';

/** What stands before the tables of a snapshot in the making. */
export function loadPrefix(generation: number): string {
  return `load${generation}_`;
}

/** Of any such. */
export const LOAD_PREFIX = /^load[0-9]+_/;

/** The snapshot that a table is in the making for: the epoch of its publisher. */
export function loadNumber(name: string): number {
  return Number.parseInt(name.slice('load'.length), 10);
}

function text(words: string): string {
  return `'${words.replaceAll("'", "''")}'`;
}

export function createTable(schema: string, table: SqlTable, prefix: string): string[] {
  const name = `${schema}.${prefix}${table.name}`;
  const columns = table.columns.map((column) => `${column.name} ${columnType(column)}`);
  const checks = (table.checks ?? []).map((check) => `CHECK (${check})`);
  const parts = table.cutBy === undefined ? '' : ` PARTITION BY RANGE (${table.cutBy})`;
  return [
    `CREATE TABLE ${name} (${[...columns, ...checks].join(', ')})${parts}`,
    `COMMENT ON TABLE ${name} IS ${text(table.doc)}`,
    ...table.columns.map((column) => `COMMENT ON COLUMN ${name}.${column.name} IS ${text(column.doc)}`),
  ];
}

/** After the rows have come, because filling an index is dearer than making it. */
export function createIndexes(schema: string, table: SqlTable, prefix: string): string[] {
  const name = `${schema}.${prefix}${table.name}`;
  return [
    `ALTER TABLE ${name} ADD PRIMARY KEY (${table.key.join(', ')})`,
    ...table.indexes.map((columns) => `CREATE INDEX ON ${name} (${columns})`),
  ];
}

/** The part of a table that has this height. */
export interface Part {
  readonly table: SqlTable;
  readonly from: number;
  readonly to: number;
}

export function partOf(table: SqlTable, height: number, blocks: number): Part {
  const from = Math.floor(height / blocks) * blocks;
  return { table, from, to: from + blocks };
}

export function partName({ table, from }: Part): string {
  return `${table.name}_${from}`;
}

/** Made by itself and then attached, because that stops no reader. */
export function createPart(schema: string, part: Part, prefix: string): string[] {
  const parent = `${schema}.${prefix}${part.table.name}`;
  const name = `${schema}.${prefix}${partName(part)}`;
  const { cutBy = '' } = part.table;
  return [
    `CREATE TABLE IF NOT EXISTS ${name} (LIKE ${parent} INCLUDING ALL, CHECK (${cutBy} >= ${part.from} AND ${cutBy} < ${part.to}))`,
    `COMMENT ON TABLE ${name} IS ${text(`Rows of ${part.table.name} with ${cutBy} from ${part.from} to ${part.to - 1}`)}`,
    `ALTER TABLE ${parent} ATTACH PARTITION ${name} FOR VALUES FROM (${part.from}) TO (${part.to})`,
  ];
}

export function dropViews(schema: string, views: readonly SqlView[]): string[] {
  return [...views].reverse().map(({ name }) => `DROP VIEW IF EXISTS ${schema}.${name}`);
}

export function createViews(schema: string, views: readonly SqlView[]): string[] {
  return views.flatMap(({ name, doc, query }) => [
    `CREATE VIEW ${schema}.${name} AS ${query.replaceAll('$.', `${schema}.`)}`,
    `COMMENT ON VIEW ${schema}.${name} IS ${text(doc)}`,
  ]);
}

/** `names`: the tables in the schema, parts among them. */
export function renamed(schema: string, names: readonly string[], prefix: string): string[] {
  return names
    .filter((name) => name.startsWith(prefix))
    .map((name) => `ALTER TABLE ${schema}.${name} RENAME TO ${name.slice(prefix.length)}`);
}

/** What was detached stays, under another name where the new copy has a part of the same heights. */
export function setAside(
  schema: string,
  detached: readonly string[],
  loaded: readonly string[],
  prefix: string,
  generation: number,
): string[] {
  return detached
    .filter((name) => loaded.includes(prefix + name))
    .map((name) => `ALTER TABLE ${schema}.${name} RENAME TO former${generation}_${name}`);
}

/** Foreign keys that no row is looked at for: for people and tools that draw tables. PostgreSQL 18 has them. */
export function toldKeys(schema: string, tables: readonly SqlTable[]): string[] {
  return tables.flatMap(({ name, points = [] }) =>
    points
      .filter(([, to]) => tables.some((table) => table.name === to && table.cutBy === undefined))
      .filter(([columns, to]) => tables.find((table) => table.name === to)?.key.join(', ') === columns)
      .map(([columns, to]) => `ALTER TABLE ${schema}.${name} ADD FOREIGN KEY (${columns}) REFERENCES ${schema}.${to} NOT ENFORCED`),
  );
}

export const COVERAGE = (schema: string): string => `CREATE TABLE IF NOT EXISTS ${schema}.coverage (
  subject text PRIMARY KEY,
  from_height bigint,
  note text NOT NULL
)`;

export const LAYOUT = (schema: string): string => `CREATE TABLE IF NOT EXISTS ${schema}.layout (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  version integer NOT NULL,
  partition_blocks bigint NOT NULL
)`;

export const SUPPORT_COMMENTS = (schema: string): string[] => [
  `COMMENT ON TABLE ${schema}.head IS 'Where the copy is: the newest block, and what all unspent outputs add up to; who publishes it'`,
  `COMMENT ON TABLE ${schema}.identity IS 'What the copy is of'`,
  `COMMENT ON TABLE ${schema}.coverage IS 'From which height on a kind of history is here; what is older the store did not have'`,
  `COMMENT ON TABLE ${schema}.layout IS 'Version of these tables, and how many heights stand in one part'`,
];

export function newerLayout(version: number, known: number): UnspentError {
  return new UnspentError('STORE_SCHEMA', `the tables of the copy have version ${version}; this program knows up to ${known}`);
}
