/**
 * The compact sparse Merkle tree over a node store: change entries, many at a
 * time, and read its root. Keys are bits and prefix-free, values 32 bytes.
 */
import type { Bits } from '../bits.ts';
import type { NodeReader, NodeSink } from '../node-store.ts';
import { valueBytes } from '../radix/record.ts';
import { type Change, updateTree } from '../radix/update.ts';
import { allEntries, descend, isFound, readTop } from '../radix/walk.ts';
import { CSMT_RULE, rootOf } from './hash.ts';

/** A null root is the empty tree. */
export type Root = Uint8Array | null;

/** What a change of the tree came to. */
export interface UpdatedRoot {
  /** The root after it. */
  readonly root: Root;
  /** The value of each key before, in the order of the changes: `{ key, value: before[i] }` undoes. */
  readonly before: readonly (Uint8Array | null)[];
}

/**
 * Applies all changes together, with one read of the store a level. Undoing them
 * gives back the same records. Refused without any write: one key twice, a key
 * that begins another (even one taken out in the same update), something not as
 * a change expects it.
 */
export function update(nodes: NodeReader, sink: NodeSink, changes: readonly Change[]): UpdatedRoot {
  const { top, before } = updateTree(CSMT_RULE, nodes, sink, changes);
  return { root: top === undefined ? null : rootOf(top), before };
}

/** The root of the tree; null: it is empty. */
export function root(nodes: NodeReader): Root {
  const top = readTop(nodes, CSMT_RULE.width);
  return top === undefined ? null : rootOf(top);
}

/** The value of a key; null when it is not there. */
export function get(nodes: NodeReader, key: Bits): Uint8Array | null {
  const descent = descend(nodes, CSMT_RULE.width, key);
  return isFound(descent, key) ? valueBytes(descent.node!) : null;
}

/** Every entry in key order. It reads the whole tree into memory. */
export function entries(nodes: NodeReader): (readonly [key: Bits, value: Uint8Array])[] {
  return allEntries(nodes, CSMT_RULE.width);
}
