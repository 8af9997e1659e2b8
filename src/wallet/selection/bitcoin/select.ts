/**
 * Coin selection: which coins a transaction spends, what it pays for a fee, and
 * what comes back as change. Pure: coins, a request and random bits go in, a
 * decision comes out. The rules are those of Bitcoin Core's wallet, but for what
 * docs/adr/0034 says.
 */
import { readU32 } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { reusingColumns, takeIndexes } from '../columns.ts';
import { type RandomBits, shuffle, systemRandom } from '../random.ts';
import { type Attempt, attempt, type FoundCoins, leastAmount, leastWaste, type SearchTerms } from './attempt.ts';
import type { Algorithm, Coin, Selection, SelectionRequest } from './coin.ts';
import { type CoinTable, tableOf } from './coin-table.ts';
import { type EligibilityRound, eligibilityRounds } from './eligibility.ts';
import type { FeeRates } from './fee-rate.ts';
import { type CoinGroups, costsOf } from './groups.ts';
import { ScriptGroups } from './script-groups.ts';
import { settle } from './settle.ts';
import { SingleCoins } from './single-coins.ts';
import { type CheckedRequest, checkRequest, isSameCoin, searchTerms } from './terms.ts';

/** Counts of inputs at which the count takes one byte, and three. */
const INPUT_COUNTS = [1, 0xfd] as const;

/**
 * Chooses among `coins`, which are all different. Throws FUNDS_INSUFFICIENT with
 * what is missing, SELECTION_NOT_FOUND when coins suffice and the one search that
 * was asked for finds none, TX_TOO_LARGE when only more inputs than a transaction may have
 * would pay, OUTPUT_DUST for outputs that nodes do not relay, and USAGE.
 */
export function selectCoins(coins: readonly Coin[], request: SelectionRequest, random: RandomBits = systemRandom()): Selection {
  return selectFromTable(tableOf(coins), request, random);
}

/** As `selectCoins`. */
export function selectFromTable(coins: CoinTable, request: SelectionRequest, random: RandomBits = systemRandom()): Selection {
  const checked = checkRequest(request, random);
  const others = request.presetOnly === true ? tableOf([]) : withoutPreset(coins, checked.preset);
  for (const inputCount of INPUT_COUNTS) {
    const terms = searchTerms(checked, inputCount);
    const { algorithm, chosen } = reusingColumns(() => choose(others, checked, terms, random));
    const selection = settle(algorithm, chosen, checked, terms, random);
    if (selection !== null) return selection;
  }
  throw tooLarge(checked);
}

function choose(
  others: CoinTable,
  checked: CheckedRequest,
  terms: SearchTerms,
  random: RandomBits,
): { readonly algorithm: Algorithm; readonly chosen: readonly Coin[] } {
  const { preset, request } = checked;
  const narrowed = {
    ...terms,
    target: { ...terms.target, amount: terms.target.amount - presetAmount(checked) },
    weightMax: terms.weightMax - preset.reduce((sum, { weight }) => sum + weight, 0),
  };
  const least = leastAmount(narrowed);
  if (least <= 0 && preset.length > 0) return { algorithm: 'manual', chosen: preset };
  if (least <= 0) throw new UnspentError('USAGE', 'a transaction needs an output above 0, a fee rate above 0 or a coin to spend');
  if (request.presetOnly === true) throw insufficient(checked, least, 0, 0);
  const { algorithm, coins } = search(others, checked, narrowed, random);
  return { algorithm, chosen: [...preset, ...coins] };
}

/** Round by round, until one can pay. */
function search(coins: CoinTable, checked: CheckedRequest, terms: SearchTerms, random: RandomBits): FoundCoins {
  const { policy, request } = checked;
  const { all, positive } = policy.avoidPartialSpends ? groupsByScript(coins, checked, random) : singleCoins(coins, request.rates);
  let tooHeavy = false;
  const rounds = eligibilityRounds(policy);
  for (const round of rounds) {
    const result = reusingColumns(() => searchRound(all, positive, round, terms, random));
    if (result.best !== null) return result.best;
    tooHeavy ||= result.tooHeavy;
  }
  throw tooHeavy ? tooLarge(checked) : missing(positive, checked, leastAmount(terms), rounds[rounds.length - 1]);
}

/** `positive`: of coins that bring more than they cost; the same object where each coin is a group, because searches leave out others. */
interface SearchGroups {
  readonly all: CoinGroups;
  readonly positive: CoinGroups;
}

function singleCoins(coins: CoinTable, rates: FeeRates): SearchGroups {
  const all = new SingleCoins(coins, rates);
  return { all, positive: all };
}

/** In random order, so that chance decides which coins of a script are together where it has more than a group may have. */
function groupsByScript(coins: CoinTable, checked: CheckedRequest, random: RandomBits): SearchGroups {
  const { rates } = checked.request;
  const list = listOf(coins);
  shuffle(random, list);
  const worthwhile = list.filter((coin) => amountOf(coin, checked) > 0);
  return { all: new ScriptGroups(list, rates), positive: new ScriptGroups(worthwhile, rates) };
}

function listOf(coins: CoinTable): Coin[] {
  return Array.from({ length: coins.count }, (_, position) => coins.coinAt(position));
}

/** Each kind of output alone, then all kinds together where the round allows it. */
function searchRound(all: CoinGroups, positive: CoinGroups, round: EligibilityRound, terms: SearchTerms, random: RandomBits): Attempt {
  const ofAll = eligibleByType(all, round);
  const ofPositive = positive === all ? ofAll : eligibleByType(positive, round);
  const attemptWith = (eligible: (byType: ReadonlyMap<string, Uint32Array>) => Uint32Array): Attempt => {
    const one = { groups: all, eligible: eligible(ofAll) };
    return attempt({ all: one, positive: positive === all ? one : { groups: positive, eligible: eligible(ofPositive) } }, terms, random);
  };
  const types = new Set([...ofAll.keys(), ...ofPositive.keys()]);
  const attempts = [...types].map((type) => attemptWith((byType) => byType.get(type) ?? new Uint32Array(0)));
  if (leastWaste(attempts) === null && round.mixedTypes && types.size > 1)
    attempts.push(attemptWith((byType) => joined([...byType.values()])));
  return { best: leastWaste(attempts), tooHeavy: attempts.some(({ tooHeavy }) => tooHeavy) };
}

/** Only types of which something is eligible. */
function eligibleByType(groups: CoinGroups, round: EligibilityRound): ReadonlyMap<string, Uint32Array> {
  const eligible = groups.eligible(round);
  return new Map(groups.types.map((type, i) => [type, eligible[i]] as const).filter(([, list]) => list.length > 0));
}

function joined(lists: readonly Uint32Array[]): Uint32Array {
  const all = takeIndexes(lists.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const list of lists) {
    all.set(list, at);
    at += list.length;
  }
  return all;
}

function presetAmount(checked: CheckedRequest): number {
  return checked.preset.reduce((sum, coin) => sum + amountOf(coin, checked), 0);
}

/** What a coin adds to a payment. */
function amountOf(coin: Coin, { request, subtractFee }: CheckedRequest): number {
  const { value, fee } = costsOf(coin, request.rates);
  return subtractFee ? value : value - fee;
}

function withoutPreset(coins: CoinTable, preset: readonly Coin[]): CoinTable {
  if (preset.length === 0) return coins;
  // Compares the first bytes of ids before it compares whole ones: there may be many coins.
  const starts = new Set(preset.map(({ txId }) => readU32(txId, 0)));
  return tableOf(listOf(coins).filter((coin) => !starts.has(readU32(coin.txId, 0)) || !preset.some((other) => isSameCoin(coin, other))));
}

/** What is missing even when all that is eligible in the last round is spent. Throws SELECTION_NOT_FOUND where nothing is. */
function missing(groups: CoinGroups, checked: CheckedRequest, least: number, round: EligibilityRound): UnspentError {
  const { amounts } = groups.candidates(
    Uint32Array.from({ length: groups.count }, (_, i) => i),
    checked.subtractFee,
  );
  let [available, held] = [0, 0];
  for (const [i, amount] of amounts.entries()) {
    if (amount <= 0) continue;
    if (groups.isEligible(i, round)) available += amount;
    else held += amount;
  }
  if (available >= least) throw notFound(checked);
  return insufficient(checked, least, available, held);
}

/** `least`: what is needed besides preset coins; `others`: what others bring above what it costs to spend them; `held`: what unconfirmed ones would bring that may not be spent. */
function insufficient(checked: CheckedRequest, least: number, others: number, held: number): UnspentError {
  const preset = presetAmount(checked);
  const [needed, available, lacking] = [least + preset, others + preset, least - others].map(BigInt);
  const waiting = held > 0 ? `; unconfirmed coins that may not be spent would bring ${held}` : '';
  const message = `${lacking} satoshi are missing: ${needed} are needed, and spending coins brings ${available} above its cost${waiting}`;
  return new UnspentError('FUNDS_INSUFFICIENT', message, { needed, available, missing: lacking, unconfirmed: BigInt(held) });
}

/** By one search alone, as it was asked for. */
function notFound({ policy: { order } }: CheckedRequest): UnspentError {
  const none = order === 'branch-and-bound' ? 'no coins pay it without change' : 'no selection leaves good change';
  const message = `the coins suffice, but ${order} finds none: ${none}; without an order, all searches are tried`;
  return new UnspentError('SELECTION_NOT_FOUND', message, { order });
}

function tooLarge({ policy: { weightMax } }: CheckedRequest): UnspentError {
  const message = `the coins suffice, but not so many of them as fit into a transaction of ${weightMax} weight units: send less, or merge coins first`;
  return new UnspentError('TX_TOO_LARGE', message, { weightMax });
}
