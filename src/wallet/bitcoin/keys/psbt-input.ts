/**
 * Who has to sign an input of a partially signed transaction, and who has. Most
 * inputs have one way to be spent; a taproot output has one by its key and one
 * for each leaf of its tree. Of a key of which only the hash is known, the hash
 * stands for it.
 */
import { getInputType, OutScript } from '@scure/btc-signer';
import { tapLeafHash } from '@scure/btc-signer/payment.js';
import { hash160 } from '@scure/btc-signer/utils.js';
import { equalBytes } from '../../../util/bytes.ts';
import type { KeyOrigin } from './key-path.ts';
import { guarded } from './psbt-codec.ts';
import { type LibraryInput, spentOutput } from './psbt-scripts.ts';

/** A key that may sign. */
export interface PsbtSigner {
  /** 33, 65 or (taproot) 32 bytes; 20: only its hash is known. */
  readonly key: Uint8Array;
  /** Where it comes from; null: the PSBT does not say. */
  readonly origin: KeyOrigin | null;
  /** Whether a signature of it is there. Signatures are not checked: nodes do that. */
  readonly hasSigned: boolean;
}

/** One way to spend an input: so many of these keys. */
export interface SigningPath {
  readonly required: number;
  readonly signers: readonly PsbtSigner[];
}

export function isFinalInput(input: LibraryInput): boolean {
  return (input.finalScriptSig?.length ?? 0) > 0 || (input.finalScriptWitness?.length ?? 0) > 0;
}

/** Whether anybody has signed it. */
export function hasSignature(input: LibraryInput): boolean {
  const { partialSig = [], tapKeySig, tapScriptSig = [] } = input;
  return isFinalInput(input) || partialSig.length > 0 || tapKeySig !== undefined || tapScriptSig.length > 0;
}

export function isSatisfied({ required, signers }: SigningPath): boolean {
  return signers.filter(({ hasSigned }) => hasSigned).length >= required;
}

/** None: the script, or what is behind it, is not known, or is none of those that we sign. */
export function signingPaths(input: LibraryInput): SigningPath[] {
  const spent = spentOutput(input);
  if (spent === null) return [];
  const { last, lastScript } = guarded('an input', () => typeOf(input)) ?? {};
  if (last === undefined || lastScript === undefined) return [];
  switch (last.type) {
    case 'tr':
      return taprootPaths(input);
    case 'ms':
      return [{ required: last.m, signers: last.pubkeys.map((key) => signer(input, key)) }];
    case 'pk':
      return [{ required: 1, signers: [signer(input, last.pubkey)] }];
    case 'pkh':
    case 'wpkh':
      return [{ required: 1, signers: [signer(input, keyOfHash(input, last.hash))] }];
    default:
      return [];
  }
}

/** Undefined: a script behind a hash is missing. A legacy output may come without the transaction it is of: that is the signer's matter. */
function typeOf(input: LibraryInput): ReturnType<typeof getInputType> | undefined {
  const { script } = spentOutput(input) ?? {};
  const outer = script === undefined ? undefined : OutScript.decode(script).type;
  if (outer === 'sh' && input.redeemScript === undefined) return undefined;
  const inner = outer === 'sh' && input.redeemScript !== undefined ? OutScript.decode(input.redeemScript).type : outer;
  return inner === 'wsh' && input.witnessScript === undefined ? undefined : getInputType(input, true);
}

/** The key with that hash, among those that the PSBT names. */
function keyOfHash({ bip32Derivation = [], partialSig = [] }: LibraryInput, hash: Uint8Array): Uint8Array {
  const named = [...bip32Derivation, ...partialSig].map(([key]) => key);
  return named.find((key) => equalBytes(hash160(key), hash)) ?? hash;
}

function signer({ bip32Derivation = [], partialSig = [] }: LibraryInput, key: Uint8Array): PsbtSigner {
  const [, origin = null] = bip32Derivation.find(([named]) => equalBytes(named, key)) ?? [];
  return { key, origin, hasSigned: partialSig.some(([signed]) => equalBytes(signed, key)) };
}

function taprootPaths(input: LibraryInput): SigningPath[] {
  const { tapInternalKey, tapKeySig, tapLeafScript = [], tapScriptSig = [] } = input;
  const byKey = tapInternalKey === undefined ? [] : [path(1, [taprootSigner(input, tapInternalKey, tapKeySig !== undefined)])];
  const byLeaf = tapLeafScript.flatMap(([, versioned]) => {
    const script = versioned.subarray(0, -1);
    const hash = tapLeafHash(script, versioned.at(-1));
    const leaf = OutScript.decode(script);
    if (leaf.type !== 'tr_ms' && leaf.type !== 'tr_ns') return [];
    const hasSigned = (key: Uint8Array): boolean =>
      tapScriptSig.some(([{ pubKey, leafHash }]) => equalBytes(pubKey, key) && equalBytes(leafHash, hash));
    const signers = leaf.pubkeys.map((key) => taprootSigner(input, key, hasSigned(key)));
    return [path(leaf.type === 'tr_ms' ? leaf.m : leaf.pubkeys.length, signers)];
  });
  return [...byKey, ...byLeaf];
}

function path(required: number, signers: readonly PsbtSigner[]): SigningPath {
  return { required, signers };
}

function taprootSigner({ tapBip32Derivation = [] }: LibraryInput, key: Uint8Array, hasSigned: boolean): PsbtSigner {
  const [, place] = tapBip32Derivation.find(([named]) => equalBytes(named, key)) ?? [];
  return { key, origin: place?.der ?? null, hasSigned };
}
