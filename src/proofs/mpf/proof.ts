/**
 * Proofs of a Merkle Patricia Forestry, and how they are made. One step a
 * branch on the way, root first; each tells of the slots that are not followed.
 *
 * The proof that a key is absent is the proof it would have once inserted: the
 * same steps serve for absence, insertion and, later, presence.
 */
import { type Bits, sliceBits } from '../bits.ts';
import type { NodeReader } from '../node-store.ts';
import { jumpOf, type TreeNode, valueBytes } from '../radix/record.ts';
import { below, type Descent, descend, isFound, type Level, pathOf } from '../radix/walk.ts';
import { NIBBLE_BITS, nibbleAt, pathOfKey } from './hash.ts';
import { MPF_RULE, neighborsOf } from './slots.ts';

/** `skip`: nibbles of the branch's prefix. */
export type Step =
  /** Two or more other children: roots of the other half, quarter, pair and slot, 32 bytes each. */
  | { readonly type: 'branch'; readonly skip: number; readonly neighbors: Uint8Array }
  /** One other child, a branch: where it stands, its prefix (a byte a nibble) and the root of its slots. */
  | {
      readonly type: 'fork';
      readonly skip: number;
      readonly neighbor: { readonly nibble: number; readonly prefix: Uint8Array; readonly root: Uint8Array };
    }
  /** One other child, a leaf: hash of its key, hash of its value. */
  | { readonly type: 'leaf'; readonly skip: number; readonly neighbor: { readonly key: Uint8Array; readonly value: Uint8Array } };

/** The steps from the root to a key. */
export type Proof = readonly Step[];

/** A proof of a key that is there, or is not. */
export interface KeyProof {
  /** Whether the steps show that the key is there, or that it is not. */
  readonly present: boolean;
  /** From the root down. */
  readonly proof: Proof;
}

const { width } = MPF_RULE;

/** A proof for any key: of presence where it is there, of absence where it is not. */
export function prove(nodes: NodeReader, key: Uint8Array): KeyProof {
  return provePath(nodes, pathOfKey(key));
}

/** The same for a place in the trie. */
export function provePath(nodes: NodeReader, path: Bits): KeyProof {
  const descent = descend(nodes, width, path);
  const steps = descent.levels.map((level) => stepAt(level, path));
  const present = isFound(descent, path);
  if (!present && descent.node !== undefined) steps.push(lastStep(descent, descent.node, path));
  return { present, proof: steps };
}

function stepAt(level: Level, path: Bits): Step {
  const { node, branch, slot, end } = level;
  const { kids } = branch;
  const skip = node.jumpBits / NIBBLE_BITS;
  const others = kids.flatMap((kid, other) => (kid === undefined || other === slot ? [] : [other]));
  if (others.length > 1) return { type: 'branch', skip, neighbors: neighborsOf(branch, slot) };
  const neighbor = kids[others[0]]!;
  if (neighbor.leaf) return leafStep(skip, below(sliceBits(path, 0, end), others[0], width, neighbor), neighbor);
  return forkStep(skip, others[0], jumpOf(neighbor), neighbor);
}

/** The key leaves the tree inside the jump of this node. */
function lastStep({ depth, shared }: Descent, node: TreeNode, path: Bits): Step {
  const skip = shared / NIBBLE_BITS;
  if (node.leaf) return leafStep(skip, pathOf(path, depth, node), node);
  const jump = jumpOf(node);
  return forkStep(skip, nibbleAt(jump, skip), sliceBits(jump, shared + width), node);
}

function leafStep(skip: number, path: Bits, leaf: TreeNode): Step {
  return { type: 'leaf', skip, neighbor: { key: path.bytes, value: valueBytes(leaf) } };
}

function forkStep(skip: number, nibble: number, prefix: Bits, branch: TreeNode): Step {
  const raw = Uint8Array.from({ length: prefix.length / NIBBLE_BITS }, (_, i) => nibbleAt(prefix, i));
  return { type: 'fork', skip, neighbor: { nibble, prefix: raw, root: valueBytes(branch) } };
}
