/**
 * A key as descriptors write it (BIP380, BIP389): where it comes from, the key
 * itself (public, private or extended), the path from there, and `*` for one key
 * for each index:  [d34db33f/84h/0h/0h]xpub.../<0;1>/*
 */
import { hash160, PubT, pubECDSA, validatePubkey } from '@scure/btc-signer/utils.js';
import type { BitcoinNetwork } from '../../../ledgers/bitcoin/index.ts';
import { fromHex, isHex, readU32, toHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { DESCRIPTOR_BRANCHES_MAX } from '../../../util/limits.ts';
import { childKey, descendantKey, type HDKey, hasPrivateKey, parseExtendedKey, parseWif, publicCopy, publicKeyOf } from './extended-key.ts';
import { formatFingerprint, formatStep, HARDENED, isHardened, type KeyOrigin, PATH_STEPS_MAX, parseStep } from './key-path.ts';

const COMPRESSED_BYTES = 33;
const UNCOMPRESSED_BYTES = 65;
const X_ONLY_BYTES = 32;
/** A single private key has 51 or 52 characters, an extended key 111. */
const WIF_CHARS_MAX = 60;

/** Which public keys a script takes: with or without compression; only compressed; only their x coordinate. */
export type KeyForm = 'any' | 'compressed' | 'x-only';

type Material =
  | { readonly kind: 'public'; readonly bytes: Uint8Array }
  | { readonly kind: 'private'; readonly bytes: Uint8Array; readonly secret: Uint8Array }
  | { readonly kind: 'extended'; readonly key: HDKey };

/** A step, or the values of a step that has one for each branch (`<0;1>`). */
type Step = number | readonly number[];

/** The key at one branch and index. */
export interface DerivedKey {
  /** As it stands in the script: 33 or 65 bytes, or 32 inside `tr`. */
  readonly publicKey: Uint8Array;
  readonly origin: KeyOrigin;
}

/** A private key with its place, of which keys below it can be derived if it is an extended one. */
export type PrivateKey = { readonly origin: KeyOrigin } & ({ readonly key: HDKey } | { readonly secret: Uint8Array });

export class DescriptorKey {
  private readonly form: KeyForm;
  private readonly origin: KeyOrigin | null;
  // With `#`, so that no logger that prints an object prints a private key.
  readonly #material: Material;
  private readonly path: readonly Step[];
  /** What follows the path: nothing, one key for each index, or one for each hardened index. */
  readonly wildcard: '' | '/*' | '/*h';
  /** The key whose children the indexes are, by branch: derived once. */
  readonly #parents = new Map<number, HDKey>();

  private constructor(form: KeyForm, origin: KeyOrigin | null, material: Material, path: readonly Step[], wildcard: '' | '/*' | '/*h') {
    this.form = form;
    this.origin = origin;
    this.#material = material;
    this.path = path;
    this.wildcard = wildcard;
  }

  /** `fail` makes the error of the descriptor it stands in. */
  static parse(network: BitcoinNetwork, text: string, form: KeyForm, fail: KeyFailure): DescriptorKey {
    const [, originText, rest] = /^(?:\[([^\]]*)\])?([^[\]]*)$/.exec(text) ?? [];
    if (rest === undefined) throw fail('a key may have one origin in brackets, at its beginning');
    const origin = originText === undefined ? null : parseOrigin(originText, fail);
    const [keyText, ...steps] = rest.split('/');
    const material = parseMaterial(network, keyText, form, fail);
    if (material.kind !== 'extended' && steps.length > 0) throw fail('only an extended key has a path behind it');
    const last = steps.at(-1) ?? '';
    const wildcard = last === '*' ? '/*' : /^\*[hH']$/.test(last) ? '/*h' : '';
    const path = (wildcard === '' ? steps : steps.slice(0, -1)).map((step) => parseStepOrChoice(step, fail));
    if (path.filter(Array.isArray).length > 1) throw fail('a key may have one step of the form <0;1>');
    const depth = material.kind === 'extended' ? material.key.depth : 0;
    if (depth + path.length + (wildcard === '' ? 0 : 1) > PATH_STEPS_MAX) throw fail(`a key has at most ${PATH_STEPS_MAX} steps`);
    return new DescriptorKey(form, origin, material, path, wildcard);
  }

  /** How many values the step of the form `<0;1>` has; 1: it has no such step. */
  get branchCount(): number {
    return this.path.find(isChoice)?.length ?? 1;
  }

  /** Bytes of its public keys, which all have as many. */
  get byteLength(): number {
    return this.#material.kind === 'extended' ? (this.form === 'x-only' ? X_ONLY_BYTES : COMPRESSED_BYTES) : this.#material.bytes.length;
  }

  /** The private key, if the descriptor has it. */
  get privateKey(): PrivateKey | null {
    const material = this.#material;
    if (material.kind === 'public') return null;
    if (material.kind === 'private') return { origin: this.start(), secret: material.secret };
    return !hasPrivateKey(material.key) ? null : { origin: this.start(), key: material.key };
  }

  /** The same key with one value for its step of the form `<0;1>`. */
  branch(branch: number): DescriptorKey {
    return new DescriptorKey(this.form, this.origin, this.#material, this.pathOf(branch), this.wildcard);
  }

  /** Throws DERIVATION_FAILED. */
  at(branch: number, index: number): DerivedKey {
    const material = this.#material;
    const { fingerprint, path } = this.start();
    if (material.kind !== 'extended') return { publicKey: material.bytes, origin: { fingerprint, path } };
    const parent = this.parent(branch);
    const steps = this.wildcard === '' ? [] : [this.wildcard === '/*h' ? index + HARDENED : index];
    const key = steps.length === 0 ? parent : childKey(parent, steps[0]);
    const publicKey = publicKeyOf(key);
    if (key !== parent && key !== material.key) key.wipePrivateData();
    return {
      publicKey: this.form === 'x-only' ? publicKey.subarray(1) : publicKey,
      origin: { fingerprint, path: [...path, ...this.pathOf(branch), ...steps] },
    };
  }

  /**
   * Without private keys, as BIP380 says: the last hardened step is taken, and
   * what came before it becomes the origin. Throws DERIVATION_FAILED where
   * hardened steps differ by branch.
   */
  toPublic(): DescriptorKey {
    const { path } = this;
    const material = this.#material;
    if (material.kind === 'public') return this;
    if (material.kind === 'private') {
      return new DescriptorKey(this.form, this.origin, { kind: 'public', bytes: material.bytes }, [], '');
    }
    if (!hasPrivateKey(material.key)) return this;
    const taken = path.findLastIndex((step) => [step].flat().some(isHardened)) + 1;
    const steps = path.slice(0, taken).filter((step) => typeof step === 'number');
    if (steps.length < taken) {
      const message =
        'without private keys each branch is a descriptor of its own: a step of the form <0;1> has hardened steps in it or behind it';
      throw new UnspentError('DERIVATION_FAILED', message, { reason: 'hardened' });
    }
    const { fingerprint, path: before } = this.start();
    const origin = taken === 0 ? this.origin : { fingerprint, path: [...before, ...steps] };
    const last = descendantKey(material.key, steps);
    const key = publicCopy(last);
    if (last !== material.key) last.wipePrivateData();
    return new DescriptorKey(this.form, origin, { kind: 'extended', key }, path.slice(taken), this.wildcard);
  }

  /** Never with a private key: call `toPublic` first where hardened steps are to be derived. */
  toString(): string {
    const { origin } = this;
    const material = this.#material;
    const start = origin === null ? '' : `[${[formatFingerprint(origin.fingerprint), ...origin.path.map(formatStep)].join('/')}]`;
    const key = material.kind === 'extended' ? material.key.publicExtendedKey : toHex(material.bytes);
    return `${start}${key}${this.path.map((step) => `/${formatStepOrChoice(step)}`).join('')}${this.wildcard}`;
  }

  /** Overwrites what is private in it, as far as the program can reach it. It derives nothing hardened after that. */
  wipe(): void {
    const material = this.#material;
    if (material.kind === 'private') material.secret.fill(0);
    if (material.kind === 'extended') for (const key of [material.key, ...this.#parents.values()]) key.wipePrivateData();
  }

  /** Where the key itself is: a key without origin is its own master. */
  private start(): KeyOrigin {
    const { origin } = this;
    const material = this.#material;
    if (origin !== null) return origin;
    if (material.kind === 'extended') return { fingerprint: material.key.fingerprint, path: [] };
    const { bytes } = material;
    const whole = bytes.length === X_ONLY_BYTES ? Uint8Array.of(2, ...bytes) : bytes;
    return { fingerprint: readU32(hash160(whole), 0), path: [] };
  }

  private pathOf(branch: number): number[] {
    return this.path.map((step) => (isChoice(step) ? step[branch] : step));
  }

  private parent(branch: number): HDKey {
    const material = this.#material;
    const known = this.#parents.get(branch);
    if (known !== undefined) return known;
    if (material.kind !== 'extended') throw new Error('only an extended key has children');
    const parent = descendantKey(material.key, this.pathOf(branch));
    this.#parents.set(branch, parent);
    return parent;
  }
}

export type KeyFailure = (reason: string, cause?: unknown) => UnspentError;

function isChoice(step: Step): step is readonly number[] {
  return typeof step !== 'number';
}

function formatStepOrChoice(step: Step): string {
  return isChoice(step) ? `<${step.map(formatStep).join(';')}>` : formatStep(step);
}

function parseStepOrChoice(text: string, fail: KeyFailure): Step {
  if (!text.startsWith('<')) return parseStep(text, fail);
  if (!text.endsWith('>')) throw fail("a step that begins with '<' ends with '>'");
  const values = text
    .slice(1, -1)
    .split(';')
    .map((step) => parseStep(step, fail));
  if (values.length < 2) throw fail('a step of the form <0;1> has two values or more');
  if (values.length > DESCRIPTOR_BRANCHES_MAX) throw fail(`a step of the form <0;1> has at most ${DESCRIPTOR_BRANCHES_MAX} values`);
  if (new Set(values).size !== values.length) throw fail('the values of a step of the form <0;1> differ');
  return values;
}

function parseOrigin(text: string, fail: KeyFailure): KeyOrigin {
  const [fingerprint, ...steps] = text.split('/');
  if (!isHex(fingerprint, 4)) throw fail('an origin begins with a fingerprint of eight hex digits');
  if (steps.length > PATH_STEPS_MAX) throw fail(`an origin has at most ${PATH_STEPS_MAX} steps`);
  return { fingerprint: readU32(fromHex(fingerprint), 0), path: steps.map((step) => parseStep(step, fail)) };
}

function parseMaterial(network: BitcoinNetwork, text: string, form: KeyForm, fail: KeyFailure): Material {
  if (text === '') throw fail('a key is missing');
  if (isHex(text)) return { kind: 'public', bytes: publicBytes(fromHex(text), form, fail) };
  if (text.length > WIF_CHARS_MAX) return { kind: 'extended', key: parseExtendedKey(network, text, fail) };
  const { secret, isCompressed } = parseWif(network, text, fail);
  try {
    return { kind: 'private', secret, bytes: publicBytes(pubECDSA(secret, isCompressed), form, fail) };
  } catch (cause) {
    throw cause instanceof UnspentError ? cause : fail('the private key is not sound', cause);
  }
}

function publicBytes(bytes: Uint8Array, form: KeyForm, fail: KeyFailure): Uint8Array {
  const { length } = bytes;
  if (length === UNCOMPRESSED_BYTES && form !== 'any') throw fail('only compressed keys may stand here');
  if (length === X_ONLY_BYTES && form !== 'x-only') throw fail('a key of 32 bytes may stand in tr() only');
  const isHybrid = length === UNCOMPRESSED_BYTES && bytes[0] !== 4;
  if (isHybrid || (length !== COMPRESSED_BYTES && length !== UNCOMPRESSED_BYTES && length !== X_ONLY_BYTES)) {
    throw fail(`a public key has 33 bytes, or 65 that begin with 04, this one ${length}`);
  }
  try {
    validatePubkey(bytes, length === X_ONLY_BYTES ? PubT.schnorr : PubT.ecdsa);
  } catch (cause) {
    throw fail('the public key is no point of the curve', cause);
  }
  return form === 'x-only' && length === COMPRESSED_BYTES ? bytes.subarray(1) : bytes;
}
