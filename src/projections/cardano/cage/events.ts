/**
 * What an event of a cage does to its rows. The inverse is not written down
 * here: `changes.ts` remembers what every row was before.
 */
import type { AssetId } from '../../../ledgers/asset.ts';
import {
  type AppliedRequest,
  type CageDeployment,
  type CageEvent,
  type RequestOutput,
  requestScriptHash,
  type StateOutput,
} from '../../../ledgers/cardano/cage/index.ts';
import type { Point } from '../../../ledgers/ledger.ts';
import { mpf } from '../../../proofs/index.ts';
import { equalBytes, toHex } from '../../../util/bytes.ts';
import { isUnspentError, UnspentError } from '../../../util/errors.ts';
import type { CageChanges } from './changes.ts';
import {
  CAGE,
  CAGE_VALUES,
  type CageCounters,
  COUNTERS_KEY,
  decodeCounters,
  decodeToken,
  decodeTrie,
  encodeCounters,
  encodeFact,
  encodeToken,
  encodeTrie,
  factKey,
  requestKey,
  requestScriptKey,
  type TokenRow,
  type TrieStatus,
  tokenKey,
  trieKey,
} from './rows.ts';
import type { CageTries } from './tries.ts';

type Place = Pick<Point, 'height' | 'slot'>;

export class CageEvents {
  private readonly changes: CageChanges;
  private readonly tries: CageTries;
  /** Told each request script that belongs to a token from now on. */
  private readonly onRequestScript: (hash: Uint8Array) => void;

  constructor(changes: CageChanges, tries: CageTries, onRequestScript: (hash: Uint8Array) => void) {
    this.changes = changes;
    this.tries = tries;
    this.onRequestScript = onRequestScript;
  }

  isRequestScript(hash: Uint8Array): boolean {
    return this.changes.get(CAGE, requestScriptKey(hash)) !== undefined;
  }

  countMalformed(outputs: number): void {
    if (outputs > 0) this.count({ malformed: outputs });
  }

  /** All events of one transaction. */
  apply(events: readonly CageEvent[], place: Place): void {
    const burned = new Map<string, TokenRow>();
    for (const event of events) this.applyOne(event, place, burned);
  }

  private applyOne(event: CageEvent, place: Place, burned: Map<string, TokenRow>): void {
    switch (event.type) {
      case 'boot':
        this.come(event.deployment, event.token, event.output, null, null);
        break;
      case 'migrate': {
        const before = burned.get(toHex(tokenKey({ policy: event.from, name: event.token.name })));
        this.come(event.deployment, event.token, event.output, event.from, before ?? null);
        break;
      }
      case 'update':
        this.update(event.deployment, event.token, event.output, event.applied, place);
        break;
      case 'reject':
        this.reject(event.deployment, event.token, event.output, event.rejected);
        break;
      case 'burn':
        this.burn(event.token, place, burned);
        break;
      case 'request':
        this.putRequest(event.request);
        break;
      case 'sweep':
        if (event.request !== null) this.dropRequest(event.request);
        break;
      case 'retract':
        this.dropRequest(event.request);
        break;
      case 'gone':
        this.dropRequest(event.request);
        this.count({ gone: 1 });
    }
  }

  private count(change: Partial<CageCounters>): void {
    const counters: Record<string, number> = { ...decodeCounters(this.changes.get(CAGE, COUNTERS_KEY)) };
    for (const [name, by] of Object.entries(change)) counters[name] += by;
    this.changes.put(CAGE, COUNTERS_KEY, encodeCounters(counters as unknown as CageCounters));
  }

  private putRequest(request: RequestOutput): void {
    this.changes.put(CAGE, requestKey(request.request.token, request), request.txId);
    this.count({ requests: 1 });
  }

  /** One that sat at the address of a key was never listed. */
  private dropRequest(request: RequestOutput): void {
    const key = requestKey(request.request.token, request);
    if (this.changes.get(CAGE, key) === undefined) return;
    this.changes.del(CAGE, key);
    this.count({ requests: -1 });
  }

  private token(id: AssetId): TokenRow | null {
    const bytes = this.changes.get(CAGE, tokenKey(id));
    return bytes === undefined ? null : decodeToken(bytes);
  }

  private putToken(id: AssetId, before: TokenRow | null, after: TokenRow | null): void {
    if (after === null) this.changes.del(CAGE, tokenKey(id));
    else this.changes.put(CAGE, tokenKey(id), encodeToken(after));
    const [tokens, diverged] = [exists(after) - exists(before), diverges(after) - diverges(before)];
    if (tokens !== 0 || diverged !== 0) this.count({ tokens, diverged });
  }

  /** A token comes into being; `burned`: what it was under the policy that it leaves. */
  private come(deployment: CageDeployment, id: AssetId, output: StateOutput, from: Uint8Array | null, burned: TokenRow | null): void {
    const known = this.token(id);
    if (known !== null) throw new UnspentError('BLOCK_INVALID', `the token ${toHex(id.name)} is made, and there is one already`);
    const requestScript = requestScriptHash(deployment, id.name);
    const trie = this.trieFor(output.state.root, burned);
    const status: TrieStatus = trie === null ? 'incomplete' : 'consistent';
    const { txId, index, state } = output;
    this.putToken(id, null, { version: deployment.version, status, trie, txId, index, state, requestScript, migratedFrom: from });
    if (requestScript === null || equalBytes(requestScript, id.policy)) return;
    this.changes.put(CAGE, requestScriptKey(requestScript), tokenKey(id));
    this.onRequestScript(requestScript);
  }

  /** The trie of a token that begins with this root: the one it brings along, an empty one, or none that we know. */
  private trieFor(root: Uint8Array, burned: TokenRow | null): number | null {
    const brought = burned?.trie ?? null;
    if (brought !== null && equalBytes(this.tries.root(brought), root)) {
      const { facts } = this.trieRow(brought);
      this.changes.put(CAGE, trieKey(brought), encodeTrie({ facts, hiddenAt: null }));
      return brought;
    }
    if (!equalBytes(root, mpf.NULL_HASH)) return null;
    const { nextTrie } = decodeCounters(this.changes.get(CAGE, COUNTERS_KEY));
    this.count({ nextTrie: 1 });
    this.changes.put(CAGE, trieKey(nextTrie), encodeTrie({ facts: 0, hiddenAt: null }));
    return nextTrie;
  }

  private trieRow(trie: number): ReturnType<typeof decodeTrie> {
    const bytes = this.changes.get(CAGE, trieKey(trie));
    if (bytes === undefined) throw new UnspentError('STORE_DAMAGED', `${CAGE} lacks the row of trie ${trie}`, { column: CAGE, trie });
    return decodeTrie(bytes);
  }

  private burn(id: AssetId, { height }: Place, burned: Map<string, TokenRow>): void {
    const row = this.token(id);
    // It came before the store, or under a deployment that was named later.
    if (row === null) return;
    burned.set(toHex(tokenKey(id)), row);
    this.putToken(id, row, null);
    if (row.requestScript !== null) this.changes.del(CAGE, requestScriptKey(row.requestScript));
    if (row.trie !== null) this.changes.put(CAGE, trieKey(row.trie), encodeTrie({ ...this.trieRow(row.trie), hiddenAt: height }));
  }

  private update(deployment: CageDeployment, id: AssetId, output: StateOutput, applied: readonly AppliedRequest[], { slot }: Place): void {
    const row = this.token(id) ?? unknownToken(deployment, id, output);
    for (const request of applied) this.dropRequest(request);
    const status = row.trie === null ? row.status : this.follow(row, row.trie, output.state.root, applied, slot);
    this.putToken(id, this.token(id), { ...row, status, ...output });
  }

  /** Applies requests to a trie, and compares its root with the one on chain. */
  private follow(row: TokenRow, trie: number, root: Uint8Array, applied: readonly AppliedRequest[], slot: number): TrieStatus {
    const values = new Map<string, { readonly key: Uint8Array; readonly value: Uint8Array | null }>();
    for (const { request } of applied) values.set(toHex(request.key), { key: request.key, value: valueAfter(request.operation) });
    let facts = 0;
    for (const { key, value } of values.values()) {
      const place = factKey(trie, key);
      facts += (value === null ? 0 : 1) - (this.changes.get(CAGE_VALUES, place) === undefined ? 0 : 1);
      this.changes.put(CAGE_VALUES, place, value === null ? undefined : encodeFact(slot, value));
    }
    if (facts !== 0) {
      const before = this.trieRow(trie);
      this.changes.put(CAGE, trieKey(trie), encodeTrie({ ...before, facts: before.facts + facts }));
    }
    if (equalBytes(this.tries.update(trie, [...values.values()]), root)) return 'consistent';
    return row.status !== 'inconsistent' && isOfFaultyLibrary(row.state.root, applied, root) ? 'nonCanonical' : 'inconsistent';
  }

  private reject(deployment: CageDeployment, id: AssetId, output: StateOutput, rejected: readonly RequestOutput[]): void {
    for (const request of rejected) this.dropRequest(request);
    const known = this.token(id);
    this.putToken(id, known, { ...(known ?? unknownToken(deployment, id, output)), ...output });
  }
}

const exists = (row: TokenRow | null): number => (row === null ? 0 : 1);
const diverges = (row: TokenRow | null): number => (row === null || row.status === 'consistent' ? 0 : 1);

/** A token that came before the store, or under a deployment that was named later. */
function unknownToken(deployment: CageDeployment, { name }: AssetId, output: StateOutput): TokenRow {
  const requestScript = requestScriptHash(deployment, name);
  return { version: deployment.version, status: 'incomplete', trie: null, ...output, requestScript, migratedFrom: null };
}

function valueAfter(operation: AppliedRequest['request']['operation']): Uint8Array | null {
  if (operation.type === 'update') return operation.after;
  return operation.type === 'insert' ? operation.value : null;
}

function valueBefore(operation: AppliedRequest['request']['operation']): Uint8Array | null {
  if (operation.type === 'update') return operation.before;
  return operation.type === 'insert' ? null : operation.value;
}

/**
 * Whether the proofs of these requests lead from one root to the other by the rules of the proof library in version
 * 2.0.0, which the validators use: it computes wrong roots for some proofs (spec: mpf.md, section 9).
 */
function isOfFaultyLibrary(before: Uint8Array, applied: readonly AppliedRequest[], after: Uint8Array): boolean {
  let root = before;
  for (const { request, proof } of applied) {
    const steps = decodedProof(proof);
    if (steps === null) return false;
    const [from, to] = [valueBefore, valueAfter].map((value) => mpf.rootUnderV200(request.key, value(request.operation), steps));
    if (!from.ok || !to.ok || !equalBytes(from.root, root)) return false;
    root = to.root;
  }
  return equalBytes(root, after);
}

function decodedProof(cbor: Uint8Array): mpf.Proof | null {
  try {
    return mpf.decode(cbor);
  } catch (error) {
    if (!isUnspentError(error, 'USAGE')) throw error;
    return null;
  }
}
