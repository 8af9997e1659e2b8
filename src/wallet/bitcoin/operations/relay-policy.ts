/**
 * What nodes of a network relay, as far as it decides what a wallet makes. What
 * is below it a node refuses. Sources: `policy.h` of Bitcoin Core and of Litecoin
 * Core.
 */
import type { BitcoinNetwork } from '../../../ledgers/bitcoin/index.ts';
import { DEFAULT_REPLACEMENT, type ReplacementPolicy } from '../../selection/bitcoin/fee-bump.ts';
import { DEFAULT_RATES, type FeeRates } from '../../selection/bitcoin/fee-rate.ts';

export interface RelayPolicy {
  readonly rates: Omit<FeeRates, 'target'>;
  readonly replacement: ReplacementPolicy;
}

const BITCOIN: RelayPolicy = { rates: DEFAULT_RATES, replacement: DEFAULT_REPLACEMENT };

/** Dust is ten times as much there (DUST_RELAY_TX_FEE), and the incremental relay fee is the same. */
const LITECOIN: RelayPolicy = { rates: { ...DEFAULT_RATES, dustRelay: 30_000 }, replacement: DEFAULT_REPLACEMENT };

export function relayPolicyOf({ unit }: BitcoinNetwork): RelayPolicy {
  return unit === 'LTC' ? LITECOIN : BITCOIN;
}
