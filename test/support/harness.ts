/**
 * A devnet, a fold over it, and ways to look at the whole store: what tests of
 * the fold, its projections and its readers stand on. The devnet brings its own
 * model, so a store can be held against something that never read a block.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DevnetBlock, DevnetChain, type DevnetOptions } from '../../src/chains/cardano/devnet/index.ts';
import type { ModelUtxo } from '../../src/chains/cardano/devnet/model.ts';
import type { ColumnSpec, Engine, Row } from '../../src/engine/engine.ts';
import { openMemory } from '../../src/engine/memory.ts';
import { openEngineIn } from '../../src/engine/open.ts';
import { openNetwork } from '../../src/families/networks.ts';
import type { Block, Ledger, Point } from '../../src/ledgers/ledger.ts';
import type { Projection } from '../../src/projections/projection.ts';
import { type ProjectionTable, selectProjections } from '../../src/projections/registry.ts';
import { Overlays } from '../../src/query/overlay.ts';
import { Query } from '../../src/query/query.ts';
import { deltaColumn } from '../../src/state/delta.ts';
import { Fold, type FoldOptions } from '../../src/state/fold.ts';
import { equalBytes, toHex } from '../../src/util/bytes.ts';
import { type ErrorCode, isUnspentError } from '../../src/util/errors.ts';
import type { SettingReader } from '../../src/util/setting.ts';
import { DelayedEngine } from './delayed-engine.ts';
import { type Dressed, dress } from './dressed.ts';
import { BLOCKS_ONLY, keepAll } from './keep.ts';

export { assertSameDump, assertSameRows, type Dump, dump, rowsOf } from '../../src/testing/columns-dump.ts';

/** Everything a store of Cardano can keep. */
export const KEEP_ALL: readonly string[] = keepAll(openNetwork('devnet', null).ledger);

/** What `verifyStore` looks at in a store that keeps everything. */
export const VERIFY_ALL = { projections: KEEP_ALL } as const;

/** Seed of every random test; set it to repeat a failure or to look further. */
export const TEST_SEED = Number(process.env['UNSPENT_TEST_SEED'] ?? 20_260_715);

/** More of what is rare on a chain: a short run should meet all of it. */
const RARE = { invalid: 12, invalidWithReturn: 12, returnSpent: 12, chain: 12, allToFee: 4, wide: 0.5 } as const;

export type Flavour = 'conway' | 'ancient';

/** `ancient`: two short Byron epochs, a few blocks of each later era, then Conway. */
export function devnetOptions(seed: number, flavour: Flavour): DevnetOptions {
  if (flavour === 'conway') return { seed, addresses: 3, features: RARE };
  const eras = [2, 3, 4, 5, 6, 7].map((era, i) => ({ era, atHeight: i === 0 ? 0 : 30 + 4 * i }));
  return { seed, addresses: 3, features: RARE, byron: { epochs: 2, slotsPerEpoch: 40 }, eras };
}

/** A devnet chain with the ledger that reads it. `dressed`: its blocks have datums and scripts among their witnesses. */
export class Devnet {
  readonly chain: DevnetChain;
  readonly ledger: Ledger;
  /** What genesis granted, in the producer's order. */
  readonly genesis: readonly ModelUtxo[];
  private readonly decoded = new WeakMap<DevnetBlock, Block>();
  private readonly clothes = new WeakMap<DevnetBlock, Dressed>();
  private readonly dressed: boolean;

  constructor(options: DevnetOptions, { dressed = false }: { readonly dressed?: boolean } = {}) {
    this.dressed = dressed;
    this.chain = new DevnetChain(options);
    this.genesis = [...this.chain.utxos.values()];
    this.ledger = openNetwork('devnet', { byron: this.chain.genesisByron, shelley: this.chain.genesisShelley }).ledger;
  }

  /** Mines `count` blocks and decodes them. */
  mine(count: number): Block[] {
    const from = this.chain.blocks.length;
    for (let i = 0; i < count; i++) this.chain.mine();
    return this.blocks(from);
  }

  /** Blocks of the present chain, decoded; by place in the chain, not by height. */
  blocks(from = 0, to = this.chain.blocks.length): Block[] {
    return this.chain.blocks.slice(from, to).map((block) => {
      const known = this.decoded.get(block) ?? this.ledger.decode(this.rawOf(block));
      this.decoded.set(block, known);
      return known;
    });
  }

  /** The bytes of a block as they are decoded. */
  rawOf(block: DevnetBlock): Uint8Array {
    return this.dress(block).raw;
  }

  /** What the transactions of a block bring along among their witnesses. */
  brought(block: DevnetBlock): Dressed['brought'] {
    return this.dress(block).brought;
  }

  private dress(block: DevnetBlock): Dressed {
    if (!this.dressed) return { raw: block.raw, brought: [] };
    const known = this.clothes.get(block) ?? dress(block.raw);
    this.clothes.set(block, known);
    return known;
  }

  /** The point `depth` blocks below the tip; null: the origin. */
  pointBelow(depth: number): Point | null {
    return this.chain.blocks.at(-1 - depth) ?? null;
  }
}

export interface RigOptions extends Partial<FoldOptions> {
  /** Names of projections. Default: all; without the unspent set (`utxo`), only those that need none. */
  readonly keeps?: readonly string[];
  /** Where these are found. Default: the table of ours. */
  readonly table?: ProjectionTable;
  /** Settings of projections. Default: theirs. */
  readonly readSetting?: SettingReader;
  /** Stands between the fold and the engine. */
  readonly wrap?: (engine: Engine) => Engine;
  /** Whether groups may be ahead of what is committed. Default: of every second rig. */
  readonly ahead?: boolean;
}

let rigs = 0;

/** Tests of the fold, its projections and its readers run with commits ahead and without, by turns: to run each both ways would take twice as long. */
function isAhead({ ahead }: RigOptions): boolean {
  return ahead ?? rigs++ % 2 === 1;
}

/** A fold on an engine, over the blocks of a devnet. */
export class Rig {
  readonly devnet: Devnet;
  readonly options: FoldOptions;
  readonly projections: readonly Projection[];
  readonly overlays = new Overlays();
  engine: Engine;
  fold: Fold;
  private readonly openEngine: () => Promise<Engine>;
  private readonly directory: string | null;

  constructor(devnet: Devnet, options: RigOptions, engine: Engine, directory: string | null, openEngine: () => Promise<Engine>) {
    this.devnet = devnet;
    this.options = foldOptions(options);
    this.projections = projectionsOf(devnet, options);
    this.engine = engine;
    this.directory = directory;
    this.openEngine = openEngine;
    this.fold = this.newFold();
  }

  newFold(): Fold {
    return new Fold(this.engine, this.devnet.ledger, this.projections, this.options);
  }

  /** As after a stop of the process: memory keeps its engine, a directory is closed and opened again. */
  async restart(): Promise<void> {
    if (this.directory !== null) {
      await this.engine.close();
      this.engine = await this.openEngine();
    }
    this.fold = this.newFold();
  }

  /** Applies blocks in groups of these sizes, over and over. */
  apply(blocks: readonly Block[], sizes: readonly number[] = [1]): void {
    for (let at = 0, i = 0; at < blocks.length; i++) {
      const size = sizes[i % sizes.length];
      this.fold.applyAhead(blocks.slice(at, at + size));
      at += size;
    }
    this.fold.settle();
  }

  /** Mines, and applies what was mined. */
  forward(count: number, sizes?: readonly number[]): void {
    this.apply(this.devnet.mine(count), sizes);
  }

  query(): Query {
    const columns = this.engine.columns.map((column) => column.name);
    return new Query(this.engine.snapshot(columns), columns, this.devnet.ledger, this.overlays);
  }

  read<T>(body: (query: Query) => T): T {
    const query = this.query();
    try {
      return body(query);
    } finally {
      query.release();
    }
  }

  async close(): Promise<void> {
    await this.engine.close();
    if (this.directory !== null) rmSync(this.directory, { recursive: true, force: true });
  }
}

function foldOptions(options: RigOptions): FoldOptions {
  return {
    utxo: options.utxo ?? true,
    partial: options.partial ?? false,
    selfContained: options.selfContained ?? false,
    pruneDepth: options.pruneDepth ?? 2160,
    rollbackWindow: options.rollbackWindow ?? 4320,
    fsync: options.fsync ?? false,
  };
}

function projectionsOf(devnet: Devnet, { utxo = true, keeps = KEEP_ALL, table, readSetting }: RigOptions): readonly Projection[] {
  return selectProjections(utxo ? keeps : BLOCKS_ONLY, devnet.ledger, table, readSetting);
}

function columnsOf(devnet: Devnet, options: RigOptions): ColumnSpec[] {
  return [...projectionsOf(devnet, options).flatMap((projection) => projection.columns), deltaColumn];
}

export function memoryRig(devnet: Devnet, options: RigOptions = {}): Rig {
  const { wrap = (engine) => (isAhead(options) ? new DelayedEngine(engine, rigs) : engine) } = options;
  const engine = wrap(openMemory(columnsOf(devnet, options)));
  return new Rig(devnet, options, engine, null, async () => engine);
}

/** On RocksDB, in a directory of its own that `close` removes. */
export const rocksRig = (devnet: Devnet, options: RigOptions = {}): Promise<Rig> => diskRig('rocks', devnet, options);

/** On an engine of that kind, in a directory of its own that `close` removes. Small budgets: there is little in it. */
export async function diskRig(kind: 'rocks' | 'sqlite', devnet: Devnet, options: RigOptions = {}): Promise<Rig> {
  const { wrap = (engine) => engine } = options;
  const directory = mkdtempSync(join(tmpdir(), 'unspent-fold-'));
  const writerThread = isAhead(options) ? 'on' : 'off';
  const open = async () =>
    wrap(
      await openEngineIn(directory, columnsOf(devnet, options), {
        kind,
        createIfMissing: true,
        memtableBytes: 8 << 20,
        cacheBytes: 8 << 20,
        writerThread,
      }),
    );
  return new Rig(devnet, options, await open(), directory, open);
}

/** The call fails with this code, and says these words. */
export function assertCode(body: () => unknown, code: ErrorCode, words: readonly string[] = []): void {
  assert.throws(body, (error) => {
    if (!isUnspentError(error)) throw error;
    assert.equal(error.code, code, error.message);
    for (const word of words) assert.ok(error.message.includes(word), `${word} is not in '${error.message}'`);
    return true;
  });
}

/** The call fails with this code, says these words, and no byte of the store changes. */
export function assertRefused(
  { engine, fold }: { readonly engine: Engine; readonly fold: Fold },
  body: () => unknown,
  code: ErrorCode,
  ...words: readonly string[]
): void {
  const columns = engine.columns.map(({ name }) => name);
  const before = engine.snapshot(columns);
  const { head } = fold;
  try {
    assertCode(body, code, words);
    for (const name of columns) assertSameScan(engine.scan(name), before.scan(name), `after ${code}: ${name}`);
  } finally {
    before.release();
  }
  assert.deepEqual(fold.head, head);
}

/** Row by row, without the text of a dump: most calls find nothing, and are many. */
function assertSameScan(actual: Iterable<Row>, expected: Iterable<Row>, what: string): void {
  const rows = expected[Symbol.iterator]();
  for (const [key, value] of actual) {
    const { value: row } = rows.next() as IteratorResult<Row, undefined>;
    if (row === undefined || !equalBytes(key, row[0]) || !equalBytes(value, row[1]))
      assert.fail(`${what} has the row ${toHex(key)} ${toHex(value)}, which was ${row?.map((bytes) => toHex(bytes)).join(' ')}`);
  }
  assert.equal(rows.next().done, true, `${what} lacks rows`);
}
