/**
 * Puts many keys in order by their first four bytes. Writing a large group in
 * key order halves the engine's work (docs/internals/speed.md); exactness of
 * the order is not needed, so four bytes are enough.
 */
const INDEX_BITS = 21;
const INDEX_RANGE = 2 ** INDEX_BITS;
let packed = new Float64Array(1024);

/** Returns the items in ascending order of `prefixOf(item)`, a u32. */
export function inPrefixOrder<T>(items: readonly T[], prefixOf: (item: T) => number): readonly T[] {
  const count = items.length;
  if (count < 2 || count > INDEX_RANGE) return items;
  if (packed.length < count) packed = new Float64Array(Math.max(count, 2 * packed.length));
  const keys = packed.subarray(0, count);
  // 32 bits of prefix and 21 of index fit a double exactly.
  for (let i = 0; i < count; i++) keys[i] = prefixOf(items[i]) * INDEX_RANGE + i;
  keys.sort();
  const out: T[] = new Array(count);
  for (let i = 0; i < count; i++) out[i] = items[keys[i] % INDEX_RANGE];
  return out;
}
