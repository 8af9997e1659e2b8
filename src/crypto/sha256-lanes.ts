/**
 * What hashing several messages at once with SHA-256 has in common: one message
 * stands in each lane of WebAssembly's 128-bit words, so what is assembled here is
 * the compression of `sha256.ts` in wider words. How messages come into the lanes
 * and out of them is the modules' own (`sha256-pairs.ts`, `sha256-many.ts`).
 */
import { unsigned } from './hash-module.ts';
import { IV, K, ROUNDS } from './sha256.ts';

export const LANES = 4;
export const WORD_BYTES = 4 * LANES;
/** Of all lanes together. */
export const WIDE_BLOCK_BYTES = 16 * WORD_BYTES;
/** In a module's memory the state stands first. */
export const STATE = 0;
export const STATE_BYTES = 8 * WORD_BYTES;

export const I32 = 0x7f;
export const V128 = 0x7b;
export const [END, CALL, GET, SET, TEE, CONSTANT] = [0x0b, 0x10, 0x20, 0x21, 0x22, 0x41];

/** Operations on 128 bits, by their names in the WebAssembly specification. */
export const wide = (opcode: number, ...rest: readonly number[]): number[] => [0xfd, ...unsigned(opcode), ...rest];
const ADD = wide(0xae);
const AND = wide(0x4e);
const OR = wide(0x50);
const XOR = wide(0x51);
const SHL = wide(0xab);
const SHR = wide(0xad);
export const load = (offset: number): number[] => wide(0x00, 0, ...unsigned(offset));
export const store = (offset: number): number[] => wide(0x0b, 0, ...unsigned(offset));
export const loadLane = (offset: number, lane: number): number[] => wide(0x54 + 2, 0, ...unsigned(offset), lane);
export const storeLane = (offset: number, lane: number): number[] => wide(0x58 + 2, 0, ...unsigned(offset), lane);

export const get = (local: number): number[] => [GET, local];
/** Small and not negative: one byte, or two. */
export const constant = (value: number): number[] =>
  value < 64 ? [CONSTANT, value] : [CONSTANT, (value & 0x7f) | 0x80, ...lastBits(value >> 7)];
const lastBits = (value: number): number[] => (value < 64 ? [value] : [(value & 0x7f) | 0x80, ...lastBits(value >> 7)]);

/** The same word in every lane. */
export function splat(word: number): number[] {
  const bytes = [word & 0xff, (word >>> 8) & 0xff, (word >>> 16) & 0xff, word >>> 24];
  return wide(0x0c, ...bytes, ...bytes, ...bytes, ...bytes);
}

/** The four bytes of each lane of what is on the stack, in the other order; the local is used. */
export function swapped(local: number): number[] {
  const order = [0, 1, 2, 3].flatMap((lane) => [3, 2, 1, 0].map((byte) => 4 * lane + byte));
  return [TEE, local, ...get(local), ...wide(0x0d, ...order)];
}

/** The xor of a word turned right by each of the first amounts and shifted right by the last, if any. */
function mixed(local: number, turns: readonly number[], shift = 0): number[] {
  const shifted = (amount: number, op: readonly number[]): number[] => [...get(local), ...constant(amount), ...op];
  const code = turns.flatMap((turn, i) => [...shifted(turn, SHR), ...shifted(32 - turn, SHL), ...OR, ...(i > 0 ? XOR : [])]);
  return shift === 0 ? code : [...code, ...shifted(shift, SHR), ...XOR];
}

/** compress(block: i32). Locals: 1..8 the working words, 9..24 the last sixteen of the schedule, 25 a sum. */
export function compressBody(): number[] {
  const word = (i: number): number => 9 + (i & 15);
  const sum = 25;
  const code: number[] = [];
  for (let i = 0; i < 8; i++) code.push(...constant(STATE), ...load(WORD_BYTES * i), SET, 1 + i);
  for (let round = 0; round < ROUNDS; round++) {
    const w = word(round);
    const [a, b, c, d, e, f, g, h] = [0, 1, 2, 3, 4, 5, 6, 7].map((name) => 1 + ((name - round) & 7));
    if (round < 16) code.push(...get(0), ...load(WORD_BYTES * round), SET, w);
    else {
      code.push(...get(w), ...mixed(word(round + 1), [7, 18], 3), ...ADD, ...get(word(round + 9)), ...ADD);
      code.push(...mixed(word(round + 14), [17, 19], 10), ...ADD, SET, w);
    }
    code.push(...get(h), ...mixed(e, [6, 11, 25]), ...ADD, ...get(f), ...get(g), ...XOR, ...get(e), ...AND, ...get(g), ...XOR, ...ADD);
    code.push(...splat(K[round]), ...ADD, ...get(w), ...ADD, TEE, sum, ...get(d), ...ADD, SET, d);
    code.push(...get(sum), ...mixed(a, [2, 13, 22]), ...ADD, ...get(a), ...get(b), ...AND, ...get(a), ...get(b), ...XOR);
    code.push(...get(c), ...AND, ...XOR, ...ADD, SET, h);
  }
  for (let i = 0; i < 8; i++)
    code.push(...constant(STATE), ...constant(STATE), ...load(WORD_BYTES * i), ...get(1 + i), ...ADD, ...store(WORD_BYTES * i));
  return [1, 25, V128, ...code, END];
}

/** Sets the state to where every message begins. */
export function beginBody(): number[] {
  return IV.flatMap((word, i) => [...constant(STATE), ...splat(word), ...store(WORD_BYTES * i)]);
}
