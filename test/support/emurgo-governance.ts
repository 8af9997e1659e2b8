/** Parts of votes and proposals as another library writes them. */
import {
  Anchor,
  AnchorDataHash,
  URL as AnchorUrl,
  BigNum,
  Credential,
  Ed25519KeyHash,
  GovernanceActionId,
  RewardAddress,
  TransactionHash,
  UnitInterval,
} from '@emurgo/cardano-serialization-lib-nodejs';

export const ANCHOR = { hash: '55'.repeat(32), url: 'https://example.org/a.json' };
export const anchor = Anchor.new(AnchorUrl.new(ANCHOR.url), AnchorDataHash.from_hex(ANCHOR.hash));
export const earlier = GovernanceActionId.new(TransactionHash.from_hex('66'.repeat(32)), 2);
export const key = Credential.from_keyhash(Ed25519KeyHash.from_hex('11'.repeat(28)));
export const account = RewardAddress.new(0, key);
export const half = UnitInterval.new(BigNum.from_str('1'), BigNum.from_str('2'));
