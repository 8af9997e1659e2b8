/**
 * A fold over a plain chain, with everything kept that a store of this family
 * can keep, and the comparison of every column with the producer's account.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ColumnSpec, Engine } from '../../src/engine/engine.ts';
import { openMemory } from '../../src/engine/memory.ts';
import { openEngineIn } from '../../src/engine/open.ts';
import { type BitcoinBlock, type BitcoinLedger, bitcoinLedger } from '../../src/ledgers/bitcoin/index.ts';
import type { Projection } from '../../src/projections/projection.ts';
import { selectProjections } from '../../src/projections/registry.ts';
import { digestOf } from '../../src/query/digest.ts';
import { Overlays } from '../../src/query/overlay.ts';
import { Query } from '../../src/query/query.ts';
import { DELTA, deltaColumn, isSelfContained } from '../../src/state/delta.ts';
import { Fold, type FoldOptions } from '../../src/state/fold.ts';
import type { Head } from '../../src/state/head.ts';
import { readPruned } from '../../src/state/pruned.ts';
import { toHex } from '../../src/util/bytes.ts';
import { Account, unsigned } from './bitcoin-account.ts';
import type { PlainBlock, PlainChain } from './bitcoin-chain.ts';
import { KEEP_ALL_BITCOIN } from './forged-chain.ts';
import { assertSameRows, type Dump, dump } from './harness.ts';

/** What `verifyStore` looks at in a store that keeps everything. */
export const VERIFY_ALL_BITCOIN = { projections: KEEP_ALL_BITCOIN } as const;

const SET_HASH_KEY = `ff${Buffer.from('set_hash').toString('hex')}`;

type Opened = { readonly engine: Engine; readonly directory: string | null; readonly open: () => Promise<Engine> };

export class BitcoinRig {
  readonly chain: PlainChain;
  readonly ledger: BitcoinLedger;
  readonly options: FoldOptions;
  readonly projections: readonly Projection[];
  readonly overlays = new Overlays();
  engine: Engine;
  fold: Fold;
  private readonly opened: Opened;
  private readonly decoded = new WeakMap<PlainBlock, BitcoinBlock>();

  constructor(chain: PlainChain, options: Partial<FoldOptions>, opened: Opened) {
    this.chain = chain;
    this.ledger = bitcoinLedger(chain.network);
    this.options = {
      utxo: true,
      partial: false,
      selfContained: false,
      fsync: false,
      pruneDepth: 2160,
      rollbackWindow: 4320,
      ...options,
    };
    this.projections = selectProjections(KEEP_ALL_BITCOIN, this.ledger);
    this.opened = opened;
    this.engine = opened.engine;
    this.fold = this.newFold();
  }

  newFold(): Fold {
    return new Fold(this.engine, this.ledger, this.projections, this.options);
  }

  /** As after a stop of the process: memory keeps its engine, a directory is closed and opened again. */
  async restart(): Promise<void> {
    if (this.opened.directory !== null) {
      await this.engine.close();
      this.engine = await this.opened.open();
    }
    this.fold = this.newFold();
  }

  decode(block: PlainBlock): BitcoinBlock {
    const known = this.decoded.get(block) ?? this.ledger.decode(block.raw, block.height);
    this.decoded.set(block, known);
    return known;
  }

  /** Applies blocks of the chain in groups of these sizes, over and over. */
  apply(blocks: readonly PlainBlock[], sizes: readonly number[] = [1]): void {
    for (let at = 0, i = 0; at < blocks.length; i++) {
      const size = sizes[i % sizes.length];
      this.fold.apply(blocks.slice(at, at + size).map((block) => this.decode(block)));
      at += size;
    }
  }

  /** Mines, and applies what was mined. */
  forward(count: number, sizes?: readonly number[]): void {
    this.apply(
      Array.from({ length: count }, () => this.chain.mine()),
      sizes,
    );
  }

  /** The store and the chain go back together. */
  back(depth: number): void {
    assert.equal(this.fold.rollback(this.chain.blocks.at(-1 - depth) ?? null), depth);
    this.chain.rollback(depth);
  }

  read<T>(body: (query: Query) => T): T {
    const columns = this.engine.columns.map(({ name }) => name);
    const query = new Query(this.engine.snapshot(columns), columns, this.ledger, this.overlays);
    try {
      return body(query);
    } finally {
      query.release();
    }
  }

  async close(): Promise<void> {
    await this.engine.close();
    if (this.opened.directory !== null) rmSync(this.opened.directory, { recursive: true, force: true });
  }
}

export type OpenRig = (chain: PlainChain, options?: Partial<FoldOptions>) => BitcoinRig | Promise<BitcoinRig>;

function columnsFor(chain: PlainChain): ColumnSpec[] {
  return [...selectProjections(KEEP_ALL_BITCOIN, bitcoinLedger(chain.network)).flatMap(({ columns }) => columns), deltaColumn];
}

export function memoryBitcoin(chain: PlainChain, options: Partial<FoldOptions> = {}): BitcoinRig {
  const engine = openMemory(columnsFor(chain));
  return new BitcoinRig(chain, options, { engine, directory: null, open: async () => engine });
}

/** On RocksDB, in a directory of its own that `close` removes. */
export async function rocksBitcoin(chain: PlainChain, options: Partial<FoldOptions> = {}): Promise<BitcoinRig> {
  const directory = mkdtempSync(join(tmpdir(), 'unspent-bitcoin-'));
  const open = () =>
    openEngineIn(directory, columnsFor(chain), { kind: 'rocks', createIfMissing: true, memtableBytes: 8 << 20, cacheBytes: 8 << 20 });
  return new BitcoinRig(chain, options, { engine: await open(), directory, open });
}

/** Every column of the store is what the account says. Returns what it looked at. */
export function assertRows(engine: Engine, account: Account, when: string): Dump {
  const pruned = readPruned(engine);
  const actual = dump(engine);
  const [newest] = engine.scan(DELTA, { reverse: true, limit: 1 });
  for (const [column, wanted] of account.rows(pruned.spent, newest !== undefined && isSelfContained(newest[1]))) {
    const rows = actual.get(column) ?? assert.fail(`${when}: there is no ${column}`);
    assertSameRows(column === 'chain' ? rows.filter((row) => !row.startsWith('ff')) : rows, wanted, `${when}: ${column}`);
  }
  const deltas = account.blocks.filter(({ height }) => height > pruned.deltas).map(({ height }) => unsigned(height, 8));
  assertSameRows(
    actual.get('delta')!.map((row) => row.slice(0, row.indexOf(' '))),
    deltas,
    `${when}: delta`,
  );
  const kept = actual.get('chain')!.find((row) => row.startsWith(SET_HASH_KEY));
  assert.equal(kept?.slice(SET_HASH_KEY.length + 1) ?? '', account.setHash().row, `${when}: the hash of the set`);
  const { size } = account.unspent;
  assert.deepEqual(digestOf(engine), { utxos: size, value: account.value, digest: account.digest() }, `${when}: the digest`);
  return actual;
}

export function assertHead(head: Head | null, account: Account, when: string): void {
  const { tip } = account;
  const { height = 0, slot = 0, hash = new Uint8Array() } = tip ?? {};
  const wanted = {
    height,
    slot,
    hash: toHex(hash),
    boundary: false,
    era: 0,
    utxos: account.unspent.size,
    value: account.value,
    missing: 0,
  };
  assert.deepEqual(head && { ...head, hash: toHex(head.hash) }, tip === undefined ? null : wanted, `${when}: the head`);
}

/** The head and every column. */
export function assertIsAccount({ engine, fold, chain }: BitcoinRig, when = 'the store'): Dump {
  const account = new Account(chain.blocks);
  assert.deepEqual([...account.unspent.keys()].sort(), [...chain.utxos.keys()].sort(), 'the producer agrees with itself');
  assertHead(fold.head, account, when);
  return assertRows(engine, account, when);
}
