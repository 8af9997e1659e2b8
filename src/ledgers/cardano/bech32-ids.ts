/**
 * Names in bech32 that are not addresses: pools by the hash of their key
 * (CIP-5), representatives by that of their key or script (CIP-105), assets by a
 * fingerprint of policy and name (CIP-14).
 */
import { blake2b160, blake2b224 } from '../../crypto/hash.ts';
import { encodeBech32 } from '../../util/bech32.ts';
import { concatBytes } from '../../util/bytes.ts';
import type { AssetId } from '../asset.ts';
import type { DrepChoice } from './certificates.ts';

/** Of the pool whose cold key this is. */
export function poolId(key: Uint8Array): string {
  return poolIdOfHash(blake2b224(key));
}

/** Of the pool whose cold key has this hash. Of any length: preprod has a certificate that names a pool by 56 bytes. */
export function poolIdOfHash(hash: Uint8Array): string {
  return encodeBech32('pool', hash);
}

/** Of whom an account votes by, as Blockfrost writes it: one that is registered in the first form of CIP-105, those that nobody is by name. */
export function drepId(drep: DrepChoice): string {
  if (drep.kind === 'abstain') return 'drep_always_abstain';
  if (drep.kind === 'noConfidence') return 'drep_always_no_confidence';
  const { kind, hash } = drep.credential;
  return encodeBech32(kind === 'script' ? 'drep_script' : 'drep', hash);
}

/** What wallets show for an asset. */
export function assetFingerprint({ policy, name }: AssetId): string {
  return encodeBech32('asset', blake2b160(concatBytes(policy, name)));
}
