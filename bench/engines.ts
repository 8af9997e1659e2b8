/**
 * The engines beside each other, in turns in one run (--rounds 3, --outputs 500000):
 *
 *   sync      preview from genesis in groups of 1,000 blocks, with all default indexes
 *   single    a Conway chunk of mainnet, every block its own commit
 *   undo      its blocks, undone
 *   lookup    300 random unspent outputs at a time, a key each
 *   scan      the unspent outputs of an address
 *   growing   a synthetic set on its way to that many outputs
 *   grouped   600 blocks of 300 spends and 351 creates on it, a hundred in a commit
 *   oneByOne  and one
 *   bytes     on disk per unspent output, at rest
 *
 * What is printed of each is the best round, and what SQLite takes to RocksDB. `Cpu`: of all threads of the process,
 * which moves less with what else the machine does; of the synthetic set it has the making of the blocks in it.
 */
import { join } from 'node:path';
import { loadConfig } from '../src/config/load.ts';
import type { DatabaseKind } from '../src/engine/directory.ts';
import type { Engine } from '../src/engine/engine.ts';
import { UNSPENT } from '../src/projections/utxo.ts';
import { type OpenOptions, type OpenStore, openStore } from '../src/store/store.ts';
import { GROUP, GrowingStore } from './growing.ts';
import { type BenchOptions, best, option, round, samples, say, temporary, timed, unpackChunks } from './support.ts';

const KINDS: readonly DatabaseKind[] = ['rocks', 'sqlite'];
const LOOKUP_KEYS = 300;
const LOOKUPS = 100;
const SCANS = 3000;
const ADDRESS = 'utxo_address';
const ADDRESS_KEY_BYTES = 28;

type Figures = Record<string, number>;

export async function run(options: BenchOptions): Promise<void> {
  const rounds = option(options.args, 'rounds', 3);
  const outputs = option(options.args, 'outputs', 500_000);
  const work = temporary('engines');
  const figures = new Map<DatabaseKind, Figures[]>(KINDS.map((kind) => [kind, []]));
  try {
    const [preview, conway] = [join(work.path, 'preview'), join(work.path, 'conway')];
    unpackChunks(samples('cardano', 'immutable', 'preview-from-genesis'), /\.(chunk|secondary)\.gz$/, preview);
    unpackChunks(samples('cardano', 'immutable', 'mainnet'), /^06189\.(chunk|secondary)\.gz$/, conway);
    for (let i = 0; i < rounds; i++) {
      // Whoever goes first has the colder machine.
      for (const kind of i % 2 === 0 ? KINDS : KINDS.toReversed()) {
        const chain = { ...(await measurePreview(kind, preview)), ...(await measureSingly(kind, conway)) };
        figures.get(kind)?.push({ ...chain, ...(outputs > 0 && i === 0 ? await measureGrowing(kind, outputs) : {}) });
      }
    }
  } finally {
    work.remove();
  }
  report(
    options,
    rounds,
    outputs,
    KINDS.map((kind) => bestOf(figures.get(kind) ?? [])),
  );
}

function report(options: BenchOptions, rounds: number, outputs: number, [rocks, sqlite]: readonly Figures[]): void {
  const ratios = Object.fromEntries(Object.keys(rocks).map((name) => [name, round(sqlite[name] / rocks[name], 2)]));
  if (options.json) {
    console.log(JSON.stringify({ rocks, sqlite, ratios, rounds, outputs }));
    return;
  }
  say(options, `${''.padEnd(14)}${'rocks'.padStart(12)}${'sqlite'.padStart(12)}${'ratio'.padStart(8)}`);
  for (const [name, ratio] of Object.entries(ratios))
    say(options, `${name.padEnd(14)}${`${rocks[name]}`.padStart(12)}${`${sqlite[name]}`.padStart(12)}${`${ratio}`.padStart(8)}`);
}

/** Under the name, and the time of all threads as `nameCpu`. */
async function measured(name: string, body: () => unknown): Promise<Figures> {
  const before = process.cpuUsage();
  const { seconds } = await timed(body);
  const { user, system } = process.cpuUsage(before);
  return { [name]: seconds, [`${name}Cpu`]: (user + system) / 1e6 };
}

function bestOf(rounds: readonly Figures[]): Figures {
  const names = [...new Set(rounds.flatMap((figures) => Object.keys(figures)))];
  return Object.fromEntries(names.map((name) => [name, round(best(rounds.flatMap((figures) => figures[name] ?? [])))]));
}

async function withStore<T>(
  kind: DatabaseKind,
  groupBlocks: number,
  options: OpenOptions,
  body: (store: OpenStore) => Promise<T>,
): Promise<T> {
  const folder = temporary(kind);
  try {
    const config = loadConfig({ flags: { set: [`sync.groupBlocks=${groupBlocks}`, `engine.kind=${kind}`] }, env: {} }).config;
    const store = await openStore({ ...options, data: join(folder.path, 'data'), config });
    try {
      return await body(store);
    } finally {
      await store.close();
    }
  } finally {
    folder.remove();
  }
}

function measurePreview(kind: DatabaseKind, chunks: string): Promise<Figures> {
  return withStore(kind, 1000, { network: 'preview' }, async (store) => {
    const sync = await measured('sync', () => store.follow(`immutable:${chunks}`));
    return { ...sync, ...(await measureReads(store.engine)) };
  });
}

/** Keys taken from all over the column, in an order that is none. */
function someKeys(engine: Engine, column: string, count: number): Uint8Array[] {
  const keys = Array.from(engine.scan(column), ([key]) => key);
  return Array.from({ length: count }, (_, i) => keys[(i * 7919) % keys.length]);
}

async function measureReads(engine: Engine): Promise<Figures> {
  const keys = someKeys(engine, UNSPENT, LOOKUPS * LOOKUP_KEYS);
  const addresses = someKeys(engine, ADDRESS, SCANS).map((key) => key.subarray(0, ADDRESS_KEY_BYTES));
  const lookup = await timed(() => {
    for (let i = 0; i < keys.length; i += LOOKUP_KEYS) engine.getMany(UNSPENT, keys.slice(i, i + LOOKUP_KEYS));
  });
  const scan = await timed(() => {
    for (const gte of addresses) Array.from(engine.scan(ADDRESS, { gte, lt: next(gte), limit: 20 }));
  });
  return { lookupMicros: (1e6 * lookup.seconds) / keys.length, scanMicros: (1e6 * scan.seconds) / SCANS };
}

/** The first address key after this one. */
function next(key: Uint8Array): Uint8Array {
  const after = Uint8Array.from(key);
  for (let at = after.length - 1; at >= 0; at--) {
    after[at] = (after[at] + 1) & 0xff;
    if (after[at] !== 0) break;
  }
  return after;
}

function measureSingly(kind: DatabaseKind, chunks: string): Promise<Figures> {
  return withStore(kind, 1, { network: 'mainnet', partial: true }, async (store) => {
    const single = await measured('single', () => store.follow(`immutable:${chunks}`));
    return { ...single, ...(await measured('undo', () => store.rollback(store.horizon()))) };
  });
}

/** Once: it takes long. */
async function measureGrowing(kind: DatabaseKind, outputs: number): Promise<Figures> {
  const folder = temporary(`grow-${kind}`);
  const store = new GrowingStore(join(folder.path, 'db'), outputs, { kind });
  try {
    await store.open();
    const growing = await measured('growing', () => store.grow(outputs));
    const grouped = await measured('grouped', () => store.measure(GROUP));
    const oneByOne = await measured('oneByOne', () => store.measure(1));
    return { ...growing, ...grouped, ...oneByOne, bytesPerOutput: await store.settle() };
  } finally {
    await store.close();
    folder.remove();
  }
}
