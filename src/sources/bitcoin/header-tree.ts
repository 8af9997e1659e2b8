/**
 * Every header known of a chain and its side branches, some ninety bytes each:
 * hash, parent, height and the total work from the root on, as an exact number.
 * The best header is the one with the most work; of equals, the one seen first.
 *
 * Headers are called by numbers in order of arrival; the root is 0. It need not
 * be the first block: whoever starts in the middle says where that is.
 */
import { headerHash } from '../../ledgers/bitcoin/index.ts';
import { copyBytes } from '../../util/bytes.ts';
import { assert } from '../../util/errors.ts';

const HASH_BYTES = 32;
const PREV_AT = 4;
const BITS_AT = 72;
/** Limbs of 32 bits, lowest first: one header's work has up to 256 bits, and four billion of them 32 more. */
const LIMBS = 9;
const FIRST_ROOM = 1024;
const NONE = -1;

export class HeaderTree {
  private room = FIRST_ROOM;
  private count = 0;
  private hashes = new Uint8Array(FIRST_ROOM * HASH_BYTES);
  private parents = new Int32Array(FIRST_ROOM);
  private heights = new Uint32Array(FIRST_ROOM);
  private works = new Uint32Array(FIRST_ROOM * LIMBS);
  /** Open addressing, at most half full: number + 1, or 0 for an empty place. */
  private table = new Uint32Array(2 * FIRST_ROOM);
  private bestNumber = 0;
  private readonly rootHeight: number;
  /** The branch that ends in `lineEnd`, by height above the root; brought up to date when it is asked for. */
  private line = new Int32Array(FIRST_ROOM);
  private lineEnd = 0;
  private readonly workOf = new WorkOfBits();

  constructor(root: { readonly hash: Uint8Array; readonly height: number }) {
    this.rootHeight = root.height;
    this.append(root.hash, 0, NONE, root.height);
  }

  /** Headers known, the root included. */
  get size(): number {
    return this.count;
  }

  get best(): number {
    return this.bestNumber;
  }

  /** The number of a header of 80 bytes, also when it is here already; -1: its parent is not. */
  add(header: Uint8Array, hash: Uint8Array = headerHash(header)): number {
    const known = this.find(hash);
    if (known !== NONE) return known;
    const parent = this.find(header, PREV_AT);
    if (parent === NONE) return NONE;
    const number = this.append(hash, 0, parent, this.heights[parent] + 1);
    this.addWork(number, parent, this.workOf.limbs(header));
    if (this.hasMoreWork(number, this.bestNumber)) this.bestNumber = number;
    return number;
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

  private append(hash: Uint8Array, at: number, parent: number, height: number): number {
    if (this.count === this.room) this.grow();
    const number = this.count++;
    copyBytes(hash, at, this.hashes, number * HASH_BYTES, HASH_BYTES);
    this.parents[number] = parent;
    this.heights[number] = height;
    this.table[this.place(hash, at)] = number + 1;
    return number;
  }

  private grow(): void {
    this.room *= 2;
    this.hashes = longer(this.hashes, new Uint8Array(this.room * HASH_BYTES));
    this.parents = longer(this.parents, new Int32Array(this.room));
    this.heights = longer(this.heights, new Uint32Array(this.room));
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

  private hasMoreWork(a: number, b: number): boolean {
    for (let i = LIMBS - 1; i >= 0; i--) {
      const [left, right] = [this.works[a * LIMBS + i], this.works[b * LIMBS + i]];
      if (left !== right) return left > right;
    }
    return false;
  }

  private checked(number: number): number {
    assert(number >= 0 && number < this.count, `there is a header ${number}`);
    return number;
  }
}

/** The target that the short form in a header stands for; null where it stands for none (Core's SetCompact). */
export function targetOf(bits: number): bigint | null {
  const size = bits >>> 24;
  const word = BigInt(bits & 0x7f_ffff);
  const target = size <= 3 ? word >> BigInt(8 * (3 - size)) : word << BigInt(8 * (size - 3));
  if (target === 0n || (bits & 0x80_0000) !== 0 || target >= 1n << 256n) return null;
  return target;
}

/** Expected tries for a target, in limbs. The target is the same for thousands of headers, so the last one is kept. */
class WorkOfBits {
  private bits = 0;
  private readonly last = new Uint32Array(LIMBS);

  limbs(header: Uint8Array): Uint32Array {
    const bits = new DataView(header.buffer, header.byteOffset).getUint32(BITS_AT, true);
    if (bits === this.bits) return this.last;
    const target = targetOf(bits);
    const work = target === null ? 0n : (1n << 256n) / (target + 1n);
    for (let i = 0; i < LIMBS; i++) this.last[i] = Number((work >> BigInt(32 * i)) & 0xffff_ffffn);
    this.bits = bits;
    return this.last;
  }
}

function longer<A extends Uint8Array | Int32Array | Uint32Array>(from: A, to: A): A {
  to.set(from);
  return to;
}
