/**
 * The Merkle tree over the unspent set (`proofs/csmt`), kept as blocks come and
 * go: one column with its records. A key is the hash of the owner and the input,
 * a value the hash of the output, as the ledger says (`Ledger.leaf`).
 *
 * The tree is a function of the set, so forward and back are one body, a group
 * of blocks is one update, and a record is the same however blocks were grouped.
 * The root of the present follows from the record of the top.
 */
import type { Batch, ColumnSpec, Reader } from '../../engine/engine.ts';
import type { OutputLeaf } from '../../ledgers/ledger.ts';
import { outpointIndex } from '../../ledgers/outpoint.ts';
import { type Bits, bitsOf, csmt, type NodeReader, type NodeSink } from '../../proofs/index.ts';
import { UpperRecords } from '../../proofs/radix/upper.ts';
import { txInBytes, writeTxIn } from '../../proofs/utxo.ts';
import { copyBytes } from '../../util/bytes.ts';
import { isUnspentError, UnspentError } from '../../util/errors.ts';
import { type Coin, outputOffset } from '../coin.ts';
import type { Projection, Step } from '../projection.ts';

export const CSMT = 'csmt';

const OWNER_BYTES = 32;
const column: ColumnSpec = { name: CSMT, access: 'point', weight: 20 };

/** The tree as it is stored. */
export function csmtNodes(reader: Reader): NodeReader {
  return { get: (key) => reader.get(CSMT, key), getMany: (keys) => reader.getMany(CSMT, keys) };
}

function sinkOf(batch: Batch): NodeSink {
  return { copies: true, put: (key, value) => batch.put(CSMT, key, value), del: (key) => batch.del(CSMT, key) };
}

/** Where an output stands in the tree: the hash of its owner and the input. */
export function csmtKey(leaf: OutputLeaf, { keyBytes, keyAt, bytes, at, end }: Coin): Bits {
  const index = outpointIndex(keyBytes, keyAt);
  const key = new Uint8Array(OWNER_BYTES + txInBytes(index));
  copyBytes(leaf.owner(bytes, outputOffset(bytes, at), end), 0, key, 0, OWNER_BYTES);
  writeTxIn(key, OWNER_BYTES, keyBytes, keyAt, index);
  return bitsOf(key);
}

export function csmtValue(leaf: OutputLeaf, { bytes, at, end }: Coin): Uint8Array {
  return csmt.leafValue(leaf.content(bytes, outputOffset(bytes, at), end));
}

export function csmtProjection(leaf: OutputLeaf): Projection {
  const upper = new UpperRecords();

  function move({ added, removed }: Step, view: Reader, batch: Batch): undefined {
    if (added.length + removed.length === 0) return;
    const changes: csmt.Change[] = [];
    for (const coin of removed) changes.push({ key: csmtKey(leaf, coin), value: null, expect: 'present' });
    for (const coin of added) changes.push({ key: csmtKey(leaf, coin), value: csmtValue(leaf, coin), expect: 'absent' });
    const tree = upper.over(csmtNodes(view), sinkOf(batch));
    try {
      csmt.update(tree, tree, changes);
    } catch (error) {
      if (!isUnspentError(error)) throw error;
      throw new UnspentError('STORE_DAMAGED', `${CSMT} is not the tree of the unspent set: ${error.message}`, { column: CSMT }, error);
    }
  }

  return {
    name: CSMT,
    columns: [column],
    fillable: 'exact',
    apply: (step, view, batch) => move(step, view, batch),
    revert: (step, _undo, view, batch) => move(step, view, batch),
  };
}
