/**
 * The records of a stored tree, for whoever checks all of them (`radix/stored.ts`).
 */
import type { Bits } from '../bits.ts';
import type { NodeReader } from '../node-store.ts';
import { TOP_KEY, valueBytes } from '../radix/record.ts';
import { readStoredRecord, type StoredRecord } from '../radix/stored.ts';
import { descend } from '../radix/walk.ts';
import { CSMT_RULE } from './hash.ts';

export { type StoredRecord, TOP_KEY };

/** Throws STORE_DAMAGED. */
export function readRecord(key: Uint8Array, record: Uint8Array): StoredRecord {
  return readStoredRecord(CSMT_RULE, key, record);
}

/** The value that the tree names for the branch at this path; null: it has no branch there. */
export function branchAt(nodes: NodeReader, path: Bits): Uint8Array | null {
  const { node, depth, shared } = descend(nodes, CSMT_RULE.width, path);
  if (node === undefined || node.leaf || shared < node.jumpBits || depth + shared !== path.length) return null;
  return valueBytes(node);
}
