/**
 * Room for many small runs of bytes that may outlive one another: they share
 * large arrays, because an array of its own costs more than the bytes in it.
 */
export class Slab {
  bytes = new Uint8Array(0);
  private readonly size: number;
  private next = 0;

  constructor(size: number) {
    this.size = size;
  }

  /** Where `length` zeros begin, in `bytes` as it is then, that nobody else gets. */
  take(length: number): number {
    if (this.next + length > this.bytes.length) {
      this.bytes = new Uint8Array(Math.max(this.size, length));
      this.next = 0;
    }
    const at = this.next;
    this.next += length;
    return at;
  }

  /** The same as a view of its own. */
  run(length: number): Uint8Array {
    const at = this.take(length);
    return this.bytes.subarray(at, at + length);
  }
}
