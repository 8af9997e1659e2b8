/**
 * The transactions of a wallet that wait for a block, as coin selection and fee
 * bumps reckon with them: what each pays, what it weighs, and what depends on
 * what. The fee of one is known if all its inputs are the wallet's own.
 */
import { type BitcoinNetwork, decodeTx } from '../../../ledgers/bitcoin/index.ts';
import { toHex } from '../../../util/bytes.ts';
import type { TxDetail } from '../../records.ts';
import { isLive } from '../../rules/status.ts';
import type { UnconfirmedTx } from '../../selection/bitcoin/ancestry.ts';
import { vsizeOf } from '../../selection/bitcoin/fee-rate.ts';
import { isPrunedTx } from '../wallet-tx.ts';

export class UnconfirmedTxs {
  readonly #network: BitcoinNetwork;
  readonly #details: ReadonlyMap<string, TxDetail>;
  readonly #children = new Map<string, Set<string>>();

  /** `details`: rows without a block; dead ones are left aside. */
  constructor(network: BitcoinNetwork, details: readonly TxDetail[]) {
    this.#network = network;
    const live = details.filter(({ status, block }) => isLive(status) && block === null);
    this.#details = new Map(live.map((detail) => [toHex(detail.tx.id), detail]));
    for (const [id, { tx }] of this.#details) {
      for (const { txId } of tx.inputs) {
        const parent = toHex(txId);
        if (this.#details.has(parent)) this.#children.set(parent, (this.#children.get(parent) ?? new Set()).add(id));
      }
    }
  }

  get(id: string): TxDetail | undefined {
    return this.#details.get(id);
  }

  /** It and all it depends on. */
  ancestors(id: string): ReadonlySet<string> {
    return this.#walk(id, (each) => this.#parents(each));
  }

  /** It and all that depend on it. */
  descendants(id: string): ReadonlySet<string> {
    return this.#walk(id, (each) => this.#children.get(each) ?? []);
  }

  /** All of them whose fees are known. */
  cluster(): readonly UnconfirmedTx[] {
    return [...this.#details].flatMap(([id, detail]) => {
      const fee = feeOfTx(detail);
      return fee === null ? [] : [{ id, fee, vsize: vsizeOfTx(this.#network, detail), parents: this.#parents(id) }];
    });
  }

  #parents(id: string): readonly string[] {
    const inputs = this.#details.get(id)?.tx.inputs ?? [];
    return [...new Set(inputs.map(({ txId }) => toHex(txId)))].filter((parent) => this.#details.has(parent));
  }

  #walk(id: string, next: (id: string) => Iterable<string>): ReadonlySet<string> {
    const found = new Set<string>();
    const open = this.#details.has(id) ? [id] : [];
    for (let each = open.pop(); each !== undefined; each = open.pop()) {
      if (found.has(each)) continue;
      found.add(each);
      open.push(...next(each));
    }
    return found;
  }
}

/** Null: an input is not the wallet's own, so that its amount is not known. */
export function feeOfTx({ tx, ownedInputs }: TxDetail): bigint | null {
  if (tx.isCoinbase || isPrunedTx(tx) || ownedInputs.length < tx.inputs.length) return null;
  const spent = ownedInputs.reduce((sum, { amount }) => sum + amount, 0n);
  return tx.outputs.reduce((left, { amount }) => left - amount, spent);
}

export function vsizeOfTx({ mweb }: BitcoinNetwork, { tx }: Pick<TxDetail, 'tx'>): number {
  return vsizeOf(decodeTx(tx.raw, mweb).weight);
}
