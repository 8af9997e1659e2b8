/**
 * Blocks of the Shelley family: `[era, [header, bodies, witnesses, aux, invalid]]`.
 * Sizes, hashes and links are real; keys, VRF proofs and signatures are random
 * bytes of the right length, since nobody on a devnet mines against us.
 */

import { blake2b256 } from '../../../crypto/hash.ts';
import { concatBytes } from '../../../util/bytes.ts';
import { CborWriter } from '../../../util/cbor-write.ts';
import type { Random } from '../../random.ts';
import { ERA } from './features.ts';
import type { DraftContext } from './outputs.ts';

/** Kept between blocks: making their buffers anew would cost more than filling them. */
const partWriter = new CborWriter(65_536);
const headerWriter = new CborWriter(1024);
const blockWriter = new CborWriter(65_536);

const NO_WITNESSES = Uint8Array.of(0xa0);
const NO_AUXILIARY = Uint8Array.of(0xa0);

/** Where a block stands. */
export interface Place {
  readonly era: number;
  readonly height: number;
  readonly slot: number;
  /** Null before the first block of a chain. */
  readonly prevHash: Uint8Array | null;
}

export interface EncodedBlock {
  readonly raw: Uint8Array;
  readonly hash: Uint8Array;
}

/** A stake pool's keys, the same in all of its blocks. */
export interface Issuer {
  readonly vkey: Uint8Array;
  readonly vrfVkey: Uint8Array;
  readonly hotVkey: Uint8Array;
  readonly sigma: Uint8Array;
}

export function makeIssuer(random: Random): Issuer {
  return { vkey: random.bytes(32), vrfVkey: random.bytes(32), hotVkey: random.bytes(32), sigma: random.bytes(64) };
}

/** What came with a transaction from outside, to go into the block as it is. */
export interface SubmittedParts {
  readonly witnesses: Uint8Array;
  readonly auxiliary: Uint8Array | null;
}

/** A block under way: its transactions, and by their place what some of them brought along. */
export interface BlockContent {
  readonly bodies: readonly Uint8Array[];
  readonly invalid: readonly number[];
  readonly attached: ReadonlyMap<number, SubmittedParts>;
}

export function sealBlock(shop: DraftContext, place: Place, issuer: Issuer, { bodies, invalid, attached }: BlockContent): EncodedBlock {
  const witnesses = bodies.map((_, i) => attached.get(i)?.witnesses ?? witnessSet(shop.random));
  const parts = [list(shop, bodies), list(shop, witnesses), auxiliaryMap(attached)];
  if (place.era >= ERA.alonzo) parts.push(invalidList(shop, invalid));
  const bodySize = parts.reduce((sum, part) => sum + part.length, 0);
  const bodyHash = blake2b256(concatBytes(...parts.map((part) => blake2b256(part))));

  const header = headerWriter.array(2);
  if (place.era >= ERA.babbage) writeHeaderBody(header, shop.random, place, issuer, bodySize, bodyHash);
  else writeOldHeaderBody(header, shop.random, place, issuer, bodySize, bodyHash);
  const headerBytes = header.bytes(shop.random.bytes(448)).take();

  const w = blockWriter
    .array(2)
    .uint(place.era)
    .array(1 + parts.length)
    .raw(headerBytes);
  for (const part of parts) w.raw(part);
  return { raw: w.take(), hash: blake2b256(headerBytes) };
}

/** CDDL: conway.cddl, `header_body`: ten fields since Babbage. */
function writeHeaderBody(w: CborWriter, random: Random, place: Place, issuer: Issuer, bodySize: number, bodyHash: Uint8Array): void {
  w.array(10);
  writeLead(w, place, issuer);
  w.array(2).bytes(random.bytes(64)).bytes(random.bytes(80));
  w.uint(bodySize).bytes(bodyHash);
  w.array(4).bytes(issuer.hotVkey).uint(0).uint(0).bytes(issuer.sigma);
  w.array(2)
    .uint(place.era >= ERA.conway ? 10 : 8)
    .uint(0);
}

/** CDDL: alonzo.cddl, `header_body`: two VRF results, certificate and version not yet grouped. */
function writeOldHeaderBody(w: CborWriter, random: Random, place: Place, issuer: Issuer, bodySize: number, bodyHash: Uint8Array): void {
  w.array(15);
  writeLead(w, place, issuer);
  for (let i = 0; i < 2; i++) w.array(2).bytes(random.bytes(64)).bytes(random.bytes(80));
  w.uint(bodySize).bytes(bodyHash);
  w.bytes(issuer.hotVkey).uint(0).uint(0).bytes(issuer.sigma);
  w.uint(place.era).uint(0);
}

function writeLead(w: CborWriter, { height, slot, prevHash }: Place, { vkey, vrfVkey }: Issuer): void {
  w.uint(height).uint(slot);
  if (prevHash === null) w.null();
  else w.bytes(prevHash);
  w.bytes(vkey).bytes(vrfVkey);
}

/** Often empty; else one signature of a key. */
function witnessSet(random: Random): Uint8Array {
  if (random.chance(0.7)) return NO_WITNESSES;
  return partWriter.map(1).uint(0).array(1).array(2).bytes(random.bytes(32)).bytes(random.bytes(64)).take();
}

function list({ random, features, shapes }: DraftContext, items: readonly Uint8Array[]): Uint8Array {
  const indefinite = random.chance(features.indefinite);
  const w = partWriter;
  if (indefinite) {
    shapes.saw('indefiniteBlock');
    w.startArray();
  } else {
    w.array(items.length);
  }
  for (const item of items) w.raw(item);
  if (indefinite) w.end();
  return w.take();
}

function auxiliaryMap(attached: ReadonlyMap<number, SubmittedParts>): Uint8Array {
  const entries = [...attached].filter(([, { auxiliary }]) => auxiliary !== null);
  if (entries.length === 0) return NO_AUXILIARY;
  const w = partWriter.map(entries.length);
  for (const [i, { auxiliary }] of entries) w.uint(i).raw(auxiliary!);
  return w.take();
}

function invalidList(shop: DraftContext, invalid: readonly number[]): Uint8Array {
  return list(
    shop,
    invalid.map((index) => partWriter.uint(index).take()),
  );
}
