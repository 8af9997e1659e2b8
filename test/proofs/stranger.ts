/**
 * A verifier of proof documents, written from docs/proofs.md ("Writing a
 * verifier") alone, with none of our own code: what a stranger would make of the
 * page. The order of the functions is that of the page.
 */
import { createHash } from 'node:crypto';
import { blake2b } from '@noble/hashes/blake2.js';
import { bytesOf, digitsOf, type Fields, fieldsOf, listOf, need, numberOf, parseStrictly, pathOf, type Value } from './stranger-json.ts';

export interface Known {
  readonly root: Uint8Array | null;
  readonly network: string;
  readonly family: string;
}

const H = (...parts: Uint8Array[]): Buffer => Buffer.from(blake2b(Buffer.concat(parts), { dkLen: 32 }));
const u16 = (n: number): Buffer => Buffer.from([n >> 8, n & 0xff]);
const u64 = (n: bigint): Buffer => Buffer.from(n.toString(16).padStart(16, '0'), 'hex');
const bitsOf = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
const packed = (bits: string): Buffer => Buffer.from((bits.match(/.{1,8}/g) ?? []).map((byte) => Number.parseInt(byte.padEnd(8, '0'), 2)));
const same = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;
const ZEROS = Buffer.alloc(32);

/** Throws `NoDocument` for what is none; false: it does not hold. */
export function strangerHolds(text: string, known: Known): boolean {
  const { kind, network, family, root: saidRoot, point, claim, proof } = parsed(text);
  const root = saidRoot === null ? null : bytesOf(saidRoot, 32);
  need(typeof network === 'string' && /^[a-z0-9-]{1,100}$/.test(network), 'network');
  need(family === 'cardano' || family === 'bitcoin', 'family');
  checkPoint(point);
  need(typeof kind === 'string' && Object.hasOwn(CHECKS, kind), 'kind');
  const holds = CHECKS[kind](claim, proof, family);
  const isKnown = family === known.family && network === known.network;
  return isKnown && (root === null ? known.root === null : known.root !== null && same(root, known.root)) && holds(root);
}

function parsed(text: string): Fields {
  return fieldsOf(parseStrictly(text), ['kind', 'network', 'family', 'root', 'point', 'claim', 'proof'], ['cbor']);
}

function checkPoint(point: Value): void {
  if (point === null) return;
  const { height, slot, hash } = fieldsOf(point, ['height', 'slot', 'hash']);
  numberOf(height);
  numberOf(slot);
  bytesOf(hash, 32);
}

/** Reads claim and proof; what it gives tells whether they lead to a root. */
type Check = (claim: Value, proof: Value, family: string) => (root: Buffer | null) => boolean;

const CHECKS: Readonly<Record<string, Check>> = {
  'csmt-inclusion': (said, proof, family) => {
    const claim = fieldsOf(said, ['tx_hash', 'output_index', 'output', 'owner']);
    const owner = bytesOf(claim['owner'], 32);
    const entry = outputIn(claim, family);
    const inclusion = inclusionOf(proof);
    return (root) => {
      const value = entryValue(entry, owner, family);
      if (value === null || entry.txIn === null || root === null) return false;
      const key = bitsOf(Buffer.concat([owner, entry.txIn]));
      return inclusion.key === key && same(inclusion.value, value) && leadsTo(root, inclusion);
    };
  },
  'csmt-complete': (said, proof, family) => {
    const claim = fieldsOf(said, ['owner', 'outputs'], ['address']);
    const owner = ownerIn(claim, family);
    const entries = listOf(claim['outputs']).map((each) => outputIn(fieldsOf(each, ['tx_hash', 'output_index', 'output']), family));
    const isComplete = completenessOf(proof);
    return (root) => {
      if (owner === null) return false;
      const left: Entry[] = [];
      for (const entry of entries) {
        const value = entryValue(entry, owner, family);
        if (value === null || entry.txIn === null) return false;
        left.push({ path: bitsOf(entry.txIn), value });
      }
      return isComplete(bitsOf(owner), left, root);
    };
  },
  'csmt-absent': (said, proof, family) => {
    const claim = fieldsOf(said, ['owner', 'tx_hash', 'output_index'], ['address']);
    const owner = ownerIn(claim, family);
    const txIn = txInOf(claim, family);
    const isAbsent = exclusionOf(proof);
    return (root) => owner !== null && txIn !== null && isAbsent(bitsOf(Buffer.concat([owner, txIn])), root);
  },
  'mmr-unspent': (said, proof, family) => rangeProof(said, proof, family, true),
  'mmr-spent': (said, proof, family) => rangeProof(said, proof, family, false),
};

// 3. txId and txIn

function txInOf({ tx_hash, output_index }: Fields, family: string): Buffer | null {
  const hash = bytesOf(tx_hash, 32);
  const index = numberOf(output_index);
  const txId = family === 'bitcoin' ? hash.reverse() : hash;
  if (index > 0xffff_ffff) return null;
  const long = Buffer.alloc(4);
  long.writeUInt32BE(index);
  const [head, bytes] = index < 0x18 ? ['', 1] : index < 0x100 ? ['18', 1] : index < 0x1_0000 ? ['19', 2] : ['1a', 4];
  return Buffer.concat([Buffer.from('825820', 'hex'), txId, Buffer.from(head, 'hex'), long.subarray(4 - bytes)]);
}

// 4. Owners

function ownerHash(bytes: Uint8Array, family: string): Buffer {
  return family === 'bitcoin' ? createHash('sha256').update(bytes).digest() : H(bytes);
}

/** Null: the address is not the owner's, or is missing where it must be. */
function ownerIn(claim: Fields, family: string): Buffer | null {
  const owner = bytesOf(claim['owner'], 32);
  if (!('address' in claim)) return family === 'cardano' ? null : owner;
  return same(ownerHash(bytesOf(claim['address']), family), owner) ? owner : null;
}

// 5. Outputs

interface Output {
  readonly txIn: Buffer | null;
  readonly output: Buffer;
}

function outputIn(claim: Fields, family: string): Output {
  return { txIn: txInOf(claim, family), output: bytesOf(claim['output']) };
}

/** H(output), where it may be one and is the owner's; null: not so. */
function entryValue({ output }: Output, owner: Buffer, family: string): Buffer | null {
  const address = addressIn(output, family);
  if (address === null || !same(ownerHash(address, family), owner)) return null;
  return output.length >= 72 && output.readUInt16BE() <= 1024 ? null : H(output);
}

interface Item {
  readonly major: number;
  readonly argument: number;
  /** Where its content begins, and where it ends. */
  readonly start: number;
  readonly end: number;
  readonly items: readonly Item[];
}

/** One CBOR item; null: it is none. */
function itemAt(bytes: Buffer, at: number): Item | null {
  const head = bytes[at];
  if (head === undefined) return null;
  const [major, info] = [head >> 5, head & 31];
  const extra = info < 24 ? 0 : info < 28 ? 2 ** (info - 24) : info === 31 ? 0 : -1;
  if (extra < 0 || at + 1 + extra > bytes.length) return null;
  const isOpen = info === 31;
  const argument = info < 24 ? info : extra === 0 ? 0 : Number(BigInt(`0x${bytes.subarray(at + 1, at + 1 + extra).toString('hex')}`));
  const start = at + 1 + extra;
  if ((major === 2 || major === 3) && !isOpen)
    return start + argument <= bytes.length ? { major, argument, start, end: start + argument, items: [] } : null;
  if (major < 2 || major === 7) return isOpen ? null : { major, argument, start, end: start, items: [] };
  const items: Item[] = [];
  const count = major === 6 ? 1 : major === 5 ? 2 * argument : argument;
  let end = start;
  for (let i = 0; isOpen ? bytes[end] !== 0xff : i < count; i++) {
    const item = itemAt(bytes, end);
    if (item === null) return null;
    items.push(item);
    end = item.end;
  }
  return { major, argument, start, end: isOpen ? end + 1 : end, items };
}

/** Raw address of Cardano, or script of the Bitcoin family; null: the output is none. */
function addressIn(output: Buffer, family: string): Buffer | null {
  const item = itemAt(output, 0);
  if (item === null || item.end !== output.length) return null;
  const { major, items } = item;
  if (family === 'bitcoin') {
    const [value, script] = items;
    const isPair = major === 4 && items.length === 2 && value.major === 0 && script.major === 2;
    return isPair ? output.subarray(script.start, script.end) : null;
  }
  const at = major === 5 ? 1 + items.findIndex((key, i) => i % 2 === 0 && key.major === 0 && key.argument === 0) : 0;
  const address = major === 5 && at === 0 ? undefined : items[at];
  if (address === undefined || (major !== 4 && major !== 5)) return null;
  if (address.major === 2 && address.items.length === 0) return output.subarray(address.start, address.end);
  if (address.major !== 4) return null;
  // A Byron address as it stands: from where the item before it ends.
  const begin = at === 0 ? item.start : items[at - 1].end;
  return output.subarray(begin, address.end);
}

// csmt

const ref = (path: string, value: Uint8Array): Buffer => Buffer.concat([u16(path.length), packed(path), u16(32), value]);

interface Step {
  readonly consumed: number;
  readonly siblingJump: string;
  readonly siblingValue: Buffer;
}

interface Inclusion {
  readonly key: string;
  readonly value: Buffer;
  readonly rootJump: string;
  readonly steps: readonly Step[];
}

function stepsOf(value: Value | undefined): Step[] {
  return listOf(value).map((each) => {
    const step = fieldsOf(each, ['consumed', 'siblingJump', 'siblingValue']);
    return {
      consumed: numberOf(step['consumed']),
      siblingJump: pathOf(step['siblingJump']),
      siblingValue: bytesOf(step['siblingValue'], 32),
    };
  });
}

function inclusionOf(value: Value | undefined): Inclusion {
  const { key, value: hash, rootJump, steps } = fieldsOf(value, ['key', 'value', 'rootJump', 'steps']);
  return { key: pathOf(key), value: bytesOf(hash, 32), rootJump: pathOf(rootJump), steps: stepsOf(steps) };
}

/** From the last bits of the key up; what is left of the key, and the value there. Null: not a climb. */
function climb(key: string, value: Buffer, steps: readonly Step[]): { readonly rest: string; readonly value: Buffer } | null {
  let [rest, acc] = [key, value];
  for (const { consumed, siblingJump, siblingValue } of steps) {
    if (consumed < 1 || consumed > rest.length) return null;
    const [bit, path] = [rest[rest.length - consumed], rest.slice(rest.length - consumed + 1)];
    rest = rest.slice(0, rest.length - consumed);
    if (rest.length + 1 + siblingJump.length > 1024) return null;
    const [me, other] = [ref(path, acc), ref(siblingJump, siblingValue)];
    acc = bit === '0' ? H(me, other) : H(other, me);
  }
  return { rest, value: acc };
}

function leadsTo(root: Buffer, { key, value, rootJump, steps }: Inclusion): boolean {
  const top = climb(key, value, steps);
  return top !== null && top.rest === rootJump && same(H(ref(rootJump, top.value)), root);
}

function typeOf(proof: Value | undefined): Value | undefined {
  return typeof proof === 'object' && proof !== null && !Array.isArray(proof) ? (proof as Fields)['type'] : undefined;
}

function exclusionOf(proof: Value | undefined): (target: string, root: Buffer | null) => boolean {
  const type = typeOf(proof);
  if (type === 'empty') {
    fieldsOf(proof, ['type']);
    return (_, root) => root === null;
  }
  need(type === 'witness', 'type');
  const fields = fieldsOf(proof, ['type', 'target', 'witness']);
  const target = pathOf(fields['target']);
  const witness = inclusionOf(fields['witness']);
  return (wanted, root) => {
    if (target !== wanted || root === null || !leadsTo(root, witness)) return false;
    let d = 0;
    while (d < target.length && target[d] === witness.key[d]) d++;
    if (d === target.length || d === witness.key.length) return false;
    let place = witness.rootJump.length;
    for (const { consumed } of witness.steps.toReversed()) {
      if (place === d) return false;
      place += consumed;
    }
    return true;
  };
}

interface Entry {
  readonly path: string;
  readonly value: Buffer;
}

function completenessOf(proof: Value): (prefix: string, entries: readonly Entry[], root: Buffer | null) => boolean {
  const type = typeOf(proof);
  if (type === 'empty') {
    const isAbsent = exclusionOf(fieldsOf(proof, ['type', 'exclusion'])['exclusion']);
    return (prefix, entries, root) => entries.length === 0 && isAbsent(prefix, root);
  }
  need(type === 'witness', 'type');
  const fields = fieldsOf(proof, ['type', 'merges', 'steps']);
  const merges = listOf(fields['merges']).map((pair) => {
    const numbers = listOf(pair).map(numberOf);
    need(numbers.length === 2, 'a merge is of two');
    return numbers;
  });
  const steps = stepsOf(fields['steps']);
  return (prefix, entries, root) => {
    const top = merged(entries, merges);
    if (top === null || root === null || (steps.length > 0 && steps[0].consumed <= top.path.length)) return false;
    const found = climb(prefix + top.path, top.value, steps);
    return found !== null && same(H(ref(found.rest, found.value)), root);
  };
}

function merged(given: readonly Entry[], merges: readonly (readonly number[])[]): Entry | null {
  const entries: (Entry | null)[] = given.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  if (entries.length === 0 || merges.length !== entries.length - 1) return null;
  if (entries.some((each, i) => i > 0 && each!.path === entries[i - 1]!.path)) return null;
  for (const [i, j] of merges) {
    const [a, b] = [entries[i] ?? null, entries[j] ?? null];
    if (i === j || a === null || b === null) return null;
    let c = 0;
    while (c < a.path.length && a.path[c] === b.path[c]) c++;
    if (a.path[c] !== '0' || b.path[c] !== '1') return null;
    entries[i] = { path: a.path.slice(0, c), value: H(ref(a.path.slice(c + 1), a.value), ref(b.path.slice(c + 1), b.value)) };
    entries[j] = null;
  }
  return entries[0];
}

// mmr

function position(leaf: bigint): bigint {
  return 2n * leaf - BigInt([...leaf.toString(2)].filter((bit) => bit === '1').length);
}

/** Of how many leaves a range of that size is; null: there is none of it. */
function leavesOf(size: bigint): bigint | null {
  let [low, high] = [0n, size + 1n];
  while (low < high) {
    const middle = (low + high) / 2n;
    if (position(middle) < size) low = middle + 1n;
    else high = middle;
  }
  return position(low) === size ? low : null;
}

interface LeafProof {
  readonly size: bigint;
  readonly index: bigint;
  readonly path: readonly Buffer[];
}

function leafProofOf(value: Value | undefined): LeafProof {
  const { mmrSize, leafIndex, path } = fieldsOf(value, ['mmrSize', 'leafIndex', 'path']);
  return { size: digitsOf(mmrSize), index: digitsOf(leafIndex), path: listOf(path).map((hash) => bytesOf(hash, 32)) };
}

function folded({ size, index, path }: LeafProof, content: Uint8Array): Buffer | null {
  const leaves = leavesOf(size);
  if (leaves === null || index >= leaves) return null;
  const hashes = [...path];
  let p = position(index);
  let acc = H(u64(p), content);
  let height = 0n;
  for (; ; height++) {
    const width = 1n << (height + 1n);
    const isRight = ((index >> height) & 1n) === 1n;
    const parent = isRight ? p + 1n : p + width;
    if (parent >= size || (!isRight && p + width - 1n >= size)) break;
    const sibling = hashes.shift();
    if (sibling === undefined) return null;
    acc = isRight ? H(u64(parent), sibling, acc) : H(u64(parent), acc, sibling);
    p = parent;
  }
  const ones = (n: bigint): number => [...n.toString(2)].filter((bit) => bit === '1').length;
  if (ones(leaves & ((1n << height) - 1n)) > 0) {
    const bagged = hashes.shift();
    if (bagged === undefined) return null;
    acc = H(u64(size), acc, bagged);
  }
  if (hashes.length !== ones(leaves >> (height + 1n))) return null;
  for (const peak of hashes) acc = H(u64(size), peak, acc);
  return acc;
}

function rangeProof(said: Value, given: Value, family: string, isUnspent: boolean): (root: Buffer | null) => boolean {
  const entry = outputIn(fieldsOf(said, ['tx_hash', 'output_index', 'output']), family);
  const { leaf: leafField, bits: bitsField } = fieldsOf(given, ['leaf', 'bits']);
  const leaf = leafProofOf(leafField);
  const bits = bitsField === null ? null : fieldsOf(bitsField, ['chunk', 'proof']);
  const chunk = bits === null ? null : bytesOf(bits['chunk'], 128);
  const chunkProof = bits === null ? null : leafProofOf(bits['proof']);
  return (root) => {
    if (root === null || entry.txIn === null || addressIn(entry.output, family) === null) return false;
    const range = folded(leaf, H(entry.txIn, entry.output));
    const bitmap = chunk === null || chunkProof === null ? ZEROS : folded(chunkProof, chunk);
    if (range === null || bitmap === null || !same(H(u64(leaf.size), range, bitmap), root)) return false;
    if (chunk === null || chunkProof === null) return !isUnspent;
    const last = leavesOf(chunkProof.size)! - 1n;
    if (chunkProof.index === last && chunk.every((byte) => byte === 0)) return false;
    if (leaf.index / 1024n > last) return chunkProof.index === last && !isUnspent;
    if (chunkProof.index !== leaf.index / 1024n) return false;
    return (bitsOf(chunk)[Number(leaf.index % 1024n)] === '1') === isUnspent;
  };
}
