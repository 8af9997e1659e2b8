/**
 * A transaction body from a draft: a map whose integer keys are those of the
 * ledger's CDDL, in any of the encodings the chain allows. The id of the
 * transaction is the hash of exactly these bytes.
 */
import { CborWriter } from '../../../util/cbor-write.ts';
import { ERA } from './features.ts';
import { type Assets, type ModelUtxo, NO_ASSETS } from './model.ts';
import { type DraftContext, type DraftOutput, writeAssets } from './outputs.ts';

const KEY = {
  inputs: 0,
  outputs: 1,
  fee: 2,
  timeToLive: 3,
  validFrom: 8,
  mint: 9,
  scriptDataHash: 11,
  collateral: 13,
  requiredSigners: 14,
  networkId: 15,
  collateralReturn: 16,
  totalCollateral: 17,
  references: 18,
} as const;

const TAG_SET = 258;

const bodyWriter = new CborWriter(16_384);

export interface Draft {
  readonly inputs: readonly ModelUtxo[];
  readonly outputs: readonly DraftOutput[];
  readonly fee: bigint;
  /** What is made (above 0) or destroyed (below); none by default. */
  readonly mint?: Assets;
  readonly collateral?: readonly ModelUtxo[];
  readonly collateralReturn?: DraftOutput;
  readonly totalCollateral?: bigint;
  readonly references?: readonly ModelUtxo[];
  /** Slots: from, and up to but not including. Absent: up to some later slot, or for ever. */
  readonly validity?: { readonly from?: number; readonly until?: number };
  /** Hashes of keys. */
  readonly requiredSigners?: readonly Uint8Array[];
  readonly scriptDataHash?: Uint8Array;
  /** The witness set; absent: the block's maker draws one. */
  readonly witnesses?: Uint8Array;
  /** False: only the collateral counts. */
  readonly valid: boolean;
}

type Field = readonly [key: number, write: (w: CborWriter) => void];

export function encodeBody(shop: DraftContext, era: number, slot: number, draft: Draft): Uint8Array {
  const { random, features, shapes } = shop;
  const fields = fieldsOf(shop, era, slot, draft);
  if (random.chance(features.shuffledKeys)) {
    shapes.saw('shuffledKeys');
    random.shuffle(fields);
  }
  const indefinite = random.chance(features.indefinite);
  const w = bodyWriter;
  if (indefinite) {
    shapes.saw('indefiniteBody');
    w.startMap();
  } else {
    w.map(fields.length);
  }
  for (const [key, write] of fields) write(w.uint(key));
  if (indefinite) w.end();
  return w.take();
}

function fieldsOf(shop: DraftContext, era: number, slot: number, draft: Draft): Field[] {
  const { collateral, collateralReturn, totalCollateral, references, requiredSigners, scriptDataHash, mint = NO_ASSETS } = draft;
  const fields: Field[] = [
    [KEY.inputs, (w) => writeInputs(w, shop, era, draft.inputs)],
    [KEY.outputs, (w) => writeOutputs(w, shop, draft.outputs)],
    [KEY.fee, (w) => w.bigUint(draft.fee)],
  ];
  const { from, until } = draft.validity ?? drawValidity(shop, era, slot);
  if (until !== undefined) fields.push([KEY.timeToLive, (w) => w.uint(until)]);
  if (from !== undefined) fields.push([KEY.validFrom, (w) => w.uint(from)]);
  if (mint.size > 0) fields.push([KEY.mint, (w) => writeAssets(w, mint, false)]);
  if (scriptDataHash !== undefined) fields.push([KEY.scriptDataHash, (w) => w.bytes(scriptDataHash)]);
  if (collateral !== undefined) fields.push([KEY.collateral, (w) => writeInputs(w, shop, era, collateral)]);
  if (requiredSigners !== undefined) fields.push([KEY.requiredSigners, (w) => writeHashes(w, requiredSigners)]);
  if (era >= ERA.alonzo && shop.random.chance(0.1)) fields.push([KEY.networkId, (w) => w.uint(0)]);
  if (collateralReturn !== undefined) fields.push([KEY.collateralReturn, (w) => w.raw(collateralReturn.bytes)]);
  if (totalCollateral !== undefined) fields.push([KEY.totalCollateral, (w) => w.bigUint(totalCollateral)]);
  if (references !== undefined) fields.push([KEY.references, (w) => writeInputs(w, shop, era, references)]);
  return fields;
}

/** Obligatory in Shelley, optional since. */
function drawValidity({ random }: DraftContext, era: number, slot: number): NonNullable<Draft['validity']> {
  return era === ERA.shelley || random.chance(0.5) ? { until: slot + 7200 } : {};
}

function writeHashes(w: CborWriter, hashes: readonly Uint8Array[]): void {
  w.tag(TAG_SET).array(hashes.length);
  for (const hash of hashes) w.bytes(hash);
}

function writeInputs(w: CborWriter, { random, features, shapes }: DraftContext, era: number, inputs: readonly ModelUtxo[]): void {
  const set = era >= ERA.conway && random.chance(features.setTag);
  shapes.saw(set ? 'setInputs' : 'plainInputs');
  if (set) w.tag(TAG_SET);
  const indefinite = random.chance(features.indefinite);
  if (indefinite) {
    shapes.saw('indefiniteInputs');
    w.startArray();
  } else {
    w.array(inputs.length);
  }
  for (const { txId, index } of inputs) w.array(2).bytes(txId).uint(index);
  if (indefinite) w.end();
}

function writeOutputs(w: CborWriter, { random, features, shapes }: DraftContext, outputs: readonly DraftOutput[]): void {
  const indefinite = random.chance(features.indefinite);
  if (indefinite) {
    shapes.saw('indefiniteOutputs');
    w.startArray();
  } else {
    w.array(outputs.length);
  }
  for (const output of outputs) w.raw(output.bytes);
  if (indefinite) w.end();
}
