/**
 * Every header known of a chain and its side branches, some hundred bytes each:
 * hash, parent, height, time, bits and the total work from the root on, as an
 * exact number. The best header is the one with the most work; of equals, the
 * one seen first.
 *
 * Headers are called by numbers in order of arrival; the root is 0. It need not
 * be the first block: whoever starts in the middle says where that is.
 */
import { type HeaderLine, workOf } from '../../ledgers/bitcoin/difficulty.ts';
import { headerHash } from '../../ledgers/bitcoin/index.ts';
import { copyBytes, readU32LE } from '../../util/bytes.ts';
import { assert } from '../../util/errors.ts';

const HASH_BYTES = 32;
const PREV_AT = 4;
const TIME_AT = 68;
const BITS_AT = 72;
/** Limbs of 32 bits, lowest first: one header's work has up to 256 bits, and four billion of them 32 more. */
const LIMBS = 9;
const FIRST_ROOM = 1024;
const NONE = -1;

/** Where a tree begins. */
export interface RootHeader {
  readonly hash: Uint8Array;
  readonly height: number;
  readonly time: number;
  readonly bits: number;
}

export function rootOf(header: Uint8Array, height: number): RootHeader {
  return { hash: headerHash(header), height, time: readU32LE(header, TIME_AT), bits: readU32LE(header, BITS_AT) };
}

export class HeaderTree implements HeaderLine {
  private room = FIRST_ROOM;
  private count = 0;
  private hashes = new Uint8Array(FIRST_ROOM * HASH_BYTES);
  private parents = new Int32Array(FIRST_ROOM);
  private heights = new Uint32Array(FIRST_ROOM);
  private times = new Uint32Array(FIRST_ROOM);
  private shortTargets = new Uint32Array(FIRST_ROOM);
  private works = new Uint32Array(FIRST_ROOM * LIMBS);
  /** Open addressing, at most half full: number + 1, or 0 for an empty place. */
  private table = new Uint32Array(2 * FIRST_ROOM);
  private bestNumber = 0;
  private readonly rootHeight: number;
  /** The branch that ends in `lineEnd`, by height above the root; brought up to date when it is asked for. */
  private line = new Int32Array(FIRST_ROOM);
  private lineEnd = 0;
  private readonly workOf = new WorkOfBits();

  constructor(root: RootHeader) {
    this.rootHeight = root.height;
    this.append(root, NONE);
  }

  /** Headers known, the root included. */
  get size(): number {
    return this.count;
  }

  get best(): number {
    return this.bestNumber;
  }

  /** Height of the root. */
  get lowest(): number {
    return this.rootHeight;
  }

  /** The number of a header of 80 bytes, also when it is here already; -1: its parent is not. */
  add(header: Uint8Array, hash: Uint8Array = headerHash(header)): number {
    const known = this.find(hash);
    if (known !== NONE) return known;
    const parent = this.find(header, PREV_AT);
    if (parent === NONE) return NONE;
    return this.addChild(parent, { hash, time: readU32LE(header, TIME_AT), bits: readU32LE(header, BITS_AT) });
  }

  /** The number of the header with the hash that stands at `at`; -1: unknown. */
  find(hash: Uint8Array, at = 0): number {
    const entry = this.table[this.place(hash, at)];
    return entry - 1;
  }

  height(number: number): number {
    return this.heights[this.checked(number)];
  }

  hash(number: number): Uint8Array {
    const at = this.checked(number) * HASH_BYTES;
    return this.hashes.slice(at, at + HASH_BYTES);
  }

  /** -1 for the root. */
  parent(number: number): number {
    return this.parents[this.checked(number)];
  }

  time(number: number): number {
    return this.times[this.checked(number)];
  }

  bits(number: number): number {
    return this.shortTargets[this.checked(number)];
  }

  /** From behind the root up to and with that header. */
  work(number: number): bigint {
    let work = 0n;
    for (let i = LIMBS - 1; i >= 0; i--) work = (work << 32n) | BigInt(this.works[this.checked(number) * LIMBS + i]);
    return work;
  }

  /** Whether the branch that ends in `a` has more work than the one that ends in `b`. */
  hasMoreWork(a: number, b: number): boolean {
    for (let i = LIMBS - 1; i >= 0; i--) {
      const [left, right] = [this.works[a * LIMBS + i], this.works[b * LIMBS + i]];
      if (left !== right) return left > right;
    }
    return false;
  }

  /** A new tree of one branch only: from that height (or from the root, if that is higher) up to `end`. */
  branch(end: number, height: number): HeaderTree {
    const numbers = [end];
    for (let at = this.parent(end); at !== NONE && this.heights[at] >= height; at = this.parents[at]) numbers.push(at);
    const tree = new HeaderTree(this.fields(numbers.pop() as number));
    for (let last = 0; numbers.length > 0; ) last = tree.addChild(last, this.fields(numbers.pop() as number));
    return tree;
  }

  /** The header at that height on the branch that ends in `number`; -1: below the root, or above the header. */
  ancestor(number: number, height: number): number {
    if (height < this.rootHeight || height > this.height(number)) return NONE;
    let at = number;
    // Few headers are on side branches: as soon as the best one is reached, it says the rest.
    while (this.heights[at] > height && !this.isOnLine(at)) at = this.parents[at];
    return this.heights[at] === height ? at : this.line[height - this.rootHeight];
  }

  /** The newest header that both branches have. */
  fork(a: number, b: number): number {
    const height = Math.min(this.height(a), this.height(b));
    let [left, right] = [this.ancestor(a, height), this.ancestor(b, height)];
    while (left !== right) {
      left = this.parents[left];
      right = this.parents[right];
    }
    return left;
  }

  private isOnLine(number: number): boolean {
    if (this.lineEnd !== this.bestNumber) this.redrawLine();
    const height = this.heights[number];
    return height <= this.heights[this.bestNumber] && this.line[height - this.rootHeight] === number;
  }

  /** From the best header down, to where the line is as it was. */
  private redrawLine(): void {
    const oldHeight = this.heights[this.lineEnd];
    for (let at = this.bestNumber; at !== NONE; at = this.parents[at]) {
      const place = this.heights[at] - this.rootHeight;
      if (this.heights[at] <= oldHeight && this.line[place] === at) break;
      this.line[place] = at;
    }
    this.lineEnd = this.bestNumber;
  }

  private fields(number: number): RootHeader {
    return { hash: this.hash(number), height: this.height(number), time: this.time(number), bits: this.bits(number) };
  }

  private addChild(parent: number, { hash, time, bits }: Omit<RootHeader, 'height'>): number {
    const number = this.append({ hash, time, bits, height: this.heights[parent] + 1 }, parent);
    this.addWork(number, parent, this.workOf.limbs(bits));
    if (this.hasMoreWork(number, this.bestNumber)) this.bestNumber = number;
    return number;
  }

  private append({ hash, height, time, bits }: RootHeader, parent: number): number {
    if (this.count === this.room) this.grow();
    const number = this.count++;
    copyBytes(hash, 0, this.hashes, number * HASH_BYTES, HASH_BYTES);
    this.parents[number] = parent;
    this.heights[number] = height;
    this.times[number] = time;
    this.shortTargets[number] = bits;
    this.table[this.place(hash, 0)] = number + 1;
    return number;
  }

  private grow(): void {
    this.room *= 2;
    this.hashes = longer(this.hashes, new Uint8Array(this.room * HASH_BYTES));
    this.parents = longer(this.parents, new Int32Array(this.room));
    this.heights = longer(this.heights, new Uint32Array(this.room));
    this.times = longer(this.times, new Uint32Array(this.room));
    this.shortTargets = longer(this.shortTargets, new Uint32Array(this.room));
    this.works = longer(this.works, new Uint32Array(this.room * LIMBS));
    this.line = longer(this.line, new Int32Array(this.room));
    this.table = new Uint32Array(2 * this.room);
    for (let i = 0; i < this.count; i++) this.table[this.place(this.hashes, i * HASH_BYTES)] = i + 1;
  }

  /** Where in the table that hash is, or would be. */
  private place(hash: Uint8Array, at: number): number {
    const mask = this.table.length - 1;
    // Work shows in the last bytes of a hash, as zeros; the first ones are as good as random.
    let place = (hash[at] | (hash[at + 1] << 8) | (hash[at + 2] << 16) | (hash[at + 3] << 24)) & mask;
    while (this.table[place] !== 0 && !this.isHash(this.table[place] - 1, hash, at)) place = (place + 1) & mask;
    return place;
  }

  private isHash(number: number, hash: Uint8Array, at: number): boolean {
    const mine = number * HASH_BYTES;
    for (let i = 0; i < HASH_BYTES; i++) if (this.hashes[mine + i] !== hash[at + i]) return false;
    return true;
  }

  private addWork(number: number, parent: number, work: Uint32Array): void {
    let carry = 0;
    for (let i = 0; i < LIMBS; i++) {
      const sum = this.works[parent * LIMBS + i] + work[i] + carry;
      this.works[number * LIMBS + i] = sum;
      carry = sum > 0xffff_ffff ? 1 : 0;
    }
  }

  private checked(number: number): number {
    assert(number >= 0 && number < this.count, `there is a header ${number}`);
    return number;
  }
}

/** Expected tries for a target, in limbs. The target is the same for thousands of headers, so the last one is kept. */
class WorkOfBits {
  private bits = 0;
  private readonly last = new Uint32Array(LIMBS);

  limbs(bits: number): Uint32Array {
    if (bits === this.bits) return this.last;
    const work = workOf(bits);
    for (let i = 0; i < LIMBS; i++) this.last[i] = Number((work >> BigInt(32 * i)) & 0xffff_ffffn);
    this.bits = bits;
    return this.last;
  }
}

function longer<A extends Uint8Array | Int32Array | Uint32Array>(from: A, to: A): A {
  to.set(from);
  return to;
}
