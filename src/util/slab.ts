/** Memory for short strings of bytes, in slabs that they share: a buffer of its own costs more than what is in it. It is handed out once. */
const SLAB_BYTES = 64 * 1024;
/** Longer ones get a buffer of their own. */
const SHARED_BYTES_MAX = 4096;

let slab = { buffer: new ArrayBuffer(0), used: 0 };

/** Zeros, for the caller to keep. */
export function room(bytes: number): Uint8Array<ArrayBuffer> {
  if (bytes > SHARED_BYTES_MAX) return new Uint8Array(bytes);
  if (slab.used + bytes > slab.buffer.byteLength) slab = { buffer: new ArrayBuffer(SLAB_BYTES), used: 0 };
  const out = new Uint8Array(slab.buffer, slab.used, bytes);
  slab.used += bytes;
  return out;
}

/** The same bytes, for the caller to keep. */
export function copied(bytes: Uint8Array): Uint8Array {
  const copy = room(bytes.length);
  copy.set(bytes);
  return copy;
}
