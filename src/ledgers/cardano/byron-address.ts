/**
 * Byron addresses: `[tag 24 (payload), crc32 of payload]`, the payload being
 * `[root, attributes, type]` (CDDL: byron.cddl, `address`). They live on in
 * every later era as the outputs of old wallets, and as genesis.
 */

import { blake2b224, sha3_256 } from '../../crypto/hash.ts';
import { Cursor } from '../../util/cbor.ts';
import { CborWriter } from '../../util/cbor-write.ts';
import { isUnspentError } from '../../util/errors.ts';
import { crc32 } from './crc32.ts';

const ROOT_BYTES = 28;
const TYPE_REDEEM = 2;
const ATTRIBUTE_MAGIC = 2;
const MAINNET_MAGIC = 764824073;
const TAG_ENCODED_CBOR = 24;

export interface ByronAddress {
  /** The hash that stands for its owner: 28 bytes. */
  readonly root: Uint8Array;
  /** The attributes map as it stands, CBOR. */
  readonly attributes: Uint8Array;
  /** Protocol magic among the attributes; null on mainnet, which leaves it out. */
  readonly magic: number | null;
  /** 0: spent by a key; 2: redeemed with a genesis (AVVM) key. */
  readonly type: number;
}

/** Null when the bytes are not a whole and sound Byron address. */
export function readByronAddress(bytes: Uint8Array, start = 0, end = bytes.length): ByronAddress | null {
  if (!hasByronPrefix(bytes, start, end)) return null;
  try {
    const outer = new Cursor(bytes, start, end);
    const payload = enterPayload(outer);
    if (outer.uint() !== crc32(bytes, outer.start, outer.stop) || outer.at !== end) return null;
    return readPayload(payload);
  } catch (error) {
    if (isUnspentError(error, 'BLOCK_INVALID')) return null;
    throw error;
  }
}

/** True for a Byron address of the redeem type. Fast: looks at three bytes of any other kind. */
export function isRedeemAddress(bytes: Uint8Array, start = 0, end = bytes.length): boolean {
  if (!hasByronPrefix(bytes, start, end)) return false;
  try {
    const payload = enterPayload(new Cursor(bytes, start, end));
    const fields = payload.tuple(3, 'Byron address');
    payload.span(ROOT_BYTES);
    payload.skip();
    const type = payload.uint();
    payload.close(fields);
    return type === TYPE_REDEEM;
  } catch (error) {
    if (isUnspentError(error, 'BLOCK_INVALID')) return false;
    throw error;
  }
}

/** The address at which genesis puts what a redeem key was sold for. */
export function redeemAddress(key: Uint8Array, magic: number): Uint8Array {
  const write = new CborWriter();
  const attributes = writeAttributes(write, magic).take();
  const spending = write.array(3).uint(TYPE_REDEEM).array(2).uint(TYPE_REDEEM).bytes(key).raw(attributes).take();
  const root = blake2b224(sha3_256(spending));
  const payload = write.array(3).bytes(root).raw(attributes).uint(TYPE_REDEEM).take();
  return write.array(2).encoded(payload).uint(crc32(payload)).take();
}

/** Mainnet leaves its magic out; every other network carries it, as CBOR inside a byte string. */
function writeAttributes(write: CborWriter, magic: number): CborWriter {
  if (magic === MAINNET_MAGIC) return write.map(0);
  return write.map(1).uint(ATTRIBUTE_MAGIC).bytes(new CborWriter().uint(magic).take());
}

/** Array of two, tag 24: how each of them begins, and no Shelley address does. */
function hasByronPrefix(bytes: Uint8Array, start: number, end: number): boolean {
  return end - start > 3 && bytes[start] === 0x82 && bytes[start + 1] === 0xd8 && bytes[start + 2] === 0x18;
}

/** Steps into the address up to its checksum; gives a cursor over the payload, whose place stays in `outer`. */
function enterPayload(outer: Cursor): Cursor {
  outer.tuple(2, 'Byron address');
  if (outer.tag() !== TAG_ENCODED_CBOR) outer.fail('expected tag 24');
  outer.span();
  return new Cursor(outer.bytes, outer.start, outer.stop);
}

function readPayload(payload: Cursor): ByronAddress | null {
  const fields = payload.tuple(3, 'Byron address');
  payload.span(ROOT_BYTES);
  const root = payload.bytes.subarray(payload.start, payload.stop);
  const from = payload.at;
  const magic = readMagic(payload);
  const attributes = payload.bytes.subarray(from, payload.at);
  const type = payload.uint();
  payload.close(fields);
  return payload.at === payload.end ? { root, attributes, magic, type } : null;
}

function readMagic(cursor: Cursor): number | null {
  let magic: number | null = null;
  for (let i = 0, n = cursor.map(); cursor.more(n, i); i++) {
    if (cursor.uint() === ATTRIBUTE_MAGIC) magic = new Cursor(cursor.byteString()).uint();
    else cursor.skip();
  }
  return magic;
}
