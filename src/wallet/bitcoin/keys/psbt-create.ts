/**
 * A partially signed transaction from chosen coins, and what we know of coins and
 * outputs added to one that others made: the outputs that are spent, the scripts
 * behind their hashes, and which keys sign, so that a signer needs nothing else.
 */
import type { TransactionInputUpdate, TransactionOutputUpdate } from '@scure/btc-signer/psbt.js';
import { type BitcoinNetwork, decodeTx, formatId, readScript } from '../../../ledgers/bitcoin/index.ts';
import { concatBytes, equalBytes } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { type DerivedScript, hasWitness, type SpendScripts, type TaprootSpend } from './derived-script.ts';
import { guarded, newTransaction, readPsbt, writePsbt } from './psbt-codec.ts';
import { hasSignature } from './psbt-input.ts';
import { spentOutput } from './psbt-scripts.ts';

/** BIP125: it may be replaced by one with a higher fee. */
const SEQUENCE_REPLACEABLE = 0xffff_fffd;
/** It may not, but its lock time counts. */
const SEQUENCE_LOCKED = 0xffff_fffe;
const LEAF_VERSION_MASK = 0xfe;

/** A script of ours, with its keys. */
export type OwnedScript = SpendScripts & Pick<DerivedScript, 'keys'>;

export interface PsbtInput {
  /** 32 bytes in the order of a block. */
  readonly txid: Uint8Array;
  readonly index: number;
  readonly amount: bigint;
  readonly owner: OwnedScript;
  /** The transaction that it spends from, whole. Needed where signatures do not commit to the amount: all that is not segwit. */
  readonly previousTx?: Uint8Array | undefined;
  /** In place of what `replaceable` says. */
  readonly sequence?: number;
}

export interface PsbtOutput {
  readonly script: Uint8Array;
  readonly amount: bigint;
  /** For change: a signer can tell by it that the output is its own. */
  readonly owner?: OwnedScript;
}

export interface PsbtDraft {
  readonly network: BitcoinNetwork;
  /** In the order that the transaction is to have: coin selection has shuffled them. */
  readonly inputs: readonly PsbtInput[];
  readonly outputs: readonly PsbtOutput[];
  /** The height or time from which on it is valid; default 0. Wallets give the height of the tip. */
  readonly lockTime?: number;
  /** Of the transaction; default 2. */
  readonly version?: number;
  /** Whether a higher fee may replace it (BIP125); default true. */
  readonly replaceable?: boolean;
  /** 0 (BIP174), which every signer reads, or 2 (BIP370). Default 0. */
  readonly psbtVersion?: 0 | 2;
}

/** Throws PSBT_INVALID. */
export function createPsbt(draft: PsbtDraft): Uint8Array {
  const { network, inputs, outputs, lockTime = 0, version = 2, replaceable = true, psbtVersion = 0 } = draft;
  checkDraft(draft);
  const tx = newTransaction({ version, lockTime, PSBTVersion: psbtVersion });
  for (const input of inputs) {
    const { sequence = replaceable ? SEQUENCE_REPLACEABLE : SEQUENCE_LOCKED } = input;
    const fields = { txid: input.txid.toReversed(), index: input.index, sequence, ...inputFields(network, input) };
    guarded(`input ${formatId(input.txid)}:${input.index}`, () => tx.addInput(fields));
  }
  for (const { script, amount, owner } of outputs) {
    const fields = owner === undefined ? {} : outputFields(script, owner);
    guarded('an output', () => tx.addOutput({ script, amount, ...fields }));
  }
  return writePsbt(tx);
}

/** What the updater of a PSBT knows. */
export interface PsbtKnowledge {
  /** The script's owner, if it is ours. */
  ownerOf(script: Uint8Array): OwnedScript | undefined;
  /** A transaction that an input spends from, by its id in the order of a block. */
  previousTx(txid: Uint8Array): Uint8Array | undefined;
}

/** Adds what we know to the inputs that are not signed yet, and to the outputs. Throws PSBT_INVALID. */
export function updatePsbt(network: BitcoinNetwork, psbt: Uint8Array, knowledge: PsbtKnowledge): Uint8Array {
  const tx = readPsbt(psbt);
  for (let i = 0; i < tx.inputsLength; i++) {
    const input = tx.getInput(i);
    if (input.txid === undefined || input.index === undefined || hasSignature(input)) continue;
    const txid = input.txid.toReversed();
    const previousTx = input.nonWitnessUtxo === undefined ? knowledge.previousTx(txid) : undefined;
    const spent = previousTx === undefined ? spentOutput(input) : outputAt(network, previousTx, input.index);
    const owner = spent === null ? undefined : knowledge.ownerOf(spent.script);
    if (spent === null || owner === undefined) continue;
    const known = { txid, index: input.index, amount: spent.amount, owner, previousTx };
    const fields = input.nonWitnessUtxo === undefined ? inputFields(network, known) : ownerFields(known);
    guarded(`input ${i}`, () => tx.updateInput(i, fields));
  }
  for (let i = 0; i < tx.outputsLength; i++) {
    const { script } = tx.getOutput(i);
    const owner = script && knowledge.ownerOf(script);
    if (script !== undefined && owner !== undefined) guarded(`output ${i}`, () => tx.updateOutput(i, outputFields(script, owner)));
  }
  return writePsbt(tx);
}

function checkDraft({ inputs, outputs }: PsbtDraft): void {
  const fail = (message: string): UnspentError => new UnspentError('PSBT_INVALID', message);
  if (inputs.length === 0 || outputs.length === 0) throw fail('a transaction has inputs and outputs');
  const names = new Set(inputs.map(({ txid, index }) => `${formatId(txid)}:${index}`));
  if (names.size < inputs.length) throw fail('an output is spent twice');
  const sum = (amounts: readonly { readonly amount: bigint }[]): bigint => amounts.reduce((total, { amount }) => total + amount, 0n);
  if ([...inputs, ...outputs].some(({ amount }) => amount < 0n)) throw fail('an amount is negative');
  if (sum(inputs) < sum(outputs)) throw fail(`the outputs have ${sum(outputs) - sum(inputs)} more than the inputs`);
}

/** With the transaction that is spent from, where signatures do not commit to all amounts. */
function inputFields(network: BitcoinNetwork, input: PsbtInput): TransactionInputUpdate {
  const { txid, index, amount, owner, previousTx } = input;
  if (previousTx !== undefined) checkSpent(network, previousTx, { txid, index, amount, script: owner.script });
  else if (!hasWitness(owner)) {
    const message = `input ${formatId(txid)}:${index} is not segwit: the transaction that it spends from is needed, because signatures do not commit to the amount`;
    throw new UnspentError('PSBT_INVALID', message, { txid: formatId(txid), index });
  }
  const needsPrevious = previousTx !== undefined && owner.taproot === null;
  return { ...ownerFields(input), ...(needsPrevious ? { nonWitnessUtxo: withoutWitness(network, previousTx) } : {}) };
}

function ownerFields({ amount, owner }: Pick<PsbtInput, 'amount' | 'owner'>): TransactionInputUpdate {
  return {
    ...(hasWitness(owner) ? { witnessUtxo: { script: owner.script, amount } } : {}),
    ...scriptFields(owner),
    ...(owner.taproot === null ? {} : taprootInput(owner.taproot)),
  };
}

function outputFields(script: Uint8Array, owner: OwnedScript): TransactionOutputUpdate {
  if (!equalBytes(script, owner.script)) throw new UnspentError('PSBT_INVALID', 'an output is not of the script that owns it');
  return { ...scriptFields(owner), ...(owner.taproot === null ? {} : taprootOutput(owner.taproot)) };
}

/** What inputs and outputs have alike. */
function scriptFields({
  redeemScript,
  witnessScript,
  script,
  keys,
}: OwnedScript): Pick<TransactionInputUpdate, 'redeemScript' | 'witnessScript' | 'bip32Derivation' | 'tapBip32Derivation'> {
  const read = readScript(script);
  const isTaproot = read.kind === 'witness' && read.version === 1;
  const places = keys.map(({ publicKey, origin, leafHashes }) => {
    const der = { fingerprint: origin.fingerprint, path: [...origin.path] };
    return { publicKey, der, hashes: [...leafHashes] };
  });
  return {
    ...(redeemScript === null ? {} : { redeemScript }),
    ...(witnessScript === null ? {} : { witnessScript }),
    ...(isTaproot || keys.length === 0 ? {} : { bip32Derivation: places.map(({ publicKey, der }) => [publicKey, der]) }),
    ...(isTaproot && keys.length > 0
      ? { tapBip32Derivation: places.map(({ publicKey, der, hashes }) => [publicKey, { hashes, der }]) }
      : {}),
  };
}

function taprootInput({ internalKey, merkleRoot, leaves }: TaprootSpend): TransactionInputUpdate {
  if (merkleRoot === null) return { tapInternalKey: internalKey };
  return {
    tapInternalKey: internalKey,
    tapMerkleRoot: merkleRoot,
    tapLeafScript: leaves.map(({ script, control }) => [
      { ...control, merklePath: [...control.merklePath] },
      concatBytes(script, Uint8Array.of(control.version & LEAF_VERSION_MASK)),
    ]),
  };
}

function taprootOutput({ internalKey, merkleRoot, leaves }: TaprootSpend): TransactionOutputUpdate {
  if (merkleRoot === null) return { tapInternalKey: internalKey };
  return {
    tapInternalKey: internalKey,
    tapTree: leaves.map(({ script, control }) => ({
      depth: control.merklePath.length,
      version: control.version & LEAF_VERSION_MASK,
      script: script.slice(),
    })),
  };
}

type Spent = { readonly txid: Uint8Array; readonly index: number; readonly amount: bigint; readonly script: Uint8Array };

function checkSpent(network: BitcoinNetwork, previousTx: Uint8Array, { txid, index, amount, script }: Spent): void {
  const name = `${formatId(txid)}:${index}`;
  const { id } = decodePrevious(network, previousTx);
  if (!equalBytes(id, txid)) throw new UnspentError('PSBT_INVALID', `input ${name} does not spend from ${formatId(id)}`, { input: name });
  const output = outputAt(network, previousTx, index);
  if (output !== null && output.amount === amount && equalBytes(output.script, script)) return;
  throw new UnspentError('PSBT_INVALID', `the output ${name} has another amount or script`, { input: name });
}

/** Null: it has no such output that can be spent. */
function outputAt(network: BitcoinNetwork, raw: Uint8Array, index: number): { script: Uint8Array; amount: bigint } | null {
  const output = decodePrevious(network, raw).creates.find((create) => create.index === index);
  if (output === undefined) return null;
  const amount = (BigInt(output.valueHi) << 32n) | BigInt(output.valueLo);
  return { script: raw.slice(output.addressStart, output.addressEnd), amount };
}

/** The bytes that its id is of. Witnesses are of no use to a signer, and Litecoin's extension no other program could read. */
function withoutWitness(network: BitcoinNetwork, raw: Uint8Array): Uint8Array {
  const tx = decodePrevious(network, raw);
  return concatBytes(raw.subarray(0, 4), raw.subarray(tx.bodyStart, tx.bodyEnd), raw.subarray(tx.lockTimeAt, tx.end));
}

function decodePrevious(network: BitcoinNetwork, raw: Uint8Array): ReturnType<typeof decodeTx> {
  return decodeTx(raw, network.mweb);
}
