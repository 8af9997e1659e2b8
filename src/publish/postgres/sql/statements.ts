/**
 * What is done to the tables for people in one statement: blocks applied, or all
 * above a height taken back. Every part sees the tables as they were before the
 * statement, and does nothing where the head did not move (`fence`).
 */
import { byColumn, type ChangedRows } from './changed-rows.ts';
import type { Cell, Cells } from './rows.ts';
import { bareType, type SqlColumn, type SqlTable } from './tables.ts';

export interface Parts {
  readonly parts: readonly string[];
  readonly values: readonly (readonly Cell[] | number | boolean)[];
}

const FENCED = 'EXISTS (SELECT 1 FROM fence)';

/** Tables by name. */
export type SqlTables = ReadonlyMap<string, SqlTable>;

/** The text depends on the schema and the tables only, so that it is prepared once. */
class Statement {
  readonly parts: string[] = [];
  readonly values: (readonly Cell[] | number | boolean)[] = [];
  private readonly schema: string;
  private readonly tables: SqlTables;
  private readonly first: number;

  constructor(schema: string, tables: SqlTables, first: number) {
    this.schema = schema;
    this.tables = tables;
    this.first = first;
  }

  table(name: string): string {
    return `${this.schema}.${name}`;
  }

  columns(name: string): readonly SqlColumn[] {
    return this.tables.get(name)?.columns ?? [];
  }

  has(name: string): boolean {
    return this.tables.has(name);
  }

  names(name: string): string {
    return this.columns(name)
      .map((column) => column.name)
      .join(', ');
  }

  value(value: number | boolean, type: string): string {
    this.values.push(value);
    return `$${this.first + this.values.length}::${type}`;
  }

  /** Rows as something to select from, called `name`. */
  rows(name: string, columns: readonly SqlColumn[], rows: readonly Cells[]): void {
    const lists = byColumn(rows, columns.length).map((list, i) => {
      this.values.push(list);
      return `$${this.first + this.values.length}::${bareType(columns[i])}[]`;
    });
    this.parts.push(`${name} AS (SELECT * FROM unnest(${lists.join(', ')}) AS t (${columns.map((column) => column.name).join(', ')}))`);
  }

  insert(table: string, rows: readonly Cells[], conflict = ''): void {
    this.rows(`new_${table}`, this.columns(table), rows);
    this.parts.push(`put_${table} AS (INSERT INTO ${this.table(table)} (${this.names(table)})
  SELECT * FROM new_${table} WHERE ${FENCED}${conflict})`);
  }

  part(text: string): void {
    this.parts.push(text);
  }
}

export function applyParts(schema: string, tables: SqlTables, first: number, changed: ChangedRows): Parts {
  const s = new Statement(schema, tables, first);
  const spending = s.columns('spent').filter(({ name }) => name.startsWith('spent_'));
  const outpoint = s.columns('spent').slice(0, 2);
  s.insert('blocks', changed.blocks);
  s.insert('transactions', changed.transactions);
  s.insert('unspent', changed.unspent);
  s.insert('spent', changed.spent);
  s.rows('gone', [...outpoint, ...spending], changed.gone);
  s.part(`left_unspent AS (DELETE FROM ${s.table('unspent')} u USING gone g
  WHERE u.tx_id = g.tx_id AND u.output_index = g.output_index AND ${FENCED} RETURNING u.*, g.spent_by, g.spent_input, g.spent_height)`);
  s.part(`moved AS (INSERT INTO ${s.table('spent')} (${s.names('spent')}) SELECT ${s.names('spent')} FROM left_unspent)`);
  s.rows('delta', s.columns('balances'), changed.balances);
  s.part(balanceParts(s, 'balances', ['address'], ['value', 'outputs'], 'outputs'));
  if (!s.has('unspent_assets')) return s;
  s.insert('unspent_assets', changed.unspentAssets);
  s.insert('spent_assets', changed.spentAssets);
  s.part(`left_assets AS (DELETE FROM ${s.table('unspent_assets')} a USING gone g
  WHERE a.tx_id = g.tx_id AND a.output_index = g.output_index AND ${FENCED} RETURNING a.*, g.spent_height)`);
  s.part(`moved_assets AS (INSERT INTO ${s.table('spent_assets')} (${s.names('spent_assets')})
  SELECT ${s.names('spent_assets')} FROM left_assets)`);
  s.rows('asset_delta', s.columns('asset_balances'), changed.assetBalances);
  s.part(balanceParts(s, 'asset_balances', ['policy', 'asset_name', 'address'], ['quantity'], 'quantity', 'asset_delta'));
  seenParts(s, changed);
  return s;
}

function seenParts(s: Statement, { datums, scripts }: Pick<ChangedRows, 'datums' | 'scripts'>): void {
  const takeOver = (table: string, key: string): string =>
    ` ON CONFLICT (${key}) DO UPDATE SET ${s
      .columns(table)
      .slice(2)
      .map(({ name }) => `${name} = excluded.${name}`)
      .join(', ')}`;
  s.insert('datums', [...datums.values()], takeOver('datums', 'datum_hash'));
  s.insert('scripts', [...scripts.values()], takeOver('scripts', 'script_hash'));
}

/** Balances move by the rows of `delta`: rows that come to nothing go. `rest`: the column that then is 0. */
function balanceParts(s: Statement, table: string, key: readonly string[], sums: readonly string[], rest: string, delta = 'delta'): string {
  const same = key.map((name) => `b.${name} = d.${name}`).join(' AND ');
  const names = [...key, ...sums].join(', ');
  return `gone_${table} AS (DELETE FROM ${s.table(table)} b USING ${delta} d WHERE ${same} AND b.${rest} + d.${rest} = 0 AND ${FENCED}),
moved_${table} AS (UPDATE ${s.table(table)} b SET ${sums.map((name) => `${name} = b.${name} + d.${name}`).join(', ')}
  FROM ${delta} d WHERE ${same} AND b.${rest} + d.${rest} <> 0 AND ${FENCED}),
made_${table} AS (INSERT INTO ${s.table(table)} (${names}) SELECT ${key.map((name) => `d.${name}`).join(', ')}, ${sums
    .map((name) => `d.${name}`)
    .join(', ')} FROM ${delta} d
  WHERE NOT EXISTS (SELECT 1 FROM ${s.table(table)} b WHERE ${same}) AND ${FENCED})`;
}

/** All above a block is taken back; `height` -1: everything. What was seen earlier than we knew comes with `changed`. */
export function backParts(
  schema: string,
  tables: SqlTables,
  first: number,
  { height, boundary }: { readonly height: number; readonly boundary: boolean },
  changed: ChangedRows,
): Parts {
  const s = new Statement(schema, tables, first);
  const to = s.value(height, 'bigint');
  const isBoundary = s.value(boundary, 'boolean');
  s.part(`gone_blocks AS (DELETE FROM ${s.table('blocks')}
  WHERE (height > ${to} OR (height = ${to} AND boundary AND NOT ${isBoundary})) AND ${FENCED})`);
  s.part(`gone_txs AS (DELETE FROM ${s.table('transactions')} WHERE height > ${to} AND ${FENCED})`);
  s.part(`unmade AS (DELETE FROM ${s.table('unspent')} WHERE height > ${to} AND ${FENCED} RETURNING *)`);
  s.part(`back AS (DELETE FROM ${s.table('spent')} WHERE spent_height > ${to} AND ${FENCED} RETURNING *)`);
  s.part(`restored AS (INSERT INTO ${s.table('unspent')} (${s.names('unspent')})
  SELECT ${s.names('unspent')} FROM back WHERE height <= ${to})`);
  s.part(`delta AS (SELECT address, sum(value) AS value, sum(outputs)::bigint AS outputs FROM (
    SELECT address, -value AS value, -1 AS outputs FROM unmade
    UNION ALL SELECT address, value, 1 FROM back WHERE height <= ${to}) c GROUP BY address HAVING sum(value) <> 0 OR sum(outputs) <> 0)`);
  s.part(balanceParts(s, 'balances', ['address'], ['value', 'outputs'], 'outputs'));
  if (!s.has('unspent_assets')) return s;
  s.part(`unmade_assets AS (DELETE FROM ${s.table('unspent_assets')} a USING unmade o
  WHERE a.tx_id = o.tx_id AND a.output_index = o.output_index RETURNING o.address, a.policy, a.asset_name, a.quantity)`);
  s.part(`back_assets AS (DELETE FROM ${s.table('spent_assets')} a USING back o
  WHERE a.tx_id = o.tx_id AND a.output_index = o.output_index AND a.spent_height > ${to} RETURNING a.*, o.address, o.height)`);
  s.part(`restored_assets AS (INSERT INTO ${s.table('unspent_assets')} (${s.names('unspent_assets')})
  SELECT ${s.names('unspent_assets')} FROM back_assets WHERE height <= ${to})`);
  s.part(`asset_delta AS (SELECT policy, asset_name, address, sum(quantity) AS quantity FROM (
    SELECT policy, asset_name, address, -quantity AS quantity FROM unmade_assets
    UNION ALL SELECT policy, asset_name, address, quantity FROM back_assets WHERE height <= ${to}) c
  GROUP BY policy, asset_name, address HAVING sum(quantity) <> 0)`);
  s.part(balanceParts(s, 'asset_balances', ['policy', 'asset_name', 'address'], ['quantity'], 'quantity', 'asset_delta'));
  const kept = (rows: ReadonlyMap<string, Cells>): Cells[] => Array.from(rows.values(), ([hash]) => [hash]);
  s.rows('kept_datums', s.columns('datums').slice(0, 1), kept(changed.datums));
  s.rows('kept_scripts', s.columns('scripts').slice(0, 1), kept(changed.scripts));
  for (const [table, key] of [
    ['datums', 'datum_hash'],
    ['scripts', 'script_hash'],
  ])
    s.part(`gone_${table} AS (DELETE FROM ${s.table(table)} WHERE height > ${to}
  AND ${key} NOT IN (SELECT ${key} FROM kept_${table}) AND ${FENCED})`);
  seenParts(s, changed);
  return s;
}
