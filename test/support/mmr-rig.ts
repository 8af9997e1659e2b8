/**
 * Stores that keep the mountain range, over chains of both families, and the
 * range as it should be: built from scratch out of a chain's blocks, in the
 * plainest way, sharing nothing with the projection but the ledger's words.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Engine } from '../../src/engine/engine.ts';
import { openMemory } from '../../src/engine/memory.ts';
import { openEngineIn } from '../../src/engine/open.ts';
import type { Block, Ledger, Point } from '../../src/ledgers/ledger.ts';
import type { Projection } from '../../src/projections/projection.ts';
import { selectProjections } from '../../src/projections/registry.ts';
import { mmr } from '../../src/proofs/index.ts';
import { Overlays } from '../../src/query/overlay.ts';
import { Query } from '../../src/query/query.ts';
import { deltaColumn } from '../../src/state/delta.ts';
import { Fold, type FoldOptions } from '../../src/state/fold.ts';
import { type PruneCounts, pruneStep } from '../../src/state/pruned.ts';
import { fromHex, toHex } from '../../src/util/bytes.ts';
import { bitmapRoot, mmrRoot } from '../proofs/reference.ts';
import { ForgedChain, randomFrom } from './forged-chain.ts';
import { Devnet, devnetOptions, type Flavour } from './harness.ts';
import { keep } from './keep.ts';
import { plainLedger, WideChain } from './wide-chain.ts';

/** A chain that can be mined on and forked. */
export interface TestChain {
  readonly name: string;
  readonly ledger: Ledger;
  /** All of the present chain. */
  blocks(): readonly Block[];
  mine(count: number): readonly Block[];
  /** Leaves only the first `kept` blocks. */
  fork(kept: number): void;
}

export function cardanoChain(seed: number, flavour: Flavour = 'conway'): TestChain {
  const devnet = new Devnet(devnetOptions(seed, flavour));
  return {
    name: `cardano, ${flavour}`,
    ledger: devnet.ledger,
    blocks: () => devnet.blocks(),
    mine: (count) => devnet.mine(count),
    fork: (kept) => void devnet.chain.rollback(devnet.chain.blocks.length - kept),
  };
}

/** Its first block is there from the start. */
export function bitcoinChain(seed: number): TestChain {
  const chain = new ForgedChain(randomFrom(seed));
  return {
    name: 'bitcoin',
    ledger: chain.ledger,
    blocks: () => chain.blocks,
    mine: (count) => chain.mine(count),
    fork: (kept) => chain.fork(kept - 1),
  };
}

/** Thousands of outputs a block. */
export function wideChain(seed: number): TestChain {
  const wide = new WideChain(seed);
  return {
    name: 'wide blocks',
    ledger: plainLedger,
    blocks: () => wide.chain,
    mine: (count) => Array.from({ length: count }, () => wide.mine()),
    fork: (kept) => wide.fork(kept),
  };
}

export interface ModelLeaf {
  readonly txId: Uint8Array;
  readonly index: number;
  readonly leaf: number;
  readonly content: Uint8Array;
  /** For `drops`. */
  readonly raw: Uint8Array;
}

const nameOf = (txId: Uint8Array, index: number): string => `${toHex(txId)}#${index}`;

interface ModelRoots {
  readonly size: number;
  readonly pmmrRoot: string;
  readonly bitmapRoot: string;
  readonly merged: string;
}

function rootsOf(contents: readonly Uint8Array[], unspent: readonly number[]): ModelRoots {
  const size = mmr.sizeOf(contents.length);
  const [range, bitmap] = [mmrRoot(contents), bitmapRoot(unspent)];
  return { size, pmmrRoot: range, bitmapRoot: bitmap, merged: toHex(mmr.mergedRoot(size, fromHex(range), fromHex(bitmap))) };
}

/** The range over these blocks. */
export class MmrModel {
  readonly leaves: ModelLeaf[] = [];
  readonly unspent = new Map<string, ModelLeaf>();
  /** What each block spent, in any order. */
  readonly spentBy: ModelLeaf[][] = [];
  private readonly ledger: Ledger;
  private last: Block | undefined;
  private known: ModelRoots | null = null;

  constructor(ledger: Ledger, blocks: readonly Block[]) {
    this.ledger = ledger;
    for (const block of blocks) this.add(block);
  }

  add(block: Block): void {
    const spent: ModelLeaf[] = [];
    const transition = this.ledger.transition(this.last, block);
    for (const leaf of [...this.unspent.values()]) {
      if (transition?.drops?.(leaf.raw, 0, leaf.raw.length)) spent.push(this.spend(nameOf(leaf.txId, leaf.index)));
    }
    for (const { txId, create, raw } of transition?.grants ?? []) this.create(txId, create.index, raw.slice(create.start, create.end));
    for (const tx of block.txs) {
      for (const { at, index } of tx.spends) spent.push(this.spend(nameOf(block.raw.subarray(at, at + 32), index)));
      for (const { index, start, end } of tx.creates) this.create(tx.id, index, block.raw.slice(start, end));
    }
    this.spentBy.push(spent);
    this.known = null;
    this.last = block;
  }

  private create(txId: Uint8Array, index: number, raw: Uint8Array): void {
    const txOut = this.ledger.leaf!.content(raw, 0, raw.length);
    const made = { txId, index, leaf: this.leaves.length, content: mmr.leafContent(txId, index, txOut), raw };
    this.leaves.push(made);
    this.unspent.set(nameOf(txId, index), made);
  }

  private spend(name: string): ModelLeaf {
    const leaf = this.unspent.get(name)!;
    this.unspent.delete(name);
    return leaf;
  }

  get roots(): ModelRoots {
    this.known ??= rootsOf(
      this.leaves.map(({ content }) => content),
      [...this.unspent.values()].map(({ leaf }) => leaf),
    );
    return this.known;
  }

  get merged(): Uint8Array {
    return fromHex(this.roots.merged);
  }
}

const WITH_MMR = keep('mmr');

/** What `verifyStore` looks at in such a store. */
export const VERIFY_MMR = { projections: WITH_MMR } as const;

export class MmrRig {
  readonly engine: Engine;
  readonly ledger: Ledger;
  readonly projections: readonly Projection[];
  readonly options: FoldOptions;
  readonly overlays = new Overlays();
  fold: Fold;
  private readonly directory: string | null;

  constructor(engine: Engine, ledger: Ledger, options: Partial<FoldOptions>, directory: string | null) {
    this.engine = engine;
    this.ledger = ledger;
    this.projections = selectProjections(WITH_MMR, ledger);
    const windows = { pruneDepth: 2160, rollbackWindow: 4320 };
    this.options = { utxo: true, partial: false, selfContained: false, fsync: false, ...windows, ...options };
    this.fold = new Fold(engine, ledger, this.projections, this.options);
    this.directory = directory;
  }

  /** In groups of these sizes, over and over. */
  apply(blocks: readonly Block[], sizes: readonly number[] = [1]): void {
    for (let at = 0, i = 0; at < blocks.length; i++) {
      const size = sizes[i % sizes.length];
      this.fold.apply(blocks.slice(at, at + size));
      at += size;
    }
  }

  /** As after a restart: nothing is remembered. */
  restart(): void {
    this.fold = new Fold(this.engine, this.ledger, selectProjections(WITH_MMR, this.ledger), this.options);
  }

  prune(blocksMax = 1000): PruneCounts {
    return pruneStep(this.engine, this.fold.projections, this.fold.head?.height ?? 0, this.options, blocksMax);
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

  /** What the store says the roots are, as the model says it. */
  roots(point: Point | null = this.fold.head): ModelRoots {
    const { size, pmmrRoot, bitmapRoot: bitmap, merged } = this.read((query) => query.mmr(point).roots());
    return { size, pmmrRoot: toHex(pmmrRoot), bitmapRoot: toHex(bitmap), merged: toHex(merged) };
  }

  async close(): Promise<void> {
    await this.engine.close();
    if (this.directory !== null) rmSync(this.directory, { recursive: true, force: true });
  }
}

export interface MmrRigOptions extends Partial<FoldOptions> {
  /** Stands between the fold and the engine. */
  readonly wrap?: (engine: Engine) => Engine;
}

const columnsOf = (ledger: Ledger) => [...selectProjections(WITH_MMR, ledger).flatMap(({ columns }) => columns), deltaColumn];

export function mmrRig(ledger: Ledger, { wrap = (engine) => engine, ...options }: MmrRigOptions = {}): MmrRig {
  return new MmrRig(wrap(openMemory(columnsOf(ledger))), ledger, options, null);
}

/** On RocksDB, in a directory of its own that `close` removes. */
export async function mmrRocksRig(ledger: Ledger, options: Partial<FoldOptions> = {}): Promise<MmrRig> {
  const directory = mkdtempSync(join(tmpdir(), 'unspent-mmr-'));
  const small = { kind: 'rocks', createIfMissing: true, memtableBytes: 8 << 20, cacheBytes: 8 << 20 } as const;
  return new MmrRig(await openEngineIn(directory, columnsOf(ledger), small), ledger, options, directory);
}
