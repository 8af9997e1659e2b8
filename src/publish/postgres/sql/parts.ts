/** The parts of the tables that are cut by height: made when the first row for them comes. */
import type { PostgresConnection } from '../../../sql/postgres-connection.ts';
import { isUnspentError } from '../../../util/errors.ts';
import { createPart, partName, partOf } from './ddl.ts';
import type { SqlTable } from './tables.ts';

export class SqlParts {
  private readonly connection: PostgresConnection;
  private readonly schema: string;
  private readonly tables: readonly SqlTable[];
  private readonly blocks: number;
  private readonly prefix: string;
  private readonly made = new Set<string>();

  constructor(connection: PostgresConnection, schema: string, tables: readonly SqlTable[], blocks: number, prefix = '') {
    this.connection = connection;
    this.schema = schema;
    this.tables = tables.filter(({ cutBy }) => cutBy !== undefined);
    this.blocks = blocks;
    this.prefix = prefix;
  }

  /** Those for heights from `low` to `high`. */
  async make(low: number, high: number, names: readonly string[] = this.tables.map(({ name }) => name)): Promise<void> {
    for (const table of this.tables) {
      if (!names.includes(table.name)) continue;
      for (let { from } = partOf(table, low, this.blocks); from <= high; from += this.blocks) await this.makeOne(table, from);
    }
  }

  private async makeOne(table: SqlTable, from: number): Promise<void> {
    const part = partOf(table, from, this.blocks);
    const name = partName(part);
    if (this.made.has(name)) return;
    if (!(await this.isAttached(name))) {
      try {
        // Sent as one: either both happen or none.
        await this.connection.query(createPart(this.schema, part, this.prefix).join(';\n'));
      } catch (error) {
        // Another publisher has made it in the meantime.
        if (!isUnspentError(error, 'DATABASE') || !(await this.isAttached(name))) throw error;
      }
    }
    this.made.add(name);
  }

  private async isAttached(name: string): Promise<boolean> {
    const [row] = await this.connection.query(
      `SELECT c.relispartition AS attached FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname = $1 AND c.relname = $2`,
      [this.schema.slice(1, -1), this.prefix + name],
    );
    return row?.['attached'] === true;
  }
}
