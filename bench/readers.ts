/**
 * What reading from a published copy costs, in one run: the server beside its
 * store, then one reader of a copy of it in PostgreSQL, then two, each a process
 * of its own beside the database.
 *
 *   point    reads of one output, each of another one
 *   tx       all outputs of a transaction, each of another one: a row and two scans
 *   again    a thousand outputs over and over, while no block comes
 *
 * Told are requests a second, p99, processor time a request (the server or the
 * readers, and the connections of the database), and for readers how often a read
 * was repeated and how many statements it took. The client takes its share of
 * the machine in all of them.
 *
 * Options: --seconds=4 --outputs=200000 --connections=16
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { LiveDevnet } from '../src/chains/cardano/devnet/live.ts';
import { serve } from '../src/server/serve.ts';
import { type OpenStore, openStore } from '../src/store/store.ts';
import { toHex } from '../src/util/bytes.ts';
import { TestPublisher } from '../test/support/copy/test-publisher.ts';
import { PostgresServer } from '../test/support/sql/postgres-server.ts';
import { load } from './http-client.ts';
import { type BenchOptions, option, ownProcessorSeconds, processorSecondsOf, round, say, temporary } from './support.ts';
import { OUTPUTS_PER_TX, SyntheticChain } from './synthetic.ts';

const BLOCK = { txs: 400, spends: 0 };
const READERS = [1, 2];

type Kind = 'point' | 'tx' | 'again';

interface Side {
  readonly name: string;
  readonly ports: readonly number[];
  /** Seconds of processor time so far: of the servers, and of the database. */
  cpu(): Promise<{ readonly servers: number; readonly database: number }>;
  /** Figures of the copy, summed. */
  figures(): Promise<{ readonly reads: number; readonly repeats: number; readonly statements: number; readonly sleeps: number }>;
}

export async function run(options: BenchOptions): Promise<void> {
  const seconds = option(options.args, 'seconds', 4);
  const connections = option(options.args, 'connections', 16);
  const folder = temporary('readers');
  const devnet = new LiveDevnet({ seed: 1 });
  const store = await openStore({ network: 'devnet', genesis: devnet.genesis, data: join(folder.path, 'data') });
  const paths = grow(store, option(options.args, 'outputs', 200_000));
  const postgres = await PostgresServer.start(async () => undefined, { shared_buffers: '256MB' });
  const results: object[] = [];
  try {
    const url = await postgres.unusedUrl();
    await publish(url, store);
    await postgres.execute('vacuum analyze', new URL(url).pathname.slice(1));
    const sides = [async () => embedded(store), ...READERS.map((count) => async () => readersOf(url, count, postgres))];
    for (const open of sides) {
      const { side, close } = await open();
      try {
        for (const kind of ['point', 'tx', 'again'] as const) {
          const result = await measure(side, kind, paths, seconds, connections);
          results.push(result);
          if (!options.json) say(options, line(result));
        }
      } finally {
        await close();
      }
    }
    if (options.json) console.log(JSON.stringify({ results, seconds, connections }));
  } finally {
    await postgres.stop();
    await store.close();
    await devnet.close();
    folder.remove();
  }
}

function grow(store: OpenStore, outputs: number): Record<Kind, string[]> {
  const chain = new SyntheticChain(2 * outputs, 3);
  const point: string[] = [];
  const tx: string[] = [];
  for (let made = 0; made < outputs; made += BLOCK.txs * OUTPUTS_PER_TX) {
    const block = chain.block(BLOCK.txs, BLOCK.spends);
    store.fold.apply([block]);
    for (const { id } of block.txs) {
      for (const index of [1, 2]) point.push(`/api/v1/utxos/${toHex(id)}/${index}`);
      tx.push(`/api/v1/txs/${toHex(id)}/utxos`);
    }
  }
  // The order of the keys would be kind to caches of the database.
  const mixed = (list: readonly string[]): string[] => list.toSorted((a, b) => a.slice(-20).localeCompare(b.slice(-20)));
  return { point: mixed(point), tx: mixed(tx), again: mixed(point).slice(0, 1000) };
}

async function publish(url: string, { engine, network, fold, config }: OpenStore): Promise<void> {
  const projections = fold.projections.map(({ name }) => name);
  const publisher = await TestPublisher.open(url, { engine, network, projections, windows: config.utxo });
  await publisher.publish();
  await publisher.close();
}

interface OpenSide {
  readonly side: Side;
  close(): Promise<void>;
}

async function embedded(store: OpenStore): Promise<OpenSide> {
  const served = await serve(store, { port: 0 });
  const side: Side = {
    name: 'beside the store',
    ports: [Number(new URL(served.url).port)],
    cpu: async () => {
      return { servers: ownProcessorSeconds(), database: 0 };
    },
    figures: async () => ({ reads: 0, repeats: 0, statements: 0, sleeps: 0 }),
  };
  return { side, close: () => served.close() };
}

async function readersOf(url: string, count: number, postgres: PostgresServer): Promise<OpenSide> {
  const readers = await Promise.all(Array.from({ length: count }, () => startReader(url)));
  const backends = async (): Promise<number[]> => {
    const rows = await postgres.execute("select pid from pg_stat_activity where application_name = 'unspent reader'");
    return rows.map(({ pid }) => Number(pid));
  };
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  const side: Side = {
    name: `${count} reader${count === 1 ? '' : 's'}`,
    ports: readers.map(({ port }) => port),
    cpu: async () => ({
      servers: sum(readers.map(({ child }) => processorSecondsOf(child.pid ?? 0))),
      database: sum((await backends()).map(processorSecondsOf)),
    }),
    async figures() {
      const documents = await Promise.all(readers.map(async ({ port }) => (await fetch(`http://127.0.0.1:${port}/api/v1/status`)).json()));
      const copies = documents.map((document) => (document as { copy: Record<string, number> }).copy);
      const of = (name: string): number => sum(copies.map((copy) => copy[name]));
      return { reads: of('reads'), repeats: of('repeats'), statements: of('statements'), sleeps: of('sleeps') };
    },
  };
  return {
    side,
    async close() {
      for (const { child } of readers) child.kill('SIGTERM');
      await Promise.all(readers.map(({ child }) => once(child, 'exit')));
    },
  };
}

async function startReader(url: string): Promise<{ child: ChildProcess; port: number }> {
  const program = join(import.meta.dirname, '../bin/unspent');
  const child = spawn(program, ['serve', '--port', '0', '--json'], {
    env: { ...process.env, UNSPENT_SERVER_FROM: url },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // One document, over several lines; the last is the brace that closes it.
  let text = '';
  for await (const part of createInterface({ input: child.stdout })) {
    text += part;
    if (part === '}') break;
  }
  return { child, port: Number(new URL((JSON.parse(text) as { url: string }).url).port) };
}

async function measure(side: Side, kind: Kind, paths: Record<Kind, string[]>, seconds: number, connections: number) {
  const all = paths[kind];
  const share = Math.floor(all.length / side.ports.length);
  const order = { kind: 'closed', connections: Math.round(connections / side.ports.length), seconds } as const;
  // A second to warm up, with what is not asked for again.
  await Promise.all(side.ports.map((port) => load({ port, paths: all.slice(-500), order: { ...order, seconds: 1 } })));
  const [cpu, figures] = [await side.cpu(), await side.figures()];
  const loads = await Promise.all(
    side.ports.map((port, i) => load({ port, paths: kind === 'again' ? all : all.slice(i * share, (i + 1) * share), order })),
  );
  const [cpuAfter, after] = [await side.cpu(), await side.figures()];
  const requests = loads.reduce((total, { requests: count }) => total + count, 0);
  return {
    side: side.name,
    kind,
    perSecond: Math.round(loads.reduce((total, each) => total + each.requests / each.seconds, 0)),
    p99: Math.max(...loads.map(({ p99 }) => p99)),
    errors: loads.reduce((total, { errors }) => total + errors, 0),
    cpuMicros: Math.round((1e6 * (cpuAfter.servers - cpu.servers)) / requests),
    databaseMicros: Math.round((1e6 * (cpuAfter.database - cpu.database)) / requests),
    repeats: round((after.repeats - figures.repeats) / requests, 2),
    statements: round((after.statements - figures.statements) / requests, 2),
    sleeps: round((after.sleeps - figures.sleeps) / requests, 3),
  };
}

function line({
  side,
  kind,
  perSecond,
  p99,
  errors,
  cpuMicros,
  databaseMicros,
  repeats,
  statements,
}: Awaited<ReturnType<typeof measure>>): string {
  const cost = `${cpuMicros} µs of the server, ${databaseMicros} µs of the database a request`;
  const reads = side.startsWith('beside') ? '' : `; repeated ${repeats} times, ${statements} statements`;
  return `${side.padEnd(17)} ${kind.padEnd(6)} ${perSecond}/s, p99 ${p99} ms, ${errors} errors; ${cost}${reads}`;
}
