/**
 * The parameters of `/matches`, read as Kupo reads them: flags have no value,
 * bounds are slots or points, filters are patterns of their own. Parameters that
 * Kupo does not know are passed over, as Kupo does.
 */
import { POLICY_BYTES } from '../../../ledgers/asset.ts';
import { parseOutputIndex, TXID_BYTES } from '../../../ledgers/outpoint.ts';
import type { MatchPattern, MatchRequest } from '../../../query/cardano/matches.ts';
import type { Query } from '../../../query/query.ts';
import type { SlotRange } from '../../../query/utxo.ts';
import { fromHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { type GivenParameters, hexParameter, parameter, wrongParameter } from '../../http/parameters.ts';
import { parseAssetName, parsePattern } from './pattern.ts';

export interface MatchQuery {
  /** Whether datums and scripts are given with their hashes. */
  readonly resolveHashes: boolean;
  /** The bounds that are points must be on the chain of the query. Throws POINT_UNKNOWN. */
  requestAt(query: Query): MatchRequest;
}

const ORDERS: Readonly<Record<string, 'asc' | 'desc'>> = { most_recent_first: 'desc', oldest_first: 'asc' };

/** Throws USAGE. */
export function readMatchQuery(patternText: string, given: GivenParameters): MatchQuery {
  const patterns = [...parsePattern(patternText), ...filterOf(given)];
  const order = orderOf(given);
  const [created, spent] = [boundsOf(given, 'created'), boundsOf(given, 'spent')];
  const status = statusOf(given, spent !== null);
  return {
    resolveHashes: hasFlag(given, 'resolve_hashes'),
    requestAt: (query) => ({
      patterns,
      status,
      order,
      created: rangeAt(query, created ?? {}),
      spent: spent === null ? null : rangeAt(query, spent),
    }),
  };
}

function statusOf(given: GivenParameters, hasSpentBounds: boolean): MatchRequest['status'] {
  const [unspent, spent] = [hasFlag(given, 'unspent'), hasFlag(given, 'spent')];
  if (unspent && (spent || hasSpentBounds)) throw wrongParameter('unspent', 'an output is either spent or unspent');
  return unspent ? 'unspent' : spent || hasSpentBounds ? 'spent' : 'both';
}

function orderOf(given: GivenParameters): MatchRequest['order'] {
  const text = parameter(given, 'order');
  if (text === undefined) return null;
  if (!Object.hasOwn(ORDERS, text)) throw wrongParameter('order', `expected ${Object.keys(ORDERS).join(' or ')}`);
  return ORDERS[text];
}

/** Of an asset or of a transaction, not of both. */
function filterOf(given: GivenParameters): readonly MatchPattern[] {
  const [policyText, name] = [parameter(given, 'policy_id'), parameter(given, 'asset_name')];
  const [tx, index] = [parameter(given, 'transaction_id'), parameter(given, 'output_index')];
  if (name !== undefined && policyText === undefined) throw wrongParameter('asset_name', 'it needs policy_id');
  if (index !== undefined && tx === undefined) throw wrongParameter('output_index', 'it needs transaction_id');
  if (policyText !== undefined && tx !== undefined) throw wrongParameter('policy_id', 'it does not go with transaction_id');
  if (policyText !== undefined) {
    const policy = hexParameter(policyText, 'policy_id', POLICY_BYTES);
    return [name === undefined ? { kind: 'policy', policy } : { kind: 'asset', policy, name: parseAssetName(name) }];
  }
  if (tx === undefined) return [];
  const txId = hexParameter(tx, 'transaction_id', TXID_BYTES);
  return [index === undefined ? { kind: 'transaction', txId } : { kind: 'output', txId, index: parseOutputIndex(index) }];
}

interface Bound {
  readonly slot: number;
  /** The block that must be there; null: any, or none. */
  readonly hash: Uint8Array | null;
}

interface Bounds {
  readonly after?: Bound | undefined;
  readonly before?: Bound | undefined;
}

/** Null: no bound was given. */
function boundsOf(given: GivenParameters, what: 'created' | 'spent'): Bounds | null {
  const [after, before] = [boundOf(given, `${what}_after`), boundOf(given, `${what}_before`)];
  return after === undefined && before === undefined ? null : { after, before };
}

/** A slot, or a point: `SLOT.HASH`. */
function boundOf(given: GivenParameters, name: string): Bound | undefined {
  const text = parameter(given, name);
  if (text === undefined) return undefined;
  const [, slot, hash] = /^(\d{1,15})(?:\.([0-9a-f]{64}))?$/i.exec(text) ?? [];
  if (slot === undefined) throw wrongParameter(name, 'expected a slot, or a slot and the hash of its block (SLOT.HASH)');
  return { slot: Number(slot), hash: hash === undefined ? null : fromHex(hash) };
}

/** Both ends are in it, as with Kupo. */
function rangeAt(query: Query, { after, before }: Bounds): SlotRange {
  for (const { slot, hash } of [after, before].filter((bound) => bound !== undefined)) {
    if (hash !== null && query.blockByHash(hash)?.slot !== slot)
      throw new UnspentError('POINT_UNKNOWN', `there is no such block at slot ${slot} on our chain`, { slot });
  }
  return { from: after?.slot ?? 0, to: before?.slot ?? Number.MAX_SAFE_INTEGER };
}

/** Whether a parameter without a value is there. Throws USAGE where it has one. */
export function hasFlag(given: GivenParameters, name: string): boolean {
  const text = parameter(given, name);
  if (text === undefined) return false;
  if (text !== '') throw wrongParameter(name, 'it is a flag, and has no value');
  return true;
}
