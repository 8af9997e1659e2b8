/**
 * Random chains of the Bitcoin family for tests of what a store keeps: few
 * scripts, so that they meet often; outputs nobody can spend between those that
 * can be; outputs spent in the block that made them; wide transactions; forks.
 * Beside it a rig: a fold over such a chain, with everything kept.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ColumnSpec, Engine } from '../../src/engine/engine.ts';
import { openMemory } from '../../src/engine/memory.ts';
import { openEngineIn } from '../../src/engine/open.ts';
import {
  type BitcoinBlock,
  type BitcoinLedger,
  type BitcoinNetwork,
  bitcoinLedger,
  bitcoinNetwork,
  decodeTx,
  genesisBlock,
  scriptKey,
} from '../../src/ledgers/bitcoin/index.ts';
import type { Projection } from '../../src/projections/projection.ts';
import { selectProjections } from '../../src/projections/registry.ts';
import { Query } from '../../src/query/query.ts';
import { deltaColumn } from '../../src/state/delta.ts';
import { Fold, type FoldOptions } from '../../src/state/fold.ts';
import { toHex } from '../../src/util/bytes.ts';
import { type ForgedOutput, forgeBlock, forgeCoinbase, forgeTx, NO_BYTES } from '../ledgers/bitcoin/forge.ts';
import { keepAll } from './keep.ts';

const OP_RETURN = Uint8Array.of(0x6a, 1, 7);
const SCRIPTS = Array.from({ length: 6 }, (_, i) => Uint8Array.of(0x51, 0x50 + i));
const SINGLE_SCRIPTS = 30;

/** A number below `bound`; the same ones for the same seed. */
export type Random = (bound: number) => number;

export function randomFrom(seed: number): Random {
  let state = seed | 0;
  return (bound) => {
    state = (state + 0x6d2b_79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

interface Owned {
  readonly txId: Uint8Array;
  readonly index: number;
}

export class ForgedChain {
  readonly network: BitcoinNetwork;
  readonly ledger: BitcoinLedger;
  /** Of the present chain, by height; the first is the network's. */
  readonly blocks: BitcoinBlock[];
  private readonly random: Random;
  /** What is unspent after each block, so that a fork goes on from there. */
  private readonly unspent: Owned[][] = [[]];

  constructor(random: Random, network = bitcoinNetwork('bitcoin-regtest')) {
    this.random = random;
    this.network = network;
    this.ledger = bitcoinLedger(network);
    this.blocks = [this.ledger.decode(genesisBlock(network))];
  }

  /** Leaves only the blocks up to this height; what is mined next is another branch. */
  fork(height: number): void {
    this.blocks.length = height + 1;
    this.unspent.length = height + 1;
  }

  mine(count = 1): BitcoinBlock[] {
    return Array.from({ length: count }, () => this.mineOne());
  }

  private mineOne(): BitcoinBlock {
    const height = this.blocks.length;
    const unspent = [...this.unspent[height - 1]];
    const txs: Uint8Array[] = [];
    for (let n = this.random(5); n > 0 && unspent.length > 0; n--) txs.push(this.forgeSpend(unspent));
    const hogEx = this.network.mweb && this.random(3) === 0 && unspent.length > 0;
    if (hogEx) txs.push(this.forgeSpend(unspent, Uint8Array.of(0)));
    const coinbase = this.forgeCoinbase(height, unspent, txs);
    const tail = hogEx ? Uint8Array.of(1, this.random(256), 3) : NO_BYTES;
    const block = this.ledger.decode(forgeBlock(this.blocks[height - 1].hash, [coinbase, ...txs], tail), height);
    this.blocks.push(block);
    this.unspent.push(unspent);
    return block;
  }

  private forgeCoinbase(height: number, unspent: Owned[], others: readonly Uint8Array[]): Uint8Array {
    const raw = forgeCoinbase(height, this.outputs(1 + this.random(3)), others);
    this.own(raw, unspent);
    return raw;
  }

  /** Spends one to five of them and owns what it makes, so that the next may spend that. */
  private forgeSpend(unspent: Owned[], mweb?: Uint8Array): Uint8Array {
    const inputs: Owned[] = [];
    for (let n = 1 + this.random(5); n > 0 && unspent.length > 0; n--) inputs.push(...unspent.splice(this.random(unspent.length), 1));
    const wide = this.random(6) === 0;
    const witness = this.random(2) === 0 ? [Uint8Array.of(1, 2, 3)] : undefined;
    const raw = forgeTx({
      inputs: inputs.map((input) => (witness === undefined ? input : { ...input, witness })),
      outputs: this.outputs(wide ? 40 : 1 + this.random(4)),
      ...(mweb === undefined ? {} : { mweb }),
    });
    this.own(raw, unspent);
    return raw;
  }

  private outputs(count: number): ForgedOutput[] {
    return Array.from({ length: count }, () => ({
      value: this.random(8) === 0 ? 0n : (BigInt(this.random(1 << 20)) << 20n) + BigInt(this.random(1 << 30)),
      script: this.random(5) === 0 ? OP_RETURN : this.script(),
    }));
  }

  private script(): Uint8Array {
    const common = this.random(2) === 0;
    return common ? SCRIPTS[this.random(SCRIPTS.length)] : Uint8Array.of(0x51, 2, 1, this.random(SINGLE_SCRIPTS));
  }

  private own(raw: Uint8Array, unspent: Owned[]): void {
    const { id, creates } = decodeTx(raw, true);
    for (const { index } of creates) unspent.push({ txId: id, index });
  }
}

/** Everything a store of this family can keep. */
export const KEEP_ALL_BITCOIN: readonly string[] = keepAll(bitcoinLedger(bitcoinNetwork('bitcoin-regtest')));

const FOLD_OPTIONS: FoldOptions = {
  utxo: true,
  partial: false,
  selfContained: false,
  fsync: false,
  pruneDepth: 2160,
  rollbackWindow: 4320,
};

export class ForgedRig {
  readonly engine: Engine;
  readonly fold: Fold;
  readonly projections: readonly Projection[];
  readonly ledger: BitcoinLedger;
  private readonly directory: string | null;

  constructor(
    engine: Engine,
    ledger: BitcoinLedger,
    projections: readonly Projection[],
    options: Partial<FoldOptions>,
    directory: string | null,
  ) {
    this.engine = engine;
    this.ledger = ledger;
    this.projections = projections;
    this.fold = new Fold(engine, ledger, projections, { ...FOLD_OPTIONS, ...options });
    this.directory = directory;
  }

  /** In groups of these sizes, over and over. */
  apply(blocks: readonly BitcoinBlock[], sizes: readonly number[] = [1]): void {
    for (let at = 0, i = 0; at < blocks.length; i++) {
      const size = sizes[i % sizes.length];
      this.fold.apply(blocks.slice(at, at + size));
      at += size;
    }
  }

  read<T>(body: (query: Query) => T): T {
    const columns = this.engine.columns.map(({ name }) => name);
    const query = new Query(this.engine.snapshot(columns), columns, this.ledger);
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

export interface ForgedRigOptions extends Partial<FoldOptions> {
  /** Names of projections. Default: all. */
  readonly keeps?: readonly string[];
}

export function forgedRig(ledger: BitcoinLedger, { keeps = KEEP_ALL_BITCOIN, ...options }: ForgedRigOptions = {}): ForgedRig {
  const projections = selectProjections(keeps, ledger);
  return new ForgedRig(openMemory(columnsOf(projections)), ledger, projections, options, null);
}

/** On RocksDB, in a directory of its own that `close` removes. */
export async function forgedRocksRig(
  ledger: BitcoinLedger,
  { keeps = KEEP_ALL_BITCOIN, ...options }: ForgedRigOptions = {},
): Promise<ForgedRig> {
  const projections = selectProjections(keeps, ledger);
  const directory = mkdtempSync(join(tmpdir(), 'unspent-forged-'));
  const small = { kind: 'rocks', createIfMissing: true, memtableBytes: 8 << 20, cacheBytes: 8 << 20 } as const;
  return new ForgedRig(await openEngineIn(directory, columnsOf(projections), small), ledger, projections, options, directory);
}

function columnsOf(projections: readonly Projection[]): ColumnSpec[] {
  return [...projections.flatMap(({ columns }) => columns), deltaColumn];
}

/** What history should say of a chain, from its blocks alone, in the plainest way: rows as `key value` in hex, by column. */
export function expectedHistory(chain: ForgedChain): ReadonlyMap<string, readonly string[]> {
  const { ledger, blocks } = chain;
  const txs: string[] = [];
  const spends: string[] = [];
  const scripts = new Map<string, { funded: bigint[]; spent: bigint[] }>();
  const made = new Map<string, { key: string; value: bigint }>();
  for (const block of blocks) {
    block.txs.forEach((tx, i) => {
      const place = hex32(block.height) + hex32(i);
      txs.push(`${place} ${toHex(tx.id)}${toHex(block.raw, tx.start, tx.end)}`);
      const of = (key: string): { funded: bigint[]; spent: bigint[] } => {
        const row = scripts.get(key + place) ?? { funded: [], spent: [] };
        scripts.set(key + place, row);
        return row;
      };
      tx.spends.forEach(({ at, index }, input) => {
        const outpoint = toHex(block.raw, at, at + 32) + hex32(index);
        const { key, value } = made.get(outpoint)!;
        spends.push(`${outpoint} ${place}${hex32(input)}`);
        of(key).spent.push(value);
      });
      for (const { index, addressStart, addressEnd, valueHi, valueLo } of tx.creates) {
        const key = toHex(scriptKey(block.raw.subarray(addressStart, addressEnd)));
        const value = (BigInt(valueHi) << 32n) | BigInt(valueLo);
        made.set(toHex(tx.id) + hex32(index), { key, value });
        of(key).funded.push(value);
      }
    });
    const tail = ledger.tailBytes!(block);
    if (tail.length > 0) txs.push(`${hex32(block.height)}ffffffff ${toHex(tail)}`);
  }
  const told = (values: readonly bigint[]): string => hex32(values.length) + hex64(values.reduce((sum, value) => sum + value, 0n));
  const byScript = [...scripts].map(([key, { funded, spent }]) => `${key} ${told(funded)}${told(spent)}`);
  return new Map([
    ['history_tx', txs],
    ['history_script', byScript.sort()],
    ['history_spend', spends.sort()],
  ]);
}

const hex32 = (value: number): string => value.toString(16).padStart(8, '0');
const hex64 = (value: bigint): string => value.toString(16).padStart(16, '0');
