/**
 * Cages against the unspent set and against themselves:
 *
 *   requests   =  unspent outputs at scripts that ask for something
 *   tokens     =  unspent outputs that hold one, with the state in their datum
 *   tries      =  what their values build: leaves and branches added up, as for
 *                 the tree over the unspent set; number of facts
 *   roots      =  those in the datums, where a token is said to be consistent
 *
 * Nothing may be left of a trie that is neither known nor being deleted.
 */
import { blake2b256 } from '../../../crypto/hash.ts';
import { cageDatumOf, parseCageDeployments, requestOf } from '../../../ledgers/cardano/cage/index.ts';
import type { OutputTraits } from '../../../ledgers/ledger.ts';
import { bitsOf, mpf } from '../../../proofs/index.ts';
import { readRecord } from '../../../proofs/mpf/record.ts';
import { equalBytes, readU32, toHex } from '../../../util/bytes.ts';
import { assert, isUnspentError } from '../../../util/errors.ts';
import type { Coin } from '../../coin.ts';
import type { Inspection, ProjectionCheck } from '../../inspection.ts';
import { PairSum } from '../../pair-sum.ts';
import {
  CAGE,
  CAGE_NODES,
  CAGE_ROW,
  CAGE_VALUES,
  COUNTERS_KEY,
  DEPLOYMENTS_KEY,
  decodeCounters,
  decodeToken,
  decodeTrie,
  encodeToken,
  factValue,
  requestKey,
  type TokenRow,
  TRIE_BYTES,
  type TrieRow,
  tokenKey,
  trieKey,
  trieOfKey,
  trieRange,
} from './rows.ts';
import { cageOutput } from './transactions.ts';
import { storedTrie } from './tries.ts';
import { CageWatch } from './watch.ts';

export class CageCheck implements ProjectionCheck {
  readonly column = CAGE;
  private readonly inspection: Inspection;
  private readonly traits: OutputTraits;
  private readonly watch: CageWatch;
  private readonly policies: readonly Uint8Array[];
  private requests = 0;
  private tokens = 0;

  constructor(inspection: Inspection) {
    const { traits } = inspection.ledger;
    assert(traits !== null, 'a store with cages has a ledger with traits');
    this.inspection = inspection;
    this.traits = traits;
    this.watch = new CageWatch(traits);
    const row = inspection.reader.get(CAGE, DEPLOYMENTS_KEY);
    this.policies =
      row === undefined ? [] : parseCageDeployments(new TextDecoder().decode(row)).map(({ stateScriptHash }) => stateScriptHash);
    for (const policy of this.policies) this.watch.add(policy);
  }

  expect(rows: readonly Coin[]): void {
    for (const coin of rows) if (this.watch.mayMatter(coin)) this.expectOne(coin);
  }

  private expectOne(coin: Coin): void {
    const output = cageOutput(this.traits, coin);
    if (output === null || output.scriptHash === null) return;
    const request = requestOf(output);
    if (request !== null) {
      this.requests++;
      const key = requestKey(request.request.token, request);
      const found = this.inspection.reader.get(CAGE, key);
      if (found === undefined || !equalBytes(found, output.txId)) this.fault(CAGE, key, 'does not name a request that is unspent');
      return;
    }
    const datum = cageDatumOf(output);
    if (datum?.type !== 'state') return;
    for (const { policy, name } of output.assets.filter((asset) => equalBytes(asset.policy, output.scriptHash!))) {
      this.tokens++;
      const key = tokenKey({ policy, name });
      const row = this.read(key, this.inspection.reader.get(CAGE, key), decodeToken);
      if (row === null) this.fault(CAGE, key, 'is missing, and its token is unspent');
      else if (!equalBytes(encodeToken(row), encodeToken({ ...row, txId: output.txId, index: output.index, state: datum.state })))
        this.fault(CAGE, key, 'is not what the output that holds the token says');
    }
  }

  /** Returns the number of rows of all three columns. */
  finish(): number {
    const tries = new Map<number, TrieRow>();
    const dead = new Set<number>();
    const tokens = new Map<number, TokenRow>();
    const counts = { rows: 0, tokens: 0, requests: 0, diverged: 0 };
    for (const [key, value] of this.inspection.reader.scan(CAGE)) {
      this.inspection.progress(CAGE, ++counts.rows);
      if (key[0] === CAGE_ROW.request) counts.requests++;
      else if (key[0] === CAGE_ROW.dead) dead.add(trieOfKey(key));
      else if (key[0] === CAGE_ROW.trie) {
        const row = this.read(key, value, decodeTrie);
        if (row !== null) tries.set(trieOfKey(key), row);
      } else if (key[0] === CAGE_ROW.token) {
        counts.tokens++;
        const row = this.read(key, value, decodeToken);
        if (row === null) continue;
        if (row.status !== 'consistent') counts.diverged++;
        if (row.trie === null) continue;
        if (tokens.has(row.trie)) this.fault(CAGE, key, 'has the trie of another token');
        tokens.set(row.trie, row);
      }
    }
    this.compareCounts(counts);
    for (const [trie, row] of tries) this.checkTrie(trie, row, tokens.get(trie));
    for (const [trie, { status }] of tokens)
      if (!tries.has(trie)) this.fault(CAGE, trieKey(trie), `is missing, and a ${status} token has it`);
    return counts.rows + this.rowsOf(CAGE_NODES, tries, dead) + this.rowsOf(CAGE_VALUES, tries, dead);
  }

  private compareCounts(found: { readonly tokens: number; readonly requests: number; readonly diverged: number }): void {
    if (found.tokens !== this.tokens) this.fault(CAGE, NO_KEY, `has ${found.tokens} tokens; the unspent set has ${this.tokens}`);
    if (found.requests !== this.requests) this.fault(CAGE, NO_KEY, `has ${found.requests} requests; the unspent set has ${this.requests}`);
    const said = this.read(COUNTERS_KEY, this.inspection.reader.get(CAGE, COUNTERS_KEY), decodeCounters);
    const { tokens, requests, diverged } = said ?? decodeCounters(undefined);
    if (tokens !== found.tokens || requests !== found.requests || diverged !== found.diverged)
      this.fault(
        CAGE,
        COUNTERS_KEY,
        `counts ${tokens} tokens, ${diverged} of them diverged, and ${requests} requests, and there are others`,
      );
  }

  private checkTrie(trie: number, { facts, hiddenAt }: TrieRow, token: TokenRow | undefined): void {
    const key = trieKey(trie);
    if ((token === undefined) !== (hiddenAt !== null))
      this.fault(CAGE, key, token === undefined ? 'is visible, and no token has it' : 'is hidden, and a token has it');
    const wanted = new PairSum();
    for (const [row, value] of this.inspection.reader.scan(CAGE_VALUES, trieRange(trie))) {
      wanted.add(bitsOf(blake2b256(row.subarray(TRIE_BYTES))), blake2b256(factValue(value)));
    }
    if (wanted.count !== facts) this.fault(CAGE, key, `says that there are ${facts} facts; ${CAGE_VALUES} has ${wanted.count}`);
    this.checkNodes(trie, wanted);
    if (token === undefined) return;
    const root = this.read(key, key, () => mpf.root(storedTrie(this.inspection.reader, trie)));
    if (root !== null && equalBytes(root, token.state.root) !== (token.status === 'consistent'))
      this.fault(CAGE, key, `has the root ${toHex(root)}; its token has ${toHex(token.state.root)} and is said to be ${token.status}`);
  }

  /** Leaves are those of the values, and each branch stands where just one other names it, with the hash of its own children. */
  private checkNodes(trie: number, wanted: PairSum): void {
    const [leaves, branches, named] = [new PairSum(), new PairSum(), new PairSum()];
    for (const [key, value] of this.inspection.reader.scan(CAGE_NODES, trieRange(trie))) {
      const record = this.read(key, value, (bytes) => readRecord(key.subarray(TRIE_BYTES), bytes), CAGE_NODES);
      if (record === null) continue;
      if (record.value !== null) branches.add(record.path, record.value);
      for (const child of record.children) (child.leaf ? leaves : named).add(child.path, child.value);
    }
    if (!leaves.equals(wanted))
      this.fault(CAGE_NODES, trieRange(trie).gte, `is not the trie of its values: ${leaves.count} leaves, ${wanted.count} values`);
    if (!branches.equals(named)) this.fault(CAGE_NODES, trieRange(trie).gte, 'has branches that are not what those above them say');
  }

  /** Every row belongs to a trie that is known, or is being deleted. */
  private rowsOf(column: string, tries: ReadonlyMap<number, TrieRow>, dead: ReadonlySet<number>): number {
    let rows = 0;
    for (const [key] of this.inspection.reader.scan(column)) {
      this.inspection.progress(column, ++rows);
      const trie = readU32(key, 0);
      if (!tries.has(trie) && !dead.has(trie)) this.fault(column, key, 'belongs to no trie');
    }
    return rows;
  }

  private read<T>(key: Uint8Array, value: Uint8Array | undefined, decode: (bytes: Uint8Array) => T, column: string = CAGE): T | null {
    if (value === undefined) return null;
    try {
      return decode(value);
    } catch (error) {
      if (!isUnspentError(error, 'STORE_DAMAGED')) throw error;
      this.fault(column, key, error.message);
      return null;
    }
  }

  private fault(column: string, key: Uint8Array, what: string): void {
    this.inspection.fault(column, key, what);
  }
}

const NO_KEY = new Uint8Array(0);
