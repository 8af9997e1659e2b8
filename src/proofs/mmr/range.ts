/**
 * A Merkle mountain range over a node store: append, root, go back. Its whole
 * state is its size and its peaks (at most 52 hashes); appending reads nothing.
 * Nodes never change, so going back is forgetting the newest.
 */
import { writeU64 } from '../../util/bytes.ts';
import { assert, UnspentError } from '../../util/errors.ts';
import { type NodeReader, type NodeSink, needNode } from '../node-store.ts';
import { EMPTY_ROOT, INDEXED, type MmrRule } from './hash.ts';
import { isSize, leavesIn, peaksOf } from './positions.ts';

/** The whole state of a range; the rest is in its nodes. */
export interface Range {
  /** Number of nodes. */
  readonly size: number;
  /** Hashes of the peaks, leftmost first. */
  readonly peaks: readonly Uint8Array[];
}

/** A range without a leaf. */
export const EMPTY_RANGE: Range = { size: 0, peaks: [] };

export function nodeKey(position: number): Uint8Array {
  const key = new Uint8Array(8);
  writeU64(key, 0, position);
  return key;
}

/** Hashes of these nodes; one that is missing is damage. */
export function readNodes(nodes: NodeReader, positions: readonly number[]): Uint8Array[] {
  const values = nodes.getMany(positions.map(nodeKey));
  return values.map((value, i) => needNode(value, `position ${positions[i]}`));
}

/** The range of that size. Nodes never change, so any size up to the newest is there, unless it was compacted away. */
export function readRange(nodes: NodeReader, size: number): Range {
  checkSize(size);
  return { size, peaks: readNodes(nodes, peaksOf(size)) };
}

function checkSize(size: number): void {
  if (!isSize(size)) throw new UnspentError('USAGE', `no mountain range has ${size} nodes`);
}

/** Puts leaves at the end, in order. */
export function append(range: Range, contents: readonly Uint8Array[], sink: NodeSink, rule: MmrRule = INDEXED): Range {
  const peaks = [...range.peaks];
  let position = range.size;
  let leaves = leavesIn(position);
  for (const content of contents) {
    let hash = rule.leaf(position, content);
    sink.put(nodeKey(position), hash);
    // As many parents follow as mountains of equal height stand at the end: the ones at the end of the number of leaves.
    for (let rest = leaves; rest % 2 === 1; rest = (rest - 1) / 2) {
      position++;
      hash = rule.parent(position, peaks.pop()!, hash);
      sink.put(nodeKey(position), hash);
    }
    peaks.push(hash);
    position++;
    leaves++;
  }
  return { size: position, peaks };
}

/** The root of a range: its peaks, bagged from right to left. */
export function rangeRoot(range: Range, rule: MmrRule = INDEXED): Uint8Array {
  const { size, peaks } = range;
  return peaks.length === 0 ? EMPTY_ROOT : bag(size, peaks, rule);
}

/** Bags peaks from right to left. */
export function bag(size: number, peaks: readonly Uint8Array[], rule: MmrRule): Uint8Array {
  return peaks.reduceRight((right, peak) => rule.bag(size, peak, right));
}

/** Goes back to an earlier size. */
export function rewind(nodes: NodeReader, sink: NodeSink, range: Range, size: number): Range {
  checkSize(size);
  assert(size <= range.size, 'back, not forward');
  for (let position = size; position < range.size; position++) sink.del(nodeKey(position));
  return size === range.size ? range : readRange(nodes, size);
}
