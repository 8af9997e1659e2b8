/**
 * What publishing into Cassandra costs beside the driver alone, in one run on
 * nodes of its own: changes of 5,000 rows put and 4,000 deleted, as the publisher
 * publishes them (journal, versions, two moves of the head), and the same rows as
 * unlogged batches of one partition each by the bare driver, in turns.
 *
 * Told are rows a second and processor time a change, of this process and of the
 * nodes, and the ratio of both.
 *
 * Old versions are removed meanwhile, once a second, unless --removal=0.
 *
 * Options: --nodes=1 --changes=8 --buckets=256 --removal=1
 */
import cassandra, { type Client } from 'cassandra-driver';
import { Random } from '../src/chains/random.ts';
import { UNSPENT } from '../src/projections/utxo.ts';
import { CassandraColumns } from '../src/publish/cassandra/columns-target.ts';
import { cassandraPlace } from '../src/publish/cassandra/place.ts';
import type { CopyChange } from '../src/publish/change.ts';
import type { PublishedIdentity } from '../src/publish/identity.ts';
import { CassandraNode } from '../test/support/cassandra/cassandra-node.ts';
import { type BenchOptions, option, ownProcessorSeconds, round, say, timed } from './support.ts';

const [PUTS, DELETES, KEY_BYTES, VALUE_BYTES] = [5000, 4000, 34, 120];
/** Rows of one batch, and batches that are under way, as the publisher has them. */
const [BATCH_ROWS, PARALLEL] = [100, 24];

interface Measured {
  seconds: number;
  clientSeconds: number;
  nodeSeconds: number;
}

type Side = (change: CopyChange, number: number) => Promise<void>;

export async function run(options: BenchOptions): Promise<void> {
  const { args } = options;
  const nodes = await CassandraNode.startAll(option(args, 'nodes', 1));
  const ended: (() => Promise<void>)[] = [];
  try {
    const count = option(args, 'changes', 8);
    const buckets = option(args, 'buckets', 256);
    const url = `cassandra://${nodes.map(({ host }) => host).join(',')}/bench?replication=${nodes.length}&buckets=${buckets}`;
    const sides: Readonly<Record<'publisher' | 'driver', Side>> = {
      publisher: await publisherSide(url, option(args, 'removal', 1) === 1, ended),
      driver: await driverSide(url, buckets, ended),
    };
    const changes = madeChanges(count + 1);
    const sums = { publisher: nothing(), driver: nothing() };
    for (const [number, change] of changes.entries()) {
      for (const name of ['publisher', 'driver'] as const) {
        const measured = await measure(nodes, () => sides[name](change, number + 1));
        // The first one is for whoever compiles while it runs.
        if (number > 0) add(sums[name], measured);
      }
    }
    report(options, sums, count, nodes.length, buckets);
  } finally {
    for (const end of ended) await end();
    for (const node of nodes) await node.stop();
  }
}

async function publisherSide(url: string, withRemoval: boolean, ended: (() => Promise<void>)[]): Promise<Side> {
  const target = new CassandraColumns(url);
  ended.push(() => target.close());
  await target.claim(new AbortController().signal);
  const load = await target.load({ columns: [{ name: UNSPENT, access: 'point', weight: 1 }] } as unknown as PublishedIdentity);
  await load.finish({ head: null, position: '' });
  if (withRemoval) {
    const beat = setInterval(() => void target.renew().catch(() => undefined), 1000);
    ended.unshift(async () => clearInterval(beat));
  }
  return async (change) => void (await target.publish([change]));
}

async function driverSide(url: string, buckets: number, ended: (() => Promise<void>)[]): Promise<Side> {
  const client: Client = new cassandra.Client({
    contactPoints: [...cassandraPlace(url).hosts],
    keyspace: 'bench',
    policies: {
      loadBalancing: new cassandra.policies.loadBalancing.TokenAwarePolicy(new cassandra.policies.loadBalancing.RoundRobinPolicy()),
    },
    queryOptions: { consistency: cassandra.types.consistencies.quorum },
  });
  ended.push(() => client.shutdown());
  await client.connect();
  await client.execute('CREATE TABLE bare (b blob, k blob, v blob, PRIMARY KEY ((b), k))');
  return async (change) => {
    const batches = [...bareBatches(change, buckets)];
    let next = 0;
    const work = async (): Promise<void> => {
      for (let at = next++; at < batches.length; at = next++) await client.batch([...batches[at]], { prepare: true, logged: false });
    };
    await Promise.all(Array.from({ length: PARALLEL }, work));
  };
}

interface BareQuery {
  readonly query: string;
  readonly params: Buffer[];
}

function* bareBatches({ columns: [{ puts, deletes }] }: CopyChange, buckets: number): Iterable<readonly BareQuery[]> {
  const parts = new Map<number, BareQuery[]>();
  const add = (key: Uint8Array, query: string, rest: Buffer[]): void => {
    const bucket = Math.floor(key[0] / (256 / Math.min(buckets, 256)));
    const part = parts.get(bucket) ?? [];
    part.push({ query, params: [Buffer.of(bucket), Buffer.from(key), ...rest] });
    parts.set(bucket, part);
  };
  for (const [key, value] of puts) add(key, 'INSERT INTO bare (b, k, v) VALUES (?, ?, ?)', [Buffer.from(value)]);
  for (const key of deletes) add(key, 'DELETE FROM bare WHERE b = ? AND k = ?', []);
  for (const part of parts.values()) for (let at = 0; at < part.length; at += BATCH_ROWS) yield part.slice(at, at + BATCH_ROWS);
}

/** Each deletes what one before it has put. */
function madeChanges(count: number): CopyChange[] {
  const random = new Random(1);
  const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, () => random.int(256));
  let before: (readonly [Uint8Array, Uint8Array])[] = [];
  return Array.from({ length: count }, () => {
    const puts = Array.from({ length: PUTS }, () => [bytes(KEY_BYTES), bytes(VALUE_BYTES)] as const);
    const deletes = before.slice(0, DELETES).map(([key]) => key);
    before = puts;
    return { kind: 'applied', count: 1, block: null, head: null, position: '', columns: [{ column: UNSPENT, puts, deletes }] };
  });
}

async function measure(nodes: readonly CassandraNode[], body: () => Promise<void>): Promise<Measured> {
  const nodeSeconds = (): number => nodes.reduce((sum, node) => sum + node.processorSeconds, 0);
  const [client, node] = [ownProcessorSeconds(), nodeSeconds()];
  const { seconds } = await timed(body);
  return { seconds, clientSeconds: ownProcessorSeconds() - client, nodeSeconds: nodeSeconds() - node };
}

function nothing(): Measured {
  return { seconds: 0, clientSeconds: 0, nodeSeconds: 0 };
}

function add(sum: Measured, { seconds, clientSeconds, nodeSeconds }: Measured): void {
  sum.seconds += seconds;
  sum.clientSeconds += clientSeconds;
  sum.nodeSeconds += nodeSeconds;
}

function report(
  options: BenchOptions,
  sums: Readonly<Record<'publisher' | 'driver', Measured>>,
  changes: number,
  nodes: number,
  buckets: number,
): void {
  const rowsOf = ({ seconds, clientSeconds, nodeSeconds }: Measured) => ({
    rowsPerSecond: round(((PUTS + DELETES) * changes) / seconds, 0),
    clientMs: round((clientSeconds / changes) * 1000, 0),
    nodesMs: round((nodeSeconds / changes) * 1000, 0),
  });
  const [publisher, driver] = [rowsOf(sums.publisher), rowsOf(sums.driver)];
  const time = round(sums.publisher.seconds / sums.driver.seconds, 2);
  const whole = (sum: Measured): number => sum.clientSeconds + sum.nodeSeconds;
  const processor = round(whole(sums.publisher) / whole(sums.driver), 2);
  say(
    options,
    `publisher  ${publisher.rowsPerSecond} rows/s, a change ${publisher.clientMs} ms here and ${publisher.nodesMs} ms on the nodes`,
  );
  say(options, `driver     ${driver.rowsPerSecond} rows/s, a change ${driver.clientMs} ms here and ${driver.nodesMs} ms on the nodes`);
  say(options, `ratio      ${time} by the clock, ${processor} of processor time`);
  if (options.json) console.log(JSON.stringify({ nodes, buckets, changes, publisher, driver, ratio: { time, processor } }));
}
