/**
 * Coins of unconfirmed transactions: miners take a child only together with its
 * parents, so who spends such a coin at a rate pays for its ancestors, too, as
 * far as they pay less than that rate (child pays for parent). Worked out as a
 * miner would: whatever is worth taking at the rate on its own account is taken
 * first, and only the rest has to be lifted (Core: `MiniMiner`).
 */
import { assert } from '../../../util/errors.ts';
import { feeOf } from './fee-rate.ts';

/** An unconfirmed transaction. */
export interface UnconfirmedTx {
  readonly id: string;
  readonly fee: bigint;
  readonly vsize: number;
  /** Ids of unconfirmed transactions that it spends from. */
  readonly parents: readonly string[];
}

/**
 * What a transaction that spends outputs of `spent` has to pay above its own fee
 * so that they and their ancestors are mined at `rate`. `cluster` has all of
 * their unconfirmed ancestors; other descendants of those may be in it, and
 * count where they pay for their parents already.
 */
export function bumpFeeOf(spent: readonly string[], cluster: readonly UnconfirmedTx[], rate: number): bigint {
  const left = new Map(cluster.map((tx) => [tx.id, tx]));
  takeWorthwhile(left, rate);
  const behind = new Map<string, UnconfirmedTx>();
  for (const id of spent) for (const tx of withAncestors(id, left)) behind.set(tx.id, tx);
  return shortfall([...behind.values()], rate);
}

/** Removes what a miner takes at the rate: again and again the transaction that, with its ancestors, pays best. */
function takeWorthwhile(left: Map<string, UnconfirmedTx>, rate: number): void {
  for (;;) {
    const packages = [...left.keys()].map((id) => withAncestors(id, left));
    const worthwhile = packages.filter((txs) => shortfall(txs, rate) === 0n);
    if (worthwhile.length === 0) return;
    const best = worthwhile.reduce((a, b) => (paysMore(b, a) ? b : a));
    for (const { id } of best) left.delete(id);
  }
}

/** The transaction and its ancestors that are left; nothing when it was taken. */
function withAncestors(id: string, left: ReadonlyMap<string, UnconfirmedTx>): readonly UnconfirmedTx[] {
  const found = new Map<string, UnconfirmedTx>();
  const open = [id];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const tx = left.get(next);
    if (tx === undefined || found.has(next)) continue;
    found.set(next, tx);
    open.push(...tx.parents);
  }
  return [...found.values()];
}

function totals(txs: readonly UnconfirmedTx[]): { readonly fee: bigint; readonly vsize: number } {
  return { fee: txs.reduce((sum, { fee }) => sum + fee, 0n), vsize: txs.reduce((sum, { vsize }) => sum + vsize, 0) };
}

/** What the transactions pay too little together; 0: they pay the rate. */
function shortfall(txs: readonly UnconfirmedTx[], rate: number): bigint {
  const { fee, vsize } = totals(txs);
  const missing = BigInt(feeOf(rate, vsize)) - fee;
  return missing > 0n ? missing : 0n;
}

function paysMore(a: readonly UnconfirmedTx[], b: readonly UnconfirmedTx[]): boolean {
  const [one, other] = [totals(a), totals(b)];
  assert(one.vsize > 0 && other.vsize > 0, 'a transaction has a size');
  return one.fee * BigInt(other.vsize) > other.fee * BigInt(one.vsize);
}
