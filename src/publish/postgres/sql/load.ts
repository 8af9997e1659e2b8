/**
 * A snapshot on its way into tables for people: rows come column by column, are
 * written without indexes, then transactions, balances and indexes are made from
 * them, and in the end the tables take the place of those before them, together
 * with the head.
 */

import type { Row } from '../../../engine/engine.ts';
import { TXID_BYTES } from '../../../ledgers/outpoint.ts';
import { META_PREFIX, readChainRow } from '../../../projections/chain.ts';
import { GRANT_TX_INDEX } from '../../../projections/coin.ts';
import { HISTORY_TX } from '../../../projections/history/rows.ts';
import { readSeen } from '../../../projections/seen/seen.ts';
import { readTxRow, TX } from '../../../projections/transactions.ts';
import { SPENT, UNSPENT } from '../../../projections/utxo.ts';
import type { PostgresConnection } from '../../../sql/postgres-connection.ts';
import { DELTA } from '../../../state/delta.ts';
import { readU32 } from '../../../util/bytes.ts';
import { assetCells, type SpendFacts, spendInRow, spendsInDelta } from './changed-rows.ts';
import { createIndexes, createTable } from './ddl.ts';
import { SqlParts } from './parts.ts';
import type { Cell, Cells, SqlRows } from './rows.ts';
import type { SqlTable } from './tables.ts';

/** Rows of transactions until they are put together. */
const STAGES = (at: string): string[] => [
  `CREATE TABLE ${at}stage_tx (tx_id bytea, height bigint, block_index bigint, valid boolean)`,
  `CREATE TABLE ${at}stage_payment (height bigint, block_index bigint, size bigint, fee numeric, inputs bigint, paid numeric)`,
];

export class SqlLoad {
  private readonly connection: PostgresConnection;
  private readonly schema: string;
  private readonly tables: readonly SqlTable[];
  private readonly rowsOf: SqlRows;
  private readonly prefix: string;
  private readonly parts: SqlParts;
  /** Where the history of each kind begins here, as far as rows tell. */
  readonly oldest = { spent: null as number | null, fees: null as number | null };

  constructor(
    connection: PostgresConnection,
    {
      schema,
      tables,
      rows,
      prefix,
      partitionBlocks,
    }: {
      readonly schema: string;
      readonly tables: readonly SqlTable[];
      readonly rows: SqlRows;
      readonly prefix: string;
      readonly partitionBlocks: number;
    },
  ) {
    this.connection = connection;
    this.schema = schema;
    this.tables = tables;
    this.rowsOf = rows;
    this.prefix = prefix;
    this.parts = new SqlParts(connection, schema, tables, partitionBlocks, prefix);
  }

  private get at(): string {
    return `${this.schema}.${this.prefix}`;
  }

  async begin(): Promise<void> {
    const tables = this.tables.flatMap((table) => createTable(this.schema, table, this.prefix));
    await this.connection.query([...tables, ...STAGES(this.at)].join(';\n'));
  }

  async rows(column: string, rows: readonly Row[]): Promise<void> {
    if (column === 'chain') await this.chain(rows);
    else if (column === TX)
      await this.copy(
        'stage_tx',
        rows.map(([id, value]) => this.transaction(id, value)),
      );
    else if (column === HISTORY_TX) await this.payments(rows);
    else if (column === UNSPENT) await this.unspent(rows);
    else if (column === SPENT) await this.spent(rows.flatMap(([key, value]) => spendInRow(key, value) ?? []));
    else if (column === DELTA) await this.spent(rows.flatMap(([key, value]) => spendsInDelta(value, readU32(key, 4))));
    else if ((column === 'datum' || column === 'script') && this.has(`${column}s`))
      await this.copy(
        `${column}s`,
        rows.map(([hash, value]) => this.rowsOf.seen(hash, readSeen(value))),
      );
  }

  private has(name: string): boolean {
    return this.tables.some((table) => table.name === name);
  }

  private async chain(rows: readonly Row[]): Promise<void> {
    const blocks = rows.filter(([key]) => key[0] !== META_PREFIX);
    await this.copy(
      'blocks',
      blocks.map(([key, value]) => this.rowsOf.block(readChainRow(key, value))),
    );
  }

  private transaction(id: Uint8Array, value: Uint8Array): Cells {
    const { height, txIndex, valid } = readTxRow(value);
    return this.rowsOf.transaction(id, height, txIndex, valid, null, null).slice(0, 4);
  }

  private async payments(rows: readonly Row[]): Promise<void> {
    const known = rows.filter(([key, value]) => readU32(key, 4) < GRANT_TX_INDEX && value.length > TXID_BYTES);
    const cells = known.map(([key, value]): Cells => {
      const height = readU32(key, 0);
      this.oldest.fees = Math.min(this.oldest.fees ?? height, height);
      const { size, fee, inputs, paid } = this.rowsOf.payment(value.subarray(TXID_BYTES));
      return [String(height), String(readU32(key, 4)), String(size), fee === null ? null : String(fee), String(inputs), String(paid)];
    });
    await this.copy('stage_payment', cells);
  }

  private async unspent(rows: readonly Row[]): Promise<void> {
    const outputs = rows.map(([key, value]) => ({ key, row: this.rowsOf.output(key, value) }));
    await this.copy(
      'unspent',
      outputs.map(({ row }) => row.cells),
    );
    await this.copy(
      'unspent_assets',
      outputs.flatMap(({ key, row }) => row.assets.map((asset) => assetCells(this.rowsOf.outpoint(key), asset))),
    );
  }

  private async spent(spends: readonly SpendFacts[]): Promise<void> {
    if (spends.length === 0) return;
    const outputs: Cells[] = [];
    const assets: Cells[] = [];
    for (const { key, stored, txId, input, height } of spends) {
      const row = this.rowsOf.output(key, stored);
      outputs.push([...row.cells, ...this.rowsOf.spending(txId, input, height)]);
      for (const asset of row.assets) assets.push([...assetCells(this.rowsOf.outpoint(key), asset), String(height)]);
    }
    const heights = spends.map(({ height }) => height);
    const from = heights.reduce((a, b) => Math.min(a, b));
    this.oldest.spent = Math.min(this.oldest.spent ?? from, from);
    for (const height of new Set(heights)) await this.parts.make(height, height, ['spent', 'spent_assets']);
    await this.copy('spent', outputs);
    await this.copy('spent_assets', assets);
  }

  private async copy(table: string, rows: readonly Cells[]): Promise<void> {
    if (rows.length === 0) return;
    const text = rows.map((cells) => `${cells.map(copyCell).join('\t')}\n`).join('');
    await this.connection.copy(`COPY ${this.at}${table} FROM STDIN`, Buffer.from(text));
  }

  /** What is made from the rows. `height`: of the snapshot. */
  async build(height: number): Promise<void> {
    const [range] = await this.connection.query(`SELECT min(height) AS low, max(height) AS high FROM ${this.at}stage_tx`);
    if (range !== undefined && range['low'] !== null) await this.parts.make(Number(range['low']), Number(range['high']), ['transactions']);
    await this.parts.make(height, height);
    const { at } = this;
    const statements = [
      `CREATE INDEX ON ${at}stage_payment (height, block_index)`,
      `INSERT INTO ${at}transactions (tx_id, height, block_index, valid, fee, size)
       SELECT t.tx_id, t.height, t.block_index, t.valid,
         COALESCE(p.fee, CASE WHEN p.inputs > 0 AND s.count = p.inputs THEN s.value - p.paid END), p.size
       FROM ${at}stage_tx t LEFT JOIN ${at}stage_payment p ON p.height = t.height AND p.block_index = t.block_index
       LEFT JOIN (SELECT spent_by, count(*) AS count, sum(value) AS value FROM ${at}spent WHERE spent_by IS NOT NULL GROUP BY spent_by) s
         ON s.spent_by = t.tx_id`,
      `DROP TABLE ${at}stage_tx, ${at}stage_payment`,
      `INSERT INTO ${at}balances SELECT address, sum(value), count(*) FROM ${at}unspent GROUP BY address`,
      ...(this.has('asset_balances')
        ? [
            `INSERT INTO ${at}asset_balances SELECT o.address, a.policy, a.asset_name, sum(a.quantity)
             FROM ${at}unspent_assets a JOIN ${at}unspent o USING (tx_id, output_index) GROUP BY 1, 2, 3`,
          ]
        : []),
      ...this.tables.map((table) => createIndexes(this.schema, table, this.prefix).join(';\n')),
      `ANALYZE ${this.tables.map(({ name }) => at + name).join(', ')}`,
    ];
    for (const statement of statements) await this.connection.query(statement);
  }
}

/** COPY in text: a backslash stands before what it would take for something else. */
function copyCell(cell: Cell): string {
  return cell === null ? '\\N' : cell.replace(/[\\\t\n\r]/g, (found) => ESCAPED[found] ?? found);
}

const ESCAPED: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };
