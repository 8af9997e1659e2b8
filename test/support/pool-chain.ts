/**
 * A small chain of the Bitcoin family for tests of the mempool: blocks of
 * whatever transactions are asked for, applied to a fold on the memory engine,
 * and taken back. It also remembers what its blocks hold, so that a test can
 * work out the unspent set without the store.
 */
import type { Engine } from '../../src/engine/engine.ts';
import { openMemory } from '../../src/engine/memory.ts';
import { bitcoinLedger, bitcoinNetwork, decodeTx, describeTx, genesisBlock } from '../../src/ledgers/bitcoin/index.ts';
import type { Point } from '../../src/ledgers/ledger.ts';
import { selectProjections } from '../../src/projections/registry.ts';
import { Query } from '../../src/query/query.ts';
import { deltaColumn } from '../../src/state/delta.ts';
import { Fold } from '../../src/state/fold.ts';
import { pruneStep } from '../../src/state/pruned.ts';
import { type ForgedInput, forgeBlock, forgeCoinbase, forgeTx } from '../ledgers/bitcoin/forge.ts';
import { keep } from './keep.ts';

const NETWORK = bitcoinNetwork('bitcoin-regtest');

/** One of a few scripts that anybody may spend; the last cannot be spent at all. */
export const SCRIPTS: readonly Uint8Array[] = [0x51, 0x52, 0x53, 0x54, 0x6a].map((op) => Uint8Array.of(op, 0x51));

export interface Made {
  readonly raw: Uint8Array;
  readonly id: Uint8Array;
  readonly inputs: readonly { readonly txId: Uint8Array; readonly index: number }[];
  readonly outputs: readonly { readonly value: bigint; readonly script: Uint8Array }[];
}

export function madeOf(raw: Uint8Array): Made {
  const { id, inputs, outputs } = describeTx(decodeTx(raw));
  return { raw, id, inputs, outputs };
}

/** `outputs`: value and number of the script of each. */
export function makeTx(inputs: readonly ForgedInput[], outputs: readonly (readonly [value: bigint, script: number])[]): Made {
  return madeOf(forgeTx({ inputs, outputs: outputs.map(([value, script]) => ({ value, script: SCRIPTS[script] })) }));
}

export interface PoolChainOptions {
  readonly pruneDepth?: number;
  readonly rollbackWindow?: number;
}

export class PoolChain {
  readonly ledger = bitcoinLedger(NETWORK);
  readonly fold: Fold;
  /** From the first block on. */
  readonly blocks: { readonly point: Point; readonly raw: Uint8Array; readonly txs: readonly Made[] }[] = [];
  private readonly engine: Engine;
  private salt = 0;

  constructor({ pruneDepth = 2160, rollbackWindow = 4320 }: PoolChainOptions = {}) {
    const projections = selectProjections(keep('index.address'), this.ledger);
    this.engine = openMemory([...projections.flatMap((projection) => projection.columns), deltaColumn]);
    const options = { utxo: true, partial: false, selfContained: false, fsync: false, pruneDepth, rollbackWindow };
    this.fold = new Fold(this.engine, this.ledger, projections, options);
    this.apply(genesisBlock(NETWORK), []);
  }

  get height(): number {
    return this.blocks.length - 1;
  }

  /** A block of these transactions, and its coinbase, which is unlike any other and pays the first script. */
  mine(txs: readonly Made[] = []): Made {
    const outputs = [{ value: 5_000_000_000n + BigInt(this.salt++), script: SCRIPTS[0] }];
    const coinbase = madeOf(forgeCoinbase(this.blocks.length, outputs));
    this.apply(forgeBlock(this.blocks[this.height].point.hash, [coinbase.raw, ...txs.map(({ raw }) => raw)]), [coinbase, ...txs]);
    return coinbase;
  }

  back(depth: number): void {
    const { point } = this.blocks[this.height - depth];
    this.fold.rollback(point);
    this.blocks.length -= depth;
  }

  /** Forgets what is outside the windows. */
  prune(): void {
    const { projections, options } = this.fold;
    while (!pruneStep(this.engine, projections, this.height, options, 100).done);
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

  private apply(raw: Uint8Array, txs: readonly Made[]): void {
    const block = this.ledger.decode(raw, this.blocks.length);
    this.fold.apply([block]);
    this.blocks.push({ point: { height: block.height, slot: block.slot, hash: block.hash }, raw, txs });
  }
}
