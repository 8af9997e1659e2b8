/**
 * Finds where a CBOR item ends while its bytes are still arriving. Every byte
 * is looked at once, however it was cut on its way, and the content of
 * strings is stepped over, so that a block of megabytes costs as much as its
 * few heads.
 *
 * It checks nesting and size only; the decoder of the message checks the
 * rest.
 */
import { violation } from './protocol.ts';

const INDEFINITE = -1;
const BREAK = 0xff;

export class MessageScanner {
  /** Items still to come, per open container. A level takes a byte of the message at least, which bounds them. */
  private left = new Float64Array(64);
  private depth = 0;
  /** Bytes of string content still to step over. */
  private content = 0;
  /** A head whose argument is cut off: its major type, bytes missing, and value so far. */
  private major = 0;
  private argumentBytes = 0;
  private argument = 0;

  /** Goes on at `at`; returns where the item ends, or -1 when the bytes end first. `bytesMax` are left to the message from `at`. */
  scan(bytes: Uint8Array, from: number, bytesMax: number): number {
    const end = bytes.length;
    let at = from;
    while (at < end) {
      if (this.content > 0) {
        const step = Math.min(this.content, end - at);
        this.content -= step;
        at += step;
        if (this.content === 0 && this.itemEnds()) return at;
      } else if (this.argumentBytes > 0) {
        this.argument = 256 * this.argument + bytes[at++];
        if (--this.argumentBytes === 0 && this.headEnds(bytesMax - (at - from))) return at;
      } else if (this.head(bytes[at++], bytesMax - (at - from))) return at;
    }
    return -1;
  }

  /** True when this single byte ends the message. */
  private head(first: number, bytesLeft: number): boolean {
    const info = first & 0x1f;
    this.major = first >> 5;
    if (info < 24) {
      this.argument = info;
      return this.headEnds(bytesLeft);
    }
    if (info < 28) {
      this.argument = 0;
      this.argumentBytes = 1 << (info - 24);
      return false;
    }
    if (first === BREAK) {
      if (this.depth === 0 || this.left[this.depth - 1] !== INDEFINITE) throw violation('a break outside of anything it could end');
      this.depth--;
      return this.itemEnds();
    }
    if (info !== 31 || this.major < 2 || this.major > 5) throw violation(`a malformed head 0x${first.toString(16)}`);
    this.open(INDEFINITE);
    return false;
  }

  private headEnds(bytesLeft: number): boolean {
    const { major, argument } = this;
    if (major < 2 || major === 7) return this.itemEnds();
    if (major === 6) {
      this.open(1);
      return false;
    }
    // Strings take their length, containers a byte an item at the least.
    if (argument > bytesLeft) throw violation(`an item of ${argument} where ${Math.max(0, bytesLeft)} bytes are allowed`);
    if (argument === 0) return this.itemEnds();
    if (major < 4) this.content = argument;
    else this.open(major === 5 ? 2 * argument : argument);
    return false;
  }

  private open(items: number): void {
    if (this.depth === this.left.length) this.grow();
    this.left[this.depth++] = items;
  }

  private grow(): void {
    const more = new Float64Array(2 * this.left.length);
    more.set(this.left);
    this.left = more;
  }

  /** An item is complete; so are the containers it was the last of. True: the message is. */
  private itemEnds(): boolean {
    while (this.depth > 0) {
      const items = this.left[this.depth - 1];
      if (items === INDEFINITE) return false;
      this.left[this.depth - 1] = items - 1;
      if (items > 1) return false;
      this.depth--;
    }
    return true;
  }
}
