/**
 * Upper nodes of the tries that were changed last, in memory between steps: an
 * insertion goes through all levels of its trie, and of a million facts only the
 * lowest level or two have to be read then.
 *
 * What is kept of a trie is trusted only while the record of its top in the
 * store is the one we know: it commits to the whole trie. So a batch that was
 * never written, a store that went back, or another one make it start anew, and
 * nobody has to say so.
 */
import type { NodeReader, NodeWrite } from '../../../proofs/index.ts';
import { isTopKey, TOP_KEY } from '../../../proofs/radix/record.ts';
import { equalBytes } from '../../../util/bytes.ts';
import { CAGE_CACHE_BYTES_MAX } from '../../../util/limits.ts';

interface CachedTrie {
  /** In the store, as far as we know; undefined: the trie is empty; null: what is kept is of no state of the trie. */
  top: Uint8Array | undefined | null;
  /** By `slotOf`. */
  readonly nodes: Map<number, Uint8Array>;
  bytes: number;
}

/** What an array, its buffer and its place in a map take besides the bytes. */
const OVERHEAD_BYTES = 250;

/** After it was full, so much of it is free: to forget one trie at a time costs a walk over the map each time. */
const FREED = 1 / 4;

export class TrieCache {
  /** The one that was used last is the last. */
  private readonly tries = new Map<number, CachedTrie>();
  private readonly bytesMax: number;
  private bytes = 0;

  constructor(bytesMax: number = CAGE_CACHE_BYTES_MAX) {
    this.bytesMax = bytesMax;
  }

  /** What is kept takes so much memory. */
  get bytesKept(): number {
    return this.bytes;
  }

  /** The trie in the store, through the cache. The top is read at once. */
  over(number: number, stored: NodeReader): NodeReader {
    const top = stored.get(TOP_KEY);
    const trie = this.begin(number, top);
    const getMany = (keys: readonly Uint8Array[]): (Uint8Array | undefined)[] => this.getMany(trie, stored, keys);
    return { get: (key) => (isTopKey(key) ? top : getMany([key])[0]), getMany };
  }

  private begin(number: number, top: Uint8Array | undefined): CachedTrie {
    const known = this.tries.get(number);
    if (known !== undefined) {
      this.tries.delete(number);
      this.tries.set(number, known);
      if (isSame(known.top, top)) return known;
      this.forget(number, known);
    }
    const trie = { top: top?.slice(), nodes: new Map<number, Uint8Array>(), bytes: 0 };
    this.tries.set(number, trie);
    this.count(trie, OVERHEAD_BYTES);
    return trie;
  }

  private getMany(trie: CachedTrie, stored: NodeReader, keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    const found = keys.map((key) => trie.nodes.get(slotOf(key)));
    const missed = found.flatMap((value, i) => (value === undefined ? [i] : []));
    if (missed.length === 0) return found;
    const read = stored.getMany(missed.length === keys.length ? keys : missed.map((i) => keys[i]));
    for (let j = 0; j < missed.length; j++) {
      const i = missed[j];
      found[i] = read[j];
      this.put(trie, keys[i], read[j]);
    }
    return found;
  }

  /** Copied: what was read or written may hold on to more than this one row. */
  private put(trie: CachedTrie, key: Uint8Array, value: Uint8Array | undefined): void {
    const slot = slotOf(key);
    if (slot === NO_SLOT) return;
    const before = trie.nodes.get(slot);
    if (value !== undefined && before?.length === value.length) {
      before.set(value);
      return;
    }
    if (before !== undefined) this.count(trie, -before.length - OVERHEAD_BYTES);
    if (value === undefined) {
      trie.nodes.delete(slot);
      return;
    }
    trie.nodes.set(slot, value.slice());
    this.count(trie, value.length + OVERHEAD_BYTES);
  }

  private count(trie: CachedTrie, bytes: number): void {
    trie.bytes += bytes;
    this.bytes += bytes;
  }

  /** All writes of a step to a trie that `over` was asked for. Nobody may use what was read from it any more: nodes are overwritten. */
  write(number: number, writes: Iterable<NodeWrite>): void {
    const trie = this.tries.get(number);
    if (trie === undefined) return;
    let { top } = trie;
    trie.top = null;
    for (const [key, value] of writes) {
      if (isTopKey(key)) top = value?.slice();
      else this.put(trie, key, value);
    }
    trie.top = top;
  }

  /** Forgets the tries that were not used for longest, if there is too much. Not while a step reads from them. */
  trim(): void {
    if (this.bytes <= this.bytesMax) return;
    for (const [number, trie] of this.tries) {
      this.forget(number, trie);
      if (this.bytes <= (1 - FREED) * this.bytesMax) return;
    }
  }

  private forget(number: number, trie: CachedTrie): void {
    this.tries.delete(number);
    this.bytes -= trie.bytes;
  }
}

function isSame(known: Uint8Array | undefined | null, top: Uint8Array | undefined): boolean {
  return known == null || top === undefined ? known === top : equalBytes(known, top);
}

const NO_SLOT = -1;

/** The number of a branch within the first four nibbles, by the bytes of its key (`branchKey`); NO_SLOT: it is below them, and not kept. */
function slotOf(key: Uint8Array): number {
  if (key.length === 2) return key[1];
  if (key.length === 3) return (key[1] << 8) | key[2] | 0x10000;
  return key.length === 4 && key[3] === 0x80 ? (key[1] << 8) | key[2] | 0x20000 : NO_SLOT;
}
