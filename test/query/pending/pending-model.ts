/**
 * What the newest block and the mempool should have unspent together, worked out
 * anew for every question from the list of what a node has told. It shares no
 * code with `src/query/pending/`.
 */
import type { DevnetChain } from '../../../src/chains/cardano/devnet/index.ts';
import { fromHex, toHex } from '../../../src/util/bytes.ts';

export interface ModelOutput {
  readonly addressHex: string;
  readonly lovelace: bigint;
}

/** A transaction by its effect; outputs are named `TXID#INDEX`. */
export interface ModelTx {
  readonly id: string;
  readonly raw: Uint8Array;
  readonly spends: readonly string[];
  readonly creates: ReadonlyMap<string, ModelOutput>;
  readonly until: number;
}

/** What is unspent, and what the transactions that count have spent. */
export interface ModelState {
  readonly unspent: ReadonlyMap<string, ModelOutput>;
  readonly spenders: ReadonlyMap<string, string>;
  /** In the order in which they count. */
  readonly txs: readonly ModelTx[];
}

export class PendingModel {
  private readonly chain: DevnetChain;
  private told: { readonly tx: ModelTx; leftAt: number | null }[] = [];

  constructor(chain: DevnetChain) {
    this.chain = chain;
  }

  add(tx: ModelTx): void {
    const known = this.told.find((each) => each.tx.id === tx.id);
    if (known !== undefined) {
      known.leftAt = null;
      return;
    }
    this.told = this.told.filter((each) => !each.tx.spends.some((name) => tx.spends.includes(name)));
    this.told.push({ tx, leftAt: null });
  }

  remove(ids: readonly string[], slot: number): void {
    for (const each of this.told) if (ids.includes(each.tx.id)) each.leftAt = slot;
  }

  reset(): void {
    for (const each of this.told) each.leftAt = 0;
  }

  /** To be asked after every change: what has left goes as soon as the chain is there. */
  state(): ModelState {
    const next = this.chain.blocks.at(-1)!.slot + 1;
    const mined = new Set(this.chain.blocks.flatMap(({ txs }) => txs.map(({ id }) => id)));
    for (const each of this.told) if (each.leftAt !== null && each.leftAt <= next && mined.has(each.tx.id)) each.leftAt = null;
    this.told = this.told.filter(({ leftAt }) => leftAt === null || leftAt > next);
    const unspent = new Map<string, ModelOutput>(
      [...this.chain.utxos].map(([name, { addressHex, lovelace }]) => [name, { addressHex, lovelace }]),
    );
    const spenders = new Map<string, string>();
    const txs: ModelTx[] = [];
    for (let hasMore = true; hasMore; ) {
      const ready = this.told.map(({ tx }) => tx).filter((tx) => !txs.includes(tx) && tx.until > next);
      const fitting = ready.find(({ spends }) => spends.every((name) => unspent.has(name)));
      hasMore = fitting !== undefined;
      if (fitting === undefined) break;
      for (const name of fitting.spends) {
        unspent.delete(name);
        spenders.set(name, fitting.id);
      }
      for (const [name, output] of fitting.creates) unspent.set(name, output);
      txs.push(fitting);
    }
    return { unspent, spenders, txs };
  }
}

export function nameParts(name: string): { readonly txId: Uint8Array; readonly index: number } {
  const [id, index] = name.split('#');
  return { txId: fromHex(id), index: Number(index) };
}

export function nameOf({ txId, index }: { readonly txId: Uint8Array; readonly index: number }): string {
  return `${toHex(txId)}#${index}`;
}
