/**
 * Reads what a store keeps of cages, at one point of the chain: tokens, their
 * facts and proofs, the requests that wait. The reader is a snapshot, so that
 * every part of an answer is of the same block.
 *
 * A token whose trie is not what its root on chain commits to gives no proofs
 * (TRIE_DIVERGED); what we have of its facts can be listed.
 */

import type { Reader } from '../../engine/engine.ts';
import type { AssetId } from '../../ledgers/asset.ts';
import {
  type CageDeployment,
  type CageRequest,
  decodeCageDatum,
  parseCageDeployments,
  type RequestPhase,
  requestPhase,
} from '../../ledgers/cardano/cage/index.ts';
import { describeOutput } from '../../ledgers/cardano/describe.ts';
import { outpointIndex, outpointTxId } from '../../ledgers/outpoint.ts';
import {
  CAGE,
  CAGE_ROW,
  CAGE_VALUES,
  type CageCounters,
  DEPLOYMENTS_KEY,
  decodeToken,
  decodeTrie,
  factKey,
  factSlot,
  factValue,
  readCounters,
  requestOutpoint,
  requestPrefix,
  requestScriptKey,
  type TokenRow,
  TRIE_BYTES,
  tokenIdOf,
  tokenKey,
  trieKey,
  trieRange,
} from '../../projections/cardano/cage/rows.ts';
import { storedTrie } from '../../projections/cardano/cage/tries.ts';
import { scriptHashOf } from '../../projections/cardano/cage/watch.ts';
import { readStored } from '../../projections/coin.ts';
import { UNSPENT } from '../../projections/utxo.ts';
import { mpf } from '../../proofs/index.ts';
import { equalBytes, toHex } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import { keyAfter, keyAfterPrefix } from '../../util/key-range.ts';
import { LOOKUP_ROWS } from '../../util/limits.ts';

export interface CageToken extends TokenRow {
  readonly id: AssetId;
  /** Entries of its trie; null: there is no trie (`incomplete`). */
  readonly facts: number | null;
}

/** An entry of a token's trie. */
export interface CageFact {
  /** Its key, before it is hashed. */
  readonly key: Uint8Array;
  /** Its value, as it was set. */
  readonly value: Uint8Array;
  /** Of the block that set it. */
  readonly slot: number;
}

export interface FactProof {
  /** Null: the proof shows that the key is absent. */
  readonly fact: CageFact | null;
  readonly proof: mpf.Proof;
  readonly root: Uint8Array;
}

export interface PendingRequest {
  readonly txId: Uint8Array;
  readonly index: number;
  readonly slot: number;
  readonly lovelace: bigint;
  readonly request: CageRequest;
  /** Whether it sits where requests for the token belong; null: nobody can tell, because the token or its request script is unknown. */
  readonly canonical: boolean | null;
  /** Null: v0, or the token is unknown. */
  readonly phase: RequestPhase | null;
}

export class CageQuery {
  private readonly reader: Reader;

  constructor(reader: Reader) {
    this.reader = reader;
  }

  counters(): CageCounters {
    return readCounters(this.reader);
  }

  /** Those that are followed; none before the first block. */
  deployments(): readonly CageDeployment[] {
    const row = this.reader.get(CAGE, DEPLOYMENTS_KEY);
    return row === undefined ? [] : parseCageDeployments(new TextDecoder().decode(row));
  }

  /** Whether this is the request script of a token there is or was. */
  isRequestScript(hash: Uint8Array): boolean {
    return this.reader.get(CAGE, requestScriptKey(hash)) !== undefined;
  }

  /** In the order of policies and names, behind `after` where given. */
  *tokens(after?: AssetId): Iterable<CageToken> {
    const gte = after === undefined ? Uint8Array.of(CAGE_ROW.token) : keyAfter(tokenKey(after));
    for (const [key, value] of this.reader.scan(CAGE, { gte, lt: Uint8Array.of(CAGE_ROW.token + 1) })) yield this.readToken(key, value);
  }

  /** Null: there is none, or no longer. */
  token(id: AssetId): CageToken | null {
    const key = tokenKey(id);
    const value = this.reader.get(CAGE, key);
    return value === undefined ? null : this.readToken(key, value);
  }

  private readToken(key: Uint8Array, value: Uint8Array): CageToken {
    const row = decodeToken(value);
    return { ...row, id: tokenIdOf(key), facts: row.trie === null ? null : this.factCount(row.trie) };
  }

  private factCount(trie: number): number {
    const row = this.reader.get(CAGE, trieKey(trie));
    if (row === undefined) throw new UnspentError('STORE_DAMAGED', `${CAGE} lacks the row of trie ${trie}`, { column: CAGE, trie });
    return decodeTrie(row).facts;
  }

  /** All facts in the order of their keys, one at a time, behind `after` where given. Throws TRIE_DIVERGED when there is no trie. */
  *facts(token: CageToken, after?: Uint8Array): Iterable<CageFact> {
    const trie = needTrie(token);
    const { gte, lt } = trieRange(trie);
    const range = { gte: after === undefined ? gte : keyAfter(factKey(trie, after)), lt };
    for (const [key, row] of this.reader.scan(CAGE_VALUES, range)) {
      yield { key: key.subarray(TRIE_BYTES), value: factValue(row), slot: factSlot(row) };
    }
  }

  /** Null: the key is absent. Throws TRIE_DIVERGED. */
  fact(token: CageToken, key: Uint8Array): CageFact | null {
    const row = this.reader.get(CAGE_VALUES, factKey(needTrie(token), key));
    return row === undefined ? null : { key, value: factValue(row), slot: factSlot(row) };
  }

  /** A proof for any key against the root on chain. Verified before it is given out. Throws TRIE_DIVERGED, STORE_DAMAGED. */
  proof(token: CageToken, key: Uint8Array): FactProof {
    const trie = needConsistentTrie(token);
    const { root } = token.state;
    const fact = this.fact(token, key);
    const { proof } = mpf.prove(storedTrie(this.reader, trie), key);
    const verdict = fact === null ? mpf.verifyAbsence(root, key, proof) : mpf.verifyPresence(root, key, fact.value, proof);
    if (!verdict.ok) {
      throw new UnspentError('STORE_DAMAGED', `a proof of the token ${toHex(token.id.name)} does not lead to its root: ${verdict.why}`);
    }
    return { fact, proof, root };
  }

  /** Requests for a token, oldest first. `nowMs`: POSIX time at which their phase is told. */
  *requests(token: CageToken, nowMs: bigint): Iterable<PendingRequest> {
    for (const found of this.pending(requestPrefix(token.id.name))) yield describe(found, token, nowMs);
  }

  /** Requests for whatever has this name, also if there is no such token. */
  *requestsNamed(name: Uint8Array): Iterable<PendingRequest> {
    for (const found of this.pending(requestPrefix(name))) yield describe(found, null, 0n);
  }

  /** All requests there are, by the names of the tokens they are for. */
  *allRequests(): Iterable<PendingRequest> {
    for (const found of this.pending(Uint8Array.of(CAGE_ROW.request))) yield describe(found, null, 0n);
  }

  private *pending(prefix: Uint8Array): Iterable<FoundRequest> {
    let keys: Uint8Array[] = [];
    for (const [key, txId] of this.reader.scan(CAGE, { gte: prefix, lt: keyAfterPrefix(prefix)! })) {
      keys.push(requestOutpoint(key, txId));
      if (keys.length < LOOKUP_ROWS) continue;
      yield* this.readRequests(keys);
      keys = [];
    }
    yield* this.readRequests(keys);
  }

  private readRequests(keys: readonly Uint8Array[]): FoundRequest[] {
    if (keys.length === 0) return [];
    return this.reader.getMany(UNSPENT, keys).map((bytes, i) => {
      const [txId, index] = [outpointTxId(keys[i]), outpointIndex(keys[i])];
      const stored = bytes === undefined ? null : readStored(bytes);
      const output = stored === null ? null : describeOutput(stored.raw);
      const datum = output === null || output.inlineDatum === null ? null : decodeCageDatum(output.inlineDatum);
      if (stored === null || output === null || datum?.type !== 'request') {
        throw new UnspentError('STORE_DAMAGED', `${CAGE} names ${toHex(txId)}#${index}, which is no unspent request`, { column: CAGE });
      }
      return { txId, index, slot: stored.slot, lovelace: stored.value, request: datum.request, scriptHash: scriptHashOf(output.address) };
    });
  }
}

type FoundRequest = Omit<PendingRequest, 'canonical' | 'phase'> & { readonly scriptHash: Uint8Array | null };

function describe({ scriptHash, ...request }: FoundRequest, token: CageToken | null, nowMs: bigint): PendingRequest {
  const belongs = token?.requestScript ?? null;
  return {
    ...request,
    canonical: belongs === null ? null : scriptHash !== null && equalBytes(scriptHash, belongs),
    phase: token === null ? null : requestPhase(request.request, token.state.terms, nowMs),
  };
}

/** The number of its trie. Throws TRIE_DIVERGED unless it is what the root on chain commits to. */
export function needConsistentTrie(token: CageToken): number {
  if (token.status !== 'consistent') throw diverged(token);
  return needTrie(token);
}

function needTrie(token: CageToken): number {
  if (token.trie === null) throw diverged(token);
  return token.trie;
}

const WHY = {
  consistent: 'its trie is whole',
  nonCanonical: 'its root on chain is one that no trie has: its validator computed it with a faulty proof library',
  inconsistent: 'its trie is not the one whose root is on chain',
  incomplete: 'it came with facts from where this store did not follow it',
} as const;

function diverged({ id, status }: CageToken): UnspentError {
  const token = toHex(id.name);
  return new UnspentError('TRIE_DIVERGED', `the token ${token} has no facts to prove: ${WHY[status]}`, { token, status });
}
