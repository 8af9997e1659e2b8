/**
 * The devnet's own account of what is unspent: an oracle for tests. It is told
 * what each transaction does by the code that wrote the transaction, and never
 * reads a block, so it cannot share a mistake with the decoder.
 *
 * Every change is logged as it happens; going back plays the log in reverse.
 */

import { sha256 } from '../../../crypto/hash.ts';
import { toHex, utf8 } from '../../../util/bytes.ts';
import { assert } from '../../../util/errors.ts';

/** Quantities by `<policy hex>.<asset name hex>`; none is zero. */
export type Assets = ReadonlyMap<string, bigint>;

export const NO_ASSETS: Assets = new Map();

/** Height of outputs that genesis made. */
export const GENESIS_HEIGHT = -1;

export interface ModelUtxo {
  /** `<txid hex>#<index>` */
  readonly key: string;
  readonly txId: Uint8Array;
  readonly index: number;
  readonly lovelace: bigint;
  readonly assets: Assets;
  readonly addressHex: string;
  /** The output's bytes as they stand in the block. */
  readonly output: Uint8Array;
  readonly height: number;
  readonly slot: number;
  readonly txIndex: number;
  /** At a Byron redeem address: deleted when Allegra begins. */
  readonly redeem: boolean;
  /** Belongs to somebody outside: the devnet never spends it of its own accord. */
  readonly foreign?: boolean;
}

export interface Spender {
  readonly txId: string;
  /** Place among the inputs (or collateral inputs) as written. */
  readonly inputIndex: number;
  readonly txIndex: number;
  readonly height: number;
  readonly slot: number;
}

type Change = { readonly utxo: ModelUtxo; readonly kind: 'created' | 'spent' | 'dropped' };

/** Told of every output that becomes unspent or ceases to be, in both directions of time. */
export interface Watcher {
  added(utxo: ModelUtxo): void;
  removed(utxo: ModelUtxo): void;
}

export class Model {
  readonly utxos = new Map<string, ModelUtxo>();
  value = 0n;
  private readonly spenders = new Map<string, Spender>();
  private readonly log: Change[] = [];
  private readonly watcher: Watcher;

  constructor(watcher: Watcher) {
    this.watcher = watcher;
  }

  get count(): number {
    return this.utxos.size;
  }

  /** Who spent an output; undefined while it is unspent, unknown, or dropped without a transaction. */
  spentBy(key: string): Spender | undefined {
    return this.spenders.get(key);
  }

  create(utxo: ModelUtxo): void {
    this.add(utxo);
    this.log.push({ utxo, kind: 'created' });
  }

  spend(utxo: ModelUtxo, spender: Spender): void {
    this.remove(utxo);
    this.spenders.set(utxo.key, spender);
    this.log.push({ utxo, kind: 'spent' });
  }

  /** Removes whatever the ledger itself deletes at a boundary. */
  drop(doomed: (utxo: ModelUtxo) => boolean): void {
    for (const utxo of [...this.utxos.values()].filter(doomed)) {
      this.remove(utxo);
      this.log.push({ utxo, kind: 'dropped' });
    }
  }

  /** A place in time to go back to. */
  mark(): number {
    return this.log.length;
  }

  revert(mark: number): void {
    while (this.log.length > mark) {
      const { utxo, kind } = this.log.pop()!;
      if (kind === 'created') {
        this.remove(utxo);
      } else {
        if (kind === 'spent') this.spenders.delete(utxo.key);
        this.add(utxo);
      }
    }
  }

  /** What was unspent at a mark, without going back to it. */
  at(mark: number): ReadonlyMap<string, ModelUtxo> {
    const utxos = new Map(this.utxos);
    for (let i = this.log.length - 1; i >= mark; i--) {
      const { utxo, kind } = this.log[i];
      if (kind === 'created') utxos.delete(utxo.key);
      else utxos.set(utxo.key, utxo);
    }
    return utxos;
  }

  /** sha256 over `<txid hex>#<index> <lovelace>\n`, in order of the key string: what `unspent digest` prints. */
  digest(): string {
    const keys = [...this.utxos.keys()].sort();
    return toHex(sha256(utf8(keys.map((key) => `${key} ${this.utxos.get(key)!.lovelace}\n`).join(''))));
  }

  private add(utxo: ModelUtxo): void {
    assert(!this.utxos.has(utxo.key), `the devnet makes ${utxo.key} once`);
    this.utxos.set(utxo.key, utxo);
    this.value += utxo.lovelace;
    this.watcher.added(utxo);
  }

  private remove(utxo: ModelUtxo): void {
    assert(this.utxos.delete(utxo.key), `the devnet spends only what is unspent, not ${utxo.key}`);
    this.value -= utxo.lovelace;
    this.watcher.removed(utxo);
  }
}

export function keyOf(txIdHex: string, index: number): string {
  return `${txIdHex}#${index}`;
}
