/**
 * SHA-256 twice over pairs of hashes, four pairs at a time: the inner nodes of a
 * Merkle tree of the Bitcoin family, in place. One message stands in each lane
 * of WebAssembly's 128-bit words, so what is assembled here is the compression
 * of `sha256.ts` in wider words. Tests compare it with that one.
 */
import { HashMemory, hashModule, unsigned } from './hash-module.ts';
import { IV, K, ROUNDS } from './sha256.ts';

const HASH_BYTES = 32;
const PAIR_BYTES = 2 * HASH_BYTES;
const LANES = 4;
const WORD_BYTES = 4 * LANES;
const BLOCK_BYTES = 16 * WORD_BYTES;
/** Where things lie in the module's memory: state, the pairs' block, the one that ends a message of 64 bytes, the one of a hash. */
const STATE = 0;
const PAIRS = 128;
const ENDING = PAIRS + BLOCK_BYTES;
const INNER = ENDING + BLOCK_BYTES;
const INPUT = INNER + BLOCK_BYTES;

const I32 = 0x7f;
const V128 = 0x7b;
const [END, CALL, GET, SET, TEE, CONSTANT] = [0x0b, 0x10, 0x20, 0x21, 0x22, 0x41];

/** Operations on 128 bits, by their names in the WebAssembly specification. */
const wide = (opcode: number, ...rest: readonly number[]): number[] => [0xfd, ...unsigned(opcode), ...rest];
const ADD = wide(0xae);
const AND = wide(0x4e);
const OR = wide(0x50);
const XOR = wide(0x51);
const SHL = wide(0xab);
const SHR = wide(0xad);
const load = (offset: number): number[] => wide(0x00, 0, ...unsigned(offset));
const store = (offset: number): number[] => wide(0x0b, 0, ...unsigned(offset));
const loadLane = (offset: number, lane: number): number[] => wide(0x54 + 2, 0, ...unsigned(offset), lane);
const storeLane = (offset: number, lane: number): number[] => wide(0x58 + 2, 0, ...unsigned(offset), lane);

const get = (local: number): number[] => [GET, local];
/** Small and not negative: one byte, or two. */
const constant = (value: number): number[] => (value < 64 ? [CONSTANT, value] : [CONSTANT, (value & 0x7f) | 0x80, ...lastBits(value >> 7)]);
const lastBits = (value: number): number[] => (value < 64 ? [value] : [(value & 0x7f) | 0x80, ...lastBits(value >> 7)]);

/** The same word in every lane. */
function splat(word: number): number[] {
  const bytes = [word & 0xff, (word >>> 8) & 0xff, (word >>> 16) & 0xff, word >>> 24];
  return wide(0x0c, ...bytes, ...bytes, ...bytes, ...bytes);
}

/** The four bytes of each lane of what is on the stack, in the other order; the local is used. */
function swapped(local: number): number[] {
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
function compressBody(): number[] {
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

/** hash(at: i32, to: i32): four pairs to four hashes. Local 2: a word. */
function hashBody(): number[] {
  const begin = IV.flatMap((word, i) => [...constant(STATE), ...splat(word), ...store(WORD_BYTES * i)]);
  const compress = (block: number): number[] => [...constant(block), CALL, 0];
  const code: number[] = [];
  for (let i = 0; i < 16; i++) {
    code.push(...constant(PAIRS), ...splat(0), SET, 2);
    for (let lane = 0; lane < LANES; lane++) code.push(...get(0), ...get(2), ...loadLane(PAIR_BYTES * lane + 4 * i, lane), SET, 2);
    code.push(...get(2), ...swapped(2), ...store(WORD_BYTES * i));
  }
  code.push(...begin, ...compress(PAIRS), ...compress(ENDING));
  for (let i = 0; i < 8; i++) code.push(...constant(INNER), ...constant(STATE), ...load(WORD_BYTES * i), ...store(WORD_BYTES * i));
  code.push(...begin, ...compress(INNER));
  for (let i = 0; i < 8; i++) {
    code.push(...constant(STATE), ...load(WORD_BYTES * i), ...swapped(2), SET, 2);
    for (let lane = 0; lane < LANES; lane++) code.push(...get(1), ...get(2), ...storeLane(HASH_BYTES * lane + 4 * i, lane));
  }
  return [1, 1, V128, ...code, END];
}

class Pairs {
  readonly #hash: (at: number, to: number) => void;
  readonly #inside: HashMemory;

  constructor() {
    const { memory, hash } = hashModule<(at: number, to: number) => void>({
      compressTakes: [I32],
      hashTakes: [I32, I32],
      compress: compressBody(),
      hash: hashBody(),
    });
    this.#hash = hash;
    this.#inside = new HashMemory(memory, INPUT);
    const words = new Uint32Array(memory.buffer);
    const put = (block: number, i: number, word: number): void => {
      words.fill(word, (block + WORD_BYTES * i) / 4, (block + WORD_BYTES * (i + 1)) / 4);
    };
    put(ENDING, 0, 0x8000_0000);
    put(ENDING, 15, 8 * PAIR_BYTES);
    put(INNER, 8, 0x8000_0000);
    put(INNER, 15, 8 * HASH_BYTES);
  }

  /** Hashes that are worked on in place, with room for `hashes` and a few more. */
  row(hashes: number): Uint8Array {
    // The last four pairs may be fewer: what stands behind them is hashed with them.
    const bytes = HASH_BYTES * hashes + LANES * PAIR_BYTES;
    this.#inside.room(bytes);
    return this.#inside.view.subarray(INPUT, INPUT + bytes);
  }

  halve(pairs: number): void {
    for (let i = 0; i < pairs; i += LANES) this.#hash(INPUT + PAIR_BYTES * i, INPUT + HASH_BYTES * i);
  }
}

let pairs: Pairs | null = null;

/** Room for so many hashes and one more, in the memory of the module. What was there before is lost. */
export function pairRow(hashes: number): Uint8Array {
  pairs ??= new Pairs();
  return pairs.row(hashes + 1);
}

/** Each pair of hashes in the row becomes the hash of the hash of both, one behind the other from the front. */
export function hashPairs(count: number): void {
  pairs ??= new Pairs();
  pairs.halve(count);
}
