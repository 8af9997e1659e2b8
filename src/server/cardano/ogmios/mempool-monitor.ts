/**
 * The mempool of one WebSocket: `acquireMempool` takes a look at it that does not
 * change, the other methods ask about that look. Acquiring again waits until the
 * mempool is another one. It is the mempool of the node that is followed, as far
 * as its transactions could follow the newest block of the store.
 */
import { TXID_BYTES } from '../../../ledgers/outpoint.ts';
import { hexOf } from '../../../query/dialect.ts';
import type { PendingTx } from '../../../query/pending/pending-tx.ts';
import { isHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { Latch } from '../../../util/latch.ts';
import { PENDING_BYTES_MAX } from '../../../util/limits.ts';
import type { ServerContext } from '../../context.ts';
import type { JsonValue } from './json-text.ts';
import type { RpcMethod, RpcMethods } from './rpc.ts';
import { txJson } from './tx-json.ts';

interface MempoolLook {
  /** The slot behind that of the newest block. */
  readonly slot: number;
  readonly txs: ReadonlyMap<string, PendingTx>;
  /** What `nextTransaction` has not given yet. */
  readonly left: Iterator<PendingTx>;
}

export class MempoolMonitor {
  readonly methods: RpcMethods;
  private readonly context: ServerContext;
  private readonly stops: readonly ((() => void) | undefined)[];
  private acquired: MempoolLook | null = null;
  /** Set when the chain or the mempool has changed, and when the connection is gone. */
  private readonly changed = new Latch();
  private isClosed = false;

  constructor(context: ServerContext) {
    this.context = context;
    this.methods = new Map<string, RpcMethod>([
      ['acquireMempool', () => this.acquire()],
      ['nextTransaction', ({ fields }) => this.nextTransaction(fields)],
      ['hasTransaction', ({ id }) => this.hasTransaction(id)],
      ['sizeOfMempool', () => this.size()],
      ['releaseMempool', () => this.release()],
    ]);
    const wake = (): void => this.changed.set();
    this.stops = [context.reads.onMove(wake), context.mempool?.onChange?.(wake)];
  }

  /** The connection is gone: nothing waits any more. */
  close(): void {
    this.isClosed = true;
    for (const stop of this.stops) stop?.();
    this.changed.set();
  }

  /** Throws UNSUPPORTED, CLOSED. */
  private async acquire(): Promise<JsonValue> {
    const before = this.acquired;
    for (;;) {
      // Before the look, so that no change is missed.
      this.changed.take();
      const look = this.look();
      if (before === null || !isSame(before, look)) {
        this.acquired = look;
        return { acquired: 'mempool', slot: look.slot };
      }
      if (!this.isClosed) await this.changed.wait();
      if (this.isClosed) throw new UnspentError('CLOSED', 'the connection is closed');
    }
  }

  private look(): MempoolLook {
    const { mempool, reads } = this.context;
    if (mempool?.overlayAt === undefined) throw new UnspentError('UNSUPPORTED', 'no mempool is kept here');
    const lease = reads.lease();
    try {
      const { txs } = mempool.overlayAt(lease.query);
      return { slot: (lease.query.head?.slot ?? -1) + 1, txs, left: txs.values() };
    } finally {
      lease.release();
    }
  }

  private nextTransaction(fields: unknown): JsonValue {
    const next = this.held().left.next();
    if (next.done === true) return { transaction: null };
    return { transaction: fields === 'all' ? txJson(next.value) : { id: hexOf(next.value.id) } };
  }

  private hasTransaction(id: unknown): JsonValue {
    if (typeof id !== 'string' || !isHex(id, TXID_BYTES)) throw new UnspentError('USAGE', 'id is that of a transaction, in hex');
    return this.held().txs.has(id.toLowerCase());
  }

  /** The node does not tell us what it has room for, so that is what we have. */
  private size(): JsonValue {
    const txs = [...this.held().txs.values()];
    const bytes = txs.reduce((sum, { raw }) => sum + raw.length, 0);
    return { maxCapacity: { bytes: PENDING_BYTES_MAX }, currentSize: { bytes }, transactions: { count: txs.length } };
  }

  private release(): JsonValue {
    this.held();
    this.acquired = null;
    return { released: 'mempool' };
  }

  /** Throws USAGE. */
  private held(): MempoolLook {
    if (this.acquired === null)
      throw new UnspentError('USAGE', 'the mempool must be acquired before it is looked at', { mustAcquireMempool: true });
    return this.acquired;
  }
}

function isSame(a: MempoolLook, b: MempoolLook): boolean {
  return a.slot === b.slot && a.txs.size === b.txs.size && [...a.txs.keys()].every((id) => b.txs.has(id));
}
