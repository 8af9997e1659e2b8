/**
 * A transaction as a reader wants it, decoded on demand from the body's bytes
 * in its block. The fold keeps only what a transaction spends and creates;
 * everything else is here. Which part took effect depends on `valid`: of an
 * invalid one only the collateral is spent and its return comes into being.
 */

import { blake2b256 } from '../../crypto/hash.ts';
import { Cursor } from '../../util/cbor.ts';
import type { Asset } from '../asset.ts';
import { type DescribedOutput, enterSet, readAssets, readHash, readOutput } from './describe.ts';
import type { WholeTx } from './whole-tx.ts';

const TX_ID_BYTES = 32;
const CBOR_FALSE = 0xf4;
const CBOR_TRUE = 0xf5;
const TAG_ENCODED_CBOR = 24;

/** An output that a transaction names. */
export interface OutRef {
  /** The id of the transaction that made it. */
  readonly txId: Uint8Array;
  /** Which of that transaction's outputs it is. */
  readonly index: number;
}

/** `start..end` are the output's bytes in the given buffer. */
export interface TxOutput extends DescribedOutput {
  /** Which of its transaction's outputs it is. */
  readonly index: number;
  /** Where its bytes begin. */
  readonly start: number;
  /** Where its bytes end. */
  readonly end: number;
}

/** What a transaction takes from a reward account. */
export interface Withdrawal {
  /** The reward address. */
  readonly account: Uint8Array;
  /** What is taken. */
  readonly lovelace: bigint;
}

/** What a transaction of any era has. */
export interface DescribedByronTx {
  /** 32 bytes. */
  readonly id: Uint8Array;
  /** The outputs it names as its inputs. */
  readonly inputs: readonly OutRef[];
  /** The outputs it makes. */
  readonly outputs: readonly TxOutput[];
}

/** A transaction from Shelley on, decoded. */
export interface DescribedTx extends DescribedByronTx {
  /** False: its scripts failed, and only its collateral was spent. */
  readonly valid: boolean;
  /** In lovelace. */
  readonly fee: bigint;
  /** The first slot it may be in; null: any. */
  readonly validFrom: bigint | null;
  /** The first slot it may no longer be in; null: none. */
  readonly validUntil: bigint | null;
  /** Hashes of keys that must sign it, besides those of its inputs. */
  readonly requiredSigners: readonly Uint8Array[];
  /** What is spent if its scripts fail. */
  readonly collateral: readonly OutRef[];
  /** Outputs it only looks at. */
  readonly referenceInputs: readonly OutRef[];
  /** Its index is the number of declared outputs. Exists on the chain only when the transaction is invalid. */
  readonly collateralReturn: TxOutput | null;
  /** In lovelace; null: it does not say. */
  readonly totalCollateral: bigint | null;
  /** Assets it mints, and with a negative quantity burns. */
  readonly mint: readonly Asset[];
  /** The kinds of the certificates it carries, as the ledger numbers them, in their order. */
  readonly certificateKinds: readonly number[];
  /** The certificates themselves, each in CBOR. */
  readonly certificates: readonly Uint8Array[];
  /** What it withdraws, in the order of the body. */
  readonly withdrawals: readonly Withdrawal[];
  /** The lovelace withdrawn from all of them. */
  readonly withdrawn: bigint;
  /** The network it says it is for: 1 is mainnet, 0 any other; null: it does not say. */
  readonly networkId: number | null;
  /** The hash of what it gives to scripts; null: none. */
  readonly scriptDataHash: Uint8Array | null;
  /** Governance proposals it carries, each in CBOR. */
  readonly proposals: readonly Uint8Array[];
  /** All its votes, in CBOR; null: none. */
  readonly votes: Uint8Array | null;
  /** What it says the treasury holds, and what it gives to it (Conway). */
  readonly treasury: bigint | null;
  /** Lovelace it gives to the treasury. */
  readonly donation: bigint;
}

type Draft = { -readonly [Field in keyof DescribedTx]: DescribedTx[Field] };

/** A transaction as it is submitted: `[body, witnesses, valid, auxiliary]`. Throws BLOCK_INVALID with the position. */
export function readWholeTx(raw: Uint8Array): DescribedTx {
  const c = new Cursor(raw);
  c.tuple(4, 'transaction');
  const start = c.at;
  c.skip();
  const body = c.at;
  c.skip();
  const flag = raw[c.at];
  if (flag !== CBOR_FALSE && flag !== CBOR_TRUE) c.fail('expected true or false');
  c.skip();
  c.skip();
  if (c.at !== raw.length) c.fail('bytes behind the transaction');
  return describeTx(raw, start, body, flag === CBOR_TRUE);
}

/** A transaction of any era that stands alone and was taken apart; of Byron, what it does not have is empty. Throws BLOCK_INVALID. */
export function describeWholeTx(raw: Uint8Array, { tx: { start, end, valid }, isByron }: WholeTx): DescribedTx {
  if (!isByron) return describeTx(raw, start, end, valid);
  const described = describeByronTx(raw, start, end);
  return { ...emptyTx(described.id, valid), ...described };
}

/** A body of Shelley or later, `raw[start..end]`. Throws BLOCK_INVALID with the position. */
export function describeTx(raw: Uint8Array, start: number, end: number, valid: boolean): DescribedTx {
  const cursor = new Cursor(raw, start, end);
  const draft = emptyTx(blake2b256(raw, start, end), valid);
  let returnAt = -1;
  const count = cursor.map();
  for (let i = 0; cursor.more(count, i); i++) {
    const key = cursor.uint();
    if (key === 16) {
      returnAt = cursor.at;
      cursor.skip();
    } else if (!readField(cursor, key, draft)) cursor.skip();
  }
  if (cursor.at !== end) cursor.fail('bytes after the end of the transaction body');
  // Its index needs the outputs, which may stand behind it in the map.
  if (returnAt >= 0) draft.collateralReturn = readTxOutput(new Cursor(raw, returnAt, end), draft.outputs.length);
  return draft;
}

/** A Byron transaction `[inputs, outputs, attributes]`, without its witnesses. */
export function describeByronTx(raw: Uint8Array, start: number, end: number): DescribedByronTx {
  const cursor = new Cursor(raw, start, end);
  const fields = cursor.tuple(3, 'Byron transaction');
  const inputs: OutRef[] = [];
  for (let i = 0, n = cursor.array(); cursor.more(n, i); i++) inputs.push(readByronInput(cursor));
  const outputs = readOutputs(cursor);
  cursor.skip();
  cursor.close(fields);
  if (cursor.at !== end) cursor.fail('bytes after the end of the transaction');
  return { id: blake2b256(raw, start, end), inputs, outputs };
}

function emptyTx(id: Uint8Array, valid: boolean): Draft {
  return {
    id,
    valid,
    fee: 0n,
    inputs: [],
    outputs: [],
    validFrom: null,
    validUntil: null,
    requiredSigners: [],
    collateral: [],
    referenceInputs: [],
    collateralReturn: null,
    totalCollateral: null,
    mint: [],
    certificateKinds: [],
    certificates: [],
    withdrawals: [],
    withdrawn: 0n,
    networkId: null,
    scriptDataHash: null,
    proposals: [],
    votes: null,
    treasury: null,
    donation: 0n,
  };
}

/** One entry of the body map (CDDL: `transaction_body`); false when the key is not one of ours. */
function readField(cursor: Cursor, key: number, draft: Draft): boolean {
  if (key === 0) draft.inputs = readInputs(cursor);
  else if (key === 1) draft.outputs = readOutputs(cursor);
  else if (key === 2) draft.fee = cursor.bigUint();
  else if (key === 3) draft.validUntil = cursor.bigUint();
  else if (key === 4) readCertificates(cursor, draft);
  else if (key === 5) readWithdrawals(cursor, draft);
  else if (key === 8) draft.validFrom = cursor.bigUint();
  else if (key === 9) draft.mint = readAssets(cursor);
  else if (key === 11) draft.scriptDataHash = readHash(cursor);
  else if (key === 13) draft.collateral = readInputs(cursor);
  else if (key === 14) draft.requiredSigners = readHashes(cursor);
  else if (key === 15) draft.networkId = cursor.uint();
  else if (key === 17) draft.totalCollateral = cursor.bigUint();
  else if (key === 18) draft.referenceInputs = readInputs(cursor);
  else if (key === 19) draft.votes = readItem(cursor);
  else if (key === 20) readProposals(cursor, draft);
  else if (key === 21) draft.treasury = cursor.bigUint();
  else if (key === 22) draft.donation = cursor.bigUint();
  else return false;
  return true;
}

function readItem(cursor: Cursor): Uint8Array {
  const start = cursor.at;
  cursor.skip();
  return cursor.bytes.subarray(start, cursor.at);
}

function readProposals(cursor: Cursor, draft: Draft): void {
  const proposals: Uint8Array[] = [];
  for (let i = 0, count = enterSet(cursor); cursor.more(count, i); i++) proposals.push(readItem(cursor));
  draft.proposals = proposals;
}

/** They are arrays with their kind in front. */
function readCertificates(cursor: Cursor, draft: Draft): void {
  const kinds: number[] = [];
  const certificates: Uint8Array[] = [];
  for (let i = 0, count = enterSet(cursor); cursor.more(count, i); i++) {
    const start = cursor.at;
    cursor.array();
    kinds.push(cursor.uint());
    cursor.at = start;
    certificates.push(readItem(cursor));
  }
  draft.certificateKinds = kinds;
  draft.certificates = certificates;
}

function readInputs(cursor: Cursor): OutRef[] {
  const inputs: OutRef[] = [];
  for (let i = 0, count = enterSet(cursor); cursor.more(count, i); i++) inputs.push(readOutRef(cursor));
  return inputs;
}

function readHashes(cursor: Cursor): Uint8Array[] {
  const hashes: Uint8Array[] = [];
  for (let i = 0, count = enterSet(cursor); cursor.more(count, i); i++) hashes.push(cursor.byteString());
  return hashes;
}

/** `[txid, index]`: of an output, or a proposal. */
export function readOutRef(cursor: Cursor): OutRef {
  const fields = cursor.tuple(2, 'input');
  cursor.span(TX_ID_BYTES);
  const txId = cursor.bytes.subarray(cursor.start, cursor.stop);
  const index = cursor.uint();
  cursor.close(fields);
  return { txId, index };
}

/** `[0, tag 24 (CBOR [txid, index])]`: positions in errors are then those inside the wrapped bytes. */
function readByronInput(cursor: Cursor): OutRef {
  const from = cursor.at;
  const fields = cursor.tuple(2, 'Byron input');
  if (cursor.uint() !== 0 || cursor.tag() !== TAG_ENCODED_CBOR) cursor.fail('Byron input of unknown kind', from);
  const input = readOutRef(new Cursor(cursor.byteString()));
  cursor.close(fields);
  return input;
}

function readOutputs(cursor: Cursor): TxOutput[] {
  const outputs: TxOutput[] = [];
  for (let i = 0, count = cursor.array(); cursor.more(count, i); i++) outputs.push(readTxOutput(cursor, i));
  return outputs;
}

function readTxOutput(cursor: Cursor, index: number): TxOutput {
  const start = cursor.at;
  const output = readOutput(cursor);
  return { ...output, index, start, end: cursor.at };
}

function readWithdrawals(cursor: Cursor, draft: Draft): void {
  const withdrawals: Withdrawal[] = [];
  for (let i = 0, count = cursor.map(); cursor.more(count, i); i++) {
    const withdrawal = { account: cursor.byteString(), lovelace: cursor.bigUint() };
    withdrawals.push(withdrawal);
    draft.withdrawn += withdrawal.lovelace;
  }
  draft.withdrawals = withdrawals;
}
