/**
 * What a partially signed transaction would do, and what it still lacks: its
 * amounts, its fee, and the keys that have not signed. Nothing is changed.
 */
import { inputWeight, type SpendForm } from '../../selection/bitcoin/input-weight.ts';
import { compactSizeBytes, weightWithoutInputs } from '../../selection/bitcoin/output-size.ts';
import type { SpendScripts } from './derived-script.ts';
import type { KeyOrigin } from './key-path.ts';
import { guarded, readPsbt, type Transaction } from './psbt-codec.ts';
import { isFinalInput, isSatisfied, type SigningPath, signingPaths } from './psbt-input.ts';
import { type LibraryInput, spentOutput } from './psbt-scripts.ts';
import { itemBytes, spendForm } from './spend-form.ts';

export interface InspectedInput {
  /** In the order of a block. */
  readonly txid: Uint8Array;
  readonly index: number;
  readonly sequence: number;
  /** The output that it spends, as the PSBT says; null: it does not. */
  readonly spent: { readonly script: Uint8Array; readonly amount: bigint } | null;
  /** Whether the transaction that it spends from is there, which proves the amount. */
  readonly hasPreviousTx: boolean;
  /** `ready`: it has its signatures; `final`: and its final scripts. */
  readonly state: 'unsigned' | 'partial' | 'ready' | 'final';
  /** The ways to spend it, with who has signed; none: final, or not known. */
  readonly paths: readonly SigningPath[];
}

export interface InspectedOutput {
  readonly script: Uint8Array;
  readonly amount: bigint;
  /** Keys of it that the PSBT names: those of whoever made it, usually of change. */
  readonly keys: readonly { readonly key: Uint8Array; readonly origin: KeyOrigin }[];
}

export interface InspectedPsbt {
  readonly psbtVersion: number;
  readonly version: number;
  readonly lockTime: number;
  readonly inputs: readonly InspectedInput[];
  readonly outputs: readonly InspectedOutput[];
  /** Null: an output that is spent is not known. */
  readonly fee: bigint | null;
  /** Bytes that the fee is paid for (BIP141), at most, while signatures are missing; null: not known how an input is spent. */
  readonly vsize: number | null;
  /** Satoshi for each of them. */
  readonly feeRate: number | null;
  /** Whether it has all signatures. */
  readonly isComplete: boolean;
}

const NO_SEQUENCE = 0xffff_ffff;

/** Throws PSBT_INVALID. */
export function inspectPsbt(psbt: Uint8Array): InspectedPsbt {
  const tx = readPsbt(psbt);
  const raw = Array.from({ length: tx.inputsLength }, (_, i) => tx.getInput(i));
  const inputs = raw.map(inspectInput);
  const outputs = Array.from({ length: tx.outputsLength }, (_, i) => inspectOutput(tx, i));
  const fee = feeOf(inputs, outputs);
  const vsize = guarded('the PSBT', () => vsizeOf(tx, raw, outputs));
  return {
    psbtVersion: tx.opts.PSBTVersion ?? 0,
    version: tx.version,
    lockTime: tx.lockTime,
    inputs,
    outputs,
    fee,
    vsize,
    feeRate: fee === null || vsize === null ? null : Number(fee) / vsize,
    isComplete: inputs.length > 0 && inputs.every(({ state }) => state === 'ready' || state === 'final'),
  };
}

function inspectInput(input: LibraryInput): InspectedInput {
  const { txid = new Uint8Array(32), index = 0, sequence = NO_SEQUENCE } = input;
  const isFinal = isFinalInput(input);
  const paths = isFinal ? [] : signingPaths(input);
  return {
    txid: txid.toReversed(),
    index,
    sequence,
    spent: spentOutput(input),
    hasPreviousTx: input.nonWitnessUtxo !== undefined,
    state: isFinal ? 'final' : stateOf(paths),
    paths,
  };
}

function stateOf(paths: readonly SigningPath[]): InspectedInput['state'] {
  if (paths.some(isSatisfied)) return 'ready';
  return paths.some(({ signers }) => signers.some(({ hasSigned }) => hasSigned)) ? 'partial' : 'unsigned';
}

function inspectOutput(tx: Transaction, i: number): InspectedOutput {
  const { script = new Uint8Array(0), amount = 0n, bip32Derivation = [], tapBip32Derivation = [] } = tx.getOutput(i);
  const keys = bip32Derivation.map(([key, origin]) => ({ key, origin }));
  return { script, amount, keys: [...keys, ...tapBip32Derivation.map(([key, { der }]) => ({ key, origin: der }))] };
}

function feeOf(inputs: readonly InspectedInput[], outputs: readonly InspectedOutput[]): bigint | null {
  let fee = 0n;
  for (const { spent } of inputs) {
    if (spent === null) return null;
    fee += spent.amount;
  }
  return outputs.reduce((left, { amount }) => left - amount, fee);
}

/** Exact when all inputs are final. */
function vsizeOf(tx: Transaction, inputs: readonly LibraryInput[], outputs: readonly InspectedOutput[]): number | null {
  if (tx.isFinal) return tx.vsize;
  let weight = weightWithoutInputs(outputs, inputs.length);
  for (const input of inputs) {
    const form = isFinalInput(input) ? finalForm(input) : spendForm(spendOf(input));
    if (form === null) return null;
    weight += inputWeight(form);
  }
  return Math.ceil(weight / 4);
}

function finalForm({ finalScriptSig, finalScriptWitness = [] }: LibraryInput): SpendForm {
  const witnessBytes = finalScriptWitness.reduce((sum, item) => sum + itemBytes(item.length), compactSizeBytes(finalScriptWitness.length));
  return { kind: 'given', scriptBytes: finalScriptSig?.length ?? 0, witnessBytes };
}

function spendOf(input: LibraryInput): SpendScripts {
  const { redeemScript = null, witnessScript = null, tapInternalKey, tapMerkleRoot = null, tapLeafScript = [] } = input;
  const script = spentOutput(input)?.script ?? new Uint8Array(0);
  const leaves = tapLeafScript.map(([control, versioned]) => ({ script: versioned.subarray(0, -1), hash: new Uint8Array(0), control }));
  const taproot = tapInternalKey === undefined ? null : { internalKey: tapInternalKey, merkleRoot: tapMerkleRoot, leaves };
  return { script, redeemScript, witnessScript, taproot };
}
