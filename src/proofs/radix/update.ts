/**
 * Changes many keys of a radix tree at once. Two passes: the first reads the
 * branches that lie on the way to the keys, one `getMany` a level; the second
 * goes down with the sorted keys and comes back with new branches, each hashed
 * once, however many keys changed below it. Nothing is written before all of it
 * is known to be right.
 *
 * The shape of a tree is a function of its entries, so the inverse changes give
 * back every record as it was, byte for byte.
 */
import { equalBytes, toHex } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import { type Bits, commonBits, commonRun, compareBits, digitAt, isBits, joinBits, takeBits } from '../bits.ts';
import { type NodeReader, type NodeSink, needNode } from '../node-store.ts';
import { Slab } from '../slab.ts';
import { HASH_BYTES, isHash } from '../verdict.ts';
import {
  type Branch,
  branchKey,
  type Children,
  decodeRecord,
  decodeTop,
  type NodeReference,
  noChildren,
  PATH_BITS_MAX,
  type RecordWrite,
  TOP_KEY,
  type TreeNode,
  valueBytes,
  type Width,
  writeRecords,
} from './record.ts';

/** What makes a tree this tree: the digit, and what a branch hashes. */
export interface RadixRule {
  readonly width: Width;
  /**
   * Writes the 32 bytes of a branch with these children at `at`, and returns the parts that its record shall have, or null.
   * `before`: the branch as it was, if it was one: the parts of children that are the same objects still hold.
   */
  branchValue(kids: Children, to: Uint8Array, at: number, before: Branch | null): Uint8Array | null;
}

/** Values of new branches. */
const values = new Slab(32 * 1024);

/** A change of one entry. */
export interface Change {
  /** The key of the entry. */
  readonly key: Bits;
  /** 32 bytes; null removes the key. */
  readonly value: Uint8Array | null;
  /** What must be so before; a change that finds it otherwise refuses the whole update. */
  readonly expect?: 'present' | 'absent';
}

export interface Updated {
  readonly top: TreeNode | undefined;
  /** The value of each key before, in the order of the changes: with it, the inverse is `{ key, value: before[i] }`. */
  readonly before: readonly (Uint8Array | null)[];
}

/** Changes each key, at most once; entries that are there already and removals of what is not are no change. */
export function updateTree(rule: RadixRule, nodes: NodeReader, sink: NodeSink, changes: readonly Change[]): Updated {
  const order = sorted(changes, rule.width);
  const update = new Update(
    rule,
    order.map((i) => changes[i]),
  );
  const before = decodeTop(nodes.get(TOP_KEY), rule.width);
  if (before !== undefined) update.load(nodes, before);
  const top = update.apply(before, 0, 0, order.length);
  const had: (Uint8Array | null)[] = new Array(order.length);
  for (let i = 0; i < order.length; i++) had[order[i]] = update.before[i];
  checkExpected(changes, had);
  if (top !== before) writeRecords(update.writes, top, sink);
  return { top, before: had };
}

function isSame(kids: Children, before: Children): boolean {
  for (let slot = 0; slot < kids.length; slot++) if (kids[slot] !== before[slot]) return false;
  return true;
}

/** Places of the changes in key order. */
function sorted(changes: readonly Change[], width: Width): number[] {
  for (const { key, value } of changes) {
    if (!isBits(key, PATH_BITS_MAX) || key.length % width !== 0) {
      throw new UnspentError('USAGE', `a key of a tree has at most ${PATH_BITS_MAX} bits, in whole digits and well packed`);
    }
    if (value !== null && !isHash(value)) throw new UnspentError('USAGE', 'a value of a tree has 32 bytes');
  }
  const order = changes.map((_, i) => i).sort((a, b) => compareBits(changes[a].key, changes[b].key));
  for (let i = 1; i < order.length; i++) {
    const { key } = changes[order[i]];
    if (compareBits(changes[order[i - 1]].key, key) === 0) throw new UnspentError('USAGE', `one key twice: ${toHex(key.bytes)}`);
  }
  return order;
}

function checkExpected(changes: readonly Change[], before: readonly (Uint8Array | null)[]): void {
  for (let i = 0; i < changes.length; i++) {
    const { key, expect } = changes[i];
    if (expect === 'absent' && before[i] !== null) throw new UnspentError('USAGE', `the key is there already: ${toHex(key.bytes)}`);
    if (expect === 'present' && before[i] === null) throw new UnspentError('NOT_FOUND', `no such key: ${toHex(key.bytes)}`);
  }
}

/** A branch that must be read for the changes `from` to `to`, all of which lead through it. */
interface Wanted {
  readonly node: TreeNode;
  /** Where it branches. */
  readonly end: number;
  readonly from: number;
  readonly to: number;
}

class Update {
  readonly writes: RecordWrite[] = [];
  readonly before: (Uint8Array | null)[];
  private readonly rule: RadixRule;
  private readonly changes: readonly Change[];

  constructor(rule: RadixRule, changes: readonly Change[]) {
    this.rule = rule;
    this.changes = changes;
    this.before = new Array(changes.length).fill(null);
  }

  /** Reads every branch that a change leads through, a level at a time. */
  load(nodes: NodeReader, top: TreeNode): void {
    let level: Wanted[] = [];
    this.want(level, top, 0, 0, this.changes.length);
    while (level.length > 0) {
      const keys = level.map(({ end, from }) => branchKey(this.changes[from].key.bytes, end));
      const records = nodes.getMany(keys);
      const next: Wanted[] = [];
      for (let i = 0; i < level.length; i++) {
        const { node, end, from, to } = level[i];
        const branch = decodeRecord(needNode(records[i], toHex(keys[i])), this.rule.width);
        node.branch = branch;
        this.eachSlot(from, to, end, (slot, low, high) => {
          const kid = branch.kids[slot];
          if (kid !== undefined) this.want(next, kid, end + this.rule.width, low, high);
        });
      }
      level = next;
    }
  }

  /** Adds the node to the list, if it is a branch that some of these changes pass. */
  private want(list: Wanted[], node: TreeNode, depth: number, from: number, to: number): void {
    if (node.leaf) return;
    const end = depth + node.jumpBits;
    let low = from;
    let high = to;
    while (low < high && !this.passes(node, depth, low)) low++;
    while (low < high && !this.passes(node, depth, high - 1)) high--;
    if (low < high) list.push({ node, end, from: low, to: high });
  }

  private passes(node: TreeNode, depth: number, change: number): boolean {
    return this.changes[change].key.length > depth + node.jumpBits && this.shares(node, depth, change) === node.jumpBits;
  }

  /** Parts of a range of sorted changes by their digit at `at`. */
  private eachSlot(from: number, to: number, at: number, visit: (slot: number, low: number, high: number) => void): void {
    for (let low = from; low < to; ) {
      const slot = digitAt(this.changes[low].key.bytes, at, this.rule.width);
      let high = low + 1;
      while (high < to && digitAt(this.changes[high].key.bytes, at, this.rule.width) === slot) high++;
      visit(slot, low, high);
      low = high;
    }
  }

  /** The node that takes the place of `node`, whose jump begins at `depth`, after the changes `from` to `to`. The same object: nothing changed. */
  apply(node: TreeNode | undefined, depth: number, from: number, to: number): TreeNode | undefined {
    if (from === to) return node;
    if (node === undefined) return this.build(depth, from, to);
    // The changes are in order, so the first and the last decide what all of them share with the jump.
    const least = Math.min(this.shares(node, depth, from), this.shares(node, depth, to - 1));
    const shared = least - (least % this.rule.width);
    if (shared < node.jumpBits) return this.part(node, depth, shared, from, to);
    return node.leaf ? this.changeLeaf(node, depth, from, to) : this.changeBranch(node, depth, from, to);
  }

  /** Bits of the node's jump, which begins at `depth`, that a change has too. */
  private shares(node: NodeReference, depth: number, change: number): number {
    const { key } = this.changes[change];
    return commonRun(node.path, node.from, key.bytes, depth, Math.min(node.jumpBits, key.length - depth));
  }

  /** A tree of the new entries alone. */
  private build(depth: number, from: number, to: number): TreeNode | undefined {
    let last = to;
    let first = from;
    while (first < last && this.changes[first].value === null) first++;
    while (first < last && this.changes[last - 1].value === null) last--;
    if (first === last) return undefined;
    const { key, value } = this.changes[first];
    if (last - first === 1) {
      return { leaf: true, path: key.bytes, from: depth, jumpBits: key.length - depth, values: value!, valueAt: 0, branch: null };
    }
    const other = this.changes[last - 1].key;
    const common = commonBits(key, depth, other, depth);
    const end = depth + common - (common % this.rule.width);
    this.refuseEnds(first, last, end);
    const kids = noChildren(this.rule.width);
    this.eachSlot(first, last, end, (slot, low, high) => {
      kids[slot] = this.build(end + this.rule.width, low, high);
    });
    return this.branch(key.bytes, depth, end, kids, null);
  }

  /** Some changes leave inside the node's jump: it becomes a child of a branch there. */
  private part(node: TreeNode, depth: number, shared: number, from: number, to: number): TreeNode | undefined {
    const { width } = this.rule;
    const end = depth + shared;
    const first = this.refuseEnds(from, to, end);
    const kids = noChildren(width);
    const slot = digitAt(node.path, node.from + shared, width);
    const taken = shared + width;
    const lower = { ...node, from: node.from + taken, jumpBits: node.jumpBits - taken };
    kids[slot] = lower;
    this.applyToKids(kids, end, first, to);
    if (kids.every((kid, i) => kid === (i === slot ? lower : undefined))) return node;
    return this.branch(this.changes[first].key.bytes, depth, end, kids, null);
  }

  private changeLeaf(leaf: TreeNode, depth: number, from: number, to: number): TreeNode | undefined {
    const exact = this.changes[from].key.length === depth + leaf.jumpBits;
    if (!exact) {
      if (this.build(depth, from, to) !== undefined) this.refusePrefix(from);
      return leaf;
    }
    const { value } = this.changes[from];
    const before = valueBytes(leaf);
    this.before[from] = before;
    const rest = this.build(depth, from + 1, to);
    if (value === null) return rest;
    if (rest !== undefined) this.refusePrefix(from);
    return equalBytes(value, before) ? leaf : { ...leaf, values: value, valueAt: 0 };
  }

  private changeBranch(node: TreeNode, depth: number, from: number, to: number): TreeNode | undefined {
    const end = depth + node.jumpBits;
    const first = this.refuseEnds(from, to, end);
    if (first === to) return node;
    const before = node.branch!;
    const kids = before.kids.slice();
    this.applyToKids(kids, end, first, to);
    if (isSame(kids, before.kids)) return node;
    const path = this.changes[first].key.bytes;
    const after = this.branch(path, depth, end, kids, before);
    if (after?.branch?.kids !== kids) this.writes.push({ path, end, branch: null });
    return after;
  }

  private applyToKids(kids: (TreeNode | undefined)[], end: number, from: number, to: number): void {
    this.eachSlot(from, to, end, (slot, low, high) => {
      kids[slot] = this.apply(kids[slot], end + this.rule.width, low, high);
    });
  }

  /**
   * What these children amount to at `path[0..end)`: nothing, the one there is with a longer jump, or a branch, which is written. The
   * jump begins at `depth`. `before`: the branch that was there.
   */
  private branch(path: Uint8Array, depth: number, end: number, kids: Children, before: Branch | null): TreeNode | undefined {
    let only = -1;
    let count = 0;
    for (let slot = 0; slot < kids.length; slot++) {
      if (kids[slot] === undefined) continue;
      only = slot;
      count++;
    }
    if (count === 0) return undefined;
    if (count === 1) return this.merge(path, depth, end, only, kids[only]!);
    const valueAt = values.take(HASH_BYTES);
    const branch = { kids, parts: this.rule.branchValue(kids, values.bytes, valueAt, before) };
    this.writes.push({ path, end, branch });
    return { leaf: false, path, from: depth, jumpBits: end - depth, values: values.bytes, valueAt, branch };
  }

  private merge(path: Uint8Array, depth: number, end: number, slot: number, kid: TreeNode): TreeNode {
    const { width } = this.rule;
    const jump = joinBits(takeBits(path, depth, end - depth), slot, width, kid.path, kid.from, kid.jumpBits);
    return { ...kid, path: jump.bytes, from: 0, jumpBits: jump.length };
  }

  /** A key that ends where others go on cannot be put in; taking it out is no change. Returns the first that goes on. */
  private refuseEnds(from: number, to: number, end: number): number {
    let first = from;
    while (first < to && this.changes[first].key.length === end) {
      if (this.changes[first].value !== null) this.refusePrefix(first);
      first++;
    }
    return first;
  }

  private refusePrefix(change: number): never {
    const { key } = this.changes[change];
    throw new UnspentError('USAGE', `no key may be the beginning of another: ${toHex(key.bytes)} (${key.length} bits)`);
  }
}
