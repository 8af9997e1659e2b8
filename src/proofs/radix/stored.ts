/**
 * The records of a stored tree one by one, for whoever checks all of them: what
 * each says of itself and of its children, without a walk from the top.
 */
import { equalBytes } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import { type Bits, NO_BITS } from '../bits.ts';
import { HASH_BYTES } from '../verdict.ts';
import { branchPath, decodeRecord, isTopKey, valueBytes } from './record.ts';
import type { RadixRule } from './update.ts';
import { below, pathOf } from './walk.ts';

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

/** Throws STORE_DAMAGED. */
export function readStoredRecord(rule: RadixRule, key: Uint8Array, record: Uint8Array): StoredRecord {
  const { width } = rule;
  if (isTopKey(key)) {
    const top = decodeRecord(record, width, 1).kids[0]!;
    return { path: NO_BITS, value: null, children: [{ leaf: top.leaf, path: pathOf(NO_BITS, 0, top), value: valueBytes(top) }] };
  }
  const path = branchPath(key);
  const { kids, parts } = decodeRecord(record, width);
  const value = new Uint8Array(HASH_BYTES);
  const expected = rule.branchValue(kids, value, 0, null);
  if (parts !== null && (expected === null || !equalBytes(parts, expected))) {
    throw new UnspentError('STORE_DAMAGED', 'a record of a tree has parts of a value that are not those of its children');
  }
  const children = kids.flatMap((kid, slot) =>
    kid === undefined ? [] : [{ leaf: kid.leaf, path: below(path, slot, width, kid), value: valueBytes(kid) }],
  );
  return { path, value, children };
}
