/**
 * The serving side of the mempool: keeps it at the point that readers see, and
 * lets them submit. It hears of each move before other readers do, so that what
 * they are told of both belongs together.
 */
import type { MempoolChange } from '../../ledgers/mempool-change.ts';
import type { MempoolView } from '../../query/mempool.ts';
import type { Query } from '../../query/query.ts';
import { isUnspentError, UnspentError } from '../../util/errors.ts';
import { SUBMITS_MAX } from '../../util/limits.ts';
import type { Reads } from '../context.ts';

/** Hands a transaction to the node, wherever that is known. */
export type Submit = (raw: Uint8Array) => Promise<Uint8Array>;

export class MempoolKeeper {
  readonly mempool: MempoolView;
  private readonly reads: Reads;
  private readonly hand: Submit;
  private readonly stop: () => void;
  private closed = false;
  private submits = 0;

  constructor(reads: Reads, mempool: MempoolView, hand: Submit) {
    this.mempool = mempool;
    this.reads = reads;
    this.hand = hand;
    this.stop = reads.onMove(() => this.settle());
  }

  take(changes: readonly MempoolChange[]): void {
    if (this.closed) return;
    this.reading((query) => this.mempool.takeAll(changes, query));
  }

  /** What the node took is in its mempool, and here from now on: it need not be told of first. */
  async submit(raw: Uint8Array): Promise<Uint8Array> {
    this.check(raw);
    if (this.submits >= SUBMITS_MAX) throw new UnspentError('BUSY', `${this.submits} transactions are on their way to the node already`);
    this.submits++;
    try {
      const id = await this.hand(raw);
      this.take([{ kind: 'add', txs: [raw] }]);
      return id;
    } finally {
      this.submits--;
    }
  }

  close(): void {
    this.closed = true;
    this.stop();
  }

  private settle(): void {
    // It comes to the point with the first transaction.
    if (!this.mempool.isEmpty) this.reading((query) => this.mempool.settle(query));
  }

  private reading(body: (query: Query) => void): void {
    const lease = this.reads.lease();
    try {
      body(lease.query);
    } finally {
      lease.release();
    }
  }

  private check(raw: Uint8Array): void {
    try {
      this.mempool.check(raw);
    } catch (error) {
      if (!isUnspentError(error, 'BLOCK_INVALID')) throw error;
      throw new UnspentError('TX_REFUSED', `the bytes are not a transaction: ${error.message}`, error.meta, error);
    }
  }
}
