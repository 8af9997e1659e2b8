/**
 * Bytes of outputs and of what stands around inputs and outputs; and dust: the
 * value below which nodes do not relay an output, because spending it would cost
 * more than a third of it at the dust relay rate (Core: `GetDustThreshold`).
 */
import { OPCODE, readScript } from '../../../ledgers/bitcoin/script.ts';
import { feeOf } from './fee-rate.ts';

const VALUE_BYTES = 8;
const VERSION_AND_LOCKTIME_BYTES = 4 + 4;
/** Marker and flag of a transaction with witnesses. */
const SEGWIT_WEIGHT = 2;
/** Core's estimate of an input that spends a script or key hash, and of one that spends a witness program. */
const SPEND_VBYTES = 148;
const WITNESS_SPEND_VBYTES = 67;
/** Scripts above this cannot be run, so nobody can spend their outputs. */
const SCRIPT_BYTES_MAX = 10_000;

/** Bytes of a count or length. */
export function compactSizeBytes(value: number): number {
  if (value < 0xfd) return 1;
  return value <= 0xffff ? 3 : 5;
}

/** Bytes of an output with that script. */
export function outputBytes(script: Uint8Array): number {
  return VALUE_BYTES + compactSizeBytes(script.length) + script.length;
}

/** Weight of a transaction with these outputs and that many inputs, without the inputs themselves. */
export function weightWithoutInputs(outputs: readonly { readonly script: Uint8Array }[], inputCount: number): number {
  let bytes = VERSION_AND_LOCKTIME_BYTES + compactSizeBytes(inputCount) + compactSizeBytes(outputs.length);
  for (const { script } of outputs) bytes += outputBytes(script);
  return 4 * bytes + SEGWIT_WEIGHT;
}

/** The least value of an output with that script that nodes relay. */
export function dustThreshold(script: Uint8Array, dustRelayRate: number): number {
  if (script[0] === OPCODE.return || script.length > SCRIPT_BYTES_MAX) return 0;
  const spend = readScript(script).kind === 'witness' ? WITNESS_SPEND_VBYTES : SPEND_VBYTES;
  return feeOf(dustRelayRate, outputBytes(script) + spend);
}
