/**
 * Which coins may be spent: coins are looked for in rounds, from those that are
 * safest to those that are only just acceptable, and the first round that can
 * pay does. The rounds are those of Bitcoin Core's wallet.
 */
import type { SelectionPolicy } from './coin.ts';

/** What a group of coins must be like to be eligible in a round. */
export interface EligibilityRound {
  /** Confirmations of coins that the wallet sent to itself. */
  readonly ownConfirmations: number;
  /** Of coins that others sent. */
  readonly foreignConfirmations: number;
  readonly ancestorsMax: number;
  readonly descendantsMax: number;
  /** What is left over of a script's coins when full groups of them were made may be spent, too. */
  readonly partialGroups: boolean;
  /** Coins of several kinds may be spent in one transaction. */
  readonly mixedTypes: boolean;
}

export function eligibilityRounds(policy: SelectionPolicy): readonly EligibilityRound[] {
  const { ancestorsMax, descendantsMax } = policy;
  const confirmed = { ownConfirmations: 1, ancestorsMax: 0, descendantsMax: 0, partialGroups: false };
  const rounds: EligibilityRound[] = [
    { ...confirmed, foreignConfirmations: 6, mixedTypes: false },
    { ...confirmed, foreignConfirmations: 1, mixedTypes: true },
  ];
  if (!policy.spendUnconfirmedChange) return [...rounds, { ...rounds[1], partialGroups: true }];
  const unconfirmed = (ancestors: number, descendants: number): EligibilityRound => ({
    ownConfirmations: 0,
    foreignConfirmations: 1,
    ancestorsMax: ancestors,
    descendantsMax: descendants,
    partialGroups: false,
    mixedTypes: true,
  });
  const longest = { ...unconfirmed(ancestorsMax - 1, descendantsMax - 1), partialGroups: true };
  rounds.push(
    unconfirmed(2, 2),
    unconfirmed(Math.min(4, Math.floor(ancestorsMax / 3)), Math.min(4, Math.floor(descendantsMax / 3))),
    unconfirmed(Math.floor(ancestorsMax / 2), Math.floor(descendantsMax / 2)),
    longest,
  );
  if (policy.spendUnsafe) rounds.push({ ...longest, foreignConfirmations: 0 });
  const endless = Number.POSITIVE_INFINITY;
  if (!policy.rejectLongChains) rounds.push({ ...longest, ancestorsMax: endless, descendantsMax: endless });
  return rounds;
}
