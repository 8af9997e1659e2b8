/**
 * An asset by its name: the policy that may mint it (28 bytes) and a name of up
 * to 32 bytes. As text, its unit: policy and name in hex, joined or with a dot
 * between them. The command line and the HTTP API read it here.
 */
import { fromHex, isHex } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';

export const POLICY_BYTES = 28;
export const ASSET_NAME_BYTES_MAX = 32;

/** The name of an asset. */
export interface AssetId {
  /** 28 bytes. */
  readonly policy: Uint8Array;
  /** Up to 32 bytes. */
  readonly name: Uint8Array;
}

/** An amount of an asset. */
export interface Asset {
  /** 28 bytes. */
  readonly policy: Uint8Array;
  /** Up to 32 bytes. */
  readonly name: Uint8Array;
  /** Negative only in a mint, where it burns. */
  readonly quantity: bigint;
}

/** Throws USAGE. */
export function parseUnit(text: string): AssetId {
  const joined = text.replace(/^([0-9a-fA-F]{56})\./, '$1');
  const bytes = isHex(joined) ? fromHex(joined) : null;
  if (bytes === null || bytes.length < POLICY_BYTES || bytes.length > POLICY_BYTES + ASSET_NAME_BYTES_MAX) {
    const wanted = `policy (${2 * POLICY_BYTES} hex digits) and name (up to ${2 * ASSET_NAME_BYTES_MAX})`;
    throw new UnspentError('USAGE', `an asset is ${wanted}, not '${text.slice(0, 140)}'`);
  }
  return { policy: bytes.subarray(0, POLICY_BYTES), name: bytes.subarray(POLICY_BYTES) };
}
