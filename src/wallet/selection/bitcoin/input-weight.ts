/**
 * What an input weighs, at most, by the way its output is spent: the outpoint,
 * the sequence, the script and the witness, with signatures as long as they get.
 * A transaction may mix inputs with and without a witness; one without then has
 * a byte that says so, and it is counted here.
 */
import { assert } from '../../../util/errors.ts';
import { compactSizeBytes } from './output-size.ts';

/** How an output is spent. */
export type SpendForm =
  | { readonly kind: 'p2pk' | 'p2pkh' | 'p2sh-p2wpkh' | 'p2wpkh' | 'p2tr-key' | 'p2a' }
  | {
      readonly kind: 'multisig' | 'p2sh-multisig' | 'p2wsh-multisig' | 'p2sh-p2wsh-multisig';
      readonly required: number;
      readonly keys: number;
    }
  /** Any other: the bytes of the script and of the witness (with all its counts and lengths) that spend it. */
  | { readonly kind: 'given'; readonly scriptBytes: number; readonly witnessBytes: number };

/** Outpoint and sequence. */
const INPUT_BYTES = 36 + 4;
/** An ECDSA signature in DER with a low S, and the byte of its hash type. */
const SIGNATURE_BYTES = 72;
/** Of Schnorr, with the default hash type, which takes no byte. */
const SCHNORR_BYTES = 64;
const KEY_BYTES = 33;
/** What P2SH spends of P2WPKH and of P2WSH: the program, pushed. */
const WPKH_PROGRAM_PUSH_BYTES = 1 + 22;
const WSH_PROGRAM_PUSH_BYTES = 1 + 34;
/** A witness that has no items. */
const EMPTY_WITNESS_BYTES = 1;
/** From this many on a count takes a push of its own in a script. */
const SMALL_NUMBER_MAX = 16;

export function inputWeight(form: SpendForm): number {
  const [script, witness] = unlockingBytes(form);
  return 4 * (INPUT_BYTES + compactSizeBytes(script) + script) + witness;
}

/** Bytes of the script, and of the witness with its counts. */
function unlockingBytes(form: SpendForm): readonly [script: number, witness: number] {
  const signature = 1 + SIGNATURE_BYTES;
  const keyWitness = 1 + signature + 1 + KEY_BYTES;
  switch (form.kind) {
    case 'p2pk':
      return [signature, EMPTY_WITNESS_BYTES];
    case 'p2pkh':
      return [signature + 1 + KEY_BYTES, EMPTY_WITNESS_BYTES];
    case 'p2sh-p2wpkh':
      return [WPKH_PROGRAM_PUSH_BYTES, keyWitness];
    case 'p2wpkh':
      return [0, keyWitness];
    case 'p2tr-key':
      return [0, 1 + 1 + SCHNORR_BYTES];
    case 'p2a':
      return [0, EMPTY_WITNESS_BYTES];
    case 'multisig':
      return [1 + form.required * signature, EMPTY_WITNESS_BYTES];
    case 'p2sh-multisig': {
      const redeem = multisigScriptBytes(form);
      return [1 + form.required * signature + pushBytes(redeem) + redeem, EMPTY_WITNESS_BYTES];
    }
    case 'p2wsh-multisig':
      return [0, multisigWitnessBytes(form)];
    case 'p2sh-p2wsh-multisig':
      return [WSH_PROGRAM_PUSH_BYTES, multisigWitnessBytes(form)];
    case 'given':
      return [form.scriptBytes, form.witnessBytes];
  }
}

interface Threshold {
  readonly required: number;
  readonly keys: number;
}

/** `m key ... key n OP_CHECKMULTISIG`. */
function multisigScriptBytes({ required, keys }: Threshold): number {
  assert(required >= 1 && required <= keys, 'as many signatures as there are keys at most');
  const number = (value: number): number => (value > SMALL_NUMBER_MAX ? 2 : 1);
  return number(required) + keys * (1 + KEY_BYTES) + number(keys) + 1;
}

/** The count of items, the empty one that OP_CHECKMULTISIG takes, signatures, the script. */
function multisigWitnessBytes(form: Threshold): number {
  const script = multisigScriptBytes(form);
  return 1 + 1 + form.required * (1 + SIGNATURE_BYTES) + compactSizeBytes(script) + script;
}

/** The opcodes before pushed data: one byte up to 75 bytes of it, then OP_PUSHDATA1 and OP_PUSHDATA2 with a length. */
function pushBytes(length: number): number {
  if (length <= 75) return 1;
  return length <= 0xff ? 2 : 3;
}
