/**
 * A growing buffer for small records: bytes and LEB128 varints, and the reader
 * that takes them apart again with every read checked.
 */
import { copyBytes } from './bytes.ts';
import { UnspentError } from './errors.ts';
import { Scratch } from './scratch.ts';

export class ByteWriter {
  private readonly scratch = new Scratch(1024);
  private at = 0;

  reset(): void {
    this.at = 0;
  }

  u8(value: number): void {
    this.room(1);
    this.scratch.bytes[this.at++] = value;
  }

  varint(value: number): void {
    this.room(8);
    let rest = value;
    while (rest >= 0x80) {
      this.scratch.bytes[this.at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.scratch.bytes[this.at++] = rest;
  }

  run(bytes: Uint8Array, start = 0, end = bytes.length): void {
    const length = end - start;
    this.room(length);
    const to = this.scratch.bytes;
    if (length <= 64) copyBytes(bytes, start, to, this.at, length);
    else to.set(length === bytes.length ? bytes : bytes.subarray(start, end), this.at);
    this.at += length;
  }

  /** What was written, as a view that the next `reset` invalidates. */
  view(): Uint8Array {
    return this.scratch.view(this.at);
  }

  private room(length: number): void {
    const wanted = this.at + length;
    if (wanted <= this.scratch.bytes.length) return;
    const before = this.scratch.bytes;
    this.scratch.need(wanted);
    this.scratch.bytes.set(before.subarray(0, this.at));
  }
}

export class ByteReader {
  private readonly bytes: Uint8Array;
  private readonly what: string;
  private at = 0;

  constructor(bytes: Uint8Array, what: string) {
    this.bytes = bytes;
    this.what = what;
  }

  u8(): number {
    if (this.at >= this.bytes.length) this.cut();
    return this.bytes[this.at++];
  }

  varint(): number {
    let value = 0;
    let scale = 1;
    for (let i = 0; i < 8; i++) {
      const byte = this.u8();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
    }
    return this.cut();
  }

  run(length: number): Uint8Array {
    if (length > this.bytes.length - this.at) this.cut();
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  get isAtEnd(): boolean {
    return this.at === this.bytes.length;
  }

  end(): void {
    if (!this.isAtEnd) this.cut();
  }

  private cut(): never {
    throw new UnspentError('STORE_DAMAGED', `${this.what} is cut or malformed at byte ${this.at}`, { at: this.at });
  }
}
