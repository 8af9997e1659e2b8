/**
 * The mempool as text for one reader: first all that is there, then what the
 * node tells. It is made when the reader takes it, so a slow one waits for
 * nobody else; one that falls too far behind is ended, and begins anew.
 */
import { formatId } from '../../../ledgers/bitcoin/index.ts';
import type { MempoolChange } from '../../../ledgers/mempool-change.ts';
import type { Mempool } from '../../../query/bitcoin/mempool/mempool.ts';
import { toHex } from '../../../util/bytes.ts';
import {
  EVENT_CHARS_MAX,
  EVENT_HEARTBEAT_MS,
  EVENT_RETRY_MS,
  MEMPOOL_STREAM_BYTES_MAX,
  MEMPOOL_UPDATE_BYTES_MAX,
} from '../../../util/limits.ts';

export async function* mempoolFrames(mempool: Mempool, signal: AbortSignal): AsyncGenerator<string, void, undefined> {
  const news = new MempoolNews(mempool, signal);
  try {
    yield `retry: ${EVENT_RETRY_MS}\n\n`;
    // What comes while these are sent is told behind them.
    const wasKnown = mempool.isKnown;
    if (wasKnown) {
      yield* addFrames([...mempool.all()].map(({ raw }) => raw));
      yield frame('complete', {});
    }
    let isTold = wasKnown;
    while (!news.isOver) {
      const changes = news.take();
      // Whatever the reader had from a server before us is void.
      if (!isTold && changes.length > 0) yield frame('reset', {});
      isTold ||= changes.length > 0;
      for (const change of changes) yield* changeFrames(change);
      if (changes.length === 0 && !(await news.come())) yield ': heartbeat\n\n';
    }
  } finally {
    news.close();
  }
}

/** What the node has told since the reader took it last. */
class MempoolNews {
  private readonly signal: AbortSignal;
  private readonly stop: () => void;
  private readonly wakeOnAbort = (): void => this.wake();
  private changes: MempoolChange[] = [];
  private bytes = 0;
  private wake: () => void = () => {};

  constructor(mempool: Mempool, signal: AbortSignal) {
    this.signal = signal;
    this.stop = mempool.onTold((changes) => {
      this.changes.push(...changes);
      for (const change of changes) this.bytes += sizeOf(change);
      this.wake();
    });
    signal.addEventListener('abort', this.wakeOnAbort);
  }

  /** The reader has left, or is too far behind. */
  get isOver(): boolean {
    return this.signal.aborted || this.bytes > MEMPOOL_STREAM_BYTES_MAX;
  }

  take(): readonly MempoolChange[] {
    const { changes } = this;
    this.changes = [];
    this.bytes = 0;
    return changes;
  }

  /** False: nothing has come for as long as a reader may be left in silence. */
  come(): Promise<boolean> {
    if (this.isOver || this.changes.length > 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), EVENT_HEARTBEAT_MS).unref();
      this.wake = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }

  close(): void {
    this.stop();
    this.signal.removeEventListener('abort', this.wakeOnAbort);
  }
}

function* changeFrames(change: MempoolChange): Generator<string, void, undefined> {
  if (change.kind === 'reset') yield frame('reset', {});
  else if (change.kind === 'add') yield* addFrames(change.txs);
  else yield frame('remove', { txids: change.ids.map(formatId) });
}

/** More than an event has besides its transactions. */
const FRAME_CHARS = 64;

/** Runs of a bounded size. A transaction that is longer than readers take an event to be comes with its block. */
function* addFrames(txs: readonly Uint8Array[]): Generator<string, void, undefined> {
  let [run, bytes]: [string[], number] = [[], 0];
  for (const raw of txs) {
    if (2 * raw.length + FRAME_CHARS > EVENT_CHARS_MAX) continue;
    if (run.length > 0 && bytes + raw.length > MEMPOOL_UPDATE_BYTES_MAX) {
      yield frame('add', { transactions: run });
      [run, bytes] = [[], 0];
    }
    run.push(toHex(raw));
    bytes += raw.length;
  }
  if (run.length > 0) yield frame('add', { transactions: run });
}

function frame(name: 'add' | 'remove' | 'complete' | 'reset', data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

function sizeOf(change: MempoolChange): number {
  if (change.kind === 'reset') return 0;
  const parts = change.kind === 'add' ? change.txs : change.ids;
  return parts.reduce((sum, part) => sum + part.length, 0);
}
