/**
 * What the publisher takes to publish the blocks of a chain as changes, beside a
 * bare COPY of the same rows into tables of the same form, in turns: each group
 * of blocks is published and copied before the next. The publisher computes the
 * changes, upserts and deletes; COPY is given its bytes ready made, inserts, and
 * does nothing else, so it has no rows that were there before and no deletes.
 */
import type { Engine } from '../src/engine/engine.ts';
import { publishedStore } from '../src/publish/of-store.ts';
import { PostgresColumns } from '../src/publish/postgres/columns-target.ts';
import { Publisher } from '../src/publish/publisher.ts';
import { keyText, netted } from '../src/publish/row-changes.ts';
import { binaryCopyRows } from '../src/sql/binary-forms.ts';
import { PostgresConnection } from '../src/sql/postgres-connection.ts';
import type { PostgresServer } from '../test/support/sql/postgres-server.ts';
import { backendsOf, openSampleStore, processorSecondsOfAll, type SampleChain } from './publish-chains.ts';
import { collectGarbage, ownProcessorSeconds, timed } from './support.ts';

export interface Writing {
  /** That reached the database: of a group the last operation on each key. */
  rows: number;
  seconds: number;
  /** Of processor time, of this process and of the connection's process at the server. */
  clientSeconds: number;
  serverSeconds: number;
}

export interface CopyFigures {
  readonly publisher: Writing;
  readonly copy: Writing;
  readonly blocks: number;
  readonly statements: number;
  /** Of all columns in the end, rows with their keys, and on the disk with the index. */
  readonly stored: { readonly rows: number; readonly rowBytes: number; readonly diskBytes: number };
}

const COPYING = 'unspent bench copy';
const nothing = (): Writing => ({ rows: 0, seconds: 0, clientSeconds: 0, serverSeconds: 0 });

export async function measureCopy(server: PostgresServer, chain: SampleChain): Promise<CopyFigures> {
  const url = await server.unusedUrl();
  const { store, close } = await openSampleStore(chain);
  let statements = 0;
  const target = new PostgresColumns(url, { beforeStatement: () => void statements++ });
  const bare = new BareCopy(url);
  try {
    const published = publishedStore(store);
    const publisher = new Publisher(published, target, await target.claim(new AbortController().signal));
    // Of an empty store, so that all blocks come as changes.
    await publisher.sendSnapshot();
    await bare.prepare(store.engine.columns.map(({ name }) => name));
    await store.follow(`immutable:${chain.chunks}`);
    const sum = nothing();
    const publish = target.publish.bind(target);
    target.publish = async (changes) => {
      const head = await publish(changes);
      const columns = netted(changes);
      for (const { puts, deletes } of columns) sum.rows += puts.length + deletes.length;
      await bare.copy(columns);
      return head;
    };
    const [publishing, copying] = [await backendsOf(server, 'unspent publish'), await backendsOf(server, COPYING)];
    const before = { publishing: processorSecondsOfAll(publishing), copying: processorSecondsOfAll(copying) };
    collectGarbage();
    statements = 0;
    const own = ownProcessorSeconds();
    const { seconds } = await timed(() => publisher.advance());
    sum.seconds = seconds - bare.allSeconds;
    sum.clientSeconds = ownProcessorSeconds() - own - bare.allClientSeconds;
    sum.serverSeconds = processorSecondsOfAll(publishing) - before.publishing;
    bare.sum.serverSeconds = processorSecondsOfAll(copying) - before.copying;
    publisher.close();
    const { blocks } = publisher.counts;
    return { publisher: sum, copy: bare.sum, blocks, statements, stored: await storedIn(server, url, store.engine) };
  } finally {
    await bare.close();
    await target.close();
    await close();
  }
}

async function storedIn(server: PostgresServer, url: string, engine: Engine): Promise<CopyFigures['stored']> {
  let [rows, rowBytes] = [0, 0];
  for (const { name } of engine.columns) {
    for (const [key, value] of engine.scan(name)) {
      rows++;
      rowBytes += key.length + value.length;
    }
  }
  const tables =
    "SELECT sum(pg_total_relation_size(schemaname || '.\"' || tablename || '\"')) AS bytes FROM pg_tables WHERE schemaname = 'unspent'";
  const [{ bytes }] = await server.execute(tables, new URL(url).pathname.slice(1));
  return { rows, rowBytes, diskBytes: Number(bytes) };
}

/** Tables with the same two columns and the same key, and nothing but COPY into them. */
class BareCopy {
  readonly sum: Writing = nothing();
  /** With what it takes to make the bytes ready. */
  allSeconds = 0;
  allClientSeconds = 0;
  private readonly connection: PostgresConnection;
  private readonly copied = new Map<string, Set<string>>();

  constructor(url: string) {
    this.connection = new PostgresConnection({ url, name: 'benchmark', application: COPYING, answerMs: 60_000 });
  }

  async prepare(columns: readonly string[]): Promise<void> {
    await this.connection.query('CREATE SCHEMA bare');
    for (const column of columns) {
      await this.connection.query(`CREATE TABLE bare."${column}" (key bytea PRIMARY KEY, value bytea NOT NULL)`);
      this.copied.set(column, new Set());
    }
  }

  async copy(columns: ReturnType<typeof netted>): Promise<void> {
    const own = ownProcessorSeconds();
    const { seconds } = await timed(async () => {
      const tables = columns.map(({ column, puts }) => {
        const rows = puts.filter(([key]) => this.isNew(column, key));
        this.sum.rows += rows.length;
        return { column, data: binaryCopyRows(rows) };
      });
      const copying = ownProcessorSeconds();
      const timing = await timed(async () => {
        await this.connection.query('BEGIN');
        for (const { column, data } of tables)
          await this.connection.copy(`COPY bare."${column}" (key, value) FROM STDIN WITH (FORMAT binary)`, data);
        await this.connection.query('COMMIT');
      });
      this.sum.seconds += timing.seconds;
      this.sum.clientSeconds += ownProcessorSeconds() - copying;
    });
    this.allSeconds += seconds;
    this.allClientSeconds += ownProcessorSeconds() - own;
  }

  private isNew(column: string, key: Uint8Array): boolean {
    const known = this.copied.get(column);
    const text = keyText(key);
    if (known === undefined || known.has(text)) return false;
    known.add(text);
    return true;
  }

  async close(): Promise<void> {
    await this.connection.close();
  }
}
