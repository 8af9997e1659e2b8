/**
 * Stake accounts, and the pots that rewards come from, as the node that is
 * followed has them, for the wire shapes: the store knows what is at addresses,
 * and nothing of delegation and rewards.
 */
import { type Credential, rewardAddress } from '../../ledgers/cardano/index.ts';
import { type LedgerPots, readPots, readStakeAccounts, type StakeAccount } from '../../ledgers/cardano/stake-accounts.ts';
import { UnspentError } from '../../util/errors.ts';
import type { ServerContext } from '../context.ts';

/** Of accounts that are registered, at the node's newest block. Throws UNSUPPORTED where none is followed that answers, SOURCE_UNREACHABLE. */
export async function askStakeAccounts(context: ServerContext, asked: readonly Credential[]): Promise<StakeAccount[]> {
  // The network of an address does not matter here: the node is asked for credentials.
  const { accounts } = await context.ledger({ accounts: asked.map((credential) => rewardAddress(credential, 0)) });
  if (accounts === undefined) throw new UnspentError('UNSUPPORTED', 'what is followed says nothing of stake accounts');
  return readStakeAccounts(accounts);
}

/** At the node's newest block. Throws as the other. */
export async function askPots(context: ServerContext): Promise<LedgerPots> {
  const { pots } = await context.ledger({ pots: true });
  if (pots === undefined) throw new UnspentError('UNSUPPORTED', 'what is followed says nothing of treasury and reserves');
  return readPots(pots);
}
