/**
 * SHA-256 (FIPS 180-4) as a WebAssembly module that is assembled here, the way
 * `blake2b.ts` is. Every transaction id, block hash, Merkle tree and script key
 * of the Bitcoin family is made of it, and nearly all of them are of less than
 * 300 bytes, where a call of a library costs more than its hashing
 * (docs/adr/0010). Tests compare it with a library over all lengths.
 */
import { type Code, HashMemory, hashModule, unsigned } from './hash-module.ts';

export const IV = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19] as const;

export const K = [
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
] as const; // biome-ignore format: a table

const DIGEST_BYTES = 32;
const BLOCK_BYTES = 64;
/** Where things lie in the module's memory. */
const STATE = 0;
const LAST_BLOCKS = 64;
const OUT = 192;
const INPUT = 256;
export const ROUNDS = 64;

/** The opcodes used, by their names in the WebAssembly specification. */
const OP = {
  block: 0x02, loop: 0x03, if: 0x04, else: 0x05, end: 0x0b, br: 0x0c, brIf: 0x0d, call: 0x10,
  get: 0x20, set: 0x21, tee: 0x22,
  load: 0x28, store: 0x36, store8: 0x3a, constant: 0x41,
  ltU: 0x49, add: 0x6a, sub: 0x6b, and: 0x71, or: 0x72, xor: 0x73, shl: 0x74, shrU: 0x76, rotl: 0x77, rotr: 0x78,
} as const; // biome-ignore format: a table
const I32 = 0x7f;
const VOID = 0x40;
const FILL = [0xfc, 0x0b, 0x00];
const COPY = [0xfc, 0x0a, 0x00, 0x00];

/** LEB128 of a signed integer: WebAssembly's constants. */
function signed(value: number): Code {
  const byte = value & 0x7f;
  const rest = value >> 7;
  if ((rest === 0 && (byte & 0x40) === 0) || (rest === -1 && (byte & 0x40) !== 0)) return [byte];
  return [byte | 0x80, signed(rest)];
}

const constant = (value: number): Code => [OP.constant, signed(value | 0)];
const load = (offset: number): Code => [OP.load, 0, unsigned(offset)];
const store = (offset: number): Code => [OP.store, 0, unsigned(offset)];
const get = (local: number): Code => [OP.get, local];

/** The xor of a word turned right by each of the first amounts and shifted right by the last, if any. */
function mixed(local: number, turns: readonly number[], shift = 0): Code {
  const code = turns.map((turn, i) => [get(local), constant(turn), OP.rotr, i > 0 ? OP.xor : []]);
  return shift === 0 ? code : [code, get(local), constant(shift), OP.shrU, OP.xor];
}

/** The four bytes of the word in `local` in the other order. */
function swapped(local: number): Code {
  const half = (turn: number, mask: number): Code => [get(local), constant(turn), OP.rotl, constant(mask), OP.and];
  return [half(8, 0x00ff00ff), half(24, 0xff00ff00), OP.or];
}

/** compress(block: i32). Locals: 1..8 the working words, 9..24 the last sixteen of the schedule, 25 a sum. */
function compressBody(): Code {
  const word = (i: number): number => 9 + (i & 15);
  const sum = 25;
  const code: Code[] = [];
  for (let i = 0; i < 8; i++) code.push(constant(STATE), load(4 * i), OP.set, 1 + i);
  for (let round = 0; round < ROUNDS; round++) {
    const w = word(round);
    // The words keep their places and change their names: what is `a` moves down by one each round.
    const [a, b, c, d, e, f, g, h] = [0, 1, 2, 3, 4, 5, 6, 7].map((name) => 1 + ((name - round) & 7));
    if (round < 16) code.push(get(0), load(4 * round), OP.set, w, swapped(w), OP.set, w);
    else {
      code.push(get(w), mixed(word(round + 1), [7, 18], 3), OP.add, get(word(round + 9)), OP.add);
      code.push(mixed(word(round + 14), [17, 19], 10), OP.add, OP.set, w);
    }
    code.push(get(h), mixed(e, [6, 11, 25]), OP.add, get(f), get(g), OP.xor, get(e), OP.and, get(g), OP.xor, OP.add);
    code.push(constant(K[round]), OP.add, get(w), OP.add, OP.tee, sum, get(d), OP.add, OP.set, d);
    code.push(get(sum), mixed(a, [2, 13, 22]), OP.add, get(a), get(b), OP.and, get(a), get(b), OP.xor, get(c), OP.and);
    code.push(OP.xor, OP.add, OP.set, h);
  }
  for (let i = 0; i < 8; i++) code.push(constant(STATE), constant(STATE), load(4 * i), get(1 + i), OP.add, store(4 * i));
  return [1, 25, I32, code, OP.end];
}

/** hash(at: i32, length: i32). Locals: 2 what is left, 3 the bits, 4 a word. Leaves the digest at OUT. */
function hashBody(): Code {
  const code: Code[] = [];
  for (let i = 0; i < 8; i++) code.push(constant(STATE), constant(IV[i]), store(4 * i));
  code.push(get(1), OP.set, 2, OP.block, VOID, OP.loop, VOID, get(2), constant(BLOCK_BYTES), OP.ltU, OP.brIf, 1);
  code.push(get(0), OP.call, 0, get(0), constant(BLOCK_BYTES), OP.add, OP.set, 0);
  code.push(get(2), constant(BLOCK_BYTES), OP.sub, OP.set, 2, OP.br, 0, OP.end, OP.end);
  // What is left, a bit that is set, zeros, and the length in bits at the very end of one block or of two.
  code.push(constant(LAST_BLOCKS), constant(0), constant(2 * BLOCK_BYTES), FILL);
  code.push(constant(LAST_BLOCKS), get(0), get(2), COPY, get(2), constant(0x80), OP.store8, 0, unsigned(LAST_BLOCKS));
  const finish = (blocks: number): Code => {
    const end = LAST_BLOCKS + blocks * BLOCK_BYTES;
    const bits = (amount: number, op: number): Code => [get(1), constant(amount), op, OP.set, 3, constant(0), swapped(3)];
    const calls = Array.from({ length: blocks }, (_, i) => [constant(LAST_BLOCKS + i * BLOCK_BYTES), OP.call, 0]);
    return [bits(3, OP.shl), store(end - 4), bits(29, OP.shrU), store(end - 8), calls];
  };
  code.push(get(2), constant(BLOCK_BYTES - 8), OP.ltU, OP.if, VOID, finish(1), OP.else, finish(2), OP.end);
  for (let i = 0; i < 8; i++) code.push(constant(STATE), load(4 * i), OP.set, 4, constant(OUT), swapped(4), store(4 * i));
  return [1, 3, I32, code, OP.end];
}

const { memory, hash } = hashModule<(at: number, length: number) => void>({
  compressTakes: [I32],
  hashTakes: [I32, I32],
  compress: compressBody(),
  hash: hashBody(),
});

const inside = new HashMemory(memory, INPUT);

export function sha256(bytes: Uint8Array, start = 0, end = bytes.length): Uint8Array {
  inside.room(end - start);
  inside.bring(bytes, start, end, INPUT);
  hash(INPUT, end - start);
  return inside.view.slice(OUT, OUT + DIGEST_BYTES);
}

/** The first `length` bytes of the hash, written where they are wanted. */
export function sha256Into(bytes: Uint8Array, start: number, end: number, to: Uint8Array, at: number, length: number): void {
  inside.room(end - start);
  inside.bring(bytes, start, end, INPUT);
  hash(INPUT, end - start);
  const { view } = inside;
  for (let i = 0; i < length; i++) to[at + i] = view[OUT + i];
}

/** The hash of the hash: what the Bitcoin family names things by. */
export function sha256d(bytes: Uint8Array, start = 0, end = bytes.length): Uint8Array {
  inside.room(end - start);
  inside.bring(bytes, start, end, INPUT);
  return twice(end - start);
}

/** The same of what is left of `bytes[start..end]` when two runs inside it are left out. */
export function sha256dWithout(
  bytes: Uint8Array,
  start: number,
  end: number,
  [from1, to1]: readonly [number, number],
  [from2, to2]: readonly [number, number],
): Uint8Array {
  const [first, second, third] = [from1 - start, from2 - to1, end - to2];
  inside.room(first + second + third);
  inside.bring(bytes, start, from1, INPUT);
  inside.bring(bytes, to1, from2, INPUT + first);
  inside.bring(bytes, to2, end, INPUT + first + second);
  return twice(first + second + third);
}

/** The same, written where it is wanted. */
export function sha256dInto(bytes: Uint8Array, start: number, end: number, to: Uint8Array, at: number): void {
  inside.room(end - start);
  inside.bring(bytes, start, end, INPUT);
  hash(INPUT, end - start);
  hash(OUT, DIGEST_BYTES);
  const { view } = inside;
  for (let i = 0; i < DIGEST_BYTES; i++) to[at + i] = view[OUT + i];
}

function twice(length: number): Uint8Array {
  hash(INPUT, length);
  hash(OUT, DIGEST_BYTES);
  return inside.view.slice(OUT, OUT + DIGEST_BYTES);
}
