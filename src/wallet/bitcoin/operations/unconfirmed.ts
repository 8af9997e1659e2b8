/**
 * The transactions of a wallet that wait for a block, as coin selection and fee
 * bumps reckon with them: what each pays, what it weighs, and what depends on
 * what. The fee of one is known if all its inputs are the wallet's own.
 *
 * Whatever depends on whatever else is one cluster. Most transactions that wait
 * are alone in theirs, and a cluster is looked at once, whoever asks.
 */
import { type BitcoinNetwork, decodeTx } from '../../../ledgers/bitcoin/index.ts';
import { toHex } from '../../../util/bytes.ts';
import { isPrunedTx } from '../../past/pruned-tx.ts';
import type { TxDetail } from '../../records.ts';
import { MinedCluster, type PackageSums, shortfall, type UnconfirmedTx } from '../../selection/bitcoin/ancestry.ts';
import type { CoinAncestry } from '../../selection/bitcoin/coin-table.ts';
import { vsizeOf } from '../../selection/bitcoin/fee-rate.ts';

const NONE: ReadonlySet<string> = new Set();

export class UnconfirmedTxs {
  readonly #network: BitcoinNetwork;
  readonly #rate: number;
  readonly #details: ReadonlyMap<string, TxDetail>;
  readonly #parents = new Map<string, readonly string[]>();
  readonly #children = new Map<string, string[]>();
  readonly #clusters = new Map<string, MinedCluster>();
  readonly #ancestries = new Map<string, CoinAncestry>();
  /** Of roots: transactions that depend on no other one. */
  readonly #heirs = new Map<string, number>();

  /** `details`: live rows without a block. `rate`: what is to be paid, in sat/kvB. */
  constructor(network: BitcoinNetwork, details: readonly TxDetail[], rate: number) {
    this.#network = network;
    this.#rate = rate;
    this.#details = new Map(details.map((detail) => [toHex(detail.tx.id), detail]));
    for (const [id, { tx }] of this.#details) {
      const parents = [...new Set(tx.inputs.map(({ txId }) => toHex(txId)))].filter((parent) => this.#details.has(parent));
      this.#parents.set(id, parents);
      for (const parent of parents) {
        const children = this.#children.get(parent);
        if (children === undefined) this.#children.set(parent, [id]);
        else children.push(id);
      }
    }
  }

  /** As if these were not there: a replacement does away with them, and their fees lift nobody any more. */
  without(ids: ReadonlySet<string>): UnconfirmedTxs {
    const left = [...this.#details].filter(([id]) => !ids.has(id)).map(([, detail]) => detail);
    return new UnconfirmedTxs(this.#network, left, this.#rate);
  }

  get(id: string): TxDetail | undefined {
    return this.#details.get(id);
  }

  /** It and all that depend on it. */
  descendants(id: string): ReadonlySet<string> {
    return this.#details.has(id) ? walk([id], (each) => this.#children.get(each) ?? []) : NONE;
  }

  /** What spending an output of it comes with; one that does not wait comes with nothing. */
  ancestry(id: string): CoinAncestry {
    let ancestry = this.#ancestries.get(id);
    if (ancestry === undefined) {
      const ancestors = this.#details.has(id) ? walk([id], (each) => this.#parents.get(each) ?? []) : NONE;
      // On the oldest ones depends whatever depends on those between.
      const heirs = [...ancestors].filter((each) => this.#parents.get(each)?.length === 0).map((root) => this.#heirsOf(root));
      ancestry = {
        ancestors: ancestors.size,
        descendants: heirs.reduce((most, count) => Math.max(most, count), 0),
        bumpFee: this.bumpFee([id]),
      };
      this.#ancestries.set(id, ancestry);
    }
    return ancestry;
  }

  /** What unconfirmed ancestors of outputs of these owe together. */
  bumpFee(ids: Iterable<string>): bigint {
    const byCluster = Map.groupBy(
      [...ids].filter((id) => this.#details.has(id)),
      (id) => this.#clusterOf(id),
    );
    const sums: PackageSums[] = [...byCluster].map(([cluster, members]) => cluster.behind(members));
    const fee = sums.reduce((sum, each) => sum + each.fee, 0);
    const vsize = sums.reduce((sum, each) => sum + each.vsize, 0);
    return shortfall({ fee, vsize }, this.#rate);
  }

  /** Those of it whose fees are known. */
  #clusterOf(id: string): MinedCluster {
    let cluster = this.#clusters.get(id);
    if (cluster === undefined) {
      const members = [...walk([id], (each) => [...(this.#parents.get(each) ?? []), ...(this.#children.get(each) ?? [])])];
      cluster = new MinedCluster(
        members.flatMap((each) => this.#known(each)),
        this.#rate,
      );
      for (const each of members) this.#clusters.set(each, cluster);
    }
    return cluster;
  }

  #known(id: string): UnconfirmedTx[] {
    const detail = this.#details.get(id);
    const fee = detail === undefined ? null : feeOfTx(detail);
    if (detail === undefined || fee === null) return [];
    return [{ id, fee, vsize: vsizeOfTx(this.#network, detail), parents: this.#parents.get(id) ?? [] }];
  }

  #heirsOf(root: string): number {
    let count = this.#heirs.get(root);
    if (count === undefined) {
      count = this.descendants(root).size;
      this.#heirs.set(root, count);
    }
    return count;
  }
}

function walk(from: readonly string[], next: (id: string) => readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  const open = [...from];
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    if (found.has(each)) continue;
    found.add(each);
    open.push(...next(each));
  }
  return found;
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
