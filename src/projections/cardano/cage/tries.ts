/**
 * The tries of all tokens in one column, each below its number. A step changes
 * tries here, behind a cache of upper nodes that outlives it, and writes them
 * when it is whole.
 */
import type { Batch, Reader } from '../../../engine/engine.ts';
import { mpf, NodeOverlay, type NodeReader } from '../../../proofs/index.ts';
import { concatBytes } from '../../../util/bytes.ts';
import { CAGE_NODES, triePrefix } from './rows.ts';
import type { TrieCache } from './trie-cache.ts';

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

export class CageTries {
  private readonly view: Reader;
  private readonly cache: TrieCache;
  private readonly open = new Map<number, NodeOverlay>();

  constructor(view: Reader, cache: TrieCache) {
    this.view = view;
    this.cache = cache;
  }

  private trie(number: number): NodeOverlay {
    const known = this.open.get(number);
    if (known !== undefined) return known;
    const overlay = new NodeOverlay(this.cache.over(number, storedTrie(this.view, number)));
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
      }
      this.cache.write(number, overlay.pendingWrites());
    }
    this.cache.trim();
  }
}
