/**
 * The mempool as a reader keeps it: what a node has told, held against the
 * store at one point. No two of its transactions spend the same output, none is
 * in a block of the store, and none spends what a block has spent. What an
 * input spends is looked up in the mempool first, then in the unspent set; it
 * is unknown (null) for as long as it is in neither.
 *
 * `take` and `settle` bring it to the point of the query they are given; what
 * that costs depends on what changed, not on how much there is.
 */
import { type DescribedOutput, decodeTx } from '../../../ledgers/bitcoin/index.ts';
import type { MempoolChange } from '../../../ledgers/mempool-change.ts';
import { outpointIndex, outpointTxId } from '../../../ledgers/outpoint.ts';
import { isUnspentError } from '../../../util/errors.ts';
import { MEMPOOL_BLOCKS_MAX, MEMPOOL_BYTES_MAX, MEMPOOL_SECONDS_MAX, MEMPOOL_TRAIL_MAX, MEMPOOL_TXS_MAX } from '../../../util/limits.ts';
import { type ChainMove, ChainTracker } from '../../chain-difference.ts';
import type { BlockOutline } from '../../changes.ts';
import { hexOf } from '../../dialect.ts';
import type { ScriptTotals } from '../../history.ts';
import type { MempoolView } from '../../mempool.ts';
import type { Query } from '../../query.ts';
import { Entry, type MempoolTx } from './entry.ts';
import { FeeList, type FeeStep, feeHistogram, rateWithin } from './fees.ts';
import { type Answers, coinsOf, hasLost, isOpen, isOutdated, isSpentOnChain, lookUp } from './lookup.ts';
import { MempoolTable } from './table.ts';

export type { MempoolTx } from './entry.ts';

/** What is left when too much has come: some room, so that the next one does not sort all of it again. */
const KEPT_SHARE = 0.95;

export interface MempoolOptions {
  /** The chain has Litecoin's extension blocks. */
  readonly mweb?: boolean;
  readonly txsMax?: number;
  readonly bytesMax?: number;
  /** Unix seconds. */
  readonly now?: () => number;
}

/** What a move of the chain did to it. */
interface Touched {
  readonly confirmed: Set<Entry>;
  /** To be looked up anew. */
  readonly doubtful: Set<Entry>;
}

export class Mempool implements MempoolView {
  /** Transactions whose bytes were not understood. */
  refused = 0;
  private readonly options: Required<MempoolOptions>;
  private readonly table = new MempoolTable();
  private readonly tracker = new ChainTracker({ rememberedMax: MEMPOOL_TRAIL_MAX, blocksMax: MEMPOOL_BLOCKS_MAX });
  private readonly listeners = new Set<(keys: ReadonlySet<string>) => void>();
  private readonly changeListeners = new Set<(changes: readonly MempoolChange[]) => void>();
  private hasBeenTold = false;
  private arrived = 0;
  private readonly fees = new FeeList();

  constructor(options: MempoolOptions = {}) {
    const now = (): number => Math.floor(Date.now() / 1000);
    this.options = { mweb: false, txsMax: MEMPOOL_TXS_MAX, bytesMax: MEMPOOL_BYTES_MAX, now, ...options };
  }

  get size(): number {
    return this.table.size;
  }

  get isEmpty(): boolean {
    return this.table.size === 0;
  }

  /** Of all transactions as they are relayed. */
  get bytes(): number {
    return this.table.bytes;
  }

  get(id: Uint8Array): MempoolTx | undefined {
    return this.table.get(hexOf(id));
  }

  /** In order of arrival. */
  all(): Iterable<MempoolTx> {
    return this.table.entries();
  }

  /** Those that fund or spend this 28-byte script key, in order of arrival. */
  byScript(key: Uint8Array): readonly MempoolTx[] {
    return this.table.byScript(hexOf(key));
  }

  /** What they do to it together. */
  totals(key: Uint8Array): ScriptTotals & { readonly txs: number } {
    const hex = hexOf(key);
    const entries = this.table.byScript(hex);
    const totals = { fundedCount: 0, fundedSum: 0n, spentCount: 0, spentSum: 0n, txs: entries.length };
    for (const { outputKeys, described, coins } of entries) {
      for (const { value } of described.outputs.filter((_, i) => outputKeys[i] === hex)) {
        totals.fundedCount++;
        totals.fundedSum += value;
      }
      for (const coin of coins) {
        if (coin?.key !== hex) continue;
        totals.spentCount++;
        totals.spentSum += coin.value;
      }
    }
    return totals;
  }

  /** Who spends that output, whether it is in a block or not. */
  spender(txId: Uint8Array, index: number): { readonly tx: MempoolTx; readonly input: number } | null {
    const spender = this.table.spender(hexOf(txId), index);
    return spender === undefined ? null : { tx: spender.entry, input: spender.input };
  }

  /** An output of a transaction in here; null: there is none. */
  output(txId: Uint8Array, index: number): DescribedOutput | null {
    return this.table.get(hexOf(txId))?.coin(index) ?? null;
  }

  /** Rates from high to low, each with the virtual bytes that pay it or more than the next. What pays an unknown fee is left out. */
  histogram(): readonly FeeStep[] {
    return feeHistogram(this.fees.of(this.table.entries()));
  }

  feeRates(): readonly { readonly rate: number; readonly virtualSize: number }[] {
    return this.fees.of(this.table.entries());
  }

  /** Satoshi for a virtual byte that would get into the next blocks by what is in here; at least 1. */
  feeRate(blocks: number): number {
    return rateWithin(this.fees.of(this.table.entries()), blocks);
  }

  take(change: MempoolChange, query: Query): void {
    this.takeAll([change], query);
  }

  /** Takes several changes as one: listeners are called once. */
  takeAll(changes: readonly MempoolChange[], query: Query): void {
    this.changing(() => {
      this.move(query);
      for (const change of changes) {
        if (change.kind === 'reset') this.table.clear();
        else if (change.kind === 'add') this.add(change.txs, query);
        else this.remove(change.ids, query);
      }
      this.trim();
    });
    this.hasBeenTold = true;
    for (const listener of [...this.changeListeners]) listener(changes);
  }

  /** False: no node has told anything yet, so that it is not known what there is. */
  get isKnown(): boolean {
    return this.hasBeenTold;
  }

  /** Called with what a node has told, as it told it, after it was taken in. */
  onTold(listener: (changes: readonly MempoolChange[]) => void): () => void {
    this.changeListeners.add(listener);
    return () => this.changeListeners.delete(listener);
  }

  /** The store is at another point: drops what is in a block or cannot get into one any more, and looks up the rest anew. */
  settle(query: Query): void {
    this.changing(() => this.move(query));
  }

  check(raw: Uint8Array): void {
    decodeTx(raw, this.options.mweb);
  }

  /** Called after each change, with the hex of every script key of which a transaction, or what it spends, has changed. */
  onChange(listener: (keys: ReadonlySet<string>) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private changing(body: () => void): void {
    body();
    const touched = this.table.takeTouched();
    if (touched === null) return;
    this.fees.changed();
    for (const listener of [...this.listeners]) listener(touched);
  }

  private add(txs: readonly Uint8Array[], query: Query): void {
    const entries = txs.map((raw) => this.decode(raw)).filter((entry) => entry !== null);
    const rows = query.txRows(entries.map(({ id }) => id));
    const fresh = entries.filter((entry, i) => rows[i] === null && !entry.coinbase);
    const found = lookUp(fresh, this.table, query);
    for (const [entry, answers] of found) this.insert(entry, answers);
  }

  private decode(raw: Uint8Array): Entry | null {
    try {
      return new Entry(raw, this.options.mweb, this.options.now(), this.arrived++);
    } catch (error) {
      if (!isUnspentError(error, 'BLOCK_INVALID')) throw error;
      this.refused++;
      return null;
    }
  }

  private insert(entry: Entry, answers: Answers): void {
    const { table } = this;
    if (table.has(entry.hexId) || isSpentOnChain(answers)) return;
    for (const { parent, index } of entry.inputs) {
      const other = table.spender(parent, index);
      if (other !== undefined) table.dropTree(other.entry);
    }
    table.insert(entry, coinsOf(entry, table, answers));
    for (const child of table.children(entry.hexId)) table.resolve(child, adopted(child, entry));
  }

  /** Only these: a source that tells what leaves tells it of each one. */
  private remove(ids: readonly Uint8Array[], query: Query): void {
    const orphans = new Set<Entry>();
    for (const id of ids) {
      const entry = this.table.get(hexOf(id));
      if (entry === undefined) continue;
      for (const child of this.table.children(entry.hexId)) orphans.add(child);
      orphans.delete(entry);
      this.table.drop(entry);
    }
    this.resolveAll(orphans, query);
  }

  private move(query: Query): void {
    const move = this.tracker.follow(query);
    if (move === null || this.table.size === 0) return;
    this.expire();
    const { confirmed, doubtful } = this.touchedBy(move, query) ?? this.outdated(query);
    for (const entry of confirmed) for (const child of this.table.children(entry.hexId)) doubtful.add(child);
    for (const entry of confirmed) {
      doubtful.delete(entry);
      this.table.drop(entry);
    }
    this.resolveAll(doubtful, query, move.fork);
  }

  /**
   * Entries that the new blocks hold, or that they or undone blocks may have changed; null: unknown, because there were
   * too many blocks.
   */
  private touchedBy({ fork, turned, blocks }: ChainMove, query: Query): Touched | null {
    if (blocks === null) return null;
    const touched: Touched = { confirmed: new Set(), doubtful: new Set() };
    for (const row of blocks) {
      const outline = query.outline(row);
      if (outline === null) return null;
      this.touchedByBlock(outline, touched);
    }
    if (turned)
      for (const entry of this.table.entries())
        if (entry.coins.some((coin) => coin !== null && coin.height > fork)) touched.doubtful.add(entry);
    return touched;
  }

  private touchedByBlock({ txIds, spent }: BlockOutline, { confirmed, doubtful }: Touched): void {
    for (const id of txIds) {
      const hexId = hexOf(id);
      const entry = this.table.get(hexId);
      if (entry !== undefined) confirmed.add(entry);
      for (const child of this.table.children(hexId)) doubtful.add(child);
    }
    for (const key of spent) {
      const spender = this.table.spender(hexOf(outpointTxId(key)), outpointIndex(key));
      if (spender !== undefined) doubtful.add(spender.entry);
    }
  }

  /** The same by looking up all there is. */
  private outdated(query: Query): Touched {
    const found = lookUp(this.table.entries(), this.table, query);
    const confirmed = inBlocks(
      [...found].filter(([, answers]) => !isOpen(answers)).map(([entry]) => entry),
      query,
    );
    const doubtful = [...found].filter(([entry, answers]) => isOutdated(entry, this.table, answers)).map(([entry]) => entry);
    return { confirmed, doubtful: new Set(doubtful) };
  }

  /** Looks up what they spend; those that spend what is spent go, with all that builds on them. */
  private resolveAll(entries: ReadonlySet<Entry>, query: Query, fork = -1): void {
    const found = lookUp(entries, this.table, query);
    for (const [entry, answers] of found) {
      if (!this.table.has(entry.hexId)) continue;
      if (isSpentOnChain(answers) || hasLost(entry, answers, fork)) this.table.dropTree(entry);
    }
    for (const [entry, answers] of found) if (this.table.has(entry.hexId)) this.table.resolve(entry, coinsOf(entry, this.table, answers));
  }

  private expire(): void {
    const oldest = this.options.now() - MEMPOOL_SECONDS_MAX;
    for (const entry of this.table.entries()) {
      if (entry.time >= oldest) return;
      this.table.dropTree(entry);
    }
  }

  /** Those that pay least go first. */
  private trim(): void {
    const { txsMax, bytesMax } = this.options;
    const { table } = this;
    if (table.size <= txsMax && table.bytes <= bytesMax) return;
    const rated = [...table.entries()].map((entry) => ({ entry, rate: entry.rate })).sort((a, b) => a.rate - b.rate);
    for (const { entry } of rated) {
      if (table.size <= KEPT_SHARE * txsMax && table.bytes <= KEPT_SHARE * bytesMax) return;
      if (table.has(entry.hexId)) table.dropTree(entry);
    }
  }
}

/** Those of them that are in a block of the store. */
function inBlocks(entries: readonly Entry[], query: Query): Set<Entry> {
  const rows = query.txRows(entries.map(({ id }) => id));
  return new Set(entries.filter((_, i) => rows[i] !== null));
}

/** The coins of a child whose parent has come. */
function adopted({ inputs, coins }: Entry, parent: Entry): Entry['coins'] {
  return coins.map((coin, i) => (inputs[i].parent === parent.hexId ? parent.coin(inputs[i].index) : coin));
}
