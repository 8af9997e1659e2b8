/**
 * Keys of a step in the order in which the engine takes them best. A batch that
 * is written by another thread is put in order there.
 */
import type { Batch } from '../engine/engine.ts';
import { inPrefixOrder } from '../util/key-order.ts';

/** The items in ascending order of `prefixOf(item)`, the first four bytes of a key, if the batch does not see to that itself. */
export function inWriteOrder<T>({ ordersKeys }: Batch, items: readonly T[], prefixOf: (item: T) => number): readonly T[] {
  return ordersKeys === true ? items : inPrefixOrder(items, prefixOf);
}
