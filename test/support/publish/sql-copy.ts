/** A copy for people as it stands, read behind the back of its publisher. */
import assert from 'node:assert/strict';
import pg from 'pg';
import { openTarget } from '../../../src/publish/open.ts';
import { copyPlace } from '../../../src/publish/postgres/schema.ts';
import type { PublishedStore } from '../../../src/publish/published-store.ts';
import { publishOnce, startPublisher } from './rig.ts';

/** Tables of a copy whose rows say what the chain adds up to. */
const TABLES = [
  'blocks',
  'transactions',
  'unspent',
  'spent',
  'balances',
  'unspent_assets',
  'spent_assets',
  'asset_balances',
  'datums',
  'scripts',
];

export class SqlCopy {
  readonly schema: string;
  private readonly client: pg.Client;
  private isClosed = false;

  private constructor(client: pg.Client, schema: string) {
    this.client = client;
    this.schema = schema;
  }

  static async open(copy: string): Promise<SqlCopy> {
    const { url, schema } = copyPlace(copy);
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    await client.connect();
    await client.query(`SET search_path = ${schema}; SET TIME ZONE 'UTC'`);
    return new SqlCopy(client, schema);
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    await this.client.end();
  }

  async rows(text: string, values: readonly unknown[] = []): Promise<readonly Record<string, unknown>[]> {
    return (await this.client.query(text, [...values])).rows;
  }

  /** What `body` reads is of one block. */
  async atOneBlock<T>(body: () => Promise<T>): Promise<T> {
    await this.client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    try {
      return await body();
    } finally {
      await this.client.query('COMMIT').catch(() => undefined);
    }
  }

  /** Throws where the head, the outputs, the balances and the newest block tell different things. Returns the number of the change. */
  check(): Promise<number> {
    return this.atOneBlock(async () => {
      const [head] = await this.rows('SELECT complete FROM head');
      // None: the copy has begun anew since this moment.
      if (head?.['complete'] !== true) return 0;
      const [found] = await this.rows(`SELECT h.seq, h.height, h.hash, h.utxos, coalesce(h.value, 0) AS value,
        (SELECT count(*) FROM unspent) AS outputs, (SELECT coalesce(sum(value), 0) FROM unspent) AS sum,
        (SELECT coalesce(sum(outputs), 0) FROM balances) AS counted, (SELECT coalesce(sum(value), 0) FROM balances) AS balance,
        (SELECT hash FROM blocks ORDER BY height DESC, boundary DESC LIMIT 1) AS newest FROM head h`);
      const told = [found['utxos'], found['value'], found['utxos'], found['value']];
      assert.deepEqual([found['outputs'], found['sum'], found['counted'], found['balance']], told, `change ${found['seq']}`);
      return Number(found['seq']);
    });
  }

  async tables(): Promise<readonly string[]> {
    const rows = await this.rows(
      "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = $1 AND table_type = 'BASE TABLE'",
      [this.schema],
    );
    return rows.map(({ name }) => String(name));
  }

  /** Every row of every table, as text, in order. */
  async dump(): Promise<ReadonlyMap<string, readonly string[]>> {
    const present = await this.tables();
    const all = new Map<string, readonly string[]>();
    for (const table of TABLES.filter((name) => present.includes(name)))
      all.set(
        table,
        (await this.rows(`SELECT t::text AS row FROM ${table} t ORDER BY 1`)).map(({ row }) => String(row)),
      );
    return all;
  }
}

/** The tables of a copy of the store that begins now, in a database of its own. */
export async function freshTables(url: string, store: PublishedStore): Promise<ReadonlyMap<string, readonly string[]>> {
  const target = await openTarget(url, 'sql', store);
  const publisher = await startPublisher(store, target);
  await publishOnce(publisher);
  publisher.close();
  await target.close();
  const copy = await SqlCopy.open(url);
  const dump = await copy.dump();
  await copy.close();
  return dump;
}

export function assertSameTables(
  found: ReadonlyMap<string, readonly string[]>,
  wanted: ReadonlyMap<string, readonly string[]>,
  what: string,
): void {
  assert.deepEqual([...found.keys()], [...wanted.keys()], what);
  for (const [table, rows] of wanted) {
    const own = found.get(table) ?? [];
    const [all, ours] = [new Set(rows), new Set(own)];
    const [more, less] = [own.filter((row) => !all.has(row)), rows.filter((row) => !ours.has(row))];
    assert.deepEqual([more.slice(0, 3), less.slice(0, 3)], [[], []], `${what}: ${table}`);
    assert.equal(own.length, rows.length, `${what}: ${table}`);
  }
}
