/** A block at the tip: one Conway block of mainnet after the other is committed, and published before the next comes. */
import { publishedStore } from '../src/publish/of-store.ts';
import { PostgresColumns } from '../src/publish/postgres/columns-target.ts';
import { Publisher } from '../src/publish/publisher.ts';
import type { PostgresServer } from '../test/support/sql/postgres-server.ts';
import { backendsOf, openSampleStore, processorSecondsOfAll, type SampleChain } from './publish-chains.ts';
import { rawBlocks, timed } from './support.ts';

/** Milliseconds. */
export interface Spread {
  readonly p50: number;
  readonly p99: number;
}

export interface TipFigures {
  readonly blocks: number;
  /** From the commit of the block in the store to the answer of the database to its commit there. */
  readonly clock: Spread;
  /** Processor time of the thread that publishes. */
  readonly client: Spread;
  /** Processor time of its connection's process at the server: the mean. */
  readonly serverMs: number;
  readonly rowsPerBlock: number;
  /** Of the write-ahead log, which is what a standby is sent. */
  readonly walBytesPerBlock: number;
  readonly statementsPerBlock: number;
}

/** `blocks`: the last so many of the chain are published one by one; those before them come with the snapshot. */
export async function measureTip(server: PostgresServer, chain: SampleChain, blocks: number): Promise<TipFigures> {
  const url = await server.unusedUrl();
  const { store, close } = await openSampleStore(chain);
  let statements = 0;
  const target = new PostgresColumns(url, { beforeStatement: () => void statements++ });
  try {
    const decoded = rawBlocks(chain.chunks).map((raw) => store.network.ledger.decode(raw));
    const count = Math.min(blocks, decoded.length - 1);
    store.fold.apply(decoded.slice(0, -count));
    const publisher = new Publisher(publishedStore(store), target, await target.claim(new AbortController().signal));
    await publisher.sendSnapshot();
    const publishing = await backendsOf(server, 'unspent publish');
    const [rows, serverSeconds] = [publisher.counts.rows, processorSecondsOfAll(publishing)];
    const [{ at }] = await server.execute('SELECT pg_current_wal_lsn() AS at');
    statements = 0;
    const [clock, client]: number[][] = [[], []];
    for (const block of decoded.slice(-count)) {
      store.fold.apply([block]);
      const before = process.threadCpuUsage();
      const { seconds } = await timed(() => publisher.advance());
      const { user, system } = process.threadCpuUsage(before);
      clock.push(seconds * 1000);
      client.push((user + system) / 1000);
    }
    publisher.close();
    const [{ bytes }] = await server.execute(`SELECT pg_current_wal_lsn() - '${at}'::pg_lsn AS bytes`);
    return {
      blocks: count,
      clock: spread(clock),
      client: spread(client),
      serverMs: (1000 * (processorSecondsOfAll(publishing) - serverSeconds)) / count,
      rowsPerBlock: (publisher.counts.rows - rows) / count,
      walBytesPerBlock: Number(bytes) / count,
      statementsPerBlock: statements / count,
    };
  } finally {
    await target.close();
    await close();
  }
}

function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  return { p50: at(0.5), p99: at(0.99) };
}
