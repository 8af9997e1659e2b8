/**
 * Verifies proofs of a compact sparse Merkle tree against a root that the caller
 * trusts. Everything else is untrusted: each function takes the claim (key and
 * content, target, prefix and entries) from the caller, never from the proof.
 *
 * The hash of a branch and the value of an entry look alike, so a verifier that
 * knows only the 32 bytes cannot tell which of the two it was shown. The bytes
 * behind them can: `leafValue` refuses what a branch hashes. `verifyInclusion`
 * and `verifyCompleteness` therefore take those bytes; `verifyNode` and
 * `verifySubtree` do not, and say so.
 *
 * Two of the checks are missing in earlier verifiers, which accept forgeries
 * without them: that the root jump and the steps account for every bit of the
 * key, and that a complete set is not a part of the subtree at the prefix.
 */
import { equalBytes } from '../../util/bytes.ts';
import { type Bits, bitAt, commonBits, compareBits, concatBits, equalBits, isBits, sliceBits, startsWith } from '../bits.ts';
import { check, checkHash, claim, type Verdict, verdictOf } from '../verdict.ts';
import { branchValue, KEY_BITS_MAX, leafValue, partOf, type Reference, rootOf, wholeOf } from './hash.ts';
import type { CompletenessProof, ExclusionProof, InclusionProof, Leaf, Step } from './proof.ts';
import type { Root } from './tree.ts';

/** An entry by the bytes it stands for. */
export interface Entry {
  /** Its key. */
  readonly key: Bits;
  /** The bytes whose hash is its value. */
  readonly content: Uint8Array;
}

/** The tree with this root has an entry with this key, and it stands for these bytes. */
export function verifyInclusion(root: Root, key: Bits, content: Uint8Array, proof: InclusionProof): Verdict {
  const entry = claim(() => ({ value: leafValue(content) }));
  return entry.ok ? verifyNode(root, key, entry.value, proof) : entry;
}

/** The entries of the tree with this root whose keys begin with the prefix are these, in ascending order, and no others. */
export function verifyCompleteness(root: Root, prefix: Bits, entries: readonly Entry[], proof: CompletenessProof): Verdict {
  const set = claim(() => ({ leaves: entries.map(({ key, content }) => ({ key, value: leafValue(content) })) }));
  return set.ok ? verifySubtree(root, prefix, set.leaves, proof) : set;
}

/**
 * The tree with this root has a node that ends at this key and has this value: an entry, or a branch, whose key is then the common
 * beginning of all keys below it. For whoever knows that the value is that of an entry, or all keys to be of one length.
 */
export function verifyNode(root: Root, key: Bits, value: Uint8Array, proof: InclusionProof): Verdict {
  return verdictOf(() => {
    checkBits(key, 'the key');
    checkBits(proof.key, 'the key of the proof');
    check(equalBits(proof.key, key), 'the proof is of another key');
    check(equalBytes(proof.value, value), 'the proof is of another value');
    checkInclusion(root, proof);
    return {};
  });
}

/** The tree with this root does not have this key, nor (when it is a prefix) any key that begins with it. */
export function verifyExclusion(root: Root, target: Bits, proof: ExclusionProof): Verdict {
  return verdictOf(() => {
    checkBits(target, 'the target');
    checkExclusion(root, target, proof);
    return {};
  });
}

/** The nodes below the prefix are made of these, in ascending order, and of no others. Each may be an entry or a branch (`verifyNode`). */
export function verifySubtree(root: Root, prefix: Bits, leaves: readonly Leaf[], proof: CompletenessProof): Verdict {
  return verdictOf(() => {
    checkBits(prefix, 'the prefix');
    if (proof.type === 'empty') {
      check(leaves.length === 0, 'the proof says that there are no leaves');
      checkExclusion(root, prefix, proof.exclusion);
    } else checkSubtree(root, prefix, leaves, proof.merges, proof.steps);
    return {};
  });
}

function checkBits(bits: Bits, what: string): void {
  check(isBits(bits, KEY_BITS_MAX), `${what} is not a string of at most ${KEY_BITS_MAX} bits`);
}

function checkRoot(root: Root): asserts root is Uint8Array {
  check(root !== null, 'the tree is empty');
  checkHash(root, 'the root');
}

function checkInclusion(root: Root, proof: InclusionProof): void {
  checkRoot(root);
  const { key, value, rootJump, steps, statedRoot } = proof;
  checkHash(value, 'the value');
  checkBits(rootJump, 'the root jump');
  check(startsWith(key, rootJump), 'the root jump is not a prefix of the key');
  check(rootJump.length === key.length - consumedBy(steps, key), 'the root jump and the steps do not add up to the key');
  check(statedRoot === undefined || equalBytes(statedRoot, root), 'the proof was made for another root');
  check(equalBytes(climb(key, value, steps), root), 'the proof leads to another root');
}

/** Bits that the steps take; each takes one at least, and together not more than there are. */
function consumedBy(steps: readonly Step[], key: Bits): number {
  let sum = 0;
  for (const { consumed, sibling } of steps) {
    check(Number.isSafeInteger(consumed) && consumed >= 1, 'a step consumes no bit');
    sum += consumed;
    check(sum <= key.length, 'the steps consume more bits than the key has');
    checkBits(sibling.jump, 'the jump of a sibling');
    checkHash(sibling.value, 'the value of a sibling');
    const end = key.length - sum + 1 + sibling.jump.length;
    check(end <= KEY_BITS_MAX, `a sibling ends below ${KEY_BITS_MAX} bits`);
  }
  return sum;
}

/** The root above the node that ends at `key`, after `consumedBy`. What the steps leave of the key is the root's jump. */
function climb(key: Bits, value: Uint8Array, steps: readonly Step[]): Uint8Array {
  return pathHashes(key, value, steps)[steps.length];
}

/** What each step leads to from the value of a node, and at the end the root. Nothing is checked: a verifier has looked at key and steps before. */
export function pathHashes(key: Bits, value: Uint8Array, steps: readonly Step[]): readonly Uint8Array[] {
  const hashes: Uint8Array[] = [];
  let accumulated = value;
  let to = key.length;
  for (const { consumed, sibling } of steps) {
    const from = to - consumed;
    const me = partOf(key, from + 1, to, accumulated);
    const other = wholeOf(sibling);
    accumulated = bitAt(key, from) === 0 ? branchValue(me, other) : branchValue(other, me);
    hashes.push(accumulated);
    to = from;
  }
  hashes.push(rootOf(partOf(key, 0, to, accumulated)));
  return hashes;
}

function checkExclusion(root: Root, target: Bits, proof: ExclusionProof): void {
  if (proof.type === 'empty') {
    check(root === null, 'the tree is not empty');
    return;
  }
  const { witness } = proof;
  checkBits(proof.target, 'the target of the proof');
  check(equalBits(proof.target, target), 'the proof is of another target');
  checkBits(witness.key, 'the key of the witness');
  checkInclusion(root, witness);
  const differs = commonBits(target, 0, witness.key, 0);
  check(differs < target.length && differs < witness.key.length, 'the target and the witness do not differ');
  let branch = witness.rootJump.length;
  check(differs !== branch, 'the target leaves the witness at a branch');
  for (let i = witness.steps.length - 1; i >= 0; i--) {
    branch += witness.steps[i].consumed;
    check(differs !== branch, 'the target leaves the witness at a branch');
  }
}

function checkSubtree(
  root: Root,
  prefix: Bits,
  leaves: readonly Leaf[],
  merges: readonly (readonly [number, number])[],
  steps: readonly Step[],
): void {
  checkRoot(root);
  const { jump, value } = merged(prefix, leaves, merges);
  const end = concatBits(prefix, jump);
  consumedBy(steps, end);
  // The node the leaves were merged into must stand at the prefix or above it. If it branched off below the prefix, its sibling would
  // have the prefix too, and its leaves would be missing here.
  check(steps.length === 0 || steps[0].consumed > jump.length, 'the leaves are a part of the subtree only');
  check(equalBytes(climb(end, value, steps), root), 'the proof leads to another root');
}

/** Merges the leaves into one reference below the prefix. */
function merged(prefix: Bits, leaves: readonly Leaf[], merges: readonly (readonly [number, number])[]): Reference {
  checkLeaves(prefix, leaves);
  check(merges.length === leaves.length - 1, 'not one merge for every leaf but the first');
  const entries: (Reference | undefined)[] = leaves.map(({ key, value }) => ({ jump: sliceBits(key, prefix.length), value }));
  for (const merge of merges) {
    check(merge.length === 2, 'a merge is not of two entries');
    const [i, j] = merge;
    const left = entries[i];
    const right = entries[j];
    check(i !== j && left !== undefined && right !== undefined, 'a merge names an entry that is not there any more');
    const common = commonBits(left.jump, 0, right.jump, 0);
    check(common < left.jump.length && common < right.jump.length, 'a merge of entries that do not part');
    check(bitAt(left.jump, common) === 0, 'a merge of entries in the wrong order');
    entries[i] = {
      jump: sliceBits(left.jump, 0, common),
      value: branchValue(
        partOf(left.jump, common + 1, left.jump.length, left.value),
        partOf(right.jump, common + 1, right.jump.length, right.value),
      ),
    };
    entries[j] = undefined;
  }
  // One merge less than leaves, each takes one entry away: one is left, and in ascending order it is the first.
  check(entries[0] !== undefined, 'the merges do not end in the first entry');
  return entries[0];
}

function checkLeaves(prefix: Bits, leaves: readonly Leaf[]): void {
  check(leaves.length > 0, 'there are no leaves');
  leaves.forEach(({ key, value }, i) => {
    checkBits(key, 'the key of a leaf');
    checkHash(value, 'the value of a leaf');
    check(startsWith(key, prefix), 'a leaf does not have the prefix');
    check(i === 0 || compareBits(leaves[i - 1].key, key) < 0, 'the leaves are not in ascending order');
  });
}
