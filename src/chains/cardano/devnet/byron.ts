/**
 * Byron: epoch boundary blocks, regular blocks, and transactions as they were
 * (CDDL: byron.cddl). A block's hash covers its header behind a two-byte prefix
 * that tells the two kinds apart. Proofs are computed, signatures are random.
 */

import { blake2b256 } from '../../../crypto/hash.ts';
import { concatBytes } from '../../../util/bytes.ts';
import { CborWriter } from '../../../util/cbor-write.ts';
import type { Random } from '../../random.ts';
import { type AddressBook, DEVNET_MAGIC, type DevnetAddress } from './addresses.ts';
import type { EncodedBlock } from './blocks.ts';
import type { Draft } from './body.ts';
import { ERA } from './features.ts';
import { byronOutput } from './genesis.ts';
import { NO_ASSETS } from './model.ts';
import type { DraftOutput } from './outputs.ts';
import type { SpendablePools } from './spendable-pools.ts';

const TAG_SET = 258;
const OUTPUT_MIN = 1_000_000n;
const NO_ATTRIBUTES = Uint8Array.of(0xa0);
/** `[attributes]`, the part of a block behind its body. */
const EXTRA = Uint8Array.of(0x81, 0xa0);

/** Where a Byron block stands: its slot counts from the start of the epoch. */
export interface ByronPlace {
  readonly epoch: number;
  readonly slotInEpoch: number;
  readonly height: number;
  readonly prevHash: Uint8Array;
}

/** Null when there is nothing to spend. A redeem key is used now and then. */
export function draftByron(random: Random, book: AddressBook, purse: SpendablePools, redeem: readonly DevnetAddress[]): Draft | null {
  const inputs = purse.coins.draw(random, 1 + random.int(2));
  if (random.chance(0.1)) inputs.push(...purse.redeem.draw(random, 1));
  const fee = 155_381n + BigInt(random.int(50_000));
  let rest = inputs.reduce((sum, utxo) => sum + utxo.lovelace, 0n) - fee;
  if (rest < OUTPUT_MIN) return null;
  const outputs: DraftOutput[] = [];
  for (let more = random.int(3); more > 0 && rest > 4n * OUTPUT_MIN; more--) {
    const lovelace = OUTPUT_MIN + random.big(rest / 2n - OUTPUT_MIN);
    outputs.push(byronDraftOutput(redeem.length > 0 && random.chance(0.05) ? random.pick(redeem) : random.pick(book.byron), lovelace));
    rest -= lovelace;
  }
  outputs.push(byronDraftOutput(random.pick(book.byron), rest));
  return { inputs, outputs, fee, valid: true };
}

function byronDraftOutput(address: DevnetAddress, lovelace: bigint): DraftOutput {
  return { address, lovelace, assets: NO_ASSETS, bytes: byronOutput(address.bytes, lovelace) };
}

/** `[inputs, outputs, attributes]`; wallets of the time left both lists open-ended. */
export function encodeByronTx(draft: Draft): Uint8Array {
  const w = new CborWriter(512).array(3).startArray();
  for (const { txId, index } of draft.inputs) {
    w.array(2).uint(0).encoded(new CborWriter(64).array(2).bytes(txId).uint(index).take());
  }
  w.end().startArray();
  for (const output of draft.outputs) w.raw(output.bytes);
  return w.end().raw(NO_ATTRIBUTES).take();
}

export function sealBoundary(random: Random, place: ByronPlace): EncodedBlock {
  const body = new CborWriter(256).startArray();
  for (let i = random.int(5); i >= 0; i--) body.bytes(random.bytes(28));
  const bodyBytes = body.end().take();
  const header = new CborWriter(256).array(5).uint(DEVNET_MAGIC).bytes(place.prevHash).bytes(blake2b256(bodyBytes));
  header.array(2).uint(place.epoch).array(1).uint(place.height).raw(EXTRA);
  return wrap(ERA.byronBoundary, header.take(), bodyBytes);
}

export function sealByron(random: Random, place: ByronPlace, txs: readonly Uint8Array[]): EncodedBlock {
  const witnesses = txs.map(() => witnessList(random));
  const ssc = new CborWriter(8).array(2).uint(3).tag(TAG_SET).array(0).take();
  const delegation = new CborWriter(8).startArray().end().take();
  const update = new CborWriter(8).array(2).array(0).startArray().end().take();
  const body = new CborWriter(1024).array(4).startArray();
  txs.forEach((tx, i) => {
    body.array(2).raw(tx).raw(witnesses[i]);
  });
  const bodyBytes = body.end().raw(ssc).raw(delegation).raw(update).take();

  const key = random.bytes(64);
  const h = new CborWriter(1024).array(5).uint(DEVNET_MAGIC).bytes(place.prevHash);
  h.array(4);
  h.array(3)
    .uint(txs.length)
    .bytes(merkleRoot(txs))
    .bytes(blake2b256(openList(witnesses)));
  h.array(2)
    .uint(3)
    .bytes(blake2b256(ssc.subarray(2)));
  h.bytes(blake2b256(delegation)).bytes(blake2b256(update));
  h.array(4).array(2).uint(place.epoch).uint(place.slotInEpoch).bytes(key).array(1).uint(place.height);
  h.array(2).uint(2).array(2);
  h.array(4).uint(place.epoch).bytes(key).bytes(random.bytes(64)).bytes(random.bytes(64));
  h.bytes(random.bytes(64));
  h.array(4).array(3).uint(1).uint(0).uint(0).array(2).text('unspent').uint(1).raw(NO_ATTRIBUTES).bytes(blake2b256(EXTRA));
  return wrap(ERA.byron, h.take(), bodyBytes);
}

function wrap(kind: number, header: Uint8Array, body: Uint8Array): EncodedBlock {
  const raw = new CborWriter(header.length + body.length + 16).array(2).uint(kind).array(3).raw(header).raw(body).raw(EXTRA).take();
  return { raw, hash: blake2b256(concatBytes(Uint8Array.of(0x82, kind), header)) };
}

function witnessList(random: Random): Uint8Array {
  const witness = new CborWriter(160).array(2).bytes(random.bytes(64)).bytes(random.bytes(64)).take();
  return new CborWriter(192).array(1).array(2).uint(0).encoded(witness).take();
}

function openList(items: readonly Uint8Array[]): Uint8Array {
  const w = new CborWriter(1024).startArray();
  for (const item of items) w.raw(item);
  return w.end().take();
}

/** Byron's tree: a leaf is hashed behind 0, a node behind 1, the left half is the largest power of two. */
function merkleRoot(items: readonly Uint8Array[]): Uint8Array {
  if (items.length === 0) return blake2b256(new Uint8Array(0));
  if (items.length === 1) return blake2b256(concatBytes(Uint8Array.of(0), items[0]));
  let left = 1;
  while (2 * left < items.length) left *= 2;
  return blake2b256(concatBytes(Uint8Array.of(1), merkleRoot(items.slice(0, left)), merkleRoot(items.slice(left))));
}
