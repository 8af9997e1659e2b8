/**
 * BLAKE2b (RFC 7693, no key) as a WebAssembly module that is assembled here.
 *
 * Hashing is two thirds of decoding a block, and the libraries spend much of
 * theirs on copying bytes in and objects out. Here it is
 * a copy into the module's memory, one call, and 32 bytes out: 1.3 to 1.7 times
 * as fast on what blocks hold (docs/adr/0005, docs/internals/speed.md). Tests compare it with two libraries.
 */
import { type Code, HashMemory, hashModule, unsigned } from './hash-module.ts';

const IV = [
  0x6a09e667f3bcc908n, 0xbb67ae8584caa73bn, 0x3c6ef372fe94f82bn, 0xa54ff53a5f1d36f1n,
  0x510e527fade682d1n, 0x9b05688c2b3e6c1fn, 0x1f83d9abfb41bd6bn, 0x5be0cd19137e2179n,
] as const; // biome-ignore format: a table

const SIGMA = [
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
  [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
  [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
  [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
  [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
  [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
  [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
  [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
  [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
] as const;

/** Where things lie in the module's memory. */
const STATE = 0;
const LAST_BLOCK = 64;
const INPUT = 256;
const BLOCK = 128;
const ROUNDS = 12;

/** The opcodes used, by their names in the WebAssembly specification. */
const OP = {
  loop: 0x03, if: 0x04, end: 0x0b, brIf: 0x0d, call: 0x10,
  get: 0x20, set: 0x21, tee: 0x22,
  load64: 0x29, store64: 0x37, const32: 0x41, const64: 0x42,
  gtU32: 0x4b, add32: 0x6a, sub32: 0x6b, add64: 0x7c, xor64: 0x85, rotr64: 0x8a, extendU: 0xad,
} as const; // biome-ignore format: a table
const I32 = 0x7f;
const I64 = 0x7e;
const VOID = 0x40;

/** LEB128 of an integer, signed: WebAssembly's constants. */
function signed(value: bigint): number[] {
  const out: number[] = [];
  for (let rest = value; ; ) {
    const byte = Number(rest & 0x7fn);
    rest >>= 7n;
    if ((rest === 0n && (byte & 0x40) === 0) || (rest === -1n && (byte & 0x40) !== 0)) return [...out, byte];
    out.push(byte | 0x80);
  }
}

const const64 = (value: bigint): Code => [OP.const64, signed(BigInt.asIntN(64, value))];
const const32 = (value: number): Code => [OP.const32, signed(BigInt(value))];
const load64 = (offset: number): Code => [OP.load64, 0, unsigned(offset)];
const store64 = (offset: number): Code => [OP.store64, 0, unsigned(offset)];

/** compress(block: i32, counter: i64, final: i64). Locals 3..18 are the working vector. */
function compressBody(): Code {
  const v = (i: number): number => 3 + i;
  const code: Code[] = [];
  for (let i = 0; i < 8; i++) code.push(const32(STATE), load64(8 * i), OP.set, v(i), const64(IV[i]), OP.set, v(8 + i));
  code.push(OP.get, v(12), OP.get, 1, OP.xor64, OP.set, v(12), OP.get, v(14), OP.get, 2, OP.xor64, OP.set, v(14));
  const half = (a: number, b: number, c: number, d: number, word: number, r1: number, r2: number): void => {
    code.push(OP.get, a, OP.get, b, OP.add64, OP.get, 0, load64(8 * word), OP.add64, OP.tee, a);
    code.push(OP.get, d, OP.xor64, const64(BigInt(r1)), OP.rotr64, OP.tee, d);
    code.push(OP.get, c, OP.add64, OP.tee, c, OP.get, b, OP.xor64, const64(BigInt(r2)), OP.rotr64, OP.set, b);
  };
  for (let round = 0; round < ROUNDS; round++) {
    const s = SIGMA[round % 10];
    for (let i = 0; i < 8; i++) {
      // Columns first, then diagonals.
      const shift = i < 4 ? 0 : 1;
      const at = (row: number): number => v(4 * row + ((i + shift * row) % 4));
      half(at(0), at(1), at(2), at(3), s[2 * i], 32, 24);
      half(at(0), at(1), at(2), at(3), s[2 * i + 1], 16, 63);
    }
  }
  for (let i = 0; i < 8; i++)
    code.push(const32(STATE), const32(STATE), load64(8 * i), OP.get, v(i), OP.xor64, OP.get, v(8 + i), OP.xor64, store64(8 * i));
  return [1, 16, I64, code, OP.end];
}

/** hash(at: i32, length: i32, digestBytes: i32). Locals: 3 what is left, 4 the counter. Leaves the digest in STATE. */
function hashBody(): Code {
  const code: Code[] = [];
  for (let i = 0; i < 8; i++) code.push(const32(STATE), const64(IV[i]), store64(8 * i));
  const parameters = [const64(0x0101_0000n ^ IV[0]), OP.get, 2, OP.extendU, OP.xor64];
  code.push(const32(STATE), parameters, store64(0), OP.get, 1, OP.set, 3);
  // The last block, even a full one, is compressed with the final flag.
  code.push(OP.get, 3, const32(BLOCK), OP.gtU32, OP.if, VOID, OP.loop, VOID);
  code.push(OP.get, 0, OP.get, 4, const64(BigInt(BLOCK)), OP.add64, OP.tee, 4, const64(0n), OP.call, 0);
  code.push(OP.get, 0, const32(BLOCK), OP.add32, OP.set, 0, OP.get, 3, const32(BLOCK), OP.sub32, OP.tee, 3);
  code.push(const32(BLOCK), OP.gtU32, OP.brIf, 0, OP.end, OP.end);
  const fill = [0xfc, 0x0b, 0x00];
  const copy = [0xfc, 0x0a, 0x00, 0x00];
  code.push(const32(LAST_BLOCK), const32(0), const32(BLOCK), fill, const32(LAST_BLOCK), OP.get, 0, OP.get, 3, copy);
  code.push(const32(LAST_BLOCK), OP.get, 4, OP.get, 3, OP.extendU, OP.add64, const64(-1n), OP.call, 0);
  return [2, 1, I32, 1, I64, code, OP.end];
}

const { memory, hash } = hashModule<(at: number, length: number, digestBytes: number) => void>({
  compressTakes: [I32, I64, I64],
  hashTakes: [I32, I32, I32],
  compress: compressBody(),
  hash: hashBody(),
});

const inside = new HashMemory(memory, INPUT);

function digest(at: number, length: number, digestBytes: number): Uint8Array {
  hash(at, length, digestBytes);
  return inside.view.slice(STATE, STATE + digestBytes);
}

export function blake2b(bytes: Uint8Array, start: number, end: number, digestBytes: number): Uint8Array {
  inside.room(end - start);
  inside.bring(bytes, start, end, INPUT);
  return digest(INPUT, end - start, digestBytes);
}

/** The same, written where it is wanted. */
export function blake2bInto(bytes: Uint8Array, start: number, end: number, digestBytes: number, to: Uint8Array, at: number): void {
  inside.room(end - start);
  inside.bring(bytes, start, end, INPUT);
  hash(INPUT, end - start, digestBytes);
  const { view } = inside;
  for (let i = 0; i < digestBytes; i++) to[at + i] = view[STATE + i];
}

/** Hash of `prefix` followed by a run of `bytes`, without joining them. */
export function blake2bPrefixed(prefix: Uint8Array, bytes: Uint8Array, start: number, end: number, digestBytes: number): Uint8Array {
  const length = prefix.length + end - start;
  inside.room(length);
  inside.view.set(prefix, INPUT);
  inside.bring(bytes, start, end, INPUT + prefix.length);
  return digest(INPUT, length, digestBytes);
}
