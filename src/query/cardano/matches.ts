/**
 * Outputs that match patterns: of an address, of credentials, with an asset, of
 * a transaction. All patterns of a request must match; the one that leads to the
 * fewest rows, of those whose index the store keeps, is looked up, and the others
 * are checked row by row. Shapes that list outputs by pattern (Kupo) stand on it.
 *
 * Spent outputs are found in the history, where the store keeps one. Where it
 * does not they are known by their transaction only, and until they are pruned: a
 * question for more throws, it is never answered with a part.
 */
import type { AssetId } from '../../ledgers/asset.ts';
import { ownerKey, readAddress } from '../../ledgers/cardano/index.ts';
import type { OutputTraits } from '../../ledgers/ledger.ts';
import { outpointKey } from '../../ledgers/outpoint.ts';
import { assetKey } from '../../projections/index/by-key.ts';
import { keyOf } from '../../projections/packed.ts';
import { equalBytes } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import type { HistoryPlace } from '../history.ts';
import { holdsAsset } from '../holds-asset.ts';
import type { Query } from '../query.ts';
import type { IndexedUtxo, SlotRange, Utxo } from '../utxo.ts';
import type { IndexKind } from '../view.ts';
import { describeStored } from './describe-stored.ts';
import { type HistoryMatchRequest, historyMatches } from './history-matches.ts';
import { HistoryOutputs } from './history-outputs.ts';

export type MatchPattern =
  | { readonly kind: 'output'; readonly txId: Uint8Array; readonly index: number }
  | { readonly kind: 'transaction'; readonly txId: Uint8Array }
  /** `key` is that of the index. */
  | { readonly kind: 'address'; readonly key: Uint8Array }
  | ({ readonly kind: 'asset' } & AssetId)
  | { readonly kind: 'payment'; readonly key: Uint8Array }
  | { readonly kind: 'stake'; readonly key: Uint8Array }
  | { readonly kind: 'policy'; readonly policy: Uint8Array }
  /** `byron` false: only addresses of Shelley and later. */
  | { readonly kind: 'any'; readonly byron: boolean };

export interface MatchRequest {
  /** An output matches if all of them do. At least one. */
  readonly patterns: readonly MatchPattern[];
  readonly status: 'unspent' | 'spent' | 'both';
  readonly created: SlotRange;
  /** Null: not asked. */
  readonly spent: SlotRange | null;
  /** Null: newest first, where the store can tell. */
  readonly order: 'asc' | 'desc' | null;
  /** Where the rows of the same request begin that are wanted: behind this one (`IndexedUtxo.cursor`). Only rows of an index have such a place. */
  readonly after?: Uint8Array | undefined;
}

/** Rows to look at, and which of them match. */
export interface Matches {
  readonly rows: Iterable<Utxo | IndexedUtxo>;
  accept(utxo: Utxo): boolean;
}

/** From the one that leads to the fewest rows to the one that leads to all. */
const NARROWEST_FIRST: readonly MatchPattern['kind'][] = ['output', 'transaction', 'address', 'asset', 'payment', 'stake', 'policy', 'any'];

/** Throws UNSUPPORTED where the store keeps no index for it or cannot tell what was spent, and PRUNED where it has forgotten. */
export function matchesOf(query: Query, traits: OutputTraits, request: MatchRequest): Matches {
  const { patterns, status, created, spent } = request;
  const ordered = narrowestFirst(patterns);
  const accept = (utxo: Utxo): boolean =>
    (status === 'both' || (status === 'spent') === (utxo.spent !== null)) &&
    isIn(utxo.output.slot, created) &&
    (spent === null || (utxo.spent !== null && isIn(utxo.spent.slot, spent))) &&
    ordered.every((pattern) => outputMatches(pattern, utxo, traits));
  return { rows: rowsOf(query, ordered, request), accept };
}

const EVERY_SLOT: SlotRange = { from: 0, to: Number.MAX_SAFE_INTEGER };

/** Unspent outputs that match all patterns, whenever they came. */
export function unspentMatches(
  query: Query,
  traits: OutputTraits,
  patterns: readonly MatchPattern[],
  page: Pick<MatchRequest, 'order' | 'after'>,
): Matches {
  return matchesOf(query, traits, { ...page, patterns, status: 'unspent', created: EVERY_SLOT, spent: null });
}

function rowsOf(query: Query, ordered: readonly MatchPattern[], request: MatchRequest): Iterable<Utxo | IndexedUtxo> {
  const { status, created, order, after } = request;
  const [narrowest] = ordered;
  if (created.from > created.to) return [];
  if (narrowest.kind === 'output' || narrowest.kind === 'transaction') return outputsOf(query, narrowest, request);
  if (status !== 'unspent') {
    if (!query.hasHistory) throw withoutHistory();
    return historyMatches(query, { owner: ownerOf(query, ordered), created, order: order ?? 'desc' });
  }
  const lookup = indexLookup(query, ordered);
  const isKept = lookup !== null && query.hasIndex(lookup.kind);
  if (lookup === null || (!isKept && ordered.some(({ kind }) => kind === 'any'))) return everyOutput(query, order);
  return query.byKey(lookup.kind, lookup.key, { order: order ?? 'desc', slots: created, after });
}

/** Rows of an index, by their key. */
export interface IndexLookup {
  readonly kind: IndexKind;
  readonly key: Uint8Array;
}

/**
 * Where the unspent outputs of a request are looked up; null: nowhere, because no pattern has an index. Where none of
 * those that could be used is kept, or ready, it is the narrowest: the read of it says so.
 */
export function indexLookup(query: Query, patterns: readonly MatchPattern[]): IndexLookup | null {
  const lookups = narrowestFirst(patterns).flatMap((pattern) => lookupOf(query, pattern) ?? []);
  return lookups.find(({ kind }) => query.hasIndex(kind)) ?? lookups[0] ?? null;
}

function narrowestFirst(patterns: readonly MatchPattern[]): readonly MatchPattern[] {
  return patterns.toSorted((a, b) => NARROWEST_FIRST.indexOf(a.kind) - NARROWEST_FIRST.indexOf(b.kind));
}

/** The narrowest owner whose transactions the store keeps; null: none is asked for. */
function ownerOf(query: Query, ordered: readonly MatchPattern[]): HistoryMatchRequest['owner'] {
  for (const pattern of ordered) {
    const isOwner = pattern.kind === 'address' || pattern.kind === 'payment' || pattern.kind === 'stake';
    if (isOwner && query.hasHistoryOf(pattern.kind)) return pattern;
  }
  return null;
}

/** The rows of an index that a pattern leads to; null: none. Rows of a policy are more than those of its asset, but are there as well. */
function lookupOf(query: Query, pattern: MatchPattern): IndexLookup | null {
  switch (pattern.kind) {
    case 'address':
    case 'payment':
    case 'stake':
      return { kind: pattern.kind, key: pattern.key };
    case 'asset':
      if (!query.hasIndex('asset') && query.hasIndex('policy')) return { kind: 'policy', key: pattern.policy };
      return { kind: 'asset', key: assetKey(pattern.policy, pattern.name) };
    case 'policy':
      return { kind: 'policy', key: pattern.policy };
    default:
      return null;
  }
}

function everyOutput(query: Query, order: MatchRequest['order']): Iterable<Utxo> {
  if (order === null) return query.unspent();
  throw new UnspentError('UNSUPPORTED', 'the whole unspent set is not kept in the order of the chain: ask without an order, or for less', {
    field: 'order',
  });
}

/** Outputs of one transaction, in the order of the chain. */
function outputsOf(query: Query, pattern: MatchPattern & { readonly txId: Uint8Array }, { status, order }: MatchRequest): readonly Utxo[] {
  const { row, outputs } = query.tx(pattern.txId);
  if (status !== 'unspent' && query.hasHistory && isInHistory(query, row)) {
    const made = everMade(query, pattern.txId, row);
    return order === 'asc' ? made : made.toReversed();
  }
  const found = pattern.kind === 'output' ? outputs.filter(({ index }) => index === pattern.index) : outputs;
  const isWhole = pattern.kind === 'output' && found.length > 0;
  // What it made may have been spent and forgotten since; of a later transaction nothing can be.
  const { spent: prunedTo } = query.pruned();
  if (status !== 'unspent' && !isWhole && row !== null && row.height <= prunedTo) {
    const message = `outputs of this transaction may have been spent and forgotten: those spent up to height ${prunedTo} are; ask for the unspent ones`;
    throw new UnspentError('PRUNED', message, { height: row.height, knownAbove: prunedTo });
  }
  return order === 'asc' ? found : found.toReversed();
}

/** Whether the history has the transaction, bytes and all. */
function isInHistory(query: Query, row: HistoryPlace | null): boolean {
  if (row === null) return true;
  const { startHeight, forgottenHeight } = query.history();
  return row.height >= startHeight && row.height > forgottenHeight;
}

/** All outputs of a transaction, however long ago they were spent. What genesis granted has an id and no transaction. */
function everMade(query: Query, txId: Uint8Array, row: HistoryPlace | null): readonly Utxo[] {
  const outputs = new HistoryOutputs(query);
  if (row !== null) return outputs.ofTxs(outputs.history.txsAt([row]));
  const [granted] = outputs.resolve([outpointKey(txId, 0)]);
  return granted === null ? [] : [granted];
}

/** Whether an output matches one pattern. */
export function outputMatches(pattern: MatchPattern, { txId, index, output }: Utxo, traits: OutputTraits): boolean {
  switch (pattern.kind) {
    case 'output':
      return index === pattern.index && equalBytes(txId, pattern.txId);
    case 'transaction':
      return equalBytes(txId, pattern.txId);
    case 'address':
    case 'payment':
    case 'stake': {
      const key = keyOf(output, pattern.kind, { ownerKey });
      return key !== undefined && equalBytes(key, pattern.key);
    }
    case 'any':
      if (pattern.byron || output.keys.payment !== undefined) return true;
      return readAddress(describeStored(txId, index, output.raw).address).kind !== 'byron';
    default:
      return holdsAsset(traits, output.raw, pattern.policy, pattern.kind === 'asset' ? pattern.name : null);
  }
}

function isIn(slot: number, { from, to }: SlotRange): boolean {
  return slot >= from && slot <= to;
}

function withoutHistory(): UnspentError {
  const message =
    'spent outputs are known by their transaction only, because no history is kept (utxo.history is off): ask for the unspent ones (?unspent), or for a transaction';
  return new UnspentError('UNSUPPORTED', message);
}
