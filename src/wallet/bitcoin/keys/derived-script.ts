/**
 * A script of a descriptor at one index, with all that spending it takes: the
 * scripts behind its hashes, the tree behind a taproot key, and its keys with
 * their places. A partially signed transaction carries the same.
 */
import { p2pk, p2pkh, p2sh, p2tr, p2tr_ms, p2tr_pk, p2wpkh, p2wsh } from '@scure/btc-signer';
import { type TaprootScriptTree, tapLeafHash } from '@scure/btc-signer/payment.js';
import { readScript } from '../../../ledgers/bitcoin/index.ts';
import { compareBytes, concatBytes, equalBytes } from '../../../util/bytes.ts';
import type { ScriptKind } from '../../records.ts';
import type { DerivedKey, DescriptorKey } from './descriptor-key.ts';
import type { ScriptExpression, TreeExpression } from './descriptor-parse.ts';

/** A leaf of the tree of a taproot output. */
export interface TaprootLeaf {
  readonly script: Uint8Array;
  /** What signatures of this leaf commit to. */
  readonly hash: Uint8Array;
  /** Its version, the internal key and the hashes beside its path (BIP341). */
  readonly control: { readonly version: number; readonly internalKey: Uint8Array; readonly merklePath: readonly Uint8Array[] };
}

/** What is behind a taproot output. */
export interface TaprootSpend {
  readonly internalKey: Uint8Array;
  /** Null: there is no tree. */
  readonly merkleRoot: Uint8Array | null;
  /** From left to right. */
  readonly leaves: readonly TaprootLeaf[];
}

/** A key of a script, with the leaves of the tree that it stands in. */
export interface ScriptKey extends DerivedKey {
  readonly leafHashes: readonly Uint8Array[];
}

/** The scripts and keys that spending an output takes. */
export interface SpendScripts {
  /** What the output has. */
  readonly script: Uint8Array;
  /** Behind a P2SH output. */
  readonly redeemScript: Uint8Array | null;
  /** Behind a P2WSH output, or a P2SH one of it. */
  readonly witnessScript: Uint8Array | null;
  readonly taproot: TaprootSpend | null;
}

/** A script of a descriptor at one branch and index. */
export interface DerivedScript extends SpendScripts {
  /** `other`: bare multisig, and scripts that have no address. */
  readonly kind: ScriptKind | 'other';
  readonly branch: number;
  readonly index: number;
  readonly keys: readonly ScriptKey[];
}

type Place = { readonly branch: number; readonly index: number };
type Paid = Pick<SpendScripts, 'script'> & Partial<SpendScripts>;
type PaymentScript = { readonly type: string; readonly script: Uint8Array };

const LEAF_VERSION = 0xc0;

/** The scripts of an expression: one, or of `combo` all that wallets made of a key. Throws DERIVATION_FAILED. */
export function deriveScripts(expression: ScriptExpression, place: Place): DerivedScript[] {
  switch (expression.name) {
    case 'combo':
      return comboScripts(derive(expression.key, place), place);
    case 'addr':
    case 'raw':
      return [finish({ script: expression.script }, [], place)];
    case 'rawtr': {
      const key = derive(expression.key, place);
      return [finish({ script: concatBytes(Uint8Array.of(0x51, 0x20), key.publicKey) }, [key], place)];
    }
    case 'tr':
      return [taprootScript(derive(expression.key, place), expression.tree, place)];
    default: {
      const keys = keysOf(expression, place);
      return [finish(payment(expression, keys), keys, place)];
    }
  }
}

function derive(key: DescriptorKey, { branch, index }: Place): ScriptKey {
  return { ...key.at(branch, index), leafHashes: [] };
}

function finish(paid: Paid, keys: readonly ScriptKey[], { branch, index }: Place): DerivedScript {
  const { script, redeemScript = null, witnessScript = null, taproot = null } = paid;
  return { script, redeemScript, witnessScript, taproot, kind: scriptKind(script, redeemScript), keys, branch, index };
}

/** P2PK and P2PKH; of a compressed key also P2WPKH and P2SH-P2WPKH (BIP384). */
function comboScripts(key: ScriptKey, place: Place): DerivedScript[] {
  const { publicKey } = key;
  const paid: Paid[] = [p2pk(publicKey), p2pkh(publicKey)];
  if (publicKey.length === 33) paid.push(p2wpkh(publicKey), p2sh(p2wpkh(publicKey)));
  return paid.map((one) => finish(one, [key], place));
}

/** In the order in which the script has them. */
function keysOf(expression: ScriptExpression, place: Place): ScriptKey[] {
  if ('inner' in expression) return keysOf(expression.inner, place);
  if ('key' in expression) return [derive(expression.key, place)];
  if (!('keys' in expression)) return [];
  const keys = expression.keys.map((key) => derive(key, place));
  return expression.name.startsWith('sorted') ? keys.sort((a, b) => compareBytes(a.publicKey, b.publicKey)) : keys;
}

/** Of all but `combo`, `tr`, `rawtr`, `addr` and `raw`. */
function payment(expression: ScriptExpression, keys: readonly ScriptKey[]): Paid {
  if (expression.name === 'sh' && expression.inner.name === 'wsh') return p2sh(p2wsh(plain(expression.inner.inner, keys)));
  if (expression.name === 'sh') return p2sh(plain(expression.inner, keys));
  return expression.name === 'wsh' ? p2wsh(plain(expression.inner, keys)) : plain(expression, keys);
}

function plain(expression: ScriptExpression, keys: readonly ScriptKey[]): PaymentScript {
  const publicKeys = keys.map(({ publicKey }) => publicKey);
  switch (expression.name) {
    case 'pk':
      return p2pk(publicKeys[0]);
    case 'pkh':
      return p2pkh(publicKeys[0]);
    case 'wpkh':
      return p2wpkh(publicKeys[0]);
    case 'multi':
    case 'sortedmulti':
      return { type: 'ms', script: multisigScript(expression.required, publicKeys) };
    default:
      throw new Error(`${expression.name}() is no plain script`);
  }
}

const OP_CHECKMULTISIG = 0xae;

/** The library has none of more than sixteen keys, which is as far as it signs; nodes allow twenty (BIP383), which we watch. */
function multisigScript(required: number, keys: readonly Uint8Array[]): Uint8Array {
  const pushed = keys.flatMap((key) => [Uint8Array.of(key.length), key]);
  return concatBytes(pushNumber(required), ...pushed, pushNumber(keys.length), Uint8Array.of(OP_CHECKMULTISIG));
}

/** Numbers up to sixteen have opcodes of their own. */
function pushNumber(value: number): Uint8Array {
  return value <= 16 ? Uint8Array.of(0x50 + value) : Uint8Array.of(1, value);
}

function taprootScript(internal: ScriptKey, tree: TreeExpression | null, place: Place): DerivedScript {
  if (tree === null) {
    const { script } = p2tr(internal.publicKey);
    return finish({ script, taproot: { internalKey: internal.publicKey, merkleRoot: null, leaves: [] } }, [internal], place);
  }
  const used: ScriptKey[] = [];
  const { script, tapMerkleRoot, tapLeafScript = [] } = p2tr(internal.publicKey, leafScripts(tree, used, place), undefined, true);
  const leaves = tapLeafScript.map(([control, versioned]) => {
    const leaf = versioned.subarray(0, -1);
    return { script: leaf, hash: tapLeafHash(leaf), control };
  });
  const taproot = { internalKey: internal.publicKey, merkleRoot: tapMerkleRoot ?? null, leaves };
  return finish({ script, taproot }, [internal, ...used].reduce<ScriptKey[]>(withKey, []), place);
}

/** A key that stands in several leaves is one key with several hashes. */
function withKey(keys: ScriptKey[], key: ScriptKey): ScriptKey[] {
  const known = keys.findIndex(({ publicKey }) => equalBytes(publicKey, key.publicKey));
  if (known < 0) return [...keys, key];
  return keys.with(known, { ...keys[known], leafHashes: [...keys[known].leafHashes, ...key.leafHashes] });
}

/** As the library takes them. The keys of each leaf are added to `used`. */
function leafScripts(tree: TreeExpression, used: ScriptKey[], place: Place): TaprootScriptTree {
  if (isPair(tree)) return tree.map((branch) => leafScripts(branch, used, place));
  const keys = keysOf(tree, place);
  const publicKeys = keys.map(({ publicKey }) => publicKey);
  const { script } = 'required' in tree ? p2tr_ms(tree.required, publicKeys, true) : p2tr_pk(publicKeys[0]);
  const hash = tapLeafHash(script);
  used.push(...keys.map((key) => ({ ...key, leafHashes: [hash] })));
  return { script, leafVersion: LEAF_VERSION };
}

function isPair(tree: TreeExpression): tree is readonly [TreeExpression, TreeExpression] {
  return Array.isArray(tree);
}

/** Pay to anchor: an output that anybody can spend, to raise the fee of its transaction. */
const ANCHOR = Uint8Array.of(0x4e, 0x73);

/** The kind of an output. Behind P2SH only the redeem script can tell. */
export function scriptKind(bytes: Uint8Array, redeemScript: Uint8Array | null): ScriptKind | 'other' {
  const script = readScript(bytes);
  switch (script.kind) {
    case 'p2pk':
    case 'p2pkh':
    case 'multisig':
      return script.kind;
    case 'p2sh':
      return redeemScript !== null && scriptKind(redeemScript, null) === 'p2wpkh' ? 'p2sh-p2wpkh' : 'p2sh';
    case 'witness':
      if (script.version === 0) return script.program.length === 20 ? 'p2wpkh' : 'p2wsh';
      if (script.version !== 1) return 'other';
      return script.program.length === 32 ? 'p2tr' : equalBytes(script.program, ANCHOR) ? 'p2a' : 'other';
    default:
      return 'other';
  }
}

/** Whether signatures stand in the witness: then they commit to the amount that is spent. */
export function hasWitness({ script, redeemScript }: Pick<SpendScripts, 'script' | 'redeemScript'>): boolean {
  return readScript(script).kind === 'witness' || (redeemScript !== null && readScript(redeemScript).kind === 'witness');
}
