/**
 * What an output costs the tree over the set in records read and written, where
 * the set is too large to be made in a minute: keys have their first bits in
 * common, so that a tree of 80,000 outputs is a 64th part of one of 5 million,
 * as deep and as dense. Counts do not depend on the machine.
 */
import { blake2b256 } from '../src/crypto/hash.ts';
import { type Bits, bitsOf, csmt, MemoryNodes, NodeOverlay, type NodeReader, writeAll } from '../src/proofs/index.ts';
import { UpperRecords } from '../src/proofs/radix/upper.ts';
import { writeU32 } from '../src/util/bytes.ts';
import { round } from './support.ts';

const COMMON_BITS = 6;
const PARTS = 2 ** COMMON_BITS;
const OUTPUTS_PER_OWNER = 3;
const KEY_BYTES = 66;
/** A 64th part of what a group of a hundred blocks, and what one block brings (`growing.ts`). */
const SHAPES = {
  grouped: { creates: 550, spends: 470, updates: 10 },
  single: { creates: 5, spends: 5, updates: 200 },
} as const;

export interface TreeCounts {
  readonly outputs: number;
  /** Records for each output that comes or goes. */
  readonly grouped: { readonly read: number; readonly written: number };
  readonly single: { readonly read: number; readonly written: number };
}

/** Of a tree of so many outputs. */
export function countTree(outputs: number): TreeCounts {
  const tree = new CountedTree();
  while (tree.live < outputs / PARTS) tree.change(1000, 0);
  const measured = ({ creates, spends, updates }: (typeof SHAPES)['grouped' | 'single']): { read: number; written: number } => {
    tree.read = 0;
    tree.written = 0;
    for (let i = 0; i < updates; i++) tree.change(creates, spends);
    const changes = updates * (creates + spends);
    return { read: round(tree.read / changes, 2), written: round(tree.written / changes, 2) };
  };
  return { outputs, grouped: measured(SHAPES.grouped), single: measured(SHAPES.single) };
}

class CountedTree {
  read = 0;
  written = 0;
  private created = 0;
  private spent = 0;
  private readonly nodes = new MemoryNodes();
  private readonly upper = new UpperRecords();
  private readonly reader: NodeReader = {
    get: (key) => this.nodes.get(key),
    getMany: (keys) => {
      this.read += keys.length;
      return this.nodes.getMany(keys);
    },
  };

  get live(): number {
    return this.created - this.spent;
  }

  change(creates: number, spends: number): void {
    const changes: csmt.Change[] = [];
    for (let i = 0; i < spends; i++) changes.push({ key: keyOf(this.spent++), value: null, expect: 'present' });
    for (let i = 0; i < creates; i++) changes.push({ key: keyOf(this.created++), value: VALUE, expect: 'absent' });
    const batch = new NodeOverlay(this.nodes);
    const tree = this.upper.over(this.reader, batch);
    csmt.update(tree, tree, changes);
    const writes = [...batch.pendingWrites()];
    this.written += writes.length;
    writeAll(writes, this.nodes);
  }
}

const VALUE = blake2b256(Uint8Array.of(1));

function keyOf(output: number): Bits {
  const key = new Uint8Array(KEY_BYTES);
  key.set(hashOf(Math.floor(output / OUTPUTS_PER_OWNER), 0), 0);
  key[0] &= 0xff >> COMMON_BITS;
  key.set(hashOf(output, 1), 32);
  return bitsOf(key);
}

function hashOf(number: number, kind: number): Uint8Array {
  const bytes = new Uint8Array(5);
  writeU32(bytes, 0, number);
  bytes[4] = kind;
  return blake2b256(bytes);
}
