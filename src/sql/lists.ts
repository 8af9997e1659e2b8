/**
 * Lists as parameters. A block or a branch changes many rows: they go to the
 * database as one JSON parameter and are read there as a table, so that a step
 * is one statement, whose text is always the same, however many rows it has.
 */
import { type RawBuilder, sql } from 'kysely';
import { toHex } from '../util/bytes.ts';
import type { SqlKind } from './database.ts';

/** The column types of a list that is given as one parameter. */
export type ListColumn = 'bytes' | 'integer' | 'text';
type ListValue<C extends ListColumn> = C extends 'bytes' ? Uint8Array : C extends 'integer' ? number : string;
type ListCell = Uint8Array | number | bigint | string | null;
type ListRow<C extends Record<string, ListColumn>> = { [K in keyof C]: ListValue<C[K]> };

/**
 * A list as a table of a statement: one JSON parameter, however long it is, so
 * that the text of the statement stays the same. Joined with CROSS JOIN, because
 * then SQLite reads the list first and looks each row up in the table's index.
 */
export function listTable<C extends Record<string, ListColumn>>(
  kind: SqlKind,
  columns: C,
  rows: readonly (readonly ListCell[])[],
): RawBuilder<ListRow<C>> {
  const json = JSON.stringify(rows.map((row) => row.map(jsonValue)));
  const names = Object.keys(columns);
  const parts = names.map((name, at) => `${LIST_VALUES[kind][columns[name] as ListColumn](at)} AS ${name}`);
  return kind === 'sqlite'
    ? sql<ListRow<C>>`(SELECT ${sql.raw(parts.join(', '))} FROM json_each(${json}))`
    : sql<ListRow<C>>`(SELECT ${sql.raw(parts.join(', '))} FROM json_array_elements(${json}::json))`;
}

const LIST_VALUES: Readonly<Record<SqlKind, Readonly<Record<ListColumn, (at: number) => string>>>> = {
  sqlite: {
    bytes: (at) => `unhex(value ->> ${at})`,
    integer: (at) => `CAST(value ->> ${at} AS INTEGER)`,
    text: (at) => `value ->> ${at}`,
  },
  postgres: {
    bytes: (at) => `decode(value ->> ${at}, 'hex')`,
    integer: (at) => `(value ->> ${at})::bigint`,
    text: (at) => `value ->> ${at}`,
  },
};

function jsonValue(value: ListCell): string | number | null {
  if (value instanceof Uint8Array) return toHex(value);
  return typeof value === 'bigint' ? String(value) : value;
}

/**
 * As a column of a result: 1 if there are such rows, else 0. `rows` is what stands behind FROM, with a condition on the
 * row outside. EXISTS would say the same, but PostgreSQL answers it there by a hash table of all rows, for whatever condition.
 */
export function hasRows(rows: RawBuilder<unknown>): RawBuilder<0 | 1> {
  return sql<0 | 1>`COALESCE((SELECT 1 FROM ${rows} LIMIT 1), 0)`;
}

/** An amount, or a sum of them, as text: it may be wider than a number. */
export function amountText(column: string): RawBuilder<string> {
  return sql<string>`CAST(${sql.ref(column)} AS text)`;
}
