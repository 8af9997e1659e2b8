/**
 * The nodes of the mountain range by position, read from rows that hold two of
 * them: the row of a parent has its children. A node without a parent is a peak,
 * and stands in the state. So a leaf costs one row, which is written once, and
 * freeing a pair of nodes is deleting a row that nobody has to read.
 */
import { mmr, type NodeReader, type NodeSink } from '../../proofs/index.ts';
import { nodeKey } from '../../proofs/mmr/range.ts';
import { readU64 } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';

const HASH_BYTES = 32;
export const PAIR_BYTES = 2 * HASH_BYTES;

/** The nodes below `range`, which is the newest one that the rows are of. */
export function nodesIn(rows: NodeReader, range: mmr.Range): NodeReader {
  const peaks = new Map(mmr.peaksOf(range.size).map((position, i) => [position, range.peaks[i]]));
  function getMany(keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    const positions = keys.map((key) => readU64(key, 0));
    const families = positions.map(mmr.familyOf);
    const parents = [...new Set(families.map(({ parent }) => parent).filter((parent) => parent < range.size))];
    const pairs = new Map(rows.getMany(parents.map(nodeKey)).map((pair, i) => [parents[i], pair]));
    return positions.map((position, i) => {
      const { parent, right } = families[i];
      return parent < range.size ? half(pairs.get(parent), right, parent) : peaks.get(position);
    });
  }
  return { get: (key) => getMany([key])[0], getMany };
}

function half(pair: Uint8Array | undefined, right: boolean, parent: number): Uint8Array | undefined {
  if (pair === undefined) return undefined;
  if (pair.length !== PAIR_BYTES) throw new UnspentError('STORE_DAMAGED', `node ${parent} of the mountain range has ${pair.length} bytes`);
  return right ? pair.subarray(HASH_BYTES) : pair.subarray(0, HASH_BYTES);
}

/** Frees pairs: of two siblings that go, the right one takes the row with it. */
export function freesIn(rows: NodeSink): NodeSink {
  return {
    put: () => {
      throw new Error('assertion failed: compaction writes no node');
    },
    del: (key) => {
      const { parent, right } = mmr.familyOf(readU64(key, 0));
      if (right) rows.del(nodeKey(parent));
    },
  };
}
