/**
 * Typed reads pinned to one snapshot: one answer is one point of the chain,
 * whatever the fold does meanwhile. Release it when done.
 *
 * It answers for the block it was made at; `at` gives a view that answers for
 * an earlier one.
 */
import type { Reader, Snapshot } from '../engine/engine.ts';
import type { KeyKind, OutputLeaf, Point, SetHash, SetSummary } from '../ledgers/ledger.ts';
import { OUTPUT_INDEX_BYTES, outpointIndex, outpointKey } from '../ledgers/outpoint.ts';
import { CAGE } from '../projections/cardano/cage/rows.ts';
import type { ChainRow } from '../projections/chain.ts';
import { type Coin, readStored } from '../projections/coin.ts';
import { CSMT, csmtNodes } from '../projections/csmt/csmt.ts';
import { HISTORY_KEY_COLUMN, HISTORY_TX } from '../projections/history/rows.ts';
import { MMR, MMR_LEAF } from '../projections/mmr/rows.ts';
import { wholeValue } from '../projections/packed.ts';
import type { StepTx } from '../projections/projection.ts';
import { readTxRow, TX, type TxRow } from '../projections/transactions.ts';
import { SPENT, UNSPENT } from '../projections/utxo.ts';
import { MemoryNodes, mmr } from '../proofs/index.ts';
import { keptHeader, readBase } from '../state/base.ts';
import { blockAfter, blockAtHeight, blockAtSlot, blockByHash, blocksAfter, edgeBlock } from '../state/blocks.ts';
import { DELTA } from '../state/delta.ts';
import { type Head, NO_TOTALS, readHead, type Totals } from '../state/head.ts';
import { type PrunedHeights, readPruned, type Windows } from '../state/pruned.ts';
import { equalBytes } from '../util/bytes.ts';
import { assert, UnspentError } from '../util/errors.ts';
import { prefixEnd } from '../util/key-range.ts';
import { finish, type Steps } from '../util/steps.ts';
import { BalanceSum, storedBalance } from './balance.ts';
import { CageQuery } from './cardano/cage.ts';
import { type BlockChanges, type BlockNames, type BlockOutline, blockChanges, blockNames, blockOutline, blockTxs } from './changes.ts';
import { TxHistory } from './history.ts';
import { indexedUtxos, indexRange } from './index-rows.ts';
import { horizonOf, knownPoint } from './known-point.ts';
import { Overlays } from './overlay.ts';
import { originView, PastQuery, type PresentQuery } from './past.ts';
import { presentMmr } from './past-mmr.ts';
import { isOverlayAt, type PendingOverlay } from './pending/pending-overlay.ts';
import { PendingQuery } from './pending/pending-query.ts';
import type { CsmtProofs, MmrProofs } from './proofs.ts';
import { TreeProofs } from './proofs-csmt.ts';
import { RangeProofs, type RangeRoots, rootsOfBlock } from './proofs-mmr.ts';
import { type Seen, seenByHash } from './seen.ts';
import { pastSetHash, storedSetHash } from './set-hash.ts';
import { SpentRows } from './spent-rows.ts';
import { type OutputRules, StoreColumns } from './store-columns.ts';
import { checkKey, type IndexedUtxo, outpointsOf, type PageRequest, type Utxo, unspentRows } from './utxo.ts';
import type { Balance, ChainView, IndexKind } from './view.ts';

export type { IndexedUtxo, PageRequest, Utxo } from './utxo.ts';

/** What of a past is wanted besides its outputs. */
export interface PastParts {
  readonly setHash?: SetHash;
  /** For the tree over the set. */
  readonly leaf?: OutputLeaf;
  readonly mmr?: boolean;
}

export class Query implements PresentQuery {
  readonly head: Head | null;
  private readonly snapshot: Snapshot;
  private readonly columns: StoreColumns;
  private readonly overlays: Overlays;

  /**
   * `rules` are those of the network's ledger; `overlays` are shared by the
   * queries of a store, so that a past that was read once need not be again.
   */
  constructor(snapshot: Snapshot, columns: readonly string[], rules?: OutputRules, overlays: Overlays = new Overlays()) {
    this.snapshot = snapshot;
    this.columns = new StoreColumns(snapshot, columns, rules);
    this.overlays = overlays;
    this.head = readHead(snapshot);
  }

  release(): void {
    this.snapshot.release();
  }

  /** The rows of some columns as they are, for whoever keeps them. */
  rowsOf(columns: readonly string[]): Reader {
    const checked = (column: string): string => {
      if (columns.includes(column)) return column;
      throw new UnspentError('USAGE', `there is no column '${column}' here; there are ${columns.join(', ')}`, { column });
    };
    const { snapshot } = this;
    return {
      get: (column, key) => snapshot.get(checked(column), key),
      getMany: (column, keys) => snapshot.getMany(checked(column), keys),
      scan: (column, options) => snapshot.scan(checked(column), options),
    };
  }

  /** An output, unspent or spent; null when the store has never seen it or has forgotten it. */
  outpoint(txId: Uint8Array, index: number): Utxo | null {
    const [stored] = this.storedUnspent([outpointKey(txId, index)]);
    return this.outpointStored(txId, index, stored);
  }

  /** Rows of the unspent set as they stand there, by their outpoint keys, for `outpointStored`; undefined: not unspent. */
  storedUnspent(keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    this.columns.needUnspent();
    return this.snapshot.getMany(UNSPENT, keys);
  }

  /** The output whose row of the unspent set this is; undefined: it has none. */
  outpointStored(txId: Uint8Array, index: number, stored: Uint8Array | undefined): Utxo | null {
    if (stored !== undefined) return { txId, index, output: readStored(stored), spent: null };
    const [spent] = new SpentRows(this.snapshot).many([outpointKey(txId, index)]);
    return spent === undefined ? null : { txId, index, output: spent.output, spent };
  }

  /** The same for many at once, by their outpoint keys and in their order. */
  outpoints(keys: readonly Uint8Array[]): (Utxo | null)[] {
    this.columns.needUnspent();
    return outpointsOf(this.snapshot, keys);
  }

  /** The stored values of unspent outputs, as coins have them, by their outpoint keys; undefined: not unspent. */
  unspentValues(keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    const { rules } = this.columns;
    return this.snapshot.getMany(UNSPENT, keys).map((value) => value && wholeValue(value, 0, rules));
  }

  /** Unspent outputs with a 28-byte key, in the order they came to the chain. */
  byKey(kind: IndexKind, key: Uint8Array, page: PageRequest = {}): Iterable<IndexedUtxo> {
    checkKey(key);
    return indexedUtxos(this.snapshot, this.columns.index(kind), indexRange(key, page), page.limit);
  }

  /** Whether an index answers in full: it is kept, and not being filled any more. */
  hasIndex(kind: IndexKind): boolean {
    return this.columns.hasIndex(kind);
  }

  /** Every unspent output, in the order of their outpoints. */
  unspent(): Iterable<Utxo> {
    this.columns.needUnspent();
    return unspentRows(this.snapshot);
  }

  /** Where a transaction stands, and all its outputs that the store still knows. Throws UNSUPPORTED when it keeps none. */
  tx(txId: Uint8Array): { row: TxRow | null; outputs: Utxo[] } {
    this.columns.needUnspent();
    const value = this.snapshot.get(TX, txId);
    return { row: value === undefined ? null : readTxRow(value), outputs: this.outputsOf(txId) };
  }

  /** What the unspent set adds up to; null: the store keeps none (`utxo.enabled`), which is not the same as an empty one. */
  get totals(): Totals | null {
    return this.columns.has(UNSPENT) ? (this.head ?? NO_TOTALS) : null;
  }

  /** Where transactions stand, in the order of their ids; null: in no block of ours. */
  txRows(ids: readonly Uint8Array[]): (TxRow | null)[] {
    if (ids.length === 0) return [];
    return this.snapshot.getMany(TX, ids).map((value) => (value === undefined ? null : readTxRow(value)));
  }

  private outputsOf(txId: Uint8Array): Utxo[] {
    const range = { gte: txId, lt: prefixEnd(txId, OUTPUT_INDEX_BYTES) };
    const outputs: Utxo[] = [];
    for (const [key, value] of this.snapshot.scan(UNSPENT, range)) {
      outputs.push({ txId, index: outpointIndex(key), output: readStored(value), spent: null });
    }
    const rows = new SpentRows(this.snapshot);
    for (const [key, value] of this.snapshot.scan(SPENT, range)) {
      const spent = rows.read(key, value);
      outputs.push({ txId, index: outpointIndex(key), output: spent.output, spent });
    }
    return outputs.sort((a, b) => a.index - b.index);
  }

  /** What the unspent outputs with this key add up to: as it is kept, or added up from the index. */
  balance(kind: KeyKind, key: Uint8Array): Balance {
    const columns = this.storedBalance(kind, key);
    if (columns !== null) return columns;
    const sum = new BalanceSum(this.columns.traits);
    for (const utxo of this.byKey(kind, key)) sum.add(utxo);
    return sum.end();
  }

  storedBalance(kind: KeyKind, key: Uint8Array): Balance | null {
    checkKey(key);
    return storedBalance(this.columns, kind, key);
  }

  /** A datum by its hash, and where it was seen first; null: never seen. */
  datum(hash: Uint8Array): Seen | null {
    return seenByHash(this.columns, 'datum', hash);
  }

  /** A script `[kind, script]` by its hash, and where it was seen first; null: never seen. */
  script(hash: Uint8Array): Seen | null {
    return seenByHash(this.columns, 'script', hash);
  }

  /** Transactions, what happened to scripts, addresses and credentials, and who spent what. Throws UNSUPPORTED when the store keeps none. */
  history(): TxHistory {
    return new TxHistory(this.columns);
  }

  /** Whether a history is kept. */
  get hasHistory(): boolean {
    return this.columns.has(HISTORY_TX);
  }

  /** Whether it tells what happened to a kind of key. */
  hasHistoryOf(kind: KeyKind): boolean {
    return this.columns.has(HISTORY_KEY_COLUMN[kind]);
  }

  /** Tokens, requests and facts of cages. Throws UNSUPPORTED when the store keeps none. */
  cage(): CageQuery {
    this.columns.need(CAGE, CAGE);
    return new CageQuery(this.snapshot);
  }

  /** The hash of the unspent set, which is the ledger's (`Ledger.setHash`); null: not kept, or not ready. */
  setHash(hash: SetHash): SetSummary | null {
    this.columns.needUnspent();
    return storedSetHash(this.columns, hash, this.head?.utxos ?? 0);
  }

  /** The same as it was after that block (null: before the first). Throws POINT_UNKNOWN or PRUNED. */
  setHashAt(hash: SetHash, point: Point | null): SetSummary | null {
    this.columns.needUnspent();
    const row = knownPoint(this.columns, this.head, point);
    if (row === null || this.head === null) return this.setHash(hash) === null ? null : hash.summary(null);
    if (equalBytes(row.hash, this.head.hash)) return this.setHash(hash);
    return finish(pastSetHash(this.columns, hash, row, this.head, this.overlays.at(row, this.head, this.columns)));
  }

  /**
   * Proofs from the tree over the unspent set as it was after that block (null: before the first); `leaf` is the
   * ledger's. Throws UNSUPPORTED when the store keeps no tree, POINT_UNKNOWN or PRUNED.
   */
  csmt(leaf: OutputLeaf, point: Point | null = this.head): CsmtProofs {
    this.columns.need(CSMT, CSMT);
    const { head, columns, overlays } = this;
    if (head !== null && point !== null && equalBytes(point.hash, head.hash)) return new TreeProofs(csmtNodes(this.snapshot));
    const row = knownPoint(columns, head, point);
    if (row === null || head === null) return new TreeProofs(new MemoryNodes());
    return new TreeProofs(overlays.trees.at(row, head, columns, leaf, this.spentSince(row, head)));
  }

  /**
   * Proofs from the mountain range over all outputs as it was after that block (null: before the first). Throws
   * UNSUPPORTED when the store keeps none, POINT_UNKNOWN or PRUNED.
   */
  mmr(point: Point | null = this.head): MmrProofs {
    this.columns.need(MMR_LEAF, MMR);
    const { head, columns, overlays } = this;
    const row = head !== null && point !== null && equalBytes(point.hash, head.hash) ? null : knownPoint(columns, head, point);
    if (row !== null && head !== null) return new RangeProofs(columns, overlays.ranges.at(row, head, columns));
    const present = presentMmr(this.snapshot);
    return new RangeProofs(columns, point === null ? { ...present, state: mmr.EMPTY_UTXO_MMR } : present);
  }

  /** Size and roots of that range after a block of ours, from what the block left; null: no longer known. */
  mmrRoots(row: ChainRow): RangeRoots | null {
    this.columns.need(MMR_LEAF, MMR);
    return rootsOfBlock(this.columns, row);
  }

  /** What a block of our chain did. Throws PRUNED when that is no longer known, UNSUPPORTED when no outputs are kept. */
  changes(row: ChainRow): BlockChanges {
    return blockChanges(this.columns, row, this.overlays.carried);
  }

  /** The transactions of a block, in its order. Throws PRUNED when they are no longer known. */
  blockTxs(row: ChainRow): readonly StepTx[] {
    return blockTxs(this.columns, row);
  }

  /** What a block did, with the names of the outputs only. Throws PRUNED. */
  names(row: ChainRow): BlockNames {
    return blockNames(this.columns, row);
  }

  /** Which transactions and outpoints a block touched; null when that is no longer known. */
  outline(row: ChainRow): BlockOutline | null {
    return blockOutline(this.columns, row);
  }

  /** The chain as it was after that block (null: before the first). Throws POINT_UNKNOWN or PRUNED. */
  at(point: Point | null): ChainView {
    const row = knownPoint(this.columns, this.head, point);
    if (row === null || this.head === null) return originView(this.columns);
    if (equalBytes(row.hash, this.head.hash)) return this;
    return new PastQuery(row, this, this.columns, this.overlays.at(row, this.head, this.columns));
  }

  /** The newest block with what transactions in no block do to it; the overlay is of that block. */
  pending(overlay: PendingOverlay): ChainView {
    assert(isOverlayAt(overlay, this), 'a mempool is read at the block it was brought to');
    return new PendingQuery(this, this.columns, overlay);
  }

  /**
   * Makes the overlay of that block, and of the roots and trees those that are asked for, so that the read after it
   * finds them. In steps, because it may take seconds; null: there is nothing to make. Throws POINT_UNKNOWN or PRUNED.
   */
  pastSteps(point: Point | null, { setHash, leaf, mmr: wantsMmr }: PastParts = {}): Steps<void> | null {
    const { head, columns, overlays } = this;
    const row = knownPoint(columns, head, point);
    if (row === null || head === null || equalBytes(row.hash, head.hash)) return null;
    const isPlain = setHash === undefined && leaf === undefined && wantsMmr !== true;
    if (isPlain && overlays.has(row, head)) return null;
    const spentSince = this.spentSince(row, head);
    return (function* (): Steps<void> {
      const overlay = yield* overlays.making(row, head, columns);
      if (setHash !== undefined) yield* pastSetHash(columns, setHash, row, head, overlay);
      if (leaf !== undefined) yield* overlays.trees.making(row, head, columns, leaf, spentSince);
      if (wantsMmr === true) yield* overlays.ranges.making(row, head, columns);
    })();
  }

  /** What is spent since the point is remembered; since another block it is needed once. */
  private spentSince(row: ChainRow, head: Head): (from: ChainRow) => readonly Coin[] {
    return (from) => (from === row ? this.overlays : new Overlays()).at(from, head, this.columns).coins;
  }

  /** The oldest block we can go back to; null: the origin. */
  horizon(windows: Windows): ChainRow | null {
    return horizonOf(this.columns, this.head, windows);
  }

  /** Heights up to which spent outputs and undo records are gone; -1: none. */
  pruned(): PrunedHeights {
    return readPruned(this.snapshot);
  }

  /** The block of the snapshot that the store began with; null: it began with the first block it saw. */
  base(): ChainRow | null {
    return readBase(this.snapshot);
  }

  /** Projections that were switched on later and still lack rows, with how far each is. */
  filling(): ReadonlyMap<string, Uint8Array> {
    return this.columns.filling;
  }

  blockByHash(hash: Uint8Array): ChainRow | null {
    return blockByHash(this.snapshot, hash);
  }

  /** The header of a block, where its row does not carry it; undefined: it was forgotten with the undo record of the block. */
  header(row: ChainRow): Uint8Array | undefined {
    return this.columns.has(DELTA) ? keptHeader(this.snapshot, row) : undefined;
  }

  /** The newest block of that height. */
  blockAtHeight(height: number): ChainRow | null {
    return blockAtHeight(this.snapshot, height);
  }

  /** The block right behind that one (null: the first there is); null at the tip. */
  blockAfter(row: ChainRow | null): ChainRow | null {
    return row === null ? edgeBlock(this.snapshot, false) : blockAfter(this.snapshot, row);
  }

  /** The newest block; null: there is none yet. */
  headRow(): ChainRow | null {
    return this.head === null ? null : this.blockByHash(this.head.hash);
  }

  /** The block of a point (null: before the first) after which every change is known. Throws POINT_UNKNOWN or PRUNED. */
  knownBlock(point: Point | null): ChainRow | null {
    return knownPoint(this.columns, this.head, point);
  }

  /** Every block behind that one, oldest first; null: every block. */
  blocksAfter(row: ChainRow | null): Iterable<ChainRow> {
    return blocksAfter(this.snapshot, row);
  }

  /** The newest block whose slot is not above this one. */
  blockAtSlot(slot: number): ChainRow | null {
    return blockAtSlot(this.snapshot, slot);
  }

  /** The height of the first block there is; outputs of a snapshot may come from below. */
  firstHeight(): number {
    return edgeBlock(this.snapshot, false)?.height ?? 0;
  }
}
