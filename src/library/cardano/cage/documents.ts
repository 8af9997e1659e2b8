/**
 * What programs are told of cages. Ids, hashes and roots are hex text as
 * everywhere in the library; keys and values of facts are any bytes, and stay
 * bytes; lovelace and POSIX milliseconds are exact.
 */
import type { AssetId } from '../../../ledgers/asset.ts';
import type { CageOperation, CageVersion, RequestPhase } from '../../../ledgers/cardano/cage/index.ts';
import { SCRIPT_HASH_BYTES } from '../../../ledgers/cardano/cage/index.ts';
import { outpointText } from '../../../ledgers/outpoint.ts';
import type { TrieStatus } from '../../../projections/cardano/cage/rows.ts';
import type { mpf } from '../../../proofs/index.ts';
import type { CageQuery, CageToken, PendingRequest } from '../../../query/cardano/cage.ts';
import { fromHex, isHex, toHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';

/** What the owner of a token asks for; null in v0, which has neither tip nor phases. */
export interface TokenTerms {
  /** Lovelace that the owner takes for each request. */
  readonly tip: bigint;
  /** Milliseconds from its submission on in which a request can be applied. */
  readonly processTime: bigint;
  /** Milliseconds after that in which its author can take it back. */
  readonly retractTime: bigint;
}

/** A token that there is, and the state that its output has on chain. */
export interface TokenDocument {
  /** `POLICY.NAME`, both in hex. Wherever a token is asked for, `NAME` alone does, too. */
  readonly id: string;
  /** Its policy: the hash of the state script. */
  readonly policy: string;
  /** Its asset name. */
  readonly name: string;
  /** Of the protocol. */
  readonly version: CageVersion;
  /** Whether the trie that the store keeps is the one that the root on chain commits to. */
  readonly status: TrieStatus;
  /** The output that holds it: `TXID#INDEX`. */
  readonly stateRef: string;
  /** Hash of the key that may apply and reject requests. */
  readonly owner: string;
  /** Of its trie, as its datum says; 64 zeros: it is empty. */
  readonly root: string;
  /** What its datum says of requests; null in v0. */
  readonly terms: TokenTerms | null;
  /** Hash of the script at which its requests belong; null: its deployment does not say. */
  readonly requestScript: string | null;
  /** The policy it came from; null: it was made under its own. */
  readonly migratedFrom: string | null;
  /** Entries of its trie; null: the store has none (`incomplete`). */
  readonly facts: number | null;
}

/** A request that waits. */
export interface RequestDocument {
  /** The output that asks: `TXID#INDEX`. */
  readonly ref: string;
  /** Asset name of the token. */
  readonly token: string;
  /** Hash of the key that may take it back. */
  readonly owner: string;
  /** The key that it is about. */
  readonly key: Uint8Array;
  /** What it asks for. */
  readonly operation: CageOperation;
  /** Lovelace that its author offers the owner of the token; null in v0. */
  readonly tip: bigint | null;
  /** POSIX milliseconds, as its author says; null in v0. */
  readonly submittedAt: bigint | null;
  /** Lovelace in its output. */
  readonly lovelace: bigint;
  /** Of the block it came with. */
  readonly slot: number;
  /** Whether it sits where requests for the token belong; null: nobody can tell. */
  readonly canonical: boolean | null;
  /** What may be done with it at the time that was asked for; null: v0, or the token is unknown. */
  readonly phase: RequestPhase | null;
}

/** A proof for one key of a trie. */
export interface TrieProof {
  /** Null: the proof shows that the key is absent. */
  readonly value: Uint8Array | null;
  /** Its steps, for `unspent/proofs`. */
  readonly steps: mpf.Proof;
  /** The root that it leads to. */
  readonly root: string;
}

export function tokenDocument(token: CageToken): TokenDocument {
  const { id, version, status, txId, index, state, requestScript, migratedFrom, facts } = token;
  const [policy, name] = [toHex(id.policy), toHex(id.name)];
  return {
    id: `${policy}.${name}`,
    policy,
    name,
    version,
    status,
    stateRef: outpointText({ txId, index }),
    owner: toHex(state.owner),
    root: toHex(state.root),
    terms: state.terms,
    requestScript: requestScript === null ? null : toHex(requestScript),
    migratedFrom: migratedFrom === null ? null : toHex(migratedFrom),
    facts,
  };
}

export function requestDocument(pending: PendingRequest): RequestDocument {
  const { txId, index, slot, lovelace, request, canonical, phase } = pending;
  const { token, owner, key, operation, terms } = request;
  return {
    ref: outpointText({ txId, index }),
    token: toHex(token),
    owner: toHex(owner),
    key,
    operation,
    tip: terms?.tip ?? null,
    submittedAt: terms?.submittedAt ?? null,
    lovelace,
    slot,
    canonical,
    phase,
  };
}

/** The token that a text names: `POLICY.NAME`, or `NAME` under whichever policy has it. Null: there is none. Throws USAGE. */
export function findToken(query: CageQuery, policies: readonly Uint8Array[], text: string): CageToken | null {
  const { policy, name } = parseTokenId(text);
  for (const each of policy === null ? policies : [policy]) {
    const found = query.token({ policy: each, name });
    if (found !== null) return found;
  }
  return null;
}

function parseTokenId(text: string): { readonly policy: Uint8Array | null; readonly name: AssetId['name'] } {
  const dot = text.indexOf('.');
  const [policy, name] = dot < 0 ? [null, text] : [text.slice(0, dot), text.slice(dot + 1)];
  if (!isHex(name) || (policy !== null && !isHex(policy, SCRIPT_HASH_BYTES))) {
    throw new UnspentError('USAGE', `a token is NAME or POLICY.NAME in hex, not '${text.slice(0, 130)}'`);
  }
  return { policy: policy === null ? null : fromHex(policy), name: fromHex(name) };
}
