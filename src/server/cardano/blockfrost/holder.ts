/**
 * Who holds outputs, as clients of Blockfrost write it: an address, or a payment
 * credential in its place (`addr_vkh1...`, `script1...`; some clients write
 * `addr_vkh1` for scripts too, so the hash alone counts). An address of another
 * network is refused, as Blockfrost does, and not answered with an empty list.
 */
import { blake2b224 } from '../../../crypto/hash.ts';
import {
  type Address,
  type CardanoNetwork,
  type Credential,
  parseAddress,
  parseCredential,
  readAddress,
} from '../../../ledgers/cardano/index.ts';
import type { MatchPattern } from '../../../query/cardano/matches.ts';
import { UnspentError } from '../../../util/errors.ts';

export interface OutputHolder {
  readonly pattern: MatchPattern & { readonly kind: 'address' | 'payment' };
  /** Null: a credential was given. */
  readonly address: Address | null;
  /** The bytes of the address. */
  readonly bytes: Uint8Array | null;
}

/** Throws USAGE. */
export function parseHolder(text: string, network: CardanoNetwork): OutputHolder {
  if (/^(addr_vkh|addr_shared_vkh|script)1/i.test(text))
    return { pattern: { kind: 'payment', key: parseCredential(text).hash }, address: null, bytes: null };
  const bytes = parseAddress(text);
  const address = readAddress(bytes);
  if (address.kind === 'unknown' || address.kind === 'reward') throw malformed('an address of payments', text);
  checkNetwork(address, network, text);
  return { pattern: { kind: 'address', key: blake2b224(bytes) }, address, bytes };
}

/** The stake credential in a stake address. Throws USAGE. */
export function parseStakeAddress(text: string, network: CardanoNetwork): Credential {
  const address = readAddress(parseAddress(text));
  if (address.kind !== 'reward') throw malformed('a stake address', text);
  checkNetwork(address, network, text);
  return address.stake;
}

function checkNetwork({ network }: Address, { addressNetworkId, name }: CardanoNetwork, text: string): void {
  if (network === addressNetworkId) return;
  throw new UnspentError('USAGE', `Invalid address for this network: '${text.slice(0, 120)}' is not of ${name}`, { field: 'address' });
}

function malformed(wanted: string, text: string): UnspentError {
  return new UnspentError('USAGE', `expected ${wanted}, got '${text.slice(0, 120)}'`, { field: 'address' });
}
