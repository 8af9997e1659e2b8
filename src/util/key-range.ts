/**
 * Bounds of key ranges. Keys are compared as unsigned bytes, a shorter key
 * before the longer ones it begins (`compareBytes`). A scan takes `gte` and
 * `lt`; these functions give the bound that lies directly behind a key, or
 * behind all keys with one prefix.
 */

/** The smallest key greater than `key`. */
export function keyAfter(key: Uint8Array): Uint8Array {
  const next = new Uint8Array(key.length + 1);
  next.set(key);
  return next;
}

/**
 * The smallest key of the prefix's length that is greater than every key that begins with `prefix`. Undefined if there is
 * none, because the prefix is empty or all 0xff.
 */
export function keyAfterPrefix(prefix: Uint8Array): Uint8Array | undefined {
  const next = Uint8Array.from(prefix);
  for (let at = next.length - 1; at >= 0; at--) {
    next[at] = (next[at] + 1) & 0xff;
    if (next[at] !== 0) return next;
  }
  return undefined;
}

/**
 * A key that begins with `prefix` itself and is greater than every key that has at most `restBytes` bytes behind the
 * prefix. In a `prefix` column the bound of a backward scan must have the prefix of the scan, which `keyAfterPrefix`
 * has not.
 */
export function prefixEnd(prefix: Uint8Array, restBytes: number): Uint8Array {
  const end = new Uint8Array(prefix.length + restBytes + 1).fill(0xff);
  end.set(prefix);
  return end;
}
