/**
 * Which requests for a token a transaction can take: those at the token's own
 * request script, in a phase that allows it, with the token's tip. Both the facts
 * for clients that build by themselves and our own builder choose here.
 */
import { decodeCageDatum, type RequestPhase } from '../../../ledgers/cardano/cage/index.ts';
import { describeOutput } from '../../../ledgers/cardano/describe.ts';
import { outpointText, parseOutpoint } from '../../../ledgers/outpoint.ts';
import { equalBytes } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import type { Query } from '../../query.ts';
import type { CageQuery, CageToken, PendingRequest } from '../cage.ts';

export interface RequestChoice {
  /** Those in which it may be; null stands for v0, which has none. */
  readonly phases: readonly (RequestPhase | null)[];
  /** `TXID#INDEX`: exactly these, or a conflict. Empty: all that can be taken. */
  readonly wanted: readonly string[];
  /** Why one that is otherwise good cannot be taken; null: it can. */
  readonly refusal?: (request: PendingRequest) => string | null;
}

/** Requests that belong to a token: those that are known to lie elsewhere, or are of another version, no script of it takes. */
function* requestsOf(cages: CageQuery, token: CageToken, nowMs: bigint): Iterable<PendingRequest> {
  for (const each of cages.requests(token, nowMs)) {
    if (each.canonical !== false && (each.request.terms === null) === (token.version === 'v0')) yield each;
  }
}

/** Throws USAGE, and CAGE_CONFLICT when a wanted one cannot be taken. */
export function chooseRequests(cages: CageQuery, token: CageToken, nowMs: bigint, choice: RequestChoice): PendingRequest[] {
  const pending = [...requestsOf(cages, token, nowMs)];
  const refusal = (each: PendingRequest): string | null => {
    if (!choice.phases.includes(each.phase)) return `it is in the phase '${each.phase}'`;
    if (each.request.terms?.tip !== token.state.terms?.tip) return 'its tip is not that of the token';
    return choice.refusal?.(each) ?? null;
  };
  if (choice.wanted.length === 0) return pending.filter((each) => refusal(each) === null);
  return [...new Set(choice.wanted)].map((ref) => {
    const { txId, index } = parseOutpoint(ref);
    const each = pending.find((other) => other.index === index && equalBytes(other.txId, txId));
    if (each === undefined) throw new UnspentError('CAGE_CONFLICT', `there is no request ${ref} for the token, or no longer`);
    const why = refusal(each);
    if (why !== null) throw new UnspentError('CAGE_CONFLICT', `the request ${outpointText(each)} cannot be taken: ${why}`);
    return each;
  });
}

/** Throws CAGE_CONFLICT while requests for a token are pending: without its state nobody can take them back. */
export function needNoRequests(cages: CageQuery, token: CageToken, nowMs: bigint): void {
  const pending = [...requestsOf(cages, token, nowMs)].length;
  if (pending === 0) return;
  const message = `${pending} requests for the token are pending: apply, reject or let them be retracted first, or they are stuck`;
  throw new UnspentError('CAGE_CONFLICT', message, { limit: pending });
}

/** The request in an output, and the token that it is for; null: that is not there, or no longer. Throws NOT_FOUND, USAGE. */
export function requestAt(
  query: Query,
  ref: string,
  nowMs: bigint,
): { readonly request: PendingRequest; readonly token: CageToken | null } {
  const cages = query.cage();
  const name = tokenNamedIn(query, ref);
  const key = outpointText(parseOutpoint(ref));
  const isThis = (each: PendingRequest): boolean => outpointText(each) === key;
  const found = name === null ? undefined : [...cages.requestsNamed(name)].find(isThis);
  if (name === null || found === undefined) throw new UnspentError('NOT_FOUND', `there is no request ${ref}, or no longer`);
  const isBare = found.request.terms === null;
  for (const { version, stateScriptHash: policy } of cages.deployments()) {
    const token = (version === 'v0') === isBare ? cages.token({ policy, name }) : null;
    const own = token === null ? undefined : [...cages.requests(token, nowMs)].find(isThis);
    if (own !== undefined && own.canonical !== false) return { request: own, token };
  }
  return { request: found, token: null };
}

function tokenNamedIn(query: Query, ref: string): Uint8Array | null {
  const { txId, index } = parseOutpoint(ref);
  const found = query.outpoint(txId, index);
  const inlineDatum = found === null || found.spent !== null ? null : describeOutput(found.output.raw).inlineDatum;
  const datum = inlineDatum === null ? null : decodeCageDatum(inlineDatum);
  return datum?.type === 'request' ? datum.request.token : null;
}
