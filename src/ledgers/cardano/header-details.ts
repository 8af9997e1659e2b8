/**
 * What a header says besides its place: who made the block and with which proof,
 * the certificate of the key that signed it, and the version of the protocol. Of
 * the Shelley family; read on demand, because the fold needs none of it.
 *
 * CDDL: `header_body`. Up to Alonzo certificate and version stand in the header
 * body itself and there are two VRF results; from Babbage on they are lists of
 * their own and there is one result.
 */
import { Cursor } from '../../util/cbor.ts';
import { ERA } from './header.ts';

/** A random value, and the proof that its maker could not choose it. */
export interface VrfResult {
  readonly output: Uint8Array;
  readonly proof: Uint8Array;
}

export interface HeaderDetails {
  readonly issuerKey: Uint8Array;
  readonly vrfKey: Uint8Array;
  /** What the randomness of the next epoch is made from; null from Babbage on. */
  readonly nonce: VrfResult | null;
  /** What lets its maker make a block in this slot. */
  readonly leader: VrfResult;
  readonly bodyBytes: number;
  readonly certificate: {
    /** The key that signs blocks. */
    readonly hotKey: Uint8Array;
    readonly count: bigint;
    readonly period: bigint;
    readonly signature: Uint8Array;
  };
  readonly version: { readonly major: number; readonly minor: number };
}

/** A header of that era as it stands alone. Throws BLOCK_INVALID with the position. */
export function readHeaderDetails(header: Uint8Array, era: number): HeaderDetails {
  const c = new Cursor(header);
  const isPraos = era >= ERA.babbage;
  c.tuple(2, 'header');
  c.tuple(isPraos ? 10 : 15, 'header body');
  // Height, slot and the block before it are in the row of the block.
  for (let i = 0; i < 3; i++) c.skip();
  const [issuerKey, vrfKey] = [c.byteString(), c.byteString()];
  const nonce = isPraos ? null : readVrf(c);
  const leader = readVrf(c);
  const bodyBytes = c.uint();
  c.skip();
  const fields = isPraos ? c.tuple(4, 'operational certificate') : 0;
  const certificate = { hotKey: c.byteString(), count: c.bigUint(), period: c.bigUint(), signature: c.byteString() };
  if (isPraos) {
    c.close(fields);
    c.tuple(2, 'protocol version');
  }
  return { issuerKey, vrfKey, nonce, leader, bodyBytes, certificate, version: { major: c.uint(), minor: c.uint() } };
}

function readVrf(c: Cursor): VrfResult {
  const fields = c.tuple(2, 'VRF result');
  const result = { output: c.byteString(), proof: c.byteString() };
  c.close(fields);
  return result;
}
