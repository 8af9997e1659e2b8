/**
 * Writes transactions of the Conway era, without signatures: what a builder has
 * decided goes in, the bytes a wallet signs come out. Inputs are written in
 * ledger order, which is the order that redeemers count them in.
 *
 * CDDL: cardano-ledger, conway.cddl, `transaction`.
 */
import { blake2b256 } from '../../crypto/hash.ts';
import { compareBytes, equalBytes, toHex } from '../../util/bytes.ts';
import { CborWriter } from '../../util/cbor-write.ts';
import { assert } from '../../util/errors.ts';
import type { Asset } from '../asset.ts';
import { outpointKey } from '../outpoint.ts';
import type { ExecutionUnits } from './protocol-parameters.ts';
import { scriptDataHash } from './script-data-hash.ts';
import type { OutRef } from './transaction.ts';

/** An output as it is to be. */
export interface OutputToWrite {
  readonly address: Uint8Array;
  readonly lovelace: bigint;
  /** Besides lovelace. */
  readonly assets?: readonly Asset[];
  /** The inline datum's CBOR. */
  readonly datum?: Uint8Array | undefined;
  /** In place of an inline datum. */
  readonly datumHash?: Uint8Array | undefined;
  /** CBOR `[kind, script]`. */
  readonly scriptRef?: Uint8Array | undefined;
}

/** An input, with the redeemer of its script where it has one. */
export interface InputToWrite extends OutRef {
  readonly redeemer?: Uint8Array;
}

export interface TransactionToWrite {
  readonly inputs: readonly InputToWrite[];
  readonly outputs: readonly OutputToWrite[];
  readonly fee: bigint;
  /** First slot, and the first slot behind the last. */
  readonly validity: { readonly from?: number | undefined; readonly until?: number | undefined };
  readonly mint?: { readonly asset: Asset; readonly redeemer: Uint8Array } | undefined;
  readonly collateral?: { readonly input: OutRef; readonly total: bigint; readonly change: OutputToWrite | null } | undefined;
  /** Hashes of keys that scripts want to see signatures of. */
  readonly signers: readonly Uint8Array[];
  readonly references: readonly OutRef[];
  /** Compiled code of Plutus V3 scripts that the transaction carries. */
  readonly scripts: readonly Uint8Array[];
  /** What each script may use. */
  readonly units: ExecutionUnits;
  /** Of Plutus V3. */
  readonly costModel: readonly bigint[];
}

const TAG_SET = 258;
const PLUTUS_V3_LANGUAGE = 2;
const BODY = {
  inputs: 0,
  outputs: 1,
  fee: 2,
  until: 3,
  from: 8,
  mint: 9,
  scriptDataHash: 11,
  collateral: 13,
  signers: 14,
  collateralReturn: 16,
  totalCollateral: 17,
  references: 18,
} as const;
const WITNESS = { redeemers: 5, plutusV3: 7 } as const;
const PURPOSE = { spend: 0, mint: 1 } as const;

/** `[body, witnesses without signatures, true, null]`, and its id. */
export function writeTransaction(tx: TransactionToWrite): { readonly tx: Uint8Array; readonly id: Uint8Array } {
  const redeemers = writeRedeemers(tx);
  // All datums are inline, so none are in the witness set.
  const costModels = new Map([[PLUTUS_V3_LANGUAGE, tx.costModel]]);
  const body = writeBody(tx, redeemers === null ? null : scriptDataHash({ redeemers, costModels }));
  const w = new CborWriter(4096).array(4).raw(body);
  w.map((redeemers === null ? 0 : 1) + (tx.scripts.length > 0 ? 1 : 0));
  if (redeemers !== null) w.uint(WITNESS.redeemers).raw(redeemers);
  if (tx.scripts.length > 0) {
    w.uint(WITNESS.plutusV3).tag(TAG_SET).array(tx.scripts.length);
    for (const script of tx.scripts) w.bytes(script);
  }
  return { tx: w.bool(true).null().take().slice(), id: blake2b256(body) };
}

export function sortInputs<T extends OutRef>(refs: readonly T[]): readonly T[] {
  return refs.toSorted((a, b) => compareBytes(outpointKey(a.txId, a.index), outpointKey(b.txId, b.index)));
}

/** Since Conway a map: `{[purpose, index]: [data, units]}`. Null: there are none. */
function writeRedeemers({ inputs, mint, units }: TransactionToWrite): Uint8Array | null {
  const spends = sortInputs(inputs).flatMap(({ redeemer }, i) => (redeemer === undefined ? [] : [[PURPOSE.spend, i, redeemer] as const]));
  const all = mint === undefined ? spends : [...spends, [PURPOSE.mint, 0, mint.redeemer] as const];
  if (all.length === 0) return null;
  const w = new CborWriter(4096).map(all.length);
  for (const [purpose, index, data] of all) {
    w.array(2).uint(purpose).uint(index).array(2).raw(data).array(2).bigUint(units.memory).bigUint(units.steps);
  }
  return w.take().slice();
}

function writeBody(tx: TransactionToWrite, dataHash: Uint8Array | null): Uint8Array {
  const { inputs, outputs, fee, validity, mint, collateral, signers, references } = tx;
  const fields: [number, (w: CborWriter) => void][] = [
    [BODY.inputs, (w) => writeRefs(w, inputs)],
    [BODY.outputs, (w) => writeAll(w.array(outputs.length), outputs)],
    [BODY.fee, (w) => w.bigUint(fee)],
  ];
  const { from, until } = validity;
  if (until !== undefined) fields.push([BODY.until, (w) => w.uint(until)]);
  if (from !== undefined) fields.push([BODY.from, (w) => w.uint(from)]);
  if (mint !== undefined) fields.push([BODY.mint, (w) => writeAssets(w, [mint.asset])]);
  if (dataHash !== null) fields.push([BODY.scriptDataHash, (w) => w.bytes(dataHash)]);
  if (collateral !== undefined) fields.push([BODY.collateral, (w) => writeRefs(w, [collateral.input])]);
  if (signers.length > 0) {
    fields.push([BODY.signers, (w) => signers.reduce((list, hash) => list.bytes(hash), w.tag(TAG_SET).array(signers.length))]);
  }
  const change = collateral?.change ?? null;
  if (collateral !== undefined && change !== null) {
    fields.push([BODY.collateralReturn, (w) => writeOutput(w, change)], [BODY.totalCollateral, (w) => w.bigUint(collateral.total)]);
  }
  if (references.length > 0) fields.push([BODY.references, (w) => writeRefs(w, references)]);
  const w = new CborWriter(4096).map(fields.length);
  for (const [key, write] of fields) write(w.uint(key));
  return w.take().slice();
}

function writeRefs(w: CborWriter, refs: readonly OutRef[]): void {
  w.tag(TAG_SET).array(refs.length);
  for (const { txId, index } of sortInputs(refs)) w.array(2).bytes(txId).uint(index);
}

function writeAll(w: CborWriter, outputs: readonly OutputToWrite[]): void {
  for (const output of outputs) writeOutput(w, output);
}

function writeOutput(w: CborWriter, { address, lovelace, assets = [], datum, datumHash, scriptRef }: OutputToWrite): void {
  w.map(2 + (datum === undefined && datumHash === undefined ? 0 : 1) + (scriptRef === undefined ? 0 : 1));
  w.uint(0).bytes(address).uint(1);
  if (assets.length === 0) w.bigUint(lovelace);
  else writeAssets(w.array(2).bigUint(lovelace), assets);
  if (datum !== undefined) w.uint(2).array(2).uint(1).encoded(datum);
  else if (datumHash !== undefined) w.uint(2).array(2).uint(0).bytes(datumHash);
  if (scriptRef !== undefined) w.uint(3).encoded(scriptRef);
}

/** `{policy: {name: quantity}}`. */
function writeAssets(w: CborWriter, assets: readonly Asset[]): void {
  const policies = Map.groupBy(assets, ({ policy }) => toHex(policy));
  w.map(policies.size);
  for (const [, own] of policies) {
    w.bytes(own[0].policy).map(own.length);
    for (const { name, quantity } of own) w.bytes(name).int(quantity);
  }
}

/** The bytes of an output alone, for what it must hold. */
export function encodeOutput(output: OutputToWrite): Uint8Array {
  const w = new CborWriter(1024);
  writeOutput(w, output);
  return w.take();
}

export function sameRef(a: OutRef, b: OutRef): boolean {
  assert(a.txId.length === b.txId.length, 'ids of transactions have one length');
  return a.index === b.index && equalBytes(a.txId, b.txId);
}
