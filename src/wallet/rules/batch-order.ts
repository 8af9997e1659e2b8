/**
 * The order in which the transactions of a batch are applied: parents before
 * their children. Among those that do not depend on each other the caller's
 * order stays; members of a cycle, which no chain can have, come last as given.
 */
import { toHex } from '../../util/bytes.ts';
import type { WalletTx } from '../records.ts';

export function parentsFirst<Member extends { readonly tx: WalletTx }>(members: readonly Member[]): readonly Member[] {
  const places = new Map<string, number[]>();
  members.forEach(({ tx }, place) => {
    const id = toHex(tx.id);
    places.set(id, [...(places.get(id) ?? []), place]);
  });
  const children: number[][] = members.map(() => []);
  const parentsLeft = members.map(({ tx }, place) => {
    const parents = new Set(tx.inputs.flatMap((input) => places.get(toHex(input.txId)) ?? []));
    for (const parent of parents) children[parent].push(place);
    return parents.size;
  });
  const order: number[] = [...members.keys()].filter((place) => parentsLeft[place] === 0);
  for (let next = 0; next < order.length; next++) {
    for (const child of children[order[next]]) if (--parentsLeft[child] === 0) order.push(child);
  }
  const placed = new Set(order);
  return [...order, ...[...members.keys()].filter((place) => !placed.has(place))].map((place) => members[place]);
}
