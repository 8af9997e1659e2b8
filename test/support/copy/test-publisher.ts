/**
 * Publishes a store of a test into PostgreSQL as a publisher would: tables of its
 * columns, each change whole with its head. It compares everything with what it
 * wrote last, so it is for small stores, and shares no code with the publisher.
 */
import pg from 'pg';
import type { Engine } from '../../../src/engine/engine.ts';
import type { Network } from '../../../src/families/family.ts';
import { PUBLISHED_FORM } from '../../../src/publish/identity.ts';
import { readHead } from '../../../src/state/head.ts';
import type { Windows } from '../../../src/state/pruned.ts';

/** Of one statement. */
const ROWS = 5000;

/** What of a store is published. */
export interface Published {
  readonly engine: Engine;
  readonly network: Network;
  readonly projections: readonly string[];
  readonly windows: Windows;
  readonly settings?: Readonly<Record<string, unknown>>;
}

export class TestPublisher {
  seq = 0;
  private client: pg.Client;
  private readonly store: Published;
  private readonly written = new Map<string, Map<string, Buffer>>();

  private constructor(client: pg.Client, store: Published) {
    this.client = client;
    this.store = store;
  }

  /** Into a database that has nothing of ours yet. */
  static async open(url: string, store: Published): Promise<TestPublisher> {
    const publisher = new TestPublisher(await connected(url), store);
    await publisher.createTables();
    return publisher;
  }

  /** After the server was away. */
  async reconnect(url: string): Promise<void> {
    this.client = await connected(url);
  }

  get columns(): readonly string[] {
    return this.store.engine.columns.map(({ name }) => name);
  }

  private async createTables(): Promise<void> {
    const { network, projections, windows, engine, settings = {} } = this.store;
    const tables = this.columns.map((name) => `create table unspent."c_${name}" (key bytea primary key, value bytea not null);`);
    await this.client.query(`create schema unspent; ${tables.join('\n')}
      create table unspent.head (one boolean primary key default true check (one), seq bigint not null, epoch bigint not null,
        generation bigint not null, form text not null, publisher text, height bigint, slot bigint, hash bytea, position text, utxos bigint, value numeric,
        published_at timestamptz, complete boolean not null);
      create table unspent.identity (one boolean primary key default true check (one), document text not null);`);
    const document = JSON.stringify({
      form: PUBLISHED_FORM,
      network: network.name,
      family: network.family.name,
      parameters: network.parameters,
      partial: false,
      selfContained: false,
      windows,
      settings,
      projections,
      columns: engine.columns,
    });
    await this.client.query('insert into unspent.identity (document) values ($1)', [document]);
    await this.client.query("insert into unspent.head (seq, epoch, generation, form, complete) values (0, 1, 1, 'columns', false)");
  }

  /** The state of the store now, as one change. */
  async publish(): Promise<void> {
    const head = readHead(this.store.engine);
    await this.client.query('begin');
    for (const column of this.columns) await this.publishColumn(column);
    this.seq++;
    await this.client.query('update unspent.head set seq = $1, height = $2, slot = $3, hash = $4, published_at = now(), complete = true', [
      this.seq,
      head?.height ?? null,
      head?.slot ?? null,
      head === null ? null : Buffer.from(head.hash),
    ]);
    await this.client.query('notify unspent_head');
    await this.client.query('commit');
  }

  private async publishColumn(column: string): Promise<void> {
    const before = this.written.get(column) ?? new Map<string, Buffer>();
    const now = new Map<string, Buffer>();
    const puts: [Buffer, Buffer][] = [];
    for (const [key, value] of this.store.engine.scan(column)) {
      const name = Buffer.from(key).toString('hex');
      const bytes = Buffer.from(value);
      now.set(name, bytes);
      if (before.get(name)?.equals(bytes) !== true) puts.push([Buffer.from(key), bytes]);
    }
    const deletes = [...before.keys()].filter((name) => !now.has(name)).map((name) => Buffer.from(name, 'hex'));
    this.written.set(column, now);
    if (deletes.length > 0) await this.client.query(`delete from unspent."c_${column}" where key = any($1::bytea[])`, [deletes]);
    const text = `insert into unspent."c_${column}" (key, value) select * from unnest($1::bytea[], $2::bytea[])
      on conflict (key) do update set value = excluded.value`;
    for (let at = 0; at < puts.length; at += ROWS) {
      const part = puts.slice(at, at + ROWS);
      await this.client.query(text, [part.map(([key]) => key), part.map(([, value]) => value)]);
    }
  }

  async close(): Promise<void> {
    await this.client.end();
  }
}

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  // A server that is stopped by a test is no news.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}
