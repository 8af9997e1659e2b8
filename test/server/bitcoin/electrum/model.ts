/**
 * What an Electrum server should say of a few blocks and unconfirmed
 * transactions, found out the plainest way there is: bitcoinjs-lib takes them
 * apart, and all of them are gone through for each question. Nothing here reads
 * a store.
 */
import { createHash } from 'node:crypto';
import { Block, Transaction } from 'bitcoinjs-lib';

export interface ModelEntry {
  readonly tx_hash: string;
  readonly height: number;
  readonly fee?: number;
}

interface Placed {
  readonly tx: Transaction;
  /** 0 or -1: in the mempool. */
  readonly height: number;
}

interface Output {
  readonly script: Uint8Array;
  readonly value: bigint;
}

export class ElectrumModel {
  /** By height. */
  readonly blocks: Uint8Array[] = [];
  mempool: Uint8Array[] = [];

  get height(): number {
    return this.blocks.length - 1;
  }

  hash(height = this.height): Uint8Array {
    return blockOf(this.blocks[height]).getHash();
  }

  header(height = this.height): string {
    return hex(this.blocks[height].subarray(0, 80));
  }

  /** As a client writes it. */
  scriptHash(script: Uint8Array): string {
    return hex(createHash('sha256').update(script).digest().reverse());
  }

  history(script: Uint8Array): ModelEntry[] {
    const all = this.placed();
    const outputs = outputsOf(all);
    const touching = all.filter(({ tx }) => paysTo(tx, script) || tx.ins.some((input) => isOwn(outputs.get(spentBy(input)), script)));
    const confirmed = touching.filter(({ height }) => height > 0).map(({ tx, height }) => ({ tx_hash: tx.getId(), height }));
    return [...confirmed, ...this.unconfirmed(touching, outputs)];
  }

  status(script: Uint8Array): string | null {
    const text = this.history(script)
      .map(({ tx_hash, height }) => `${tx_hash}:${height}:`)
      .join('');
    return text === '' ? null : createHash('sha256').update(text).digest('hex');
  }

  balance(script: Uint8Array): { confirmed: number; unconfirmed: number } {
    const sum = (txs: readonly Placed[]): number => unspentOf(txs, script).reduce((total, { value }) => total + value, 0);
    const all = this.placed();
    const confirmed = sum(all.filter(({ height }) => height > 0));
    return { confirmed, unconfirmed: sum(all) - confirmed };
  }

  /** Those of the mempool last, by id. */
  unspent(script: Uint8Array): ReturnType<typeof unspentOf> {
    const list = unspentOf(this.placed(), script);
    const pending = list.filter(({ height }) => height === 0);
    return [...list.filter(({ height }) => height > 0), ...pending.sort((a, b) => (name(a) < name(b) ? -1 : 1))];
  }

  /** Of the chain in its order, then of the mempool. */
  private placed(): Placed[] {
    const confirmed = this.blocks.flatMap((raw, height) => (height === 0 ? [] : blockOf(raw).transactions!.map((tx) => ({ tx, height }))));
    const pending = this.mempool.map((raw) => Transaction.fromBuffer(raw));
    const ids = new Set(pending.map((tx) => tx.getId()));
    const heightOf = (tx: Transaction): number => (tx.ins.some((input) => ids.has(spentBy(input).split(':')[0])) ? -1 : 0);
    return [...confirmed, ...pending.map((tx) => ({ tx, height: heightOf(tx) }))];
  }

  private unconfirmed(touching: readonly Placed[], outputs: ReadonlyMap<string, Output>): ModelEntry[] {
    return touching
      .filter(({ height }) => height <= 0)
      .map(({ tx, height }) => ({ tx_hash: tx.getId(), height, fee: feeOf(tx, outputs) }))
      .sort((a, b) => b.height - a.height || (a.tx_hash < b.tx_hash ? -1 : 1));
  }
}

function unspentOf(txs: readonly Placed[], script: Uint8Array) {
  const spent = new Set(txs.flatMap(({ tx }) => tx.ins.map(spentBy)));
  return txs.flatMap(({ tx, height }) =>
    tx.outs.flatMap((output, tx_pos) => {
      const tx_hash = tx.getId();
      if (!isOwn(output, script) || spent.has(`${tx_hash}:${tx_pos}`)) return [];
      return [{ tx_hash, tx_pos, height: Math.max(height, 0), value: Number(output.value) }];
    }),
  );
}

function outputsOf(txs: readonly Placed[]): Map<string, Output> {
  return new Map(txs.flatMap(({ tx }) => tx.outs.map((output, i) => [`${tx.getId()}:${i}`, output] as const)));
}

function feeOf(tx: Transaction, outputs: ReadonlyMap<string, Output>): number {
  const paid = tx.ins.reduce((sum, input) => sum + outputs.get(spentBy(input))!.value, 0n);
  return Number(tx.outs.reduce((sum, { value }) => sum - value, paid));
}

function paysTo(tx: Transaction, script: Uint8Array): boolean {
  return tx.outs.some((output) => isOwn(output, script));
}

function isOwn(output: Output | undefined, script: Uint8Array): boolean {
  return output !== undefined && hex(output.script) === hex(script);
}

function spentBy({ hash, index }: { readonly hash: Uint8Array; readonly index: number }): string {
  return `${hex(Uint8Array.from(hash).reverse())}:${index}`;
}

function name({ tx_hash, tx_pos }: { readonly tx_hash: string; readonly tx_pos: number }): string {
  return `${tx_hash}:${tx_pos.toString().padStart(5, '0')}`;
}

export function blockOf(raw: Uint8Array): Block {
  return Block.fromBuffer(Buffer.from(raw));
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
