/**
 * A second Merkle Patricia Forestry, written from the specification alone and as
 * plainly as possible: a trie of objects, paths as text of hex digits, another
 * library's hash. It shares no code with ours, so that two mistakes would have to
 * be the same to go unseen.
 */
import { blake2b } from '@noble/hashes/blake2.js';
import type { mpf } from '../../src/proofs/index.ts';

type Node = Leaf | Branch;

interface Leaf {
  readonly suffix: string;
  readonly value: string;
}

interface Branch {
  readonly prefix: string;
  readonly kids: Readonly<Record<string, Node>>;
  /** Root of the slots, once asked for. */
  slots?: string;
}

const DIGITS = [...'0123456789abcdef'];
const NULL = '00'.repeat(32);
const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));
const hash = (hex: string): string => Buffer.from(blake2b(bytes(hex), { dkLen: 32 })).toString('hex');
const hashOf = (value: Uint8Array): string => Buffer.from(blake2b(value, { dkLen: 32 })).toString('hex');
/** One byte a nibble. */
const raw = (nibbles: string): string => [...nibbles].map((digit) => `0${digit}`).join('');

const isLeaf = (node: Node): node is Leaf => 'suffix' in node;

function leafHash(suffix: string, value: string): string {
  return suffix.length % 2 === 0 ? hash(`ff${suffix}${value}`) : hash(`00${raw(suffix[0])}${suffix.slice(1)}${value}`);
}

function fold16(slots: readonly string[]): string {
  let level = slots;
  while (level.length > 1) level = level.flatMap((each, i) => (i % 2 === 0 ? [hash(each + level[i + 1])] : []));
  return level[0];
}

function slotsOf(branch: Branch): string {
  branch.slots ??= fold16(DIGITS.map((digit) => (branch.kids[digit] === undefined ? NULL : nodeHash(branch.kids[digit]))));
  return branch.slots;
}

function nodeHash(node: Node): string {
  return isLeaf(node) ? leafHash(node.suffix, node.value) : hash(raw(node.prefix) + slotsOf(node));
}

function common(a: string, b: string): number {
  let i = 0;
  while (i < a.length && a[i] === b[i]) i++;
  return i;
}

function insert(node: Node | null, path: string, value: string): Node {
  if (node === null) return { suffix: path, value };
  const own = isLeaf(node) ? node.suffix : node.prefix;
  const shared = common(own, path);
  if (isLeaf(node) && shared === own.length) return { suffix: own, value };
  if (!isLeaf(node) && shared === own.length) {
    const digit = path[shared];
    return { prefix: own, kids: { ...node.kids, [digit]: insert(node.kids[digit] ?? null, path.slice(shared + 1), value) } };
  }
  const rest = own.slice(shared + 1);
  const lower: Node = isLeaf(node) ? { ...node, suffix: rest } : { prefix: rest, kids: node.kids };
  return { prefix: own.slice(0, shared), kids: { [own[shared]]: lower, [path[shared]]: { suffix: path.slice(shared + 1), value } } };
}

function remove(node: Node | null, path: string): Node | null {
  if (node === null) return null;
  if (isLeaf(node)) return node.suffix === path ? null : node;
  if (!path.startsWith(node.prefix)) return node;
  const digit = path[node.prefix.length];
  const { [digit]: kid, ...others } = node.kids;
  const after = remove(kid ?? null, path.slice(node.prefix.length + 1));
  if (after === (kid ?? null)) return node;
  const kids = after === null ? others : { ...others, [digit]: after };
  const [only, ...more] = Object.entries(kids);
  if (more.length > 0) return { prefix: node.prefix, kids };
  const joined = node.prefix + only[0];
  return isLeaf(only[1]) ? { ...only[1], suffix: joined + only[1].suffix } : { prefix: joined + only[1].prefix, kids: only[1].kids };
}

export class PlainForestry {
  private top: Node | null = null;

  put(key: Uint8Array, value: Uint8Array): void {
    this.top = insert(this.top, hashOf(key), hashOf(value));
  }

  delete(key: Uint8Array): void {
    this.top = remove(this.top, hashOf(key));
  }

  root(): string {
    return this.top === null ? NULL : nodeHash(this.top);
  }
}

function pair(prefix: string, digit: string, me: string, other: string, neighbor: string): string {
  return hash(raw(prefix) + fold16(DIGITS.map((each) => (each === digit ? me : each === other ? neighbor : NULL))));
}

/** The root that a proof leads to; `value` null: of a trie without the key. Refuses (null) what the specification refuses of neighbours. */
export function plainFold(key: Uint8Array, value: Uint8Array | null, proof: mpf.Proof): string | null {
  const path = hashOf(key);
  const text = (array: Uint8Array): string => Buffer.from(array).toString('hex');
  function up(i: number, cursor: number): string | null {
    if (i === proof.length) return value === null ? NULL : leafHash(path.slice(cursor), hashOf(value));
    const step = proof[i];
    const next = cursor + step.skip;
    const [prefix, digit] = [path.slice(cursor, next), path[next]];
    const isLast = i === proof.length - 1 && value === null;
    const me = up(i + 1, next + 1);
    if (me === null) return null;
    if (step.type === 'branch') {
      const parts = text(step.neighbors).match(/.{64}/g)!;
      const place = Number.parseInt(digit, 16);
      let root = me;
      for (let j = 0; j < 4; j++) root = (place >> j) % 2 === 0 ? hash(root + parts[3 - j]) : hash(parts[3 - j] + root);
      return hash(raw(prefix) + root);
    }
    if (step.type === 'fork') {
      const { nibble, prefix: below, root } = step.neighbor;
      const other = nibble.toString(16);
      if (other === digit) return null;
      if (isLast) return hash(raw(prefix + other) + text(below) + text(root));
      return pair(prefix, digit, me, other, hash(text(below) + text(root)));
    }
    const other = text(step.neighbor.key);
    if (other.slice(0, next) !== path.slice(0, next) || other[next] === digit) return null;
    if (isLast) return leafHash(other.slice(cursor), text(step.neighbor.value));
    return pair(prefix, digit, me, other[next], leafHash(other.slice(next + 1), text(step.neighbor.value)));
  }
  return up(0, 0);
}
