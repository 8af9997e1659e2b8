/**
 * The mempool as a reader keeps it: transactions that the followed node is known
 * to have taken, held against the store at one point. The node is the judge of
 * them; here is only decided what they mean at the store's block, which may be
 * another one than the node's.
 *
 * - No two spend the same output: of two, the one that the node told last counts,
 *   because it took that one only after it had let go of the other.
 * - One that does not count at this block (it is in a block, a block has spent
 *   its input, its time is over) is remembered for some blocks more, because they
 *   may be undone, and counts again then.
 * - One that the node has let go of stays until the store has the block which the
 *   node had then: mostly it is in that block.
 */
import type { MempoolChange } from '../../ledgers/mempool-change.ts';
import { equalBytes } from '../../util/bytes.ts';
import { isUnspentError } from '../../util/errors.ts';
import { PENDING_BYTES_MAX, PENDING_RETURN_BLOCKS, PENDING_SECONDS_MAX, PENDING_TXS_MAX } from '../../util/limits.ts';
import { hexOf } from '../dialect.ts';
import type { MempoolView } from '../mempool.ts';
import type { Query } from '../query.ts';
import { isOverlayAt, layPending, type PendingOverlay, type UnspentLookup } from './pending-overlay.ts';
import type { PendingTx, PendingTxReader } from './pending-tx.ts';

export interface PendingLimits {
  readonly txsMax?: number;
  readonly bytesMax?: number;
  /** Unix seconds. */
  readonly now?: () => number;
}

interface Candidate {
  readonly tx: PendingTx;
  /** The height at which it counted last. */
  countedAt: number;
  /** When the node let go of it; null: it holds it. */
  left: Leave | null;
}

interface Leave {
  /** What the node's mempool was for then. INTO_BLOCK: it is known to be in a block, or to have been in one. */
  readonly slot: number;
  /** Unix seconds. */
  readonly time: number;
}

const INTO_BLOCK = Number.POSITIVE_INFINITY;

export class PendingTxs implements MempoolView {
  private readonly read: PendingTxReader;
  private readonly limits: Required<PendingLimits>;
  /** By the hex of the id, in the order in which they came. */
  private readonly candidates = new Map<string, Candidate>();
  /** Who spends an output, by its name. */
  private readonly spenders = new Map<string, Candidate>();
  private bytes = 0;
  private arrived = 0;
  private overlay: PendingOverlay | null = null;
  private readonly listeners = new Set<() => void>();
  private readonly outputs = new UnspentOutputs();

  constructor(read: PendingTxReader, limits: PendingLimits = {}) {
    this.read = read;
    const now = (): number => Math.floor(Date.now() / 1000);
    this.limits = { txsMax: PENDING_TXS_MAX, bytesMax: PENDING_BYTES_MAX, now, ...limits };
  }

  get size(): number {
    return this.overlay?.txs.size ?? 0;
  }

  get isEmpty(): boolean {
    return this.candidates.size === 0;
  }

  check(raw: Uint8Array): void {
    this.read(raw, 0);
  }

  takeAll(changes: readonly MempoolChange[], query: Query): void {
    const height = query.head?.height ?? 0;
    for (const change of changes) {
      if (change.kind === 'reset') for (const { tx } of [...this.candidates.values()]) this.leave(tx.hexId, 0);
      else if (change.kind === 'add') for (const raw of change.txs) this.add(raw, height);
      else for (const id of change.ids) this.leave(hexOf(id), change.slot ?? 0);
    }
    this.come(query);
  }

  settle(query: Query): void {
    this.come(query);
  }

  overlayAt(query: Query): PendingOverlay {
    const { overlay } = this;
    return overlay !== null && isOverlayAt(overlay, query) ? overlay : this.lay(query);
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private add(raw: Uint8Array, height: number): void {
    const tx = this.decode(raw);
    if (tx === null) return;
    const known = this.candidates.get(tx.hexId);
    if (known !== undefined) {
      known.left = null;
      return;
    }
    for (const { name } of tx.spends) {
      const other = this.spenders.get(name);
      if (other !== undefined) this.drop(other);
    }
    const candidate = { tx, countedAt: height, left: null };
    this.candidates.set(tx.hexId, candidate);
    for (const { name } of tx.spends) this.spenders.set(name, candidate);
    this.bytes += tx.raw.length;
  }

  /** Null: bytes that are no transaction to us, such as one of an era that is still to come. */
  private decode(raw: Uint8Array): PendingTx | null {
    try {
      return this.read(raw, this.arrived++);
    } catch (error) {
      if (isUnspentError(error, 'BLOCK_INVALID')) return null;
      throw error;
    }
  }

  private leave(hexId: string, slot: number): void {
    const candidate = this.candidates.get(hexId);
    if (candidate !== undefined) candidate.left = { slot, time: this.limits.now() };
  }

  private drop(candidate: Candidate): void {
    this.candidates.delete(candidate.tx.hexId);
    for (const { name } of candidate.tx.spends) this.spenders.delete(name);
    this.bytes -= candidate.tx.raw.length;
  }

  /** Comes to the point of the query. */
  private come(query: Query): void {
    this.letGo(query);
    this.trim();
    const overlay = this.lay(query);
    const height = query.head?.height ?? 0;
    for (const candidate of [...this.candidates.values()]) {
      if (overlay.txs.has(candidate.tx.hexId)) candidate.countedAt = height;
      else if (height - candidate.countedAt > PENDING_RETURN_BLOCKS) this.drop(candidate);
    }
    const before = this.overlay?.txs ?? new Map();
    this.overlay = overlay;
    const isSame = before.size === overlay.txs.size && [...overlay.txs.keys()].every((id) => before.has(id));
    if (!isSame) for (const listener of [...this.listeners]) listener();
  }

  /** What counts at the point of the query, with nothing changed here. */
  private lay(query: Query): PendingOverlay {
    const nextSlot = (query.head?.slot ?? -1) + 1;
    const txs = [...this.candidates.values()].map(({ tx }) => tx).filter(({ validUntil }) => validUntil > nextSlot);
    return layPending(query.head?.hash ?? null, txs, this.outputs.at(query, txs));
  }

  /** Those that the node let go of go, unless they are in a block: then they may come back from it, and have some time to get into another. */
  private letGo(query: Query): void {
    // A node's mempool is for the slot behind its newest block.
    const level = (query.head?.slot ?? -1) + 1;
    const oldest = this.limits.now() - PENDING_SECONDS_MAX;
    const leaving: Candidate[] = [];
    for (const candidate of [...this.candidates.values()]) {
      const { left } = candidate;
      if (left === null) continue;
      if (left.slot === INTO_BLOCK && left.time < oldest) this.drop(candidate);
      else if (left.slot <= level) leaving.push(candidate);
    }
    const rows = query.txRows(leaving.map(({ tx }) => tx.id));
    for (const [i, candidate] of leaving.entries()) {
      if (rows[i] === null) this.drop(candidate);
      else candidate.left = { slot: INTO_BLOCK, time: this.limits.now() };
    }
  }

  /** Those that counted longest ago go first, then those that came first. */
  private trim(): void {
    const { txsMax, bytesMax } = this.limits;
    const isFull = (): boolean => this.candidates.size > txsMax || this.bytes > bytesMax;
    if (!isFull()) return;
    for (const candidate of [...this.candidates.values()].sort((a, b) => a.countedAt - b.countedAt)) {
      if (!isFull()) return;
      this.drop(candidate);
    }
  }
}

/** What is unspent at one point of what has been asked for, each read once. */
class UnspentOutputs {
  private tip: Uint8Array | null = null;
  private known = new Map<string, Uint8Array | undefined>();

  at(query: Query, txs: readonly PendingTx[]): UnspentLookup {
    const tip = query.head?.hash ?? null;
    if (tip === null || this.tip === null || !equalBytes(tip, this.tip)) this.known = new Map();
    this.tip = tip;
    const asked = txs.flatMap(({ spends }) => spends).filter(({ name }) => !this.known.has(name));
    const values = query.unspentValues(asked.map(({ key }) => key));
    // A copy: what it was read in may hold many others.
    for (const [i, { name }] of asked.entries()) this.known.set(name, values[i]?.slice());
    const { known } = this;
    return (name) => known.get(name);
  }
}
