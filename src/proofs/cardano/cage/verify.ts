/**
 * Verifies what somebody says of a cage against a root of the unspent set: the
 * state of a token, a fact or its absence, all facts, all tokens, all requests.
 *
 * The verifier knows the root, the scripts of the cage and the network; what it
 * is told leads to the root or is refused. The root of a trie is taken from the
 * state output's datum, that output from the tree over the unspent set. Lists
 * are complete for the address of the script without a stake part, which is
 * where the protocol puts states and requests.
 */
import type { CageRequest } from '../../../ledgers/cardano/cage/datum.ts';
import { type CageDeployment, requestScriptHash } from '../../../ledgers/cardano/cage/deployment.ts';
import { equalBytes, toHex } from '../../../util/bytes.ts';
import type { CompletenessProof, InclusionProof } from '../../csmt/proof.ts';
import type { Root } from '../../csmt/tree.ts';
import { type Outpoint, ownerOfAddress, type UtxoEntry, verifyOwner, verifyUtxo } from '../../csmt/utxo.ts';
import type { Proof } from '../../mpf/proof.ts';
import { update } from '../../mpf/trie.ts';
import { verifyAbsence, verifyPresence } from '../../mpf/verify.ts';
import { MemoryNodes } from '../../node-store.ts';
import { check, type Refused, type Verdict, verdictOf } from '../../verdict.ts';
import { type CageNetwork, type RequestOutput, readEntry, requestIn, type StateOutput, scriptAddress, stateIn } from './outputs.ts';

/** What the verifier knows from elsewhere than the answer. */
export interface CageTrust {
  /** Of the tree over the unspent set, at the point that the answer is about; null: of the empty tree. */
  readonly root: Root;
  /** The scripts of the cage. */
  readonly deployment: CageDeployment;
  /** Of the network that the root is of. */
  readonly network: CageNetwork;
  /** Hash of the script at which requests for the token belong, for a reader who knows it and not the program that it is made of. */
  readonly requestScript?: Uint8Array;
}

/** An unspent output with the proof that it is one. */
export interface ProvenOutput {
  /** The output. */
  readonly entry: UtxoEntry;
  /** From the tree over the unspent set. */
  readonly proof: InclusionProof;
}

/** Unspent outputs of an address with the proof that they are all. */
export interface ProvenSet {
  /** In any order. */
  readonly entries: readonly UtxoEntry[];
  /** From the tree over the unspent set. */
  readonly proof: CompletenessProof;
}

/** A key of a trie with its value. */
export interface Fact {
  /** As the requester wrote it. */
  readonly key: Uint8Array;
  /** As the requester wrote it. */
  readonly value: Uint8Array;
}

/** All tokens at the state address, and what else lies there. */
export interface TokenList {
  /** In the order of the entries. */
  readonly tokens: readonly StateOutput[];
  /** Outputs that hold no token: anybody can put anything anywhere. */
  readonly others: readonly Outpoint[];
}

/** All requests for a token, and what else lies at their address. */
export interface RequestList {
  /** In the order of the entries. */
  readonly requests: readonly RequestOutput[];
  /** Outputs that are no request for the token. */
  readonly others: readonly Outpoint[];
}

/** What was shown, or why it was not. */
export type Verified<T extends object> = (T & { readonly ok: true }) | Refused;

/** The output is unspent, is at the state script, and holds this token and no other of the policy. */
export function verifyState(trusted: CageTrust, token: Uint8Array, state: ProvenOutput): Verified<StateOutput> {
  return verdictOf(() => stateOf(trusted, token, state));
}

/** The trie of the token has this key with this value. */
export function verifyFact(trusted: CageTrust, token: Uint8Array, state: ProvenOutput, fact: Fact, proof: Proof): Verdict {
  return verdictOf(() => {
    passed(verifyPresence(stateOf(trusted, token, state).state.root, fact.key, fact.value, proof));
    return {};
  });
}

/** The trie of the token does not have this key. */
export function verifyNoFact(trusted: CageTrust, token: Uint8Array, state: ProvenOutput, key: Uint8Array, proof: Proof): Verdict {
  return verdictOf(() => {
    passed(verifyAbsence(stateOf(trusted, token, state).state.root, key, proof));
    return {};
  });
}

/** These are all facts of the token: the trie that is built of them has the root that its state names. */
export function verifyFacts(trusted: CageTrust, token: Uint8Array, state: ProvenOutput, facts: readonly Fact[]): Verdict {
  return verdictOf(() => {
    const { root } = stateOf(trusted, token, state).state;
    check(new Set(facts.map(({ key }) => toHex(key))).size === facts.length, 'a key is listed twice');
    const nodes = new MemoryNodes();
    check(equalBytes(update(nodes, nodes, facts), root), 'the trie of these facts has another root');
    return {};
  });
}

/** These are all tokens at the state address. */
export function verifyTokens(trusted: CageTrust, set: ProvenSet): Verified<TokenList> {
  return verdictOf(() => {
    const { stateScriptHash } = trusted.deployment;
    complete(trusted, stateScriptHash, set);
    const tokens: StateOutput[] = [];
    const others: Outpoint[] = [];
    for (const entry of set.entries) {
      const { txId, index } = entry;
      const found = stateIn(readEntry(entry), stateScriptHash);
      if (found === null) others.push({ txId, index });
      else tokens.push({ txId, index, ...found });
    }
    check(new Set(tokens.map(({ token }) => toHex(token))).size === tokens.length, 'a token is in two outputs');
    return { tokens, others };
  });
}

/** These are all requests for the token at the address where they belong. Before v2 that is the state address. */
export function verifyRequests(trusted: CageTrust, token: Uint8Array, set: ProvenSet): Verified<RequestList> {
  return verdictOf(() => {
    const script = trusted.requestScript ?? requestScriptHash(trusted.deployment, token);
    check(script !== null, 'the deployment does not say where requests for the token belong: give it its request program');
    complete(trusted, script, set);
    const requests: RequestOutput[] = [];
    const others: Outpoint[] = [];
    for (const entry of set.entries) {
      const { txId, index } = entry;
      const found = requestIn(readEntry(entry));
      if (found === null || !isFor(found.request, trusted, token)) others.push({ txId, index });
      else requests.push({ txId, index, ...found });
    }
    return { requests, others };
  });
}

/** For this token, and in the form of its version: the scripts see no others. */
function isFor({ token: wanted, terms }: CageRequest, { deployment }: CageTrust, token: Uint8Array): boolean {
  return equalBytes(wanted, token) && (terms === null) === (deployment.version === 'v0');
}

function stateOf({ root, deployment }: CageTrust, token: Uint8Array, { entry, proof }: ProvenOutput): StateOutput {
  const output = readEntry(entry);
  const found = stateIn(output, deployment.stateScriptHash);
  check(found !== null, 'the output is no state of this cage');
  check(equalBytes(found.token, token), 'the output holds another token');
  passed(verifyUtxo(root, ownerOfAddress(output.address), entry, proof));
  return { txId: entry.txId, index: entry.index, ...found };
}

/** Every output is of the address of the script, and there are no others. */
function complete({ root, network }: CageTrust, scriptHash: Uint8Array, { entries, proof }: ProvenSet): void {
  const address = scriptAddress(scriptHash, network);
  for (const entry of entries) check(equalBytes(readEntry(entry).address, address), 'an output is at another address');
  passed(verifyOwner(root, ownerOfAddress(address), entries, proof));
}

function passed(verdict: Verdict): void {
  if (!verdict.ok) check(false, verdict.why);
}
