/**
 * Cages against the unspent set and against themselves:
 *
 *   requests   =  unspent outputs at scripts that ask for something
 *   tokens     =  unspent outputs that hold one, with the state in their datum
 *   tries      =  what their values build: leaves and branches added up, as for
 *                 the tree over the unspent set; number of facts
 *   roots      =  those in the datums, where a token is said to be consistent
 *   scripts    =  where requests for the tokens belong, by their deployments
 *
 * Nothing may be left of a trie that is neither known nor being deleted, and no
 * number of a trie may be given out again.
 */
import { blake2b256 } from '../../../crypto/hash.ts';
import {
  type CageDeployment,
  cageDatumOf,
  parseCageDeployments,
  requestOf,
  requestScriptHash,
} from '../../../ledgers/cardano/cage/index.ts';
import type { OutputTraits } from '../../../ledgers/ledger.ts';
import { bitsOf, mpf } from '../../../proofs/index.ts';
import { readRecord } from '../../../proofs/mpf/record.ts';
import { equalBytes, fromHex, readU32, toHex } from '../../../util/bytes.ts';
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
  damaged,
  deadKey,
  decodeCounters,
  decodeToken,
  decodeTrie,
  encodeToken,
  factValue,
  NO_COUNTERS,
  requestKey,
  requestScriptKey,
  type TokenRow,
  TRIE_BYTES,
  type TrieRow,
  tokenIdOf,
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
  private readonly deployments: readonly CageDeployment[];
  private requests = 0;
  private tokens = 0;

  constructor(inspection: Inspection) {
    const { traits } = inspection.ledger;
    assert(traits !== null, 'a store with cages has a ledger with traits');
    this.inspection = inspection;
    this.traits = traits;
    this.watch = new CageWatch(traits);
    this.deployments = this.read(DEPLOYMENTS_KEY, inspection.reader.get(CAGE, DEPLOYMENTS_KEY), decodeDeployments) ?? [];
    for (const { stateScriptHash } of this.deployments) this.watch.add(stateScriptHash);
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
    const found: FoundRows = { tries: new Map(), dead: new Set(), tokens: new Map(), scripts: new Map(), requests: 0 };
    let rows = 0;
    for (const [key, value] of this.inspection.reader.scan(CAGE)) {
      this.inspection.progress(CAGE, ++rows);
      this.collect(found, key, value);
    }
    const { tries, dead } = found;
    this.compareCounts(found);
    const owners = this.checkTokens(found);
    for (const [trie, row] of tries) this.checkTrie(trie, row, owners.get(trie));
    for (const trie of dead) if (tries.has(trie)) this.fault(CAGE, deadKey(trie), 'is of a trie that is not to be deleted');
    return rows + this.rowsOf(CAGE_NODES, tries, dead) + this.rowsOf(CAGE_VALUES, tries, dead);
  }

  private collect(found: FoundRows, key: Uint8Array, value: Uint8Array): void {
    const [kind] = key;
    if (kind === CAGE_ROW.request) found.requests++;
    else if (kind === CAGE_ROW.dead) found.dead.add(trieOfKey(key));
    else if (kind === CAGE_ROW.requestScript) found.scripts.set(toHex(key.subarray(1)), toHex(value));
    else if (kind === CAGE_ROW.trie) {
      const row = this.read(key, value, decodeTrie);
      if (row !== null) found.tries.set(trieOfKey(key), row);
    } else if (kind === CAGE_ROW.token) found.tokens.set(toHex(key), this.read(key, value, decodeToken));
    else if (kind !== CAGE_ROW.counters && kind !== CAGE_ROW.deployments) this.fault(CAGE, key, 'is of no kind that there is');
  }

  /** Tokens against their deployments, and what else names a token. Returns whose each trie is. */
  private checkTokens({ tokens, tries, scripts }: FoundRows): ReadonlyMap<number, TokenRow> {
    const owners = new Map<number, TokenRow>();
    const scriptsLeft = new Map(scripts);
    for (const [hex, row] of tokens) {
      if (row === null) continue;
      const key = fromHex(hex);
      const { policy, name } = tokenIdOf(key);
      const deployment = this.deployments.find(({ stateScriptHash }) => equalBytes(stateScriptHash, policy));
      const script = deployment === undefined ? null : requestScriptHash(deployment, name);
      if (deployment?.version !== row.version || toText(script) !== toText(row.requestScript))
        this.fault(CAGE, key, 'is not what its deployment makes of it');
      // Tokens of v0 and v1 have no script of their own.
      if (script !== null && !equalBytes(script, policy) && !takeOut(scriptsLeft, toHex(script), hex) && !cameBefore(row))
        this.fault(CAGE, requestScriptKey(script), 'does not name the token whose requests belong there');
      if (row.trie === null) continue;
      if (owners.has(row.trie)) this.fault(CAGE, key, 'has the trie of another token');
      if (!tries.has(row.trie)) this.fault(CAGE, trieKey(row.trie), `is missing, and a ${row.status} token has it`);
      owners.set(row.trie, row);
    }
    for (const script of scriptsLeft.keys()) this.fault(CAGE, requestScriptKey(fromHex(script)), 'is of no token');
    return owners;
  }

  private compareCounts({ tokens, requests, tries, dead }: FoundRows): void {
    if (tokens.size !== this.tokens) this.fault(CAGE, NO_KEY, `has ${tokens.size} tokens; the unspent set has ${this.tokens}`);
    if (requests !== this.requests) this.fault(CAGE, NO_KEY, `has ${requests} requests; the unspent set has ${this.requests}`);
    const said = this.read(COUNTERS_KEY, this.inspection.reader.get(CAGE, COUNTERS_KEY), decodeCounters) ?? NO_COUNTERS;
    const diverged = [...tokens.values()].filter((row) => row !== null && row.status !== 'consistent').length;
    if (said.tokens !== tokens.size || said.requests !== requests || said.diverged !== diverged)
      this.fault(
        CAGE,
        COUNTERS_KEY,
        `counts ${said.tokens} tokens, ${said.diverged} of them diverged, and ${said.requests} requests, and there are others`,
      );
    for (const trie of [...tries.keys(), ...dead])
      if (trie >= said.nextTrie) this.fault(CAGE, COUNTERS_KEY, `says that the next trie is ${said.nextTrie}, and there is trie ${trie}`);
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

/** The rows of the column, by kind. */
interface FoundRows {
  readonly tries: Map<number, TrieRow>;
  /** Tries that are being deleted. */
  readonly dead: Set<number>;
  /** By key, in hex; null: the row does not decode. */
  readonly tokens: Map<string, TokenRow | null>;
  /** Keys of tokens by request script, in hex. */
  readonly scripts: Map<string, string>;
  requests: number;
}

/** Whether the pair was there, and is gone now. */
function takeOut(map: Map<string, string>, key: string, value: string): boolean {
  return map.get(key) === value && map.delete(key);
}

/** A token that was there before the store, or whose deployment was named later: its script was not learnt when it came. */
const cameBefore = ({ trie, migratedFrom }: TokenRow): boolean => trie === null && migratedFrom === null;

const toText = (bytes: Uint8Array | null): string => (bytes === null ? '' : toHex(bytes));

function decodeDeployments(bytes: Uint8Array): readonly CageDeployment[] {
  try {
    return parseCageDeployments(new TextDecoder().decode(bytes));
  } catch (error) {
    if (!isUnspentError(error, 'USAGE')) throw error;
    return damaged('deployments', `does not say which there are: ${error.message}`);
  }
}
