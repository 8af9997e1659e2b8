/**
 * SHA-256 twice over pairs of hashes, four pairs at a time: the inner nodes of a
 * Merkle tree of the Bitcoin family, in place (`sha256-lanes.ts`). Tests compare
 * it with the platform's.
 */
import { HashMemory, hashModule } from './hash-module.ts';
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
const PAIR_BYTES = 2 * HASH_BYTES;
/** Where things lie in the module's memory behind the state: the pairs' block, the one that ends a message of 64 bytes, the one of a hash. */
const PAIRS = STATE + STATE_BYTES;
const ENDING = PAIRS + WIDE_BLOCK_BYTES;
const INNER = ENDING + WIDE_BLOCK_BYTES;
const INPUT = INNER + WIDE_BLOCK_BYTES;

/** hash(at: i32, to: i32): four pairs to four hashes. Local 2: a word. */
function hashBody(): number[] {
  const begin = beginBody();
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
