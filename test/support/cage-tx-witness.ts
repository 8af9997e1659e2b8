/**
 * A transaction of a cage as others see it: an independent library
 * (cardano-serialization-lib) reads it, computes its id, its hash of script data,
 * the hashes of its scripts and its least fee; and our detection finds its events
 * among the outputs of a chain.
 */
import assert from 'node:assert/strict';
import CSL from '@emurgo/cardano-serialization-lib-nodejs';
import type { ProtocolParameters } from '../../src/cage.ts';
import type { Wallet } from '../../src/chains/cardano/devnet/wallet.ts';
import {
  type CageDeployment,
  type CageEvent,
  type CageOutput,
  detectCage,
  requestScriptHash,
} from '../../src/ledgers/cardano/cage/index.ts';
import { describeOutput, type OutRef, readAddress } from '../../src/ledgers/cardano/index.ts';
import { readWholeTx } from '../../src/ledgers/cardano/transaction.ts';
import { outpointText } from '../../src/ledgers/outpoint.ts';
import { toHex } from '../../src/util/bytes.ts';

/** What a transaction is held against. */
export interface WitnessedChain {
  readonly deployments: readonly CageDeployment[];
  /** Asset names of the tokens there are. */
  readonly tokens: readonly Uint8Array[];
  /** Unspent outputs by `TXID#INDEX`. */
  readonly utxos: ReadonlyMap<string, { readonly output: Uint8Array }>;
  readonly parameters: ProtocolParameters;
  /** Who will sign. */
  readonly wallet: Wallet;
}

/** What the other library and our detection say of a transaction without signatures, having agreed that it is sound. */
export function witnessTx(
  tx: Uint8Array,
  chain: WitnessedChain,
): { readonly id: string; readonly fee: bigint; readonly events: readonly CageEvent[] } {
  const { parameters, deployments, tokens } = chain;
  const theirs = CSL.FixedTransaction.from_bytes(tx);
  const body = theirs.body();
  const witnesses = theirs.witness_set();
  const redeemers = witnesses.redeemers();
  const scripts = witnesses.plutus_scripts();
  const requestScripts = deployments.flatMap((each) => tokens.map((name) => requestScriptHash(each, name))).filter((hash) => hash !== null);
  const hashes = [...deployments.map(({ stateScriptHash }) => stateScriptHash), ...requestScripts].map((hash) => toHex(hash));
  for (let i = 0; i < (scripts?.len() ?? 0); i++) assert.ok(hashes.includes(scripts!.get(i).hash().to_hex()));
  if (redeemers !== undefined) {
    const model = CSL.CostModel.new();
    (parameters.costModels.get(2) ?? []).forEach((cost, i) => {
      model.set(i, CSL.Int.from_str(`${cost}`));
    });
    const models = CSL.Costmdls.new();
    models.insert(CSL.Language.new_plutus_v3(), model);
    assert.equal(body.script_data_hash()?.to_hex(), CSL.hash_script_data(redeemers, models).to_hex());
  }
  const fee = BigInt(body.fee().to_str());
  const least = feeLeast(tx, theirs, chain);
  assert.ok(fee >= least && fee < least + 20_000n, `the fee is ${fee}, the least ${least}`);
  return { id: theirs.transaction_hash().to_hex(), fee, events: eventsOf(tx, redeemers, chain, requestScripts) };
}

/** Signed by the wallet's one key it is 102 bytes longer or so; the fee must still be enough. */
function feeLeast(tx: Uint8Array, theirs: CSL.FixedTransaction, { parameters, wallet }: WitnessedChain): bigint {
  const signed = CSL.Transaction.from_bytes(tx);
  const set = signed.witness_set();
  const vkeys = CSL.Vkeywitnesses.new();
  vkeys.add(CSL.make_vkey_witness(theirs.transaction_hash(), CSL.PrivateKey.from_normal_bytes(wallet.signingKey)));
  set.set_vkeys(vkeys);
  const whole = CSL.Transaction.new(signed.body(), set);
  const linear = CSL.LinearFee.new(CSL.BigNum.from_str(`${parameters.feePerByte}`), CSL.BigNum.from_str(`${parameters.feeFixed}`));
  const price = ({ over, under }: { readonly over: bigint; readonly under: bigint }): CSL.UnitInterval =>
    CSL.UnitInterval.new(CSL.BigNum.from_str(`${over}`), CSL.BigNum.from_str(`${under}`));
  const units = CSL.ExUnitPrices.new(price(parameters.memoryPrice), price(parameters.stepsPrice));
  return BigInt(CSL.min_fee(whole, linear).to_str()) + BigInt(CSL.min_script_fee(whole, units).to_str());
}

function eventsOf(
  tx: Uint8Array,
  redeemers: CSL.Redeemers | undefined,
  { deployments, utxos }: WitnessedChain,
  requestScripts: readonly Uint8Array[],
): readonly CageEvent[] {
  const described = readWholeTx(tx);
  const inputs = described.inputs.map((ref) => {
    const utxo = utxos.get(outpointText(ref));
    assert.ok(utxo !== undefined, 'an input that the chain has');
    return outputOf(ref, utxo.output);
  });
  const outputs = described.outputs.map((output) =>
    outputOf({ txId: described.id, index: output.index }, tx.subarray(output.start, output.end)),
  );
  const all = Array.from({ length: redeemers?.len() ?? 0 }, (_, i) => redeemers!.get(i));
  const redeemer = (purpose: 'spend' | 'mint', index: number): Uint8Array | null => {
    const kind = purpose === 'spend' ? CSL.RedeemerTagKind.Spend : CSL.RedeemerTagKind.Mint;
    const found = all.find((each) => each.tag().kind() === kind && each.index().to_str() === `${index}`);
    return found?.data().to_bytes() ?? null;
  };
  const isRequestScript = (hash: Uint8Array): boolean => requestScripts.some((each) => toHex(each) === toHex(hash));
  const found = detectCage({ id: described.id, inputs, outputs, mint: described.mint, redeemer }, { deployments, isRequestScript });
  assert.equal(found.malformed, 0);
  return found.events;
}

function outputOf({ txId, index }: OutRef, raw: Uint8Array): CageOutput {
  const { address, assets, inlineDatum } = describeOutput(raw);
  const { payment } = readAddress(address);
  const scriptHash = payment?.kind === 'script' ? payment.hash : null;
  return { txId, index, slot: 0, txIndex: 0, scriptHash, assets, datum: inlineDatum };
}
