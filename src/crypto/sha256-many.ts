/**
 * SHA-256 of many short messages, four at a time: the ids of a block's
 * transactions, the keys of a step's scripts (`sha256-lanes.ts`). Messages that
 * have the same number of blocks wait for each other; a hash is where it is wanted
 * when there were four of them, or when `finish` is called. Longer messages are
 * hashed one by one. Tests compare it with the platform's.
 */
import { concatBytes } from '../util/bytes.ts';
import { HashMemory, hashModule } from './hash-module.ts';
import { sha256, sha256d } from './sha256.ts';
import {
  beginBody,
  CALL,
  compressBody,
  constant,
  END,
  get,
  I32,
  LANES,
  load,
  loadLane,
  SET,
  STATE,
  STATE_BYTES,
  splat,
  store,
  storeLane,
  swapped,
  V128,
  WIDE_BLOCK_BYTES,
  WORD_BYTES,
} from './sha256-lanes.ts';

const HASH_BYTES = 32;
const BLOCK_BYTES = 64;
/** Behind a message: a bit that is set, and its length. */
const ENDING_BYTES = 9;
/** Most transactions and nearly all scripts are shorter. */
const BLOCKS_MAX = 12;

/** Where things lie in the module's memory behind the state: a block of all lanes, the one of a hash, the hashes, the messages. */
const BLOCK = STATE + STATE_BYTES;
const INNER = BLOCK + WIDE_BLOCK_BYTES;
const OUT = INNER + WIDE_BLOCK_BYTES;
const INPUT = OUT + LANES * HASH_BYTES;

const [LOOP, IF, BR_IF, VOID, ADD32, SUB32] = [0x03, 0x04, 0x0d, 0x40, 0x6a, 0x6b];

/**
 * hash(at: i32, blocks: i32, stride: i32, twice: i32): four messages of so many blocks, so far apart. Locals: 4 to 7 where
 * each message is, 8 a word.
 */
function hashBody(): number[] {
  const [at, blocks, stride, twice, lanes, word] = [0, 1, 2, 3, 4, 8];
  const compress = (block: number): number[] => [...constant(block), CALL, 0];
  const code: number[] = [...get(at), SET, lanes];
  for (let lane = 1; lane < LANES; lane++) code.push(...get(lanes + lane - 1), ...get(stride), ADD32, SET, lanes + lane);
  code.push(...beginBody(), LOOP, VOID);
  for (let i = 0; i < 16; i++) {
    code.push(...constant(BLOCK), ...splat(0), SET, word);
    for (let lane = 0; lane < LANES; lane++) code.push(...get(lanes + lane), ...get(word), ...loadLane(4 * i, lane), SET, word);
    code.push(...get(word), ...swapped(word), ...store(WORD_BYTES * i));
  }
  code.push(...compress(BLOCK));
  for (let lane = 0; lane < LANES; lane++) code.push(...get(lanes + lane), ...constant(BLOCK_BYTES), ADD32, SET, lanes + lane);
  code.push(...get(blocks), ...constant(1), SUB32, SET, blocks, ...get(blocks), BR_IF, 0, END);
  code.push(...get(twice), IF, VOID);
  for (let i = 0; i < 8; i++) code.push(...constant(INNER), ...constant(STATE), ...load(WORD_BYTES * i), ...store(WORD_BYTES * i));
  code.push(...beginBody(), ...compress(INNER), END);
  for (let i = 0; i < 8; i++) {
    code.push(...constant(STATE), ...load(WORD_BYTES * i), ...swapped(word), SET, word);
    for (let lane = 0; lane < LANES; lane++) code.push(...constant(OUT), ...get(word), ...storeLane(HASH_BYTES * lane + 4 * i, lane));
  }
  return [2, LANES, I32, 1, V128, ...code, END];
}

type Hash = (at: number, blocks: number, stride: number, twice: number) => void;

/** Where a hash is wanted. */
interface Target {
  to: Uint8Array;
  at: number;
}

/** Messages of one number of blocks, which wait for each other. */
class Queue {
  /** Where the first is; each has so many bytes. */
  readonly base: number;
  readonly stride: number;
  readonly targets: Target[] = Array.from({ length: LANES }, () => ({ to: NOTHING, at: 0 }));
  waiting = 0;
  /** Where the next is. */
  end: number;

  constructor(blocks: number) {
    this.stride = BLOCK_BYTES * blocks;
    this.base = INPUT + LANES * BLOCK_BYTES * ((blocks * (blocks - 1)) / 2);
    this.end = this.base;
  }

  clear(): void {
    this.waiting = 0;
    this.end = this.base;
  }
}

const NOTHING = new Uint8Array(0);

export class ManyHashes {
  readonly #hash: Hash;
  readonly #inside: HashMemory;
  readonly #queues: readonly Queue[];
  readonly #twice: boolean;
  readonly #length: number;

  /** `twice`: the hash of the hash. `length`: how many of its bytes are wanted. */
  constructor(twice: boolean, length = HASH_BYTES) {
    const { memory, hash } = hashModule<Hash>({
      compressTakes: [I32],
      hashTakes: [I32, I32, I32, I32],
      compress: compressBody(),
      hash: hashBody(),
    });
    this.#hash = hash;
    this.#inside = new HashMemory(memory, INPUT);
    this.#queues = Array.from({ length: BLOCKS_MAX + 1 }, (_, blocks) => new Queue(blocks));
    this.#inside.room(LANES * BLOCK_BYTES * ((BLOCKS_MAX * (BLOCKS_MAX + 1)) / 2));
    const words = new Uint32Array(memory.buffer);
    words.fill(0, INNER / 4, OUT / 4);
    words.fill(0x8000_0000, (INNER + 8 * WORD_BYTES) / 4, (INNER + 9 * WORD_BYTES) / 4);
    words.fill(8 * HASH_BYTES, (INNER + 15 * WORD_BYTES) / 4, (INNER + 16 * WORD_BYTES) / 4);
    this.#twice = twice;
    this.#length = length;
  }

  /** The hash of `bytes[start..end]`, to be written at `to[at..]`. */
  add(bytes: Uint8Array, start: number, end: number, to: Uint8Array, at: number): void {
    const length = end - start;
    const blocks = blocksOf(length);
    if (blocks > BLOCKS_MAX) this.#alone(bytes.subarray(start, end), to, at);
    else {
      const queue = this.#queues[blocks];
      this.#inside.bring(bytes, start, end, queue.end);
      this.#enqueue(queue, blocks, length, to, at);
    }
  }

  /** The same of what is left when two runs inside are left out. */
  addWithout(
    bytes: Uint8Array,
    start: number,
    end: number,
    [from1, to1]: readonly [number, number],
    [from2, to2]: readonly [number, number],
    to: Uint8Array,
    at: number,
  ): void {
    const [first, second] = [from1 - start, from2 - to1];
    const length = first + second + end - to2;
    const blocks = blocksOf(length);
    if (blocks > BLOCKS_MAX)
      this.#alone(concatBytes(bytes.subarray(start, from1), bytes.subarray(to1, from2), bytes.subarray(to2, end)), to, at);
    else {
      const queue = this.#queues[blocks];
      this.#inside.bring(bytes, start, from1, queue.end);
      this.#inside.bring(bytes, to1, from2, queue.end + first);
      this.#inside.bring(bytes, to2, end, queue.end + first + second);
      this.#enqueue(queue, blocks, length, to, at);
    }
  }

  /** All that were added are hashed when it returns. */
  finish(): void {
    for (let blocks = 1; blocks <= BLOCKS_MAX; blocks++) if (this.#queues[blocks].waiting > 0) this.#take(this.#queues[blocks], blocks);
  }

  /** Those that wait are forgotten. */
  clear(): void {
    for (const queue of this.#queues) queue.clear();
  }

  #alone(bytes: Uint8Array, to: Uint8Array, at: number): void {
    to.set((this.#twice ? sha256d(bytes) : sha256(bytes)).subarray(0, this.#length), at);
  }

  /** Behind the message that was brought: a bit that is set, zeros, and its length in bits. */
  #enqueue(queue: Queue, blocks: number, length: number, to: Uint8Array, at: number): void {
    const { view } = this.#inside;
    const end = queue.end + queue.stride;
    let place = queue.end + length;
    view[place++] = 0x80;
    while (place < end - 3) view[place++] = 0;
    const bits = 8 * length;
    view[place++] = bits >>> 16;
    view[place++] = bits >>> 8;
    view[place] = bits;
    const target = queue.targets[queue.waiting++];
    target.to = to;
    target.at = at;
    queue.end = end;
    if (queue.waiting === LANES) this.#take(queue, blocks);
  }

  /** Lanes in which nobody waits are hashed along. */
  #take(queue: Queue, blocks: number): void {
    this.#hash(queue.base, blocks, queue.stride, this.#twice ? 1 : 0);
    const { view } = this.#inside;
    for (let lane = 0; lane < queue.waiting; lane++) {
      const target = queue.targets[lane];
      const { to, at } = target;
      const from = OUT + HASH_BYTES * lane;
      for (let i = 0; i < this.#length; i++) to[at + i] = view[from + i];
      target.to = NOTHING;
    }
    queue.clear();
  }
}

function blocksOf(length: number): number {
  return Math.ceil((length + ENDING_BYTES) / BLOCK_BYTES);
}
