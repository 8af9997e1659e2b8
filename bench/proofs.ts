/**
 * What it costs to be able to prove things.
 *
 *   sync   the preview sample from genesis, plain and with each structure on, in
 *          turns (--rounds=5), the best of each: how many times the plain sync
 *   trees  the synthetic chain of `bench growth`, grown to a tenth, a fifth and
 *          all of --outputs=5000000, once plain and once for each structure: the
 *          cost of an output in groups and one block a commit, bytes on disk,
 *          and proofs of single outputs with their verification
 *   counts records of the tree that an output reads and writes at a tenth and at
 *          all of --outputs, in seconds (`tree-counts.ts`)
 *
 * --part=sync, --part=trees or --part=counts runs one of them, --only=csmt,mmr some structures,
 * --memory=1000000000 with that `engine.memoryBytes` (0: its default).
 * Limits: sync with the tree 3 x, with the range 2 x; a proof 1 ms at p99,
 * verified in 0.5 ms; an output at the largest size 1.5 x one at the smallest.
 */
import { join } from 'node:path';
import { loadConfig } from '../src/config/load.ts';
import { openNetwork } from '../src/families/networks.ts';
import { selectProjections } from '../src/projections/registry.ts';
import { documentToJson, type ProofDocument, verifyDocument } from '../src/proofs/index.ts';
import { Prover, type Tree } from '../src/query/proofs.ts';
import { Query } from '../src/query/query.ts';
import { deltaColumn } from '../src/state/delta.ts';
import { openStore } from '../src/store/store.ts';
import { GROUP, GrowingStore, type OutputCost, PLAIN } from './growing.ts';
import { type BenchOptions, best, option, round, samples, say, temporary, textOption, timed, unpackChunks } from './support.ts';
import { CARDANO_FORM } from './synthetic.ts';
import { countTree, type TreeCounts } from './tree-counts.ts';

const PROVEN_OUTPUTS = 5000;
/** Not counted: the first ones compile the code. */
const WARMING_OUTPUTS = 1000;

interface Structure {
  /** The setting that switches it on; null: nothing. */
  readonly setting: string | null;
  /** Names of the projections it takes. */
  readonly keeps: readonly string[];
  /** What gives proofs of outputs. */
  readonly tree: Tree | null;
  /** Times the plain sync. */
  readonly syncMax: number | null;
}

const STRUCTURES: Readonly<Record<string, Structure>> = {
  plain: { setting: null, keeps: PLAIN, tree: null, syncMax: null },
  setHash: { setting: 'proofs.setHash=true', keeps: [...PLAIN, 'setHash'], tree: null, syncMax: null },
  csmt: { setting: 'proofs.csmt=true', keeps: [...PLAIN, 'csmt'], tree: 'csmt', syncMax: 3 },
  mmr: { setting: 'utxo.store=mmr', keeps: [...PLAIN, 'mmr'], tree: 'mmr', syncMax: 2 },
};

export async function run(options: BenchOptions): Promise<void> {
  const part = textOption(options.args, 'part') ?? 'all';
  const only = textOption(options.args, 'only')?.split(',');
  const names = Object.keys(STRUCTURES).filter((name) => name === 'plain' || only === undefined || only.includes(name));
  const outputs = option(options.args, 'outputs', 5_000_000);
  const counts = part === 'all' || part === 'counts' ? [outputs / 10, outputs].map(countTree) : null;
  if (counts !== null && !options.json) printCounts(counts, options);
  const sync = part === 'trees' || part === 'counts' ? null : await measureSyncs(names, option(options.args, 'rounds', 5), options);
  const trees = part === 'sync' || part === 'counts' ? null : await measureTrees(names, outputs, options);
  if (options.json) console.log(JSON.stringify({ counts, sync, trees }));
}

function printCounts(counts: readonly TreeCounts[], options: BenchOptions): void {
  for (const { outputs, grouped, single } of counts) {
    const text = ({ read, written }: TreeCounts['grouped']): string => `${read} records read, ${written} written`;
    say(options, `csmt of ${outputs}, an output: grouped ${text(grouped)}; one block a commit ${text(single)}`);
  }
}

interface SyncFigures {
  readonly seconds: number;
  readonly toPlain: number;
}

async function measureSyncs(names: readonly string[], rounds: number, options: BenchOptions): Promise<Record<string, SyncFigures>> {
  const work = temporary('proofs');
  try {
    const chunks = join(work.path, 'preview');
    unpackChunks(samples('cardano', 'immutable', 'preview-from-genesis'), /\.(chunk|secondary)\.gz$/, chunks);
    const times = new Map(names.map((name) => [name, [] as number[]]));
    for (let i = 0; i < rounds; i++) for (const name of names) times.get(name)!.push(await sync(chunks, STRUCTURES[name]));
    const plain = best(times.get('plain')!);
    const figures = names.map((name) => {
      const seconds = best(times.get(name)!);
      return [name, { seconds: round(seconds), toPlain: round(seconds / plain, 2) }] as const;
    });
    if (!options.json) printSyncs(figures, rounds, options);
    return Object.fromEntries(figures);
  } finally {
    work.remove();
  }
}

/** Seconds. */
async function sync(chunks: string, { setting }: Structure): Promise<number> {
  const folder = temporary('store');
  try {
    const { config } = loadConfig({ flags: { set: ['sync.groupBlocks=1000', ...(setting === null ? [] : [setting])] }, env: {} });
    const store = await openStore({ network: 'preview', data: join(folder.path, 'data'), config });
    const { seconds } = await timed(() => store.follow(`immutable:${chunks}`));
    await store.close();
    return seconds;
  } finally {
    folder.remove();
  }
}

function printSyncs(figures: readonly (readonly [string, SyncFigures])[], rounds: number, options: BenchOptions): void {
  say(options, `sync of preview, 280 chunks from genesis, best of ${rounds}`);
  say(options, cells(['', 'seconds', 'x plain', 'limit']));
  for (const [name, { seconds, toPlain }] of figures) {
    say(options, cells([name, `${seconds}`, `${toPlain}`, `${STRUCTURES[name].syncMax ?? ''}`]));
  }
}

interface Times {
  /** Microseconds. */
  readonly p50: number;
  readonly p99: number;
}

interface ProofTimes {
  readonly prove: Times;
  readonly verify: Times;
  /** Of the document, in JSON. */
  readonly bytes: number;
}

interface SizeFigures {
  readonly live: number;
  /** Microseconds per output that comes or goes. */
  readonly grouped: OutputCost;
  readonly single: OutputCost;
  readonly growing: OutputCost;
  /** On disk, per unspent output: the whole store, and the structure's own columns. */
  readonly bytesPerLive: number;
  readonly ownBytesPerLive: number;
  readonly proofs: ProofTimes | null;
}

interface TreeFigures {
  readonly sizes: readonly SizeFigures[];
  /** An output at the largest size to one at the smallest. */
  readonly groupedGrowth: string;
  readonly singleGrowth: string;
}

async function measureTrees(names: readonly string[], outputs: number, options: BenchOptions): Promise<Record<string, TreeFigures>> {
  const sizes = [outputs / 10, outputs / 5, outputs].map(Math.round);
  const found: Record<string, TreeFigures> = {};
  if (!options.json) printTreesHead(options);
  for (const name of names) {
    found[name] = await measureStructure(name, sizes, options);
    const { groupedGrowth, singleGrowth } = found[name];
    if (!options.json) say(options, cells([name, `x ${(sizes[2] / sizes[0]).toFixed(0)}`, groupedGrowth, singleGrowth, 'limit 1.5']));
  }
  return found;
}

function growthOf(first: OutputCost, last: OutputCost): string {
  return `x ${round(last.micros / first.micros, 2)} (${round(last.cpuMicros / first.cpuMicros, 2)})`;
}

function costText({ micros, cpuMicros }: OutputCost): string {
  return `${micros} (${cpuMicros})`;
}

async function measureStructure(name: string, sizes: readonly number[], options: BenchOptions): Promise<TreeFigures> {
  const { keeps, tree } = STRUCTURES[name];
  const folder = temporary('trees');
  const memoryBytes = option(options.args, 'memory', 0);
  const store = new GrowingStore(join(folder.path, 'db'), sizes[sizes.length - 1], { keeps, memoryBytes });
  try {
    await store.open();
    const figures: SizeFigures[] = [];
    for (const [i, size] of sizes.entries()) {
      figures.push(await measureAt(store, size, tree));
      if (!options.json) printSize(name, figures[i], options);
    }
    const [first, last] = [figures[0], figures[figures.length - 1]];
    return {
      sizes: figures,
      groupedGrowth: growthOf(first.grouped, last.grouped),
      singleGrowth: growthOf(first.single, last.single),
    };
  } finally {
    await store.close();
    folder.remove();
  }
}

async function measureAt(store: GrowingStore, size: number, tree: Tree | null): Promise<SizeFigures> {
  const growing = await store.grow(size);
  const bytesPerLive = await store.settle();
  const live = store.chain.liveCount;
  const own = ownBytes(store);
  const proofs = tree === null ? null : measureProofs(store, tree);
  const [grouped, single] = [await store.measure(GROUP), await store.measure(1)];
  return {
    live,
    grouped,
    single,
    growing,
    bytesPerLive: round(bytesPerLive, 1),
    ownBytesPerLive: round(own / live, 1),
    proofs,
  };
}

/** Of the columns that a plain store has not. */
function ownBytes({ engine }: GrowingStore): number {
  const plain = new Set(
    [...selectProjections(PLAIN, CARDANO_FORM.ledger).flatMap(({ columns }) => columns), deltaColumn].map(({ name }) => name),
  );
  const own = engine.columns.filter(({ name }) => !plain.has(name));
  return own.reduce((sum, { name }) => sum + engine.stats(name).bytes, 0);
}

/** Proofs as the server makes them: the output read, the proof made and verified before it is given out. */
function measureProofs({ engine, chain }: GrowingStore, tree: Tree): ProofTimes {
  const columns = engine.columns.map(({ name }) => name);
  const query = new Query(engine.snapshot(columns), columns, CARDANO_FORM.ledger);
  try {
    const network = { ...openNetwork('devnet', null), ledger: CARDANO_FORM.ledger };
    const prover = new Prover(query, query, { network, projections: [tree] });
    const prove: number[] = [];
    const verify: number[] = [];
    let bytes = 0;
    for (let i = 0; i < WARMING_OUTPUTS + PROVEN_OUTPUTS; i++) {
      // Far apart from one another, in no order of keys.
      const { txId, index } = chain.outpoint((i * 7919 * 31) % chain.liveCount);
      const started = performance.now();
      const document: ProofDocument = prover.outpoint(txId, index, tree);
      const made = performance.now();
      const verdict = verifyDocument(document, document);
      const checked = performance.now();
      if (!verdict.ok) throw new Error(`a proof does not hold: ${verdict.why}`);
      if (i < WARMING_OUTPUTS) continue;
      prove.push(1000 * (made - started));
      verify.push(1000 * (checked - made));
      if (i % 50 === 0) bytes += JSON.stringify(documentToJson(document)).length;
    }
    return { prove: timesOf(prove), verify: timesOf(verify), bytes: round((50 * bytes) / PROVEN_OUTPUTS, 0) };
  } finally {
    query.release();
  }
}

function timesOf(micros: readonly number[]): Times {
  const sorted = [...micros].sort((a, b) => a - b);
  return { p50: round(sorted[sorted.length >> 1], 1), p99: round(sorted[Math.floor(0.99 * sorted.length)], 1) };
}

function printTreesHead(options: BenchOptions): void {
  say(
    options,
    '\nmicroseconds per output that comes or goes (of processor time of the process); per proof: p50 / p99 (limits 1000 and 500 at p99)',
  );
  say(options, cells(['', 'unspent', 'grouped', 'single', 'own bytes', 'prove', 'verify', 'JSON bytes']));
}

function printSize(name: string, f: SizeFigures, options: BenchOptions): void {
  const times = ({ p50, p99 }: Times): string => `${p50} / ${p99}`;
  const proofs = f.proofs === null ? [] : [times(f.proofs.prove), times(f.proofs.verify), `${f.proofs.bytes}`];
  const disk = name === 'plain' ? `(${f.bytesPerLive})` : `${f.ownBytesPerLive}`;
  say(options, cells([name, `${f.live}`, costText(f.grouped), costText(f.single), disk, ...proofs]));
}

const CELL = 10;
const WIDE = 17;

function cells(texts: readonly string[]): string {
  return texts
    .map((text, i) => text.padEnd(i >= 5 || i === 2 || i === 3 ? WIDE : CELL + 1))
    .join('')
    .trimEnd();
}
