/**
 * Cages as blocks come and go (`ledgers/cardano/cage`): tokens, requests that
 * wait, and every fact of every trie, at each block and after every rollback.
 *
 * Events are found and applied transaction by transaction. The root of a trie is
 * compared with the one on chain after each update; where they differ the token
 * is marked and nothing else stops. A burned token's trie is hidden until the
 * burn can no longer be taken back, and then deleted, some rows at a time.
 *
 * It needs the chain from the beginning: the unspent set tells which tokens and
 * requests there are, but not the facts, of which only hashes are on chain.
 */
import type { Batch, Reader } from '../../../engine/engine.ts';
import {
  type CageDeployment,
  detectCage,
  formatCageDeployments,
  PUBLIC_CAGES,
  parseCageDeployments,
} from '../../../ledgers/cardano/cage/index.ts';
import type { mpf } from '../../../proofs/index.ts';
import { ByteWriter } from '../../../util/byte-writer.ts';
import { equalBytes, readU32, readU64, toHex, utf8 } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { CAGE_ROWS_DELETED_MAX } from '../../../util/limits.ts';
import type { ForwardBlock, Projection, SettledBlock, Step, Undo } from '../../projection.ts';
import { CageChanges, decodeUndo } from './changes.ts';
import { CageEvents } from './events.ts';
import {
  CAGE,
  CAGE_NODES,
  CAGE_ROW,
  CAGE_VALUES,
  cageColumns,
  DEPLOYMENTS_KEY,
  deadKey,
  decodeToken,
  decodeTrie,
  factValue,
  TRIE_BYTES,
  trieOfKey,
  trieRange,
} from './rows.ts';
import { type CageChain, cageTxs } from './transactions.ts';
import { TrieCache } from './trie-cache.ts';
import { CageTries } from './tries.ts';
import { CageWatch } from './watch.ts';

/** What one step changes, before it is written. */
class StepWork {
  readonly changes: CageChanges;
  readonly tries: CageTries;
  readonly events: CageEvents;

  constructor(view: Reader, cache: TrieCache, onRequestScript: (hash: Uint8Array) => void) {
    this.changes = new CageChanges(view);
    this.tries = new CageTries(view, cache);
    this.events = new CageEvents(this.changes, this.tries, onRequestScript);
  }

  flush(batch: Batch): void {
    this.changes.flush(batch);
    this.tries.flush(batch);
  }
}

/** What is followed in one store, as its rows say. */
interface Followed {
  readonly view: Reader;
  /** The row that says which; undefined: the store has none yet. */
  readonly row: Uint8Array | undefined;
  readonly deployments: readonly CageDeployment[];
  readonly policies: readonly Uint8Array[];
  readonly watch: CageWatch;
  /** The block that was applied last; null: ask the row. */
  tip: Uint8Array | null;
}

/** `given`: what somebody said to follow; null: what the store follows, or the public ones if it is new. */
export function cageProjection(chain: CageChain, given: readonly CageDeployment[] | null): Projection {
  const cache = new TrieCache();
  const writer = new ByteWriter();
  let known: Followed | null = null;

  /** What we know is of this store if the next block follows the one applied last: the fold goes on from what was written only. */
  function followedIn(view: Reader, before: Uint8Array | null): Followed {
    if (known?.view === view && known.tip !== null && before !== null && equalBytes(known.tip, before)) return known;
    const row = view.get(CAGE, DEPLOYMENTS_KEY);
    if (known?.view === view && sameRow(known.row, row)) return known;
    const deployments = deploymentsOf(row, given);
    const policies = deployments.map(({ stateScriptHash }) => stateScriptHash);
    const watch = new CageWatch(chain.traits);
    for (const policy of policies) watch.add(policy);
    for (const [key] of rowsOf(view, CAGE_ROW.requestScript)) watch.add(key.subarray(1));
    known = { view, row: row?.slice(), deployments, policies, watch, tip: null };
    return known;
  }

  function apply(step: Step<ForwardBlock>, view: Reader, batch: Batch): Undo | undefined {
    const followed = followedIn(view, step.blocks[0].block.prevHash);
    const { row, deployments, policies, watch } = followed;
    const undo: (Uint8Array | undefined)[] = new Array(step.blocks.length).fill(undefined);
    const begin = (): StepWork => new StepWork(view, cache, (hash) => watch.add(hash));
    let work = null as StepWork | null;
    if (row === undefined) {
      work = begin();
      work.changes.put(CAGE, DEPLOYMENTS_KEY, utf8(formatCageDeployments(deployments)));
    }
    for (let i = 0; i < step.blocks.length; i++) {
      const block = step.blocks[i];
      for (const tx of cageTxs(chain, block, watch, policies)) {
        work ??= begin();
        const { events } = work;
        const found = detectCage(tx, { deployments, isRequestScript: (hash) => events.isRequestScript(hash) });
        events.apply(found.events, block);
        events.countMalformed(found.malformed);
      }
      undo[i] = work?.changes.endBlock(writer);
    }
    // As long as the row is not known to be there, it is asked for.
    followed.tip = row === undefined ? null : Uint8Array.from(step.blocks[step.blocks.length - 1].hash);
    if (work === null) return undefined;
    work.flush(batch);
    return undo;
  }

  function revert(step: Step, undo: Undo, view: Reader, batch: Batch): void {
    if (known !== null) known.tip = null;
    if (undo.every((bytes) => bytes === undefined)) return;
    // A token whose burning is taken back has its request script again, which a watch that began after the burning does not know.
    known = null;
    const work = new StepWork(view, cache, () => undefined);
    const { changes, tries } = work;
    step.blocks.forEach(({ height }, i) => {
      const bytes = undo[i];
      if (bytes !== undefined) changes.restore(bytes, `what the delta of block ${height} says of cages`);
    });
    for (const [trie, changed] of changedFacts(changes)) tries.update(trie, changed);
    checkRoots(changes, tries);
    work.flush(batch);
  }

  return { name: CAGE, columns: cageColumns, apply, revert, settle };
}

function sameRow(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a === undefined || b === undefined ? a === b : equalBytes(a, b);
}

/** The deployments that a row names, or that a new store shall follow. Throws STORE_SHAPE when somebody says others. */
function deploymentsOf(row: Uint8Array | undefined, given: readonly CageDeployment[] | null): readonly CageDeployment[] {
  if (row === undefined) return given ?? PUBLIC_CAGES;
  const text = new TextDecoder().decode(row);
  if (given !== null && formatCageDeployments(given) !== text) {
    const message = `the store follows the cages ${text}; the settings say ${formatCageDeployments(given)}. Sync a new store with those`;
    throw new UnspentError('STORE_SHAPE', message, { have: text });
  }
  return parseCageDeployments(text);
}

function rowsOf(view: Reader, kind: number, limit?: number): Iterable<readonly [Uint8Array, Uint8Array]> {
  return view.scan(CAGE, { gte: Uint8Array.of(kind), lt: Uint8Array.of(kind + 1), ...(limit === undefined ? {} : { limit }) });
}

/** Values that will be others than in the store, by trie: nodes follow from them. */
function changedFacts(changes: CageChanges): ReadonlyMap<number, mpf.Change[]> {
  const tries = new Map<number, mpf.Change[]>();
  for (const { key, after } of changes.changed(CAGE_VALUES)) {
    const trie = readU32(key, 0);
    const list = tries.get(trie) ?? [];
    list.push({ key: key.subarray(TRIE_BYTES), value: after === undefined ? null : factValue(after) });
    tries.set(trie, list);
  }
  return tries;
}

/** What was consistent before the blocks that are taken back must be so again. */
function checkRoots(changes: CageChanges, tries: CageTries): void {
  for (const { key, after } of changes.changed(CAGE)) {
    if (key[0] !== CAGE_ROW.token || after === undefined) continue;
    const { status, trie, state } = decodeToken(after);
    if (status !== 'consistent' || (trie !== null && equalBytes(tries.root(trie), state.root))) continue;
    const message = `taking blocks back leads to another trie of the token ${toHex(key)} than the one before them`;
    throw new UnspentError('STORE_DAMAGED', message, { column: CAGE_NODES, key: toHex(key) });
  }
}

/** Tries whose burning has become final are deleted, a bounded number of rows at a time. */
function settle(blocks: readonly SettledBlock[], view: Reader, batch: Batch): void {
  const dead = Array.from(rowsOf(view, CAGE_ROW.dead, CAGE_ROWS_DELETED_MAX), ([key]) => trieOfKey(key));
  for (const { key, undo } of blocks) {
    if (undo === undefined) continue;
    const height = readU64(key, 0);
    for (const row of decodeUndo(undo, `what the delta of block ${height} says of cages`)) {
      if (row.column !== CAGE || row.key[0] !== CAGE_ROW.trie || !isHiddenAt(view.get(CAGE, row.key), height)) continue;
      batch.del(CAGE, row.key);
      batch.put(CAGE, deadKey(trieOfKey(row.key)), NOTHING);
      dead.push(trieOfKey(row.key));
    }
  }
  deleteTries(dead, view, batch);
}

/** Whether a trie was hidden for good by then: a later block that hid it may still be taken back. */
function isHiddenAt(row: Uint8Array | undefined, height: number): boolean {
  const hiddenAt = row === undefined ? null : decodeTrie(row).hiddenAt;
  return hiddenAt !== null && hiddenAt <= height;
}

const NOTHING = new Uint8Array(0);

/** As far as one step goes; the next goes on. */
function deleteTries(dead: readonly number[], view: Reader, batch: Batch): void {
  let left = CAGE_ROWS_DELETED_MAX;
  for (const trie of dead) {
    for (const column of [CAGE_VALUES, CAGE_NODES]) {
      if (left === 0) return;
      for (const [row] of view.scan(column, { ...trieRange(trie), limit: left })) {
        batch.del(column, row);
        left--;
      }
    }
    if (left > 0) batch.del(CAGE, deadKey(trie));
  }
}
