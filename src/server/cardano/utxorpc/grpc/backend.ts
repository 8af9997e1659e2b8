/**
 * What the services share: the store, the node behind it, and how a request
 * takes its turn. A read is of one block, the newest there is when its turn
 * comes; streams are bounded in number.
 */
import type { Lease } from '../../../../events/shared-snapshots.ts';
import { needCardano } from '../../../../families/cardano.ts';
import { type CardanoNetwork, slotToTime } from '../../../../ledgers/cardano/index.ts';
import type { OutputTraits } from '../../../../ledgers/ledger.ts';
import type { Query } from '../../../../query/query.ts';
import { UnspentError } from '../../../../util/errors.ts';
import { HTTP_STALLED_MS, UTXORPC_BYTES_OF_RAW } from '../../../../util/limits.ts';
import type { ServerContext } from '../../../context.ts';
import type { Task } from '../../../http/work/task.ts';
import type { TxEvaluation } from '../../evaluation/tx-evaluation.ts';
import { type CallContext, callOf } from './calls.ts';

/** What a server of UTxO RPC is made of. */
export interface UtxoRpcParts {
  readonly context: ServerContext;
  readonly evaluation: TxEvaluation;
  readonly log: (line: string) => void;
}

/** A block, as UTxO RPC names it. */
export interface UtxoRpcPoint {
  readonly slot: bigint;
  readonly hash: Uint8Array;
  readonly height: bigint;
  /** In milliseconds. */
  readonly timestamp: bigint;
}

export class UtxoRpcBackend {
  readonly context: ServerContext;
  readonly evaluation: TxEvaluation;
  readonly network: CardanoNetwork;
  readonly traits: OutputTraits;
  private readonly running = new Set<Promise<unknown>>();
  private readonly stalledMs: number;
  private streams = 0;

  /** `stalledMs`: how long the client of a stream may take nothing. */
  constructor({ context, evaluation }: Pick<UtxoRpcParts, 'context' | 'evaluation'>, stalledMs = HTTP_STALLED_MS) {
    const { parameters, ledger } = needCardano(context.network, 'UTxO RPC');
    if (ledger.traits === null) throw new UnspentError('UNSUPPORTED', 'outputs of this chain have no assets');
    this.context = context;
    this.evaluation = evaluation;
    this.stalledMs = stalledMs;
    this.network = parameters;
    this.traits = ledger.traits;
  }

  /** Reads at the newest block when it is the turn of the call, until its client is gone, and only reads: the answer is what comes of it. Throws BUSY. */
  read<T>(context: CallContext, body: (query: Query, task: Task) => T | Promise<T>): Promise<T> {
    return this.tracked(this.inTurn(context, body));
  }

  private async inTurn<T>(context: CallContext, body: (query: Query, task: Task) => T | Promise<T>): Promise<T> {
    const { workload, reads } = this.context;
    if (workload.refusal !== null) throw workload.refusal;
    const task = workload.task(() => context.signal.aborted);
    const call = callOf(context);
    let lease: Lease | null = null;
    try {
      return await task.run(() => {
        const held = reads.lease();
        lease = held;
        return reads.attempt(() => body(held.query, task), task) as T | Promise<T>;
      });
    } finally {
      (lease as Lease | null)?.release();
      task.done();
      if (call === null) task.end();
      else call.send(task);
    }
  }

  /** A part of a stream, when it is its turn. Never refused: how many streams there are is bounded. */
  async step<T>(signal: AbortSignal, body: () => T): Promise<T> {
    const task = this.context.workload.ownTask(() => signal.aborted);
    try {
      return await task.run(body);
    } finally {
      task.end();
    }
  }

  /** The same, of the newest block. */
  stepAtTip<T>(signal: AbortSignal, body: (query: Query) => T): Promise<T> {
    return this.step(signal, () => {
      const lease = this.context.reads.lease();
      try {
        return body(lease.query);
      } finally {
        lease.release();
      }
    });
  }

  /**
   * Counts the stream among the open ones until its source has ended, which is when it is over, when its client is gone
   * (`signal`), or when the client takes nothing for so long that what the source holds would be held for nothing. Throws
   * BUSY, EXPIRED.
   */
  async *stream<T>(source: AsyncGenerator<T, void, void>, signal: AbortSignal): AsyncGenerator<T, void, void> {
    const { streamsMax } = this.context.config.server;
    if (this.streams >= streamsMax) throw new UnspentError('BUSY', `${streamsMax} streams are open already`, { limit: streamsMax });
    const end = this.opened(source);
    let isStalled = false;
    const stall = (): void => {
      isStalled = true;
      end();
    };
    signal.addEventListener('abort', end);
    try {
      for (let next = await source.next(); next.done !== true; next = await source.next()) {
        const timer = setTimeout(stall, this.stalledMs).unref();
        try {
          yield next.value;
        } finally {
          clearTimeout(timer);
        }
        if (isStalled) throw new UnspentError('EXPIRED', `the client took nothing for ${this.stalledMs} ms`);
      }
    } finally {
      signal.removeEventListener('abort', end);
      end();
    }
  }

  /** Counts a source until it has ended; what is given ends it, also where nobody asks it for more. */
  private opened(source: AsyncGenerator<unknown, void, void>): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.tracked(promise);
    this.streams++;
    let isEnding = false;
    return () => {
      if (isEnding) return;
      isEnding = true;
      source.return(undefined).finally(() => {
        this.streams--;
        resolve();
      });
    };
  }

  /** Resolves when nothing of it reads any more. */
  async settled(): Promise<void> {
    while (this.running.size > 0) await Promise.allSettled([...this.running]);
  }

  /** Null: the store has no block. */
  tip({ head }: Query): UtxoRpcPoint | null {
    return head === null ? null : this.point(head);
  }

  point({ slot, hash, height }: { readonly slot: number; readonly hash: Uint8Array; readonly height: number }): UtxoRpcPoint {
    return { slot: BigInt(slot), hash, height: BigInt(height), timestamp: this.timestamp(slot) };
  }

  timestamp(slot: number): bigint {
    return timestampOf(this.network, slot);
  }

  private tracked<T>(work: Promise<T>): Promise<T> {
    const held = work.finally(() => this.running.delete(held));
    this.running.add(held);
    return held;
  }
}

/** A part of an answer was made of so many bytes of the chain: its message has them, and each field of theirs once more as a value. Throws BUSY. */
export function holdMessage(task: Task, rawBytes: number): void {
  task.hold(UTXORPC_BYTES_OF_RAW * rawBytes);
}

/** When a slot begins, in milliseconds. */
export function timestampOf(network: CardanoNetwork, slot: number): bigint {
  return BigInt(Math.round(1000 * slotToTime(network, slot)));
}
