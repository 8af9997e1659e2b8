/**
 * A copy in PostgreSQL in the form `sql`: tables for people. Blocks come and go
 * in one statement each, together with the head, as in the form `columns`. It is
 * never pruned: what the store forgets after the copy began stays here.
 */
import type { PostgresConnection } from '../../../sql/postgres-connection.ts';
import { isUnspentError, UnspentError } from '../../../util/errors.ts';
import { PUBLISH_BUILD_MS, PUBLISH_GRACE_MS, PUBLISH_PARTITION_BLOCKS, PUBLISH_POLL_MS, PUBLISH_SWAP_MS } from '../../../util/limits.ts';
import { type CopyChange, countOf } from '../../change.ts';
import type { PublishedIdentity } from '../../identity.ts';
import type { PublishedStore } from '../../published-store.ts';
import type { Claim, CopyTarget, PublishedBlocks, PublishedHead, PublishedMoment, SnapshotLoad } from '../../target.ts';
import { FencedHead, type PostgresTargetOptions, type Statements } from '../fenced-head.ts';
import { copyPlace, makeOnce, quoted } from '../schema.ts';
import { ChangedRows } from './changed-rows.ts';
import { coverageRows } from './coverage.ts';
import {
  COVERAGE,
  createViews,
  dropViews,
  LAYOUT,
  LOAD_PREFIX,
  loadNumber,
  loadPrefix,
  newerLayout,
  renamed,
  SUPPORT_COMMENTS,
  setAside,
  toldKeys,
} from './ddl.ts';
import { SqlLoad } from './load.ts';
import { SqlParts } from './parts.ts';
import { SqlRows } from './rows.ts';
import { applyParts, backParts, type SqlTables } from './statements.ts';
import { SQL_LAYOUT, type SqlTable, sqlTables } from './tables.ts';
import { type SqlView, sqlViews } from './views.ts';

/** PostgreSQL 18 has keys that are told and not enforced. */
const TOLD_KEYS_FROM = 180_000;

export class PostgresSql implements CopyTarget {
  readonly form = 'sql';
  readonly rows = null;
  readonly blocks: PublishedBlocks;
  private readonly head: FencedHead;
  private readonly sqlRows: SqlRows;
  private readonly list: readonly SqlTable[];
  private readonly tables: SqlTables;
  private readonly views: readonly SqlView[];
  private readonly wantedPartition: number;
  private readonly graceMs: number;
  private parts: SqlParts;
  private isPrepared = false;
  /** When the tables of snapshots that others have not completed go, on the clock of `performance.now`; null: there are none. */
  private sweepAt: number | null = null;
  /** What fills the tables of a snapshot. */
  private builder: PostgresConnection | null = null;

  constructor(url: string, { network }: Pick<PublishedStore, 'network'>, options: PostgresTargetOptions = {}) {
    this.head = new FencedHead(url, 'sql', options);
    this.graceMs = options.graceMs ?? PUBLISH_GRACE_MS;
    this.wantedPartition = copyPlace(url).partitionBlocks;
    this.sqlRows = new SqlRows(network);
    const shape = { hasTraits: network.ledger.traits !== null };
    this.list = sqlTables(shape);
    this.tables = new Map(this.list.map((table) => [table.name, table]));
    this.views = sqlViews(shape);
    this.parts = this.partsOf(PUBLISH_PARTITION_BLOCKS);
    this.blocks = { below: (height, limit) => this.blocksBelow(height, limit) };
  }

  get name(): string {
    return this.head.name;
  }

  async claim(signal: AbortSignal, onWaiting?: () => void): Promise<Claim> {
    const claim = await this.head.claim(signal, onWaiting);
    this.sweepAt = performance.now() + this.graceMs;
    const { connection, schema } = this.head;
    if (!this.isPrepared)
      for (const statement of [COVERAGE(schema), LAYOUT(schema), SUPPORT_COMMENTS(schema).join(';\n')])
        await makeOnce(connection, statement);
    this.isPrepared = true;
    const [layout] = await connection.query(`SELECT version, partition_blocks FROM ${schema}.layout`);
    if (layout === undefined) return claim;
    const version = Number(layout['version']);
    if (version > SQL_LAYOUT) throw newerLayout(version, SQL_LAYOUT);
    if (version < SQL_LAYOUT) await connection.transaction((query) => this.migrate(query));
    this.parts = this.partsOf(Number(layout['partition_blocks']));
    return claim;
  }

  private partsOf(blocks: number): SqlParts {
    return new SqlParts(this.head.connection, this.head.schema, this.list, blocks);
  }

  /** From the layout before: tables as they are, views as they are now. */
  private readonly migrate: Statements = async (query) => {
    const { schema } = this.head;
    const set = `UPDATE ${schema}.layout SET version = ${SQL_LAYOUT}`;
    await query([...dropViews(schema, this.views), ...createViews(schema, this.views), set].join(';\n'));
  };

  async load(identity: PublishedIdentity): Promise<SnapshotLoad> {
    if (!identity.projections.includes('utxo'))
      throw new UnspentError('UNSUPPORTED', 'tables for people are made of outputs, and this store keeps none (utxo.enabled)');
    const generation = await this.head.newGeneration();
    const { schema } = this.head;
    const connection = this.head.connect('unspent publish load', PUBLISH_BUILD_MS);
    await this.builder?.close();
    this.builder = connection;
    const prefix = loadPrefix(generation);
    const { list, sqlRows, wantedPartition: partitionBlocks } = this;
    const load = new SqlLoad(connection, { schema, tables: list, rows: sqlRows, prefix, partitionBlocks });
    /** A failure may only be that another publisher leads, and has dropped these tables. */
    const leading = async <T>(work: Promise<T>): Promise<T> => {
      try {
        return await work;
      } catch (error) {
        if (isUnspentError(error, 'DATABASE')) await this.head.renew();
        throw error;
      }
    };
    await leading(load.begin());
    return {
      rows: (column, rows) => leading(load.rows(column, rows)),
      finish: async (moment) => {
        const height = moment.head?.height ?? 0;
        await leading(load.build(height));
        const head = await leading(
          this.swap(moment, generation, identity, [
            [`DELETE FROM ${schema}.coverage`],
            ...coverageRows(identity, height, load.oldest).map(
              (row) => [`INSERT INTO ${schema}.coverage (subject, from_height, note) VALUES ($1, $2, $3)`, row] as const,
            ),
          ]),
        );
        await connection.close();
        this.builder = null;
        return head;
      },
      abandon: async () => {
        await connection.close();
        this.builder = null;
        await this.dropLoads((name) => name.startsWith(prefix));
      },
    };
  }

  /** Drops tables of snapshots that were not completed. */
  private async dropLoads(isMeant: (name: string) => boolean): Promise<void> {
    for (const name of await this.tableNames())
      if (LOAD_PREFIX.test(name) && isMeant(name))
        await this.head.connection.query(`DROP TABLE IF EXISTS ${this.head.schema}.${name} CASCADE`);
  }

  private async tableNames(): Promise<string[]> {
    const { connection, plainSchema } = this.head;
    const rows = await connection.query(
      "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = $1 AND table_type = 'BASE TABLE'",
      [plainSchema],
    );
    return rows.map((row) => String(row['name']));
  }

  /** The tables in the making take the place of those before, with the head. Waits for those who read them. */
  private async swap(
    moment: PublishedMoment,
    generation: number,
    identity: PublishedIdentity,
    also: readonly (readonly [text: string, values?: readonly unknown[]])[],
  ): Promise<PublishedHead> {
    const { connection, schema } = this.head;
    const prefix = loadPrefix(generation);
    const loaded = (await this.tableNames()).filter((name) => name.startsWith(prefix));
    const [{ version } = {}] = await connection.query("SELECT current_setting('server_version_num') AS version");
    const statements = [
      ...dropViews(schema, this.views),
      ...(await this.keysBefore()),
      ...this.list.map(({ name }) => `DROP TABLE IF EXISTS ${schema}.${name}`),
      ...setAside(schema, await this.detached(), loaded, prefix, generation),
      ...renamed(schema, loaded, prefix),
      ...(Number(version) >= TOLD_KEYS_FROM ? toldKeys(schema, this.list) : []),
      ...createViews(schema, this.views),
    ];
    const until = performance.now() + PUBLISH_SWAP_MS;
    for (;;) {
      try {
        const head = await this.head.moveWithin(connection, moment, generation, async (query) => {
          await query(statements.join(';\n'));
          for (const [text, values] of also) await query(text, values);
          await query(
            `INSERT INTO ${schema}.identity (one, document) VALUES (true, $1) ON CONFLICT (one) DO UPDATE SET document = excluded.document`,
            [JSON.stringify(identity)],
          );
          await query(
            `INSERT INTO ${schema}.layout (one, version, partition_blocks) VALUES (true, ${SQL_LAYOUT}, $1)
             ON CONFLICT (one) DO UPDATE SET version = excluded.version, partition_blocks = excluded.partition_blocks`,
            [this.wantedPartition],
          );
        });
        this.parts = this.partsOf(this.wantedPartition);
        return head;
      } catch (error) {
        const isHeld = isUnspentError(error, 'DATABASE_BUSY') && error.meta['reason'] === '55P03';
        if (!isHeld || performance.now() > until) throw error;
        await new Promise((resolve) => setTimeout(resolve, PUBLISH_POLL_MS));
      }
    }
  }

  /** Removes the keys between our tables, so that each can be dropped by itself: parts that were detached have them, too. */
  private async keysBefore(): Promise<string[]> {
    const { connection, schema, plainSchema } = this.head;
    const rows = await connection.query(
      `SELECT t.relname AS name, c.conname AS key FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid
       JOIN pg_namespace n ON n.oid = t.relnamespace
       WHERE n.nspname = $1 AND c.contype = 'f' AND NOT EXISTS (SELECT 1 FROM pg_inherits i WHERE i.inhrelid = t.oid)`,
      [plainSchema],
    );
    return rows
      .filter(({ name }) => !LOAD_PREFIX.test(String(name)))
      .map(({ name, key }) => `ALTER TABLE ${schema}.${name} DROP CONSTRAINT ${quoted(String(key))}`);
  }

  /** Tables with the name of a part that are none any more. */
  private async detached(): Promise<string[]> {
    const { connection, plainSchema } = this.head;
    const rows = await connection.query(
      `SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname = $1 AND c.relkind = 'r' AND NOT c.relispartition`,
      [plainSchema],
    );
    return rows
      .map(({ name }) => String(name))
      .filter((name) => this.list.some((table) => name.replace(/_[0-9]+$/, '') === table.name && name !== table.name));
  }

  async publish(changes: readonly CopyChange[]): Promise<PublishedHead> {
    const { schema } = this.head;
    const [last] = changes.slice(-1);
    const changed = new ChangedRows(this.sqlRows, changes);
    if (last.kind === 'undone' || last.kind === 'rollback') {
      const { height = -1, boundary = false } = last.head ?? {};
      const { parts, values } = backParts(schema, this.tables, FencedHead.OWN_VALUES, { height, boundary }, changed);
      return this.head.move(last, countOf(changes), parts, values);
    }
    if (changed.blocks.length === 0) return this.head.move(last, countOf(changes), [], []);
    await this.parts.make(changed.heightMin, changed.heightMax);
    const { parts, values } = applyParts(schema, this.tables, FencedHead.OWN_VALUES, changed);
    return this.head.move(last, countOf(changes), parts, values);
  }

  async renew(): Promise<void> {
    await this.head.renew();
    if (this.sweepAt === null || performance.now() < this.sweepAt || this.builder !== null) return;
    this.sweepAt = null;
    // Those of a publisher that leads by now have a higher number.
    await this.dropLoads((name) => loadNumber(name) <= this.head.current.epoch);
  }

  async close(): Promise<void> {
    await Promise.all([this.builder?.close(), this.head.close()]);
  }

  private async blocksBelow(height: number | null, limit: number): ReturnType<PublishedBlocks['below']> {
    const { connection, schema } = this.head;
    const rows = await connection.query(
      `SELECT height, hash FROM ${schema}.blocks WHERE $1::bigint IS NULL OR height < $1 ORDER BY height DESC, boundary DESC LIMIT $2`,
      [height, limit],
    );
    return rows.map((row) => ({ height: Number(row['height']), hash: this.sqlRows.idBytes(row['hash'] as Uint8Array) }));
  }
}
