/**
 * Verifies answers of an MPFS service, ours (`/mpfs`) or another: JSON as it
 * came over the network, against what the reader trusts. An answer that is not
 * one throws USAGE; one that does not show what it says is refused.
 *
 * Fields that the verifier does not know are not read: services add some.
 */
import { equalBytes } from '../../../util/bytes.ts';
import { decodeCompleteness, decodeInclusion } from '../../csmt/cbor.ts';
import type { UtxoEntry } from '../../csmt/utxo.ts';
import { arrayAt, countAt, type Fields, hexAt } from '../../json.ts';
import { decode } from '../../mpf/cbor.ts';
import { HASH_BYTES, malformed, type Refused, type Verdict } from '../../verdict.ts';
import type { StateOutput } from './outputs.ts';
import {
  type CageTrust,
  type Fact,
  type ProvenOutput,
  type ProvenSet,
  type RequestList,
  type TokenList,
  type Verified,
  verifyFact,
  verifyFacts,
  verifyNoFact,
  verifyRequests,
  verifyState,
  verifyTokens,
} from './verify.ts';

/** `GET /tokens/:id`: the state of a token. */
export function verifyStateAnswer(answer: unknown, trusted: CageTrust, token: Uint8Array): Verified<StateOutput> {
  const state = stateAt(fieldAt(answer, 'answer', 'state'), 'state');
  return anotherRoot(answer, trusted) ?? verifyState(trusted, token, state);
}

/** `GET /tokens/:id/facts/:key`: the value of a key. */
export function verifyFactAnswer(answer: unknown, trusted: CageTrust, token: Uint8Array, key: Uint8Array): Verified<Fact> {
  const value = hexAt(fieldAt(answer, 'answer', 'value'), 'value');
  const { proof, state } = factAt(answer);
  const verdict = anotherRoot(answer, trusted) ?? verifyFact(trusted, token, state, { key, value }, proof);
  return verdict.ok ? { ok: true, key, value } : verdict;
}

/** `GET /tokens/:id/proofs/:key` of a key that is said to be absent. */
export function verifyAbsenceAnswer(answer: unknown, trusted: CageTrust, token: Uint8Array, key: Uint8Array): Verdict {
  const { proof, state } = factAt(answer);
  return anotherRoot(answer, trusted) ?? verifyNoFact(trusted, token, state, key, proof);
}

/** `GET /tokens/:id/facts`: all facts. */
export function verifyFactsAnswer(answer: unknown, trusted: CageTrust, token: Uint8Array): Verified<{ readonly facts: readonly Fact[] }> {
  const state = stateAt(fieldAt(answer, 'answer', 'state'), 'state');
  const facts = arrayAt(fieldAt(answer, 'answer', 'facts'), 'facts').map((fact, i) => ({
    key: hexAt(fieldAt(fact, `facts[${i}]`, 'key'), `facts[${i}].key`),
    value: hexAt(fieldAt(fact, `facts[${i}]`, 'value'), `facts[${i}].value`),
  }));
  const verdict = anotherRoot(answer, trusted) ?? verifyFacts(trusted, token, state, facts);
  return verdict.ok ? { ok: true, facts } : verdict;
}

/** `GET /tokens`: all tokens at the state address. */
export function verifyTokensAnswer(answer: unknown, trusted: CageTrust): Verified<TokenList> {
  const set = setAt(fieldAt(answer, 'answer', 'tokens'), 'tokens');
  return anotherRoot(answer, trusted) ?? verifyTokens(trusted, set);
}

/** `GET /tokens/:id/requests`: all requests for a token; its list of outputs must be exactly what the complete set has. */
export function verifyRequestsAnswer(answer: unknown, trusted: CageTrust, token: Uint8Array): Verified<RequestList> {
  const listed = arrayAt(fieldAt(answer, 'answer', 'requests'), 'requests').map((item, i) => outputAt(item, `requests[${i}]`).entry);
  const set = setAt(fieldAt(answer, 'answer', 'request_set'), 'request_set');
  const verdict = anotherRoot(answer, trusted) ?? verifyRequests(trusted, token, set);
  if (!verdict.ok) return verdict;
  const wanted = set.entries.filter((entry) => verdict.requests.some((request) => isSame(request, entry)));
  const matches =
    listed.length === wanted.length &&
    wanted.every((entry) => listed.some((each) => isSame(each, entry) && equalBytes(each.txOut, entry.txOut)));
  return matches ? verdict : { ok: false, why: 'the list of requests is not that of the complete set' };
}

function isSame(a: Omit<UtxoEntry, 'txOut'>, b: Omit<UtxoEntry, 'txOut'>): boolean {
  return a.index === b.index && equalBytes(a.txId, b.txId);
}

/** The root that the answer says it is for; whoever asked elsewhere for the root of that point has compared them. */
function anotherRoot(answer: unknown, { root }: CageTrust): Refused | null {
  const stated = fieldAt(fieldAt(answer, 'answer', 'snapshot'), 'snapshot', 'utxo_root');
  const theirs = stated === null ? null : hexAt(stated, 'snapshot.utxo_root', HASH_BYTES);
  const isTheSame = theirs === null || root === null ? theirs === root : equalBytes(theirs, root);
  return isTheSame ? null : { ok: false, why: 'the answer is about another root' };
}

function factAt(answer: unknown): { readonly proof: ReturnType<typeof decode>; readonly state: ProvenOutput } {
  const fact = fieldAt(answer, 'answer', 'fact');
  return {
    proof: decode(hexAt(fieldAt(fact, 'fact', 'mpf_proof'), 'fact.mpf_proof')),
    state: stateAt(fieldAt(fact, 'fact', 'state'), 'fact.state'),
  };
}

const stateAt = outputAt;

/** `{ utxo: { tx_in, tx_out, utxo_proof } }`. */
function outputAt(value: unknown, at: string): ProvenOutput {
  const utxo = fieldAt(value, at, 'utxo');
  const place = `${at}.utxo`;
  const txOut = hexAt(fieldAt(utxo, place, 'tx_out'), `${place}.tx_out`);
  return {
    entry: { ...outpointAt(fieldAt(utxo, place, 'tx_in'), `${place}.tx_in`), txOut },
    proof: decodeInclusion(hexAt(fieldAt(utxo, place, 'utxo_proof'), `${place}.utxo_proof`)),
  };
}

/** `{ entries: [{ ref, txout_cbor }], completeness_proof }`. */
function setAt(value: unknown, at: string): ProvenSet {
  const entries = arrayAt(fieldAt(value, at, 'entries'), `${at}.entries`).map((entry, i) => {
    const place = `${at}.entries[${i}]`;
    const txOut = hexAt(fieldAt(entry, place, 'txout_cbor'), `${place}.txout_cbor`);
    return { ...outpointAt(fieldAt(entry, place, 'ref'), `${place}.ref`), txOut };
  });
  const proof = decodeCompleteness(hexAt(fieldAt(value, at, 'completeness_proof'), `${at}.completeness_proof`));
  return { entries, proof };
}

function outpointAt(value: unknown, at: string): Omit<UtxoEntry, 'txOut'> {
  return {
    txId: hexAt(fieldAt(value, at, 'tx_id'), `${at}.tx_id`, HASH_BYTES),
    index: countAt(fieldAt(value, at, 'tx_ix'), `${at}.tx_ix`),
  };
}

function fieldAt(value: unknown, at: string, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) malformed(`${at} has no ${name}`);
  return (value as Fields)[name];
}
