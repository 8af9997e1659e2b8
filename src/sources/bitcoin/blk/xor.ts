/**
 * Takes the key off bytes of a block file, in place and four at a time: this is
 * on the way of every byte that is read.
 */

/** `offset`: where in the file the bytes stand. They must begin at a multiple of four in their buffer. */
export function xorWithKey(bytes: Uint8Array, key: Uint8Array, offset: number): void {
  const turned = Uint8Array.from(key, (_, i) => key[(offset + i) % key.length]);
  const [even, odd] = new Uint32Array(turned.buffer);
  const pairs = bytes.length >>> 3;
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, 2 * pairs);
  for (let i = 0; i < words.length; i += 2) {
    words[i] ^= even;
    words[i + 1] ^= odd;
  }
  for (let i = 8 * pairs; i < bytes.length; i++) bytes[i] ^= turned[i & 7];
}
