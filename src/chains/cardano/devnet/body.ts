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
  mint: 9,
  collateral: 13,
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
  const { collateral, collateralReturn, totalCollateral, references, mint = NO_ASSETS } = draft;
  const fields: Field[] = [
    [KEY.inputs, (w) => writeInputs(w, shop, era, draft.inputs)],
    [KEY.outputs, (w) => writeOutputs(w, shop, draft.outputs)],
    [KEY.fee, (w) => w.bigUint(draft.fee)],
  ];
  // Obligatory in Shelley, optional since.
  if (era === ERA.shelley || shop.random.chance(0.5)) fields.push([KEY.timeToLive, (w) => w.uint(slot + 7200)]);
  if (mint.size > 0) fields.push([KEY.mint, (w) => writeAssets(w, mint, false)]);
  if (collateral !== undefined) fields.push([KEY.collateral, (w) => writeInputs(w, shop, era, collateral)]);
  if (era >= ERA.alonzo && shop.random.chance(0.1)) fields.push([KEY.networkId, (w) => w.uint(0)]);
  if (collateralReturn !== undefined) fields.push([KEY.collateralReturn, (w) => w.raw(collateralReturn.bytes)]);
  if (totalCollateral !== undefined) fields.push([KEY.totalCollateral, (w) => w.bigUint(totalCollateral)]);
  if (references !== undefined) fields.push([KEY.references, (w) => writeInputs(w, shop, era, references)]);
  return fields;
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
