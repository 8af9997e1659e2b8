/**
 * How an output of a descriptor or of a PSBT is spent, in the terms of coin
 * selection (`selection/bitcoin/input-weight.ts`): what an input will weigh
 * follows from it before there is any signature.
 */
import { OutScript, TAPROOT_UNSPENDABLE_KEY } from '@scure/btc-signer';
import { readScript, type Script } from '../../../ledgers/bitcoin/index.ts';
import { equalBytes } from '../../../util/bytes.ts';
import type { SpendForm } from '../../selection/bitcoin/input-weight.ts';
import { compactSizeBytes } from '../../selection/bitcoin/output-size.ts';
import type { SpendScripts, TaprootSpend } from './derived-script.ts';

/** Signatures with the byte before them that says how long they are: ECDSA at most, Schnorr always; and so a key. */
const SIGNATURE_ITEM_BYTES = 1 + 72;
const SCHNORR_ITEM_BYTES = 1 + 64;
const KEY_ITEM_BYTES = 1 + 33;
/** The program of P2WSH, pushed in the script of a P2SH input. */
const WSH_PROGRAM_PUSH_BYTES = 1 + 34;

/** Null: not known, because a script behind a hash is not, or because it is none that we sign. */
export function spendForm({ script, redeemScript, witnessScript, taproot }: SpendScripts): SpendForm | null {
  const outer = readScript(script);
  if (outer.kind === 'p2pk' || outer.kind === 'p2pkh') return { kind: outer.kind };
  if (outer.kind === 'multisig') return { kind: 'multisig', required: outer.required, keys: outer.keys.length };
  if (outer.kind === 'witness') return outer.version === 1 ? taprootForm(taproot) : witnessForm(outer.program, witnessScript, false);
  if (outer.kind !== 'p2sh' || redeemScript === null) return null;
  const inner = readScript(redeemScript);
  if (inner.kind === 'witness') return witnessForm(inner.program, witnessScript, true);
  if (inner.kind === 'multisig') return { kind: 'p2sh-multisig', required: inner.required, keys: inner.keys.length };
  const stack = stackBytes(inner);
  return stack === null ? null : { kind: 'given', scriptBytes: stack + 1 + redeemScript.length, witnessBytes: 1 };
}

function witnessForm(program: Uint8Array, witnessScript: Uint8Array | null, isNested: boolean): SpendForm | null {
  if (program.length === 20) return { kind: isNested ? 'p2sh-p2wpkh' : 'p2wpkh' };
  if (witnessScript === null) return null;
  const inner = readScript(witnessScript);
  if (inner.kind === 'multisig') {
    return { kind: isNested ? 'p2sh-p2wsh-multisig' : 'p2wsh-multisig', required: inner.required, keys: inner.keys.length };
  }
  const stack = stackBytes(inner);
  if (stack === null) return null;
  return { kind: 'given', scriptBytes: isNested ? WSH_PROGRAM_PUSH_BYTES : 0, witnessBytes: 1 + stack + itemBytes(witnessScript.length) };
}

/** What a script of one key finds on the stack; null: it is another. */
function stackBytes({ kind }: Script): number | null {
  if (kind === 'p2pk') return SIGNATURE_ITEM_BYTES;
  return kind === 'p2pkh' ? SIGNATURE_ITEM_BYTES + KEY_ITEM_BYTES : null;
}

/** By the key itself, whose owners are taken to agree; by the heaviest leaf where nobody has that key (BIP341). */
function taprootForm(taproot: TaprootSpend | null): SpendForm | null {
  if (taproot === null) return null;
  const { internalKey, leaves } = taproot;
  if (leaves.length === 0 || !equalBytes(internalKey, TAPROOT_UNSPENDABLE_KEY)) return { kind: 'p2tr-key' };
  const weights = leaves.map(({ script, control }) => {
    return 1 + leafStackBytes(script) + itemBytes(script.length) + itemBytes(33 + 32 * control.merklePath.length);
  });
  return { kind: 'given', scriptBytes: 0, witnessBytes: Math.max(...weights) };
}

/** A leaf of one key, or `multi_a`: an item for each key, empty where it does not sign. */
function leafStackBytes(bytes: Uint8Array): number {
  const leaf = OutScript.decode(bytes);
  const [required, keys] = leaf.type === 'tr_ms' ? [leaf.m, leaf.pubkeys.length] : [1, 1];
  return required * SCHNORR_ITEM_BYTES + keys - required;
}

/** So many bytes as an item of a witness: with their count before them. */
export function itemBytes(length: number): number {
  return compactSizeBytes(length) + length;
}
