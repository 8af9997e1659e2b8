/**
 * Who owns outputs on Cardano: an address by its bytes, or a stake credential,
 * which owns whatever is at an address that has it as its stake part. A credential
 * is known to a wallet by its reward address, at which no output can be.
 */
import { readAddress, stakeAddressOf } from '../../ledgers/cardano/index.ts';
import { UnspentError } from '../../util/errors.ts';
import type { OtherOwners } from '../feed/wallet-feed.ts';
import type { ScriptKind } from '../records.ts';
import type { NewAddress } from '../store.ts';

/** For a feed: the reward address of the output's stake credential. */
export const stakeOwners: OtherOwners = (script) => {
  const stake = stakeAddressOf(script);
  return stake === null ? [] : [stake];
};

/** What a wallet imports to watch an address, or, with a reward address, a stake credential. Throws USAGE for bytes that are no address. */
export function watchedAddress(address: Uint8Array): NewAddress {
  return { script: address, kind: kindOf(address) };
}

function kindOf(bytes: Uint8Array): ScriptKind {
  const address = readAddress(bytes);
  switch (address.kind) {
    case 'byron':
      return 'cardano-byron';
    case 'reward':
      return 'cardano-stake';
    case 'unknown':
      throw new UnspentError('USAGE', 'these bytes are no address of a known kind');
    default:
      return address.payment.kind === 'key' ? 'cardano-key' : 'cardano-script';
  }
}
