/**
 * Replacing transactions that wait: whether nodes would take a replacement
 * (BIP125 and their policy), and the selection of one. A replacement spends the
 * coins of those it replaces, pays for all that it evicts, and for its own way
 * through the network.
 */
import { UnspentError } from '../../../util/errors.ts';
import { REPLACED_TX_MAX } from '../../../util/limits.ts';
import { type RandomBits, systemRandom } from '../random.ts';
import type { Coin, Selection, SelectionRequest } from './coin.ts';
import { feeOf, vsizeOf } from './fee-rate.ts';
import { weightWithoutInputs } from './output-size.ts';
import { selectCoins } from './select.ts';
import { isSameCoin } from './terms.ts';

/** The highest sequence with which an input says that it may be replaced. */
export const REPLACEABLE_SEQUENCE = 0xffff_fffd;

/** A transaction that a replacement evicts. */
export interface Victim {
  readonly fee: bigint;
  readonly vsize: number;
  /** It conflicts itself; else it descends from one that does. */
  readonly direct: boolean;
  /** An input of it, or of an unconfirmed ancestor, has a sequence of at most `REPLACEABLE_SEQUENCE`. */
  readonly replaceable: boolean;
}

/** What nodes ask of a replacement. */
export interface ReplacementPolicy {
  /** In sat/kvB: what a replacement pays above what it evicts. */
  readonly incrementalRate: number;
  /** Transactions are replaced whether they say so or not, as nodes do by default since Bitcoin Core 28. */
  readonly fullRbf: boolean;
}

/** By which two fees that are rounded up may differ from the fee of the sum. */
const ROUNDING_SAT = 2n;

export const DEFAULT_REPLACEMENT: ReplacementPolicy = { incrementalRate: 1000, fullRbf: true };

/** A transaction in place of others. */
export interface Replacement {
  readonly fee: bigint;
  readonly vsize: number;
  /** Outputs of unconfirmed transactions that it spends and that no direct victim spent. */
  readonly newUnconfirmedInputs: number;
}

/** Throws REPLACEMENT_REFUSED with the rule that is broken. */
export function checkReplacement(
  { fee, vsize, newUnconfirmedInputs }: Replacement,
  victims: readonly Victim[],
  policy: ReplacementPolicy,
): void {
  const direct = victims.filter((victim) => victim.direct);
  if (!policy.fullRbf && direct.some(({ replaceable }) => !replaceable)) {
    throw refused('signal', 'a transaction it conflicts with does not say that it may be replaced');
  }
  if (newUnconfirmedInputs > 0)
    throw refused('unconfirmed-inputs', `it spends ${newUnconfirmedInputs} unconfirmed outputs that were not spent before`);
  if (victims.length > REPLACED_TX_MAX)
    throw refused('evictions', `it evicts ${victims.length} transactions, and ${REPLACED_TX_MAX} are allowed`);
  const least = feeToReplace(victims, vsize, policy);
  if (fee < least) throw refused('fee', `it pays ${fee} satoshi, and has to pay ${least}`, { fee, least });
  if (direct.some((victim) => fee * BigInt(victim.vsize) <= victim.fee * BigInt(vsize))) {
    throw refused('rate', 'it does not pay a higher fee rate than each transaction it conflicts with');
  }
}

/** The least fee of a replacement of that size: what the victims pay, and its own relay. */
function feeToReplace(victims: readonly Victim[], vsize: number, { incrementalRate }: ReplacementPolicy): bigint {
  return victims.reduce((sum, { fee }) => sum + fee, 0n) + BigInt(feeOf(incrementalRate, vsize));
}

function refused(rule: string, why: string, meta: Record<string, unknown> = {}): UnspentError {
  return new UnspentError('REPLACEMENT_REFUSED', `nodes would not take the replacement: ${why}`, { rule, ...meta });
}

/**
 * Selects the coins of a replacement. `request.preset` are coins that keep it in
 * conflict with each direct victim, as a rule all that those spent. It pays the
 * target rate and never less than nodes ask for. Throws as `selectCoins` and
 * `checkReplacement` do.
 */
export function selectReplacement(
  coins: readonly Coin[],
  request: SelectionRequest,
  victims: readonly Victim[],
  policy: ReplacementPolicy = DEFAULT_REPLACEMENT,
  random: RandomBits = systemRandom(),
): Selection {
  const preset = request.preset ?? [];
  if (preset.length === 0) throw new UnspentError('USAGE', 'a replacement spends a coin of what it replaces');
  // Coins of unconfirmed transactions are no use, because a replacement may not add them.
  const confirmed = coins.filter(({ confirmations }) => confirmations > 0);
  const selection = firstThatPays(confirmed, request, victims, policy, random);
  const added = selection.inputs.filter((coin) => coin.confirmations === 0 && !preset.some((other) => isSameCoin(coin, other)));
  checkReplacement({ ...selection, newUnconfirmedInputs: added.length }, victims, policy);
  return selection;
}

/**
 * The fee has to be at least the target rate for the size, and at least what the
 * victims pay and the incremental rate for the size. Which of the two is more
 * shows only with the size. So: by the target rate; else by the other; else by
 * the target rate with as much above it as the smallest size would need, which
 * is enough for any.
 */
function firstThatPays(
  coins: readonly Coin[],
  request: SelectionRequest,
  victims: readonly Victim[],
  policy: ReplacementPolicy,
  random: RandomBits,
): Selection {
  const { fixedFee = 0n } = request;
  const target = Math.max(request.rates.target, policy.incrementalRate, ...victims.map(rateAbove));
  const at = (rate: number, above: bigint): Selection =>
    selectCoins(coins, { ...request, rates: { ...request.rates, target: rate }, fixedFee: fixedFee + above }, random);
  const pays = ({ fee, vsize }: Selection): boolean =>
    fee >= feeToReplace(victims, vsize, policy) && fee >= BigInt(feeOf(target, vsize)) + fixedFee;
  const byRate = at(target, 0n);
  if (pays(byRate)) return byRate;
  const byVictims = at(policy.incrementalRate, feeToReplace(victims, 0, policy));
  if (pays(byVictims)) return byVictims;
  const smallest = smallestVsize(request);
  const above = feeToReplace(victims, smallest, policy) - BigInt(feeOf(target, smallest)) + ROUNDING_SAT;
  return at(target, above > 0n ? above : 0n);
}

/** The lowest rate that is above the victim's, in sat/kvB; of one that descends from a victim none is asked for. */
function rateAbove({ fee, vsize, direct }: Victim): number {
  return direct ? Number((1000n * fee) / BigInt(vsize)) + 1 : 0;
}

/** Of a transaction that spends only the preset coins and makes no change. */
function smallestVsize({ outputs, preset = [] }: SelectionRequest): number {
  return vsizeOf(weightWithoutInputs(outputs, preset.length) + preset.reduce((sum, { weight }) => sum + weight, 0));
}
