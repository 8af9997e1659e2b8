/**
 * The records of a stored tree one by one, for whoever checks all of them: what
 * each says of itself and of its children, without a walk from the top.
 */
import type { Bits } from '../bits.ts';
import { NO_BITS } from '../bits.ts';
import type { NodeReader } from '../node-store.ts';
import { branchPath, decodeRecord, isTopKey, TOP_KEY, valueBytes } from '../radix/record.ts';
import { below, descend, pathOf } from '../radix/walk.ts';
import { branchValue, CSMT_RULE } from './hash.ts';

export { TOP_KEY };

export interface RecordChild {
  readonly leaf: boolean;
  /** From the top of the tree to where it ends: a branch, or the end of a key. */
  readonly path: Bits;
  readonly value: Uint8Array;
}

export interface StoredRecord {
  /** Where it branches. */
  readonly path: Bits;
  /** The value of the branch, from its children; null: this is the record of the top, which is no branch. */
  readonly value: Uint8Array | null;
  readonly children: readonly RecordChild[];
}

const { width } = CSMT_RULE;

/** Throws STORE_DAMAGED. */
export function readRecord(key: Uint8Array, record: Uint8Array): StoredRecord {
  if (isTopKey(key)) {
    const top = decodeRecord(record, width, 1)[0]!;
    return { path: NO_BITS, value: null, children: [{ leaf: top.leaf, path: pathOf(NO_BITS, 0, top), value: valueBytes(top) }] };
  }
  const path = branchPath(key);
  const [left, right] = decodeRecord(record, width);
  const children = [left!, right!].map((kid, slot) => ({ leaf: kid.leaf, path: below(path, slot, width, kid), value: valueBytes(kid) }));
  return { path, value: branchValue(left!, right!), children };
}

/** The value that the tree names for the branch at this path; null: it has no branch there. */
export function branchAt(nodes: NodeReader, path: Bits): Uint8Array | null {
  const { node, depth, shared } = descend(nodes, width, path);
  if (node === undefined || node.leaf || shared < node.jumpBits || depth + shared !== path.length) return null;
  return valueBytes(node);
}
