/**
 * Proofs that a header is in the chain up to a checkpoint: a Merkle tree over
 * the hashes of all blocks from the first to that one. Kept are the roots of
 * full groups of 256 blocks, and the tree over these; the two groups a proof
 * passes through are read again. A group is named by the hash of its last
 * block, which stands for all before it, so that a proof is right at whatever
 * point it is asked for and needs no news of a reorganisation.
 */
import { joined, MerkleTree } from '../../../ledgers/bitcoin/merkle.ts';
import type { Query } from '../../../query/query.ts';
import { equalBytes } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import type { Task } from '../../http/work/task.ts';

/** Rows of the tree inside a group, and its blocks. */
const GROUP_HEIGHT = 8;
const GROUP = 1 << GROUP_HEIGHT;

export interface HeaderProof {
  readonly branch: readonly Uint8Array[];
  readonly root: Uint8Array;
}

export class HeaderProofs {
  /** Roots of full groups, and above them of every full pair. */
  private readonly rows: Uint8Array[][] = [[]];
  /** Hash of the last block of each group. */
  private readonly ends: Uint8Array[] = [];

  /** That the block of this height is below the checkpoint, both of which the query knows. */
  prove(task: Task, query: Query, height: number, checkpoint: number): HeaderProof | Promise<HeaderProof> {
    const full = Math.floor((checkpoint + 1) / GROUP);
    // From the last look at the groups to the proof nobody else gets a turn.
    return task.inSlices(
      this.reach(query, full),
      () => true,
      () => this.proofOf(query, height, checkpoint),
    );
  }

  private proofOf(query: Query, height: number, checkpoint: number): HeaderProof {
    const width = checkpoint + 1;
    const full = Math.floor(width / GROUP);
    const group = Math.floor(height / GROUP);
    const groups = Math.ceil(width / GROUP);
    const tree = this.treeOf(query, group, width);
    if (groups === 1) return { branch: tree.branch(height), root: tree.root() };
    const last = full === groups ? this.rows[0][full - 1] : (group === full ? tree : this.treeOf(query, full, width)).root(GROUP_HEIGHT);
    const above = this.climb(groups, group, last);
    return { branch: [...tree.branch(height % GROUP, GROUP_HEIGHT), ...above.branch], root: above.root };
  }

  /** Reads groups until there are so many of this query's chain. A step for each: another proof may drop some between two of them. */
  private *reach(query: Query, full: number): Generator<void, void, void> {
    for (;;) {
      this.dropForeign(query, full);
      if (this.ends.length >= full) return;
      const group = this.ends.length;
      this.push(this.treeOf(query, group, GROUP * (group + 1)).root());
      this.ends.push(hashAt(query, GROUP * (group + 1) - 1));
      yield;
    }
  }

  /** Groups that are not of this query's chain, and all behind them. */
  private dropForeign(query: Query, full: number): void {
    for (let i = Math.min(full, this.ends.length) - 1; i >= 0; i--) {
      if (equalBytes(this.ends[i], hashAt(query, GROUP * (i + 1) - 1))) return;
      this.ends.length = i;
      for (let row = 0; row < this.rows.length; row++) this.rows[row].length = Math.min(this.rows[row].length, i >> row);
    }
  }

  private push(root: Uint8Array): void {
    let hash = root;
    for (let row = 0; ; row++) {
      this.rows[row] ??= [];
      const count = this.rows[row].push(hash);
      if (count % 2 === 1) return;
      hash = joined(this.rows[row][count - 2], hash);
    }
  }

  /** From a group to the root over so many, the last of which may not be full. Only the last of a row is not kept. */
  private climb(groups: number, group: number, lastGroup: Uint8Array): HeaderProof {
    const branch: Uint8Array[] = [];
    let last = lastGroup;
    let index = group;
    let row = 0;
    for (let count = groups; count > 1; count = (count + 1) >> 1, row++) {
      const kept = this.rows[row] ?? [];
      const other = index ^ 1;
      branch.push(other < count - 1 ? kept[other] : last);
      index >>= 1;
      last = count % 2 === 0 ? joined(kept[count - 2], last) : joined(last, last);
    }
    return { branch, root: last };
  }

  private treeOf(query: Query, group: number, width: number): MerkleTree {
    const first = GROUP * group;
    const count = Math.min(GROUP, width - first);
    const leaves: Uint8Array[] = [];
    const before = first === 0 ? null : query.blockAtHeight(first - 1);
    for (const { height, hash } of query.blocksAfter(before)) {
      if (height !== first + leaves.length) throw missing(first + leaves.length);
      if (leaves.push(hash) === count) return new MerkleTree(leaves);
    }
    throw missing(first + leaves.length);
  }
}

function hashAt(query: Query, height: number): Uint8Array {
  const row = query.blockAtHeight(height);
  if (row === null) throw missing(height);
  return row.hash;
}

function missing(height: number): UnspentError {
  return new UnspentError('UNSUPPORTED', `no proof can be made: the store does not have block ${height}`, { height });
}
