/**
 * Predicates of UTxO RPC: patterns joined by `match`, `not`, `all_of` and
 * `any_of`, all of which must hold; one that is empty does. What an output must
 * have to match a pattern is in `query/cardano/matches.ts`.
 */
import type { cardano, query as queryMessages } from '@utxorpc/spec/lib/index.mjs';
import { blake2b224 } from '../../../../crypto/hash.ts';
import { POLICY_BYTES } from '../../../../ledgers/asset.ts';
import { KEY_BYTES, type OutputTraits } from '../../../../ledgers/ledger.ts';
import { type MatchPattern, outputMatches } from '../../../../query/cardano/matches.ts';
import type { Utxo } from '../../../../query/utxo.ts';
import { concatBytes, equalBytes, fromHex, isHex } from '../../../../util/bytes.ts';
import { UnspentError } from '../../../../util/errors.ts';
import { UTXORPC_ALTERNATIVES_MAX } from '../../../../util/limits.ts';

/** The form of all predicates; `Pattern` is what a `match` holds. */
export interface Predicate<Pattern> {
  readonly match?: Pattern | undefined;
  readonly not: readonly Predicate<Pattern>[];
  readonly allOf: readonly Predicate<Pattern>[];
  readonly anyOf: readonly Predicate<Pattern>[];
}

export function holds<Pattern>({ match, not, allOf, anyOf }: Predicate<Pattern>, test: (pattern: Pattern) => boolean): boolean {
  return (
    (match === undefined || test(match)) &&
    !not.some((each) => holds(each, test)) &&
    allOf.every((each) => holds(each, test)) &&
    (anyOf.length === 0 || anyOf.some((each) => holds(each, test)))
  );
}

/**
 * Ways to match: an output that does has all patterns of one of them at least. What `not` says is not among them.
 * Throws USAGE where there are too many.
 */
export function alternatives<Pattern, Part>(
  predicate: Predicate<Pattern>,
  partsOf: (pattern: Pattern) => readonly Part[],
): readonly (readonly Part[])[] {
  const { match, allOf, anyOf } = predicate;
  let found: readonly (readonly Part[])[] = [match === undefined ? [] : partsOf(match)];
  const join = (others: readonly (readonly Part[])[]): void => {
    found = found.flatMap((own) => others.map((other) => [...own, ...other]));
    if (found.length > UTXORPC_ALTERNATIVES_MAX)
      throw new UnspentError('USAGE', `the predicate has more than ${UTXORPC_ALTERNATIVES_MAX} ways to match`, { field: 'predicate' });
  };
  for (const each of allOf) join(alternatives(each, partsOf));
  if (anyOf.length > 0) join(anyOf.flatMap((each) => alternatives(each, partsOf)));
  return found;
}

/** The pattern of Cardano in a predicate for outputs; undefined: none, which any output matches. */
export function outputPatternOf({ utxoPattern }: queryMessages.AnyUtxoPattern): cardano.TxOutputPattern | undefined {
  return utxoPattern.case === 'cardano' ? utxoPattern.value : undefined;
}

/** All that an output must match, as far as an index could have it. Throws USAGE. */
export function outputPatterns({ address, asset }: Partial<cardano.TxOutputPattern>): MatchPattern[] {
  const owner = addressPatterns(address);
  return [...owner, ...assetPatterns(asset, owner.length > 0)];
}

/** Throws USAGE. */
export function matchesOutput(pattern: Partial<cardano.TxOutputPattern>, utxo: Utxo, traits: OutputTraits): boolean {
  const { asset } = pattern;
  const hasAsset =
    asset === undefined || asset.policyId.length > 0 || asset.assetName.length === 0 || hasName(utxo, asset.assetName, traits);
  return hasAsset && outputPatterns(pattern).every((each) => outputMatches(each, utxo, traits));
}

function addressPatterns(pattern: cardano.AddressPattern | undefined): MatchPattern[] {
  if (pattern === undefined) return [];
  const { exactAddress, paymentPart, delegationPart } = pattern;
  const found: MatchPattern[] = [];
  if (exactAddress.length > 0) found.push({ kind: 'address', key: blake2b224(addressOf(exactAddress)) });
  if (paymentPart.length > 0) found.push({ kind: 'payment', key: keyOf(paymentPart, 'payment_part') });
  if (delegationPart.length > 0) found.push({ kind: 'stake', key: keyOf(delegationPart, 'delegation_part') });
  return found;
}

/** Mesh sends the text of its hex (`Address.toBytes` gives a text there); no address consists of an even number of hex digits. */
function addressOf(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes).toString('latin1');
  return isHex(text) ? fromHex(text) : bytes;
}

/**
 * An empty name cannot be told from none. A name without a policy is a name, or, as Dolos takes it, has its policy in
 * front; where it must lead to an index because nothing else does, it is the latter.
 */
function assetPatterns(pattern: cardano.AssetPattern | undefined, isOwned: boolean): MatchPattern[] {
  if (pattern === undefined) return [];
  const { policyId, assetName } = pattern;
  if (policyId.length === 0) {
    if (isOwned || assetName.length < POLICY_BYTES) return [];
    return [{ kind: 'asset', policy: assetName.subarray(0, POLICY_BYTES), name: assetName.subarray(POLICY_BYTES) }];
  }
  const policy = keyOf(policyId, 'policy_id');
  return [assetName.length === 0 ? { kind: 'policy', policy } : { kind: 'asset', policy, name: assetName }];
}

/** Whether it holds an asset of this name, or with this policy and name together. */
function hasName({ output: { raw } }: Utxo, name: Uint8Array, traits: OutputTraits): boolean {
  let found = false;
  traits.assets(raw, 0, raw.length, (policy, itsName) => {
    found ||= equalBytes(itsName, name) || equalBytes(concatBytes(policy, itsName), name);
  });
  return found;
}

function keyOf(bytes: Uint8Array, field: string): Uint8Array {
  if (bytes.length === KEY_BYTES) return bytes;
  throw new UnspentError('USAGE', `${field} has ${KEY_BYTES} bytes, not ${bytes.length}`, { field });
}
