/**
 * Ways through a radix tree, for proofs: from the top towards a key, from a
 * branch down to its first leaf, and over everything below a node.
 */
import { toHex } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import { type Bits, commonRun, concatBits, digitAt, joinBits, NO_BITS, sliceBits } from '../bits.ts';
import { type NodeReader, needNode } from '../node-store.ts';
import {
  type Branch,
  branchKey,
  decodeRecord,
  decodeTop,
  jumpOf,
  type NodeReference,
  TOP_KEY,
  type TreeNode,
  valueBytes,
  type Width,
} from './record.ts';

/** A branch that was passed, and the slot that was taken. */
export interface Level {
  readonly node: TreeNode;
  readonly branch: Branch;
  readonly slot: number;
  /** Where the jump of the node begins, and where it branches. */
  readonly depth: number;
  readonly end: number;
}

/** How far a key leads. */
export interface Descent {
  readonly levels: readonly Level[];
  /** Where the walk ended: a leaf, a branch whose jump the key leaves, the branch at the end of the key; undefined: an empty slot or tree. */
  readonly node: TreeNode | undefined;
  /** Where the jump of that node begins, and the bits of it (whole digits) that the key shares. */
  readonly depth: number;
  readonly shared: number;
}

export function readTop(nodes: NodeReader, width: Width): TreeNode | undefined {
  return decodeTop(nodes.get(TOP_KEY), width);
}

function readBranch(nodes: NodeReader, width: Width, path: Uint8Array, end: number): Branch {
  const key = branchKey(path, end);
  return decodeRecord(needNode(nodes.get(key), toHex(key)), width);
}

/** Follows the key until it ends, leaves the tree, or meets a leaf. */
export function descend(nodes: NodeReader, width: Width, key: Bits): Descent {
  const levels: Level[] = [];
  let node = readTop(nodes, width);
  let depth = 0;
  for (;;) {
    if (node === undefined) return { levels, node, depth, shared: 0 };
    const common = commonRun(node.path, node.from, key.bytes, depth, Math.min(node.jumpBits, key.length - depth));
    const shared = common - (common % width);
    const end = depth + node.jumpBits;
    if (node.leaf || shared < node.jumpBits || key.length === end) return { levels, node, depth, shared };
    const branch = readBranch(nodes, width, key.bytes, end);
    const slot = digitAt(key.bytes, end, width);
    levels.push({ node, branch, slot, depth, end });
    node = branch.kids[slot];
    depth = end + width;
  }
}

/** True when the walk ended on the leaf of that very key. */
export function isFound(descent: Descent, key: Bits): boolean {
  const { node, depth, shared } = descent;
  return node?.leaf === true && shared === node.jumpBits && depth + shared === key.length;
}

/** Goes on from the end of a walk along the lowest slots to a leaf; returns the levels down to it, the leaf, and its key. */
export function firstLeaf(
  nodes: NodeReader,
  width: Width,
  key: Bits,
  descent: Descent & { readonly node: TreeNode },
): { readonly levels: readonly Level[]; readonly leaf: TreeNode; readonly key: Bits } {
  const levels = [...descent.levels];
  let { node, depth } = descent;
  let path = pathOf(key, depth, node);
  while (!node.leaf) {
    const end = path.length;
    const branch = readBranch(nodes, width, path.bytes, end);
    const slot = branch.kids.findIndex((kid) => kid !== undefined);
    levels.push({ node, branch, slot, depth, end });
    node = branch.kids[slot]!;
    depth = end + width;
    path = below(path, slot, width, node);
  }
  return { levels, leaf: node, key: path };
}

/** Where a node ends whose jump begins at `depth` of this key. */
export function pathOf(key: Bits, depth: number, node: NodeReference): Bits {
  return concatBits(sliceBits(key, 0, depth), jumpOf(node));
}

/** Where the child in a slot of the branch at `path` ends. */
export function below(path: Bits, slot: number, width: Width, kid: NodeReference): Bits {
  return joinBits(path, slot, width, kid.path, kid.from, kid.jumpBits);
}

/** Reads every branch below a node, a level at a time; more leaves than `leavesMax` are refused. */
export function loadBelow(nodes: NodeReader, width: Width, top: TreeNode, path: Bits, leavesMax: number): void {
  let level: { readonly node: TreeNode; readonly path: Bits }[] = top.leaf ? [] : [{ node: top, path }];
  let leaves = top.leaf ? 1 : 0;
  while (level.length > 0) {
    const keys = level.map((entry) => branchKey(entry.path.bytes, entry.path.length));
    const records = nodes.getMany(keys);
    const next: typeof level = [];
    level.forEach((entry, i) => {
      entry.node.branch = decodeRecord(needNode(records[i], toHex(keys[i])), width);
      entry.node.branch.kids.forEach((kid, slot) => {
        if (kid === undefined) return;
        if (kid.leaf) leaves++;
        else next.push({ node: kid, path: below(entry.path, slot, width, kid) });
      });
    });
    // Every branch to come has two leaves at least.
    if (leaves + 2 * next.length > leavesMax) {
      throw new UnspentError('LIMIT', `more than ${leavesMax} entries begin with this prefix`, { leavesMax });
    }
    level = next;
  }
}

/** Every leaf below a node that was loaded, from left to right, each with its whole key. */
export function eachLeaf(node: TreeNode, path: Bits, width: Width, visit: (key: Bits, leaf: TreeNode) => void): void {
  if (node.leaf) {
    visit(path, node);
    return;
  }
  node.branch!.kids.forEach((kid, slot) => {
    if (kid !== undefined) eachLeaf(kid, below(path, slot, width, kid), width, visit);
  });
}

/** Every entry of the tree. For checks and small trees: it holds all of it in memory. */
export function allEntries(nodes: NodeReader, width: Width): (readonly [key: Bits, value: Uint8Array])[] {
  const entries: (readonly [Bits, Uint8Array])[] = [];
  const top = readTop(nodes, width);
  if (top === undefined) return entries;
  const path = pathOf(NO_BITS, 0, top);
  loadBelow(nodes, width, top, path, Number.MAX_SAFE_INTEGER);
  eachLeaf(top, path, width, (key, leaf) => entries.push([key, valueBytes(leaf)]));
  return entries;
}
