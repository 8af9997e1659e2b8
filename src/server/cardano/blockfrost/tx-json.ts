/**
 * A transaction as Blockfrost writes it: what it says in short, what goes in and
 * comes out, its redeemers and its metadata.
 */
import { blake2b256 } from '../../../crypto/hash.ts';
import { OUTPUT_FLAG, type Redeemer, readAddress, slotToTime } from '../../../ledgers/cardano/index.ts';
import { metadataJson, readMetadata } from '../../../ledgers/cardano/metadata.ts';
import { outpointKey } from '../../../ledgers/outpoint.ts';
import { BalanceSum } from '../../../query/balance.ts';
import { describeStored } from '../../../query/cardano/describe-stored.ts';
import type { ResolvedContent, ResolvedInput, ResolvedTx } from '../../../query/cardano/transactions.ts';
import { hexOf } from '../../../query/dialect.ts';
import type { Utxo } from '../../../query/utxo.ts';
import { compareBytes, concatBytes } from '../../../util/bytes.ts';
import { CborWriter } from '../../../util/cbor-write.ts';
import { asJson, type BlockfrostAnswers } from './answer.ts';
import { amountsOf, type OutputWriter } from './output-json.ts';

/** Kinds of certificates, as the ledger numbers them (CDDL: `certificate`). */
const CERTIFICATES = {
  stake: [0, 1, 7, 8, 11, 12, 13],
  delegation: [2, 10, 11, 13],
  poolUpdate: [3],
  poolRetirement: [4],
  rewardMove: [6],
} as const;

const PURPOSES = ['spend', 'mint', 'cert', 'reward', 'vote', 'propose'] as const;

export function txJson(tx: ResolvedTx, answers: BlockfrostAnswers): object {
  const { hash, ...content } = contentJson(tx, answers);
  const place = {
    block: hexOf(tx.blockHash),
    block_height: tx.height,
    block_time: Math.floor(slotToTime(answers.network, tx.slot)),
    slot: tx.slot,
    index: tx.txIndex,
  };
  return { hash, ...place, ...content, treasury_donation: (tx.valid ? tx.body.donation : 0n).toString() };
}

/** What a transaction in no block has, too. */
export function contentJson(tx: ResolvedContent, { traits }: BlockfrostAnswers) {
  const { body, outputs, redeemers } = tx;
  const sum = new BalanceSum(traits);
  for (const utxo of outputs) sum.add(utxo);
  const { value, assets } = sum.end();
  const count = (kinds: readonly number[]): number => (tx.valid ? body.certificateKinds.filter((kind) => kinds.includes(kind)).length : 0);
  return {
    hash: hexOf(tx.id),
    output_amount: amountsOf(value, assets),
    fees: tx.fee?.toString() ?? null,
    deposit: depositOf(tx, value)?.toString() ?? null,
    size: sizeOf(tx),
    invalid_before: body.validFrom?.toString() ?? null,
    invalid_hereafter: body.validUntil?.toString() ?? null,
    utxo_count: (tx.valid ? tx.inputs : tx.collateral).length + outputs.length,
    withdrawal_count: tx.valid ? body.withdrawals.length : 0,
    mir_cert_count: count(CERTIFICATES.rewardMove),
    delegation_count: count(CERTIFICATES.delegation),
    stake_cert_count: count(CERTIFICATES.stake),
    pool_update_count: count(CERTIFICATES.poolUpdate),
    pool_retire_count: count(CERTIFICATES.poolRetirement),
    asset_mint_or_burn_count: tx.valid ? body.mint.length : 0,
    redeemer_count: redeemers.length,
    valid_contract: tx.valid,
  };
}

/** What went neither to outputs nor to fees; below zero where deposits came back. Null: an input is not known any more. */
function depositOf({ valid, inputs, body, fee }: ResolvedContent, output: bigint): bigint | null {
  if (!valid) return 0n;
  let left = body.withdrawn - output - (fee ?? 0n) - body.donation;
  for (const { utxo } of inputs) {
    if (utxo === null) return null;
    left += utxo.output.value;
  }
  return left;
}

/** As the ledger counts for fees: without the flag that says whether its scripts succeeded, which blocks keep elsewhere. */
function sizeOf({ raw }: ResolvedContent): number {
  const hasFlag = raw[0] === 0x84;
  return raw.length - (hasFlag ? 1 : 0);
}

/** An input, and what it is for. */
export interface NamedInput {
  readonly input: ResolvedInput;
  readonly collateral: boolean;
  readonly reference: boolean;
}

/** Inputs that were spent, those that would have been or were instead, and those it only looks at. */
export function namedInputs({ inputs, collateral, referenceInputs }: ResolvedContent): readonly NamedInput[] {
  return [
    ...inputs.map((input) => ({ input, collateral: false, reference: false })),
    ...collateral.map((input) => ({ input, collateral: true, reference: false })),
    ...referenceInputs.map((input) => ({ input, collateral: false, reference: true })),
  ];
}

export function txInputs(tx: ResolvedTx, writer: OutputWriter): object[] {
  return namedInputs(tx).map(({ input, collateral, reference }) => ({ ...inputJson(input, writer), collateral, reference }));
}

/** An output that is not known any more has a name and nothing else. */
function inputJson({ txId, index, utxo }: ResolvedInput, writer: OutputWriter): object {
  const unknown = { address: null, amount: null, output_index: index, data_hash: null, inline_datum: null, reference_script_hash: null };
  return { tx_hash: hexOf(txId), ...(utxo === null ? unknown : writer.stored(utxo)) };
}

export function txOutput(utxo: Utxo, writer: OutputWriter): object {
  return { ...outputJson(utxo, writer), consumed_by_tx: utxo.spent?.txId ? hexOf(utxo.spent.txId) : null };
}

export function outputJson(utxo: Utxo, writer: OutputWriter): object {
  return { ...writer.stored(utxo), collateral: (utxo.output.flags & OUTPUT_FLAG.collateralReturn) !== 0 };
}

/** What units cost is of the parameters of their epoch, which are not kept: `fee` is null. */
export function redeemersJson(tx: ResolvedTx): object[] {
  return tx.redeemers.map((redeemer) => {
    const script = scriptOf(redeemer, tx);
    const data = hexOf(blake2b256(redeemer.data));
    return {
      ...redeemerJson(redeemer),
      script_hash: script === null ? null : hexOf(script),
      redeemer_data_hash: data,
      // An old name of the same.
      datum_hash: data,
      fee: null,
    };
  });
}

export function redeemerJson({ index, tag, memory, steps }: Redeemer): object {
  return { tx_index: index, purpose: PURPOSES[tag], unit_mem: memory.toString(), unit_steps: steps.toString() };
}

/** The script that a redeemer is for; null where that is in a certificate, a withdrawal, a vote or a proposal, which are not looked into. */
function scriptOf({ tag, index }: Redeemer, { inputs, body }: ResolvedTx): Uint8Array | null {
  const purpose = PURPOSES[tag];
  if (purpose === 'mint') {
    const policies = [...new Map(body.mint.map(({ policy }) => [hexOf(policy), policy])).values()].toSorted(compareBytes);
    return policies[index] ?? null;
  }
  if (purpose !== 'spend') return null;
  const utxo = inputs.toSorted((a, b) => compareBytes(outpointKey(a.txId, a.index), outpointKey(b.txId, b.index)))[index]?.utxo ?? null;
  if (utxo === null) return null;
  const { payment } = readAddress(describeStored(utxo.txId, utxo.index, utxo.output.raw).address);
  return payment?.kind === 'script' ? payment.hash : null;
}

export function metadataList({ auxiliary }: ResolvedTx): object[] {
  if (auxiliary === null) return [];
  return readMetadata(auxiliary).map(({ label, value }) => ({ label: label.toString(), json_metadata: asJson(() => metadataJson(value)) }));
}

/** Each label in a map of its own, once as PostgreSQL writes bytes. */
export function metadataCbor({ auxiliary }: ResolvedTx): object[] {
  if (auxiliary === null) return [];
  return readMetadata(auxiliary).map(({ label, value }) => {
    const metadata = hexOf(concatBytes(new CborWriter().map(1).bigUint(label).take(), value));
    return { label: label.toString(), cbor_metadata: `\\x${metadata}`, metadata };
  });
}
