/**
 * The tries of all tokens in one column, each below its number, and the nodes of
 * them that were used last in memory. A step changes tries here and writes them
 * when it is whole.
 *
 * What is remembered of a trie is trusted only while the record of its top in
 * the store is the one we know: it commits to the whole trie. So a batch that
 * was never written, a store that went back, or another one make it start anew,
 * and nobody has to say so.
 */
import type { Batch, Reader } from '../../../engine/engine.ts';
import { mpf, NodeOverlay, type NodeReader } from '../../../proofs/index.ts';
import { isTopKey, TOP_KEY } from '../../../proofs/radix/record.ts';
import { concatBytes, equalBytes } from '../../../util/bytes.ts';
import { CAGE_NODES_KEPT, CAGE_TOPS_KEPT } from '../../../util/limits.ts';
import { CAGE_NODES, triePrefix } from './rows.ts';

/** A trie as it is stored. */
export function storedTrie(reader: Reader, trie: number): NodeReader {
  const prefix = triePrefix(trie);
  return {
    get: (key) => reader.get(CAGE_NODES, concatBytes(prefix, key)),
    getMany: (keys) =>
      reader.getMany(
        CAGE_NODES,
        keys.map((key) => concatBytes(prefix, key)),
      ),
  };
}

/** Nodes that were used last, of any trie. */
export class TrieNodeCache {
  private readonly nodes = new Map<string, Uint8Array>();
  private readonly tops = new Map<number, Uint8Array | undefined>();

  /** The trie in the store, through the cache. The top is read at once. */
  over(reader: Reader, trie: number): NodeReader {
    const stored = storedTrie(reader, trie);
    const top = stored.get(TOP_KEY);
    this.begin(trie, top);
    const getMany = (keys: readonly Uint8Array[]): (Uint8Array | undefined)[] => this.getMany(stored, trie, keys);
    return { get: (key) => (isTopKey(key) ? top : getMany([key])[0]), getMany };
  }

  private getMany(stored: NodeReader, trie: number, keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    const found = keys.map((key) => this.recall(nodeName(trie, key)));
    const missed = keys.flatMap((_, i) => (found[i] === undefined ? [i] : []));
    if (missed.length === 0) return found;
    const read = stored.getMany(missed.map((i) => keys[i]));
    missed.forEach((i, j) => {
      const value = read[j];
      if (value === undefined) return;
      found[i] = value;
      this.remember(nodeName(trie, keys[i]), value);
    });
    return found;
  }

  /** What is remembered under this name, which is then the last to be forgotten. */
  private recall(name: string): Uint8Array | undefined {
    const known = this.nodes.get(name);
    if (known === undefined) return undefined;
    this.nodes.delete(name);
    this.nodes.set(name, known);
    return known;
  }

  private begin(trie: number, top: Uint8Array | undefined): void {
    const known = this.tops.get(trie);
    const isKnown = this.tops.has(trie) && (top === undefined || known === undefined ? top === known : equalBytes(top, known));
    if (isKnown) return;
    if (this.tops.has(trie) || this.tops.size >= CAGE_TOPS_KEPT) {
      this.nodes.clear();
      this.tops.clear();
    }
    this.tops.set(trie, top?.slice());
  }

  private remember(name: string, value: Uint8Array): void {
    // Copied: what was read may hold on to more than this one row.
    this.nodes.set(name, value.slice());
    if (this.nodes.size <= CAGE_NODES_KEPT) return;
    for (const oldest of this.nodes.keys()) {
      this.nodes.delete(oldest);
      return;
    }
  }

  /** Told each write of a trie that `over` was asked for. */
  note(trie: number, key: Uint8Array, value: Uint8Array | undefined): void {
    if (isTopKey(key)) {
      this.tops.set(trie, value?.slice());
      return;
    }
    const name = nodeName(trie, key);
    this.nodes.delete(name);
    if (value !== undefined) this.remember(name, value);
  }
}

function nodeName(trie: number, key: Uint8Array): string {
  let name = `${trie} `;
  for (let i = 0; i < key.length; i++) name += String.fromCharCode(key[i]);
  return name;
}

export class CageTries {
  private readonly view: Reader;
  private readonly cache: TrieNodeCache;
  private readonly open = new Map<number, NodeOverlay>();

  constructor(view: Reader, cache: TrieNodeCache) {
    this.view = view;
    this.cache = cache;
  }

  private trie(number: number): NodeOverlay {
    const known = this.open.get(number);
    if (known !== undefined) return known;
    const overlay = new NodeOverlay(this.cache.over(this.view, number));
    this.open.set(number, overlay);
    return overlay;
  }

  root(number: number): Uint8Array {
    return mpf.root(this.trie(number));
  }

  /** The root after these changes, each of another key. */
  update(number: number, changes: readonly mpf.Change[]): Uint8Array {
    const trie = this.trie(number);
    return changes.length === 0 ? mpf.root(trie) : mpf.update(trie, trie, changes);
  }

  flush(batch: Batch): void {
    for (const [number, overlay] of this.open) {
      const prefix = triePrefix(number);
      for (const [key, value] of overlay.pendingWrites()) {
        if (value === undefined) batch.del(CAGE_NODES, concatBytes(prefix, key));
        else batch.put(CAGE_NODES, concatBytes(prefix, key), value);
        this.cache.note(number, key, value);
      }
    }
  }
}
