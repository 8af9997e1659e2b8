/**
 * What the hashes assembled here have in common: a WebAssembly module of two
 * functions, one that compresses a block and one that hashes, over a memory of
 * its own; `hash` and `memory` are what it gives out. The functions' bodies are
 * the hash's own (`blake2b.ts`, `sha256.ts`).
 */
const FUNCTION = 0x60;

/** LEB128 of an unsigned integer: lengths and offsets. */
export function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

/** Instructions, and parts made of them: put into a row once, at the end, because each process that hashes assembles its own. */
export type Code = number | readonly Code[];

function inRow(code: Code, row: number[] = []): number[] {
  if (typeof code === 'number') row.push(code);
  else for (const part of code) inRow(part, row);
  return row;
}

export interface HashBodies {
  /** Types of the parameters; neither function returns anything. */
  readonly compressTakes: readonly number[];
  readonly hashTakes: readonly number[];
  readonly compress: Code;
  readonly hash: Code;
}

export interface HashModule<Hash> {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  readonly hash: Hash;
}

const PAGE = 65_536;
/** Up to here a loop beats the platform's copy, which needs a view. */
const LOOP_BYTES_MAX = 64;

/** A module's memory as a view, behind whose first `input` bytes stands what is hashed. */
export class HashMemory {
  view: Uint8Array;
  private readonly memory: HashModule<unknown>['memory'];
  private readonly input: number;

  constructor(memory: HashModule<unknown>['memory'], input: number) {
    this.memory = memory;
    this.input = input;
    this.view = new Uint8Array(memory.buffer);
  }

  /** Makes room for so many bytes. Growing moves the memory. */
  room(length: number): void {
    const missing = this.input + length - this.view.length;
    if (missing <= 0) return;
    this.memory.grow(Math.ceil(missing / PAGE));
    this.view = new Uint8Array(this.memory.buffer);
  }

  bring(bytes: Uint8Array, start: number, end: number, to: number): void {
    const { view } = this;
    const length = end - start;
    if (length <= LOOP_BYTES_MAX) for (let i = 0; i < length; i++) view[to + i] = bytes[start + i];
    else view.set(bytes.subarray(start, end), to);
  }
}

/** The little of the WebAssembly interface that is used; it is in every runtime, but in no library of types without the browser's. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};

export function hashModule<Hash>(bodies: HashBodies): HashModule<Hash> {
  return new WebAssembly.Instance(new WebAssembly.Module(moduleBytes(bodies))).exports as HashModule<Hash>;
}

function moduleBytes({ compressTakes, hashTakes, compress, hash }: HashBodies): Uint8Array<ArrayBuffer> {
  const name = (text: string): Code => [text.length, text.split('').map((letter) => letter.charCodeAt(0))];
  const takes = (types: readonly number[]): Code => [FUNCTION, types.length, types, 0];
  const sections = [
    section(1, [2, takes(compressTakes), takes(hashTakes)]),
    section(3, [2, 0, 1]),
    section(5, [1, 0, 2]),
    section(7, [2, name('memory'), 2, 0, name('hash'), 0, 1]),
    section(10, [2, sized(compress), sized(hash)]),
  ];
  return Uint8Array.from(inRow([0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00, sections]));
}

function section(id: number, content: Code): Code {
  return [id, sized(content)];
}

function sized(content: Code): Code {
  const row = inRow(content);
  return [unsigned(row.length), row];
}
