/**
 * One incoming byte stream of a connection: pieces of segments go in, whole
 * messages come out. A message that lies inside one piece is a view of it; one
 * that was cut is put together once, when its last byte is there.
 */
import { MessageScanner } from './message-scanner.ts';
import { violation } from './protocol.ts';

/** A piece of a message, in the order of its bytes. */
export interface Part {
  readonly bytes: Uint8Array;
  readonly isLast: boolean;
}

export class Ingress {
  private readonly scanner = new MessageScanner();
  /** Pieces nobody has looked at; the first one from `at` on. */
  private pieces: Uint8Array[] = [];
  private next = 0;
  private at = 0;
  /** Pieces of a message whose end has not come. */
  private held: Uint8Array[] = [];
  private heldBytes = 0;
  /** Bytes of the present message that were given out in parts. */
  private givenBytes = 0;
  /** Bytes received and not looked at: what a slow reader lets pile up. */
  unread = 0;

  push(piece: Uint8Array): void {
    this.pieces.push(piece);
    this.unread += piece.length;
  }

  /** The next whole message, or undefined until more bytes come. Throws PROTOCOL when it cannot be one of at most `bytesMax`. */
  take(bytesMax: number): Uint8Array | undefined {
    while (this.next < this.pieces.length) {
      const piece = this.pieces[this.next];
      const { at } = this;
      const stop = this.scanner.scan(piece, at, bytesMax - this.heldBytes);
      const end = stop < 0 ? piece.length : stop;
      this.step(piece, end);
      this.unread -= end - at;
      if (this.heldBytes + end - at > bytesMax) throw violation(`a message of more than ${bytesMax} bytes`);
      const part = at === 0 && end === piece.length ? piece : piece.subarray(at, end);
      if (stop >= 0 && this.heldBytes === 0) return part;
      this.held.push(part);
      this.heldBytes += part.length;
      if (stop >= 0) return this.gather();
    }
    return undefined;
  }

  /** What is here of the next message, which may be given out in parts only. Throws PROTOCOL. */
  takePart(bytesMax: number): Part | undefined {
    if (this.next === this.pieces.length) return undefined;
    const piece = this.pieces[this.next];
    const { at } = this;
    const stop = this.scanner.scan(piece, at, bytesMax - this.givenBytes);
    const end = stop < 0 ? piece.length : stop;
    this.step(piece, end);
    this.unread -= end - at;
    this.givenBytes = stop < 0 ? this.givenBytes + end - at : 0;
    if (this.givenBytes > bytesMax) throw violation(`a message of more than ${bytesMax} bytes`);
    return { bytes: piece.subarray(at, end), isLast: stop >= 0 };
  }

  private step(piece: Uint8Array, end: number): void {
    this.at = end;
    if (end < piece.length) return;
    this.at = 0;
    if (++this.next < this.pieces.length) return;
    this.pieces = [];
    this.next = 0;
  }

  private gather(): Uint8Array {
    const message = new Uint8Array(this.heldBytes);
    let at = 0;
    for (const part of this.held) {
      message.set(part, at);
      at += part.length;
    }
    this.held = [];
    this.heldBytes = 0;
    return message;
  }
}
