/**
 * The forestry over a node store: insert, update and delete by key, one at a
 * time or many together. It keeps hashes only: whoever wants the keys and
 * values back keeps them beside it, in the same batch.
 */
import { blake2b256 } from '../../crypto/hash.ts';
import type { NodeReader, NodeSink } from '../node-store.ts';
import { type TreeNode, valueBytes } from '../radix/record.ts';
import { updateTree } from '../radix/update.ts';
import { descend, isFound, readTop } from '../radix/walk.ts';
import { NULL_HASH, nodeHash, pathOfKey } from './hash.ts';
import { MPF_RULE } from './slots.ts';

/** A change of one key. */
export interface Change {
  /** The key, before it is hashed. */
  readonly key: Uint8Array;
  /** Null deletes. */
  readonly value: Uint8Array | null;
  /** What must be so before; a change that finds it otherwise refuses all of them. */
  readonly expect?: 'present' | 'absent';
}

function rootOf(top: TreeNode | undefined): Uint8Array {
  return top === undefined ? NULL_HASH : nodeHash(top);
}

/** 32 zero bytes for the empty trie. */
export function root(nodes: NodeReader): Uint8Array {
  return rootOf(readTop(nodes, MPF_RULE.width));
}

/** Applies all changes together and returns the new root; the inverse changes give back the same records. */
export function update(nodes: NodeReader, sink: NodeSink, changes: readonly Change[]): Uint8Array {
  const { top } = updateTree(
    MPF_RULE,
    nodes,
    sink,
    changes.map(({ key, value, expect }) => ({
      key: pathOfKey(key),
      value: value === null ? null : blake2b256(value),
      ...(expect === undefined ? {} : { expect }),
    })),
  );
  return rootOf(top);
}

/** Refused (USAGE) when the key is there already. */
export function insertKey(nodes: NodeReader, sink: NodeSink, key: Uint8Array, value: Uint8Array): Uint8Array {
  return update(nodes, sink, [{ key, value, expect: 'absent' }]);
}

/** Refused (NOT_FOUND) when the key is not there. */
export function updateKey(nodes: NodeReader, sink: NodeSink, key: Uint8Array, value: Uint8Array): Uint8Array {
  return update(nodes, sink, [{ key, value, expect: 'present' }]);
}

/** Refused (NOT_FOUND) when the key is not there. */
export function deleteKey(nodes: NodeReader, sink: NodeSink, key: Uint8Array): Uint8Array {
  return update(nodes, sink, [{ key, value: null, expect: 'present' }]);
}

/** The hash of a key's value; null when the key is not there. */
export function valueHash(nodes: NodeReader, key: Uint8Array): Uint8Array | null {
  const path = pathOfKey(key);
  const descent = descend(nodes, MPF_RULE.width, path);
  return isFound(descent, path) ? valueBytes(descent.node!) : null;
}
