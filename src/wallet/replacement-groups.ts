/**
 * Transactions of a wallet that took each other's place, as groups: whoever was
 * replaced by whom, directly or one through another, also where the first one was
 * confirmed after all. A group is what a person has to see together to
 * understand one of them.
 */
import { toHex } from '../util/bytes.ts';
import { WALLET_REPLACEMENTS_MAX } from '../util/limits.ts';
import type { TxDetail, TxReplacement, WalletId } from './records.ts';
import type { WalletStore } from './store.ts';

export interface ReplacementGroup {
  /** In the order in which the wallet heard of them. */
  readonly txs: readonly TxDetail[];
  /** In the order in which the wallet came to believe them. */
  readonly replacements: readonly TxReplacement[];
}

export class ReplacementGroups {
  readonly #groups: ReadonlyMap<string, ReplacementGroup>;
  /** Some were left out, because there are too many. */
  readonly isCut: boolean;

  private constructor(groups: ReadonlyMap<string, ReplacementGroup>, isCut: boolean) {
    this.#groups = groups;
    this.isCut = isCut;
  }

  /** Of all groups that have one of the transactions; at most WALLET_REPLACEMENTS_MAX more of them. */
  static async load(store: WalletStore, walletId: WalletId, given: readonly TxDetail[]): Promise<ReplacementGroups> {
    const txs = new Map(given.map((detail) => [toHex(detail.tx.id), detail]));
    const inGroups = new Map<string, Uint8Array>();
    let isCut = false;
    for (let next = given.map(({ tx }) => tx.id); next.length > 0; ) {
      const edges = await store.listReplacements(walletId, next);
      const ends = new Map(
        edges.flatMap(({ replaced, replacement }) => [replaced, replacement].map((txId) => [toHex(txId), txId] as const)),
      );
      const unseen = [...ends].filter(([key]) => !txs.has(key));
      isCut = txs.size + unseen.length > given.length + WALLET_REPLACEMENTS_MAX;
      if (isCut) break;
      for (const [key, txId] of ends) inGroups.set(key, txId);
      for (const [key, txId] of unseen) txs.set(key, await store.getTxDetail(walletId, txId));
      next = unseen.map(([, txId]) => txId);
    }
    // All at once, because only then their order is that of the store.
    const edges = inGroups.size === 0 ? [] : await store.listReplacements(walletId, [...inGroups.values()]);
    const isKnown = ({ replaced, replacement }: TxReplacement): boolean => txs.has(toHex(replaced)) && txs.has(toHex(replacement));
    return new ReplacementGroups(groupsOf(txs, edges.filter(isKnown)), isCut);
  }

  /** Null: it took nobody's place, and nobody took its place. */
  groupOf({ tx }: TxDetail): ReplacementGroup | null {
    return this.#groups.get(toHex(tx.id)) ?? null;
  }

  /** What replaced it last, what replaced that, and so on, as long as each has the status `replaced`. */
  replacedBy(detail: TxDetail): readonly Uint8Array[] {
    const group = this.groupOf(detail);
    const chain: TxDetail[] = [detail];
    for (let row = detail; group !== null && row.status === 'replaced'; ) {
      const edge = group.replacements.findLast(({ replaced }) => isSame(replaced, row));
      const next = edge && group.txs.find((tx) => isSame(edge.replacement, tx));
      if (next === undefined || chain.some(({ tx }) => isSame(tx.id, next))) break;
      chain.push(next);
      row = next;
    }
    return chain.slice(1).map(({ tx }) => tx.id);
  }
}

function isSame(txId: Uint8Array, { tx }: TxDetail): boolean {
  return toHex(txId) === toHex(tx.id);
}

function groupsOf(txs: ReadonlyMap<string, TxDetail>, edges: readonly TxReplacement[]): Map<string, ReplacementGroup> {
  const edgesAt = new Map<string, TxReplacement[]>();
  for (const edge of edges) for (const end of endsOf(edge)) edgesAt.set(end, [...(edgesAt.get(end) ?? []), edge]);
  const groups = new Map<string, ReplacementGroup>();
  for (const first of edgesAt.keys()) {
    if (groups.has(first)) continue;
    const members = new Set([first]);
    // Members that are met on the way are visited, too.
    for (const member of members) for (const edge of edgesAt.get(member) ?? []) for (const end of endsOf(edge)) members.add(end);
    const group = {
      txs: [...members].map((key) => txs.get(key)!).sort((a, b) => a.received - b.received),
      replacements: edges.filter(({ replaced }) => members.has(toHex(replaced))),
    };
    for (const member of members) groups.set(member, group);
  }
  return groups;
}

function endsOf({ replaced, replacement }: TxReplacement): string[] {
  return [toHex(replaced), toHex(replacement)];
}
