/**
 * Hashes and ids as people write them. In a block, and so in the store, their
 * bytes stand as the hash function gave them; every program of this family
 * shows them from the last byte to the first.
 */
import { fromHex, toHex } from '../../util/bytes.ts';

/** An id or a hash as people write it: hex, from the last byte to the first. */
export function formatId(id: Uint8Array): string {
  return toHex(reversed(id));
}

/** Throws USAGE. */
export function parseId(text: string): Uint8Array {
  return reversed(fromHex(text, 32));
}

export function reversed(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(bytes).reverse();
}
