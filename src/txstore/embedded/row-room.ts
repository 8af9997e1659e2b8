/**
 * Room for the bytes of new records, taken in pieces, each larger than the one
 * before: a buffer of its own for each record would cost more than to write it.
 */
const PIECE_BYTES_MIN = 1024;
const PIECE_BYTES_MAX = 256 * 1024;

export class RowRoom {
  /** Of what was taken last. */
  bytes = new Uint8Array(0);
  private used = 0;

  /** Where in `bytes` as many bytes are free, and 0. */
  take(length: number): number {
    if (this.used + length > this.bytes.length) {
      const piece = Math.min(PIECE_BYTES_MAX, Math.max(PIECE_BYTES_MIN, 4 * this.bytes.length));
      this.bytes = new Uint8Array(Math.max(piece, length));
      this.used = 0;
    }
    const at = this.used;
    this.used += length;
    return at;
  }
}
