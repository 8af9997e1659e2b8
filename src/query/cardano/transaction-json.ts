/**
 * A transaction of Cardano as a document: where it stands, what it names resolved
 * to outputs as every other document has them, what it gives to scripts, and its
 * own bytes.
 */
import { assetAmountJson } from '../amounts.ts';
import { hexOf, type Writable } from '../dialect.ts';
import type { InputJson, RedeemerJson, TransactionJson } from '../json.ts';
import type { Query } from '../query.ts';
import type { Renderer } from '../render.ts';
import { type ResolvedInput, type ResolvedTx, Transactions } from './transactions.ts';

/** CDDL: `redeemer_tag`. */
const PURPOSES = ['spend', 'mint', 'certificate', 'withdrawal', 'vote', 'proposal'] as const;

/** Null: there is no such transaction. Throws UNSUPPORTED, PRUNED. */
export function transactionJson(query: Query, txId: Uint8Array, renderer: Renderer): TransactionJson | null {
  const tx = new Transactions(query).byId(txId);
  return tx === null ? null : documentOf(tx, renderer);
}

function documentOf(tx: ResolvedTx, renderer: Renderer): TransactionJson {
  const { body, id, raw, fee, auxiliary, redeemers } = tx;
  const input = (each: ResolvedInput): InputJson => inputJson(each, renderer);
  const json = { ...renderer.tx(id, tx), size: raw.length } as Writable<TransactionJson>;
  if (fee !== null) json.fee = fee.toString();
  if (body.validFrom !== null) json.invalid_before = body.validFrom.toString();
  if (body.validUntil !== null) json.invalid_hereafter = body.validUntil.toString();
  json.inputs = tx.inputs.map(input);
  json.outputs = tx.outputs.map((output) => renderer.utxo(output));
  if (tx.collateral.length > 0) json.collateral_inputs = tx.collateral.map(input);
  if (body.totalCollateral !== null) json.total_collateral = body.totalCollateral.toString();
  if (tx.referenceInputs.length > 0) json.reference_inputs = tx.referenceInputs.map(input);
  if (body.mint.length > 0) json.mint = body.mint.map(assetAmountJson);
  if (body.requiredSigners.length > 0) json.required_signers = body.requiredSigners.map(hexOf);
  if (body.certificateKinds.length > 0) json.certificate_count = body.certificateKinds.length;
  if (body.withdrawals.length > 0) json.withdrawal_amount = body.withdrawn.toString();
  if (redeemers.length > 0) json.redeemers = redeemers.map(redeemerJson);
  if (auxiliary !== null) json.auxiliary_data = hexOf(auxiliary);
  json.cbor = hexOf(raw);
  return json;
}

/** An output that was forgotten has only its name. */
function inputJson({ txId, index, utxo }: ResolvedInput, renderer: Renderer): InputJson {
  return utxo === null ? { tx_hash: hexOf(txId), output_index: index } : renderer.utxo(utxo);
}

function redeemerJson({ tag, index, data, memory, steps }: ResolvedTx['redeemers'][number]): RedeemerJson {
  return { purpose: PURPOSES[tag] ?? `${tag}`, index, data: hexOf(data), memory: memory.toString(), steps: steps.toString() };
}
