/**
 * The server in a thread of its own, seen from the thread of the fold: so that
 * neither starves the other (DESIGN decision 12). The two share the open
 * database and send each other plain data. The thread ends before the engine
 * does; whoever owns the engine closes last.
 */
import { Worker } from 'node:worker_threads';
import type { Config } from '../config/schema.ts';
import type { ColumnSpec } from '../engine/engine.ts';
import type { CardanoNetwork } from '../ledgers/cardano/index.ts';
import { type ErrorCode, UnspentError } from '../util/errors.ts';
import type { LiveStatus, LiveUpdate } from './live.ts';

/** What the thread is given. Only what can be sent: a ledger is made anew over there. */
export interface ThreadData {
  readonly handle: bigint;
  readonly columns: readonly ColumnSpec[];
  readonly network: { readonly name: string; readonly parameters: CardanoNetwork };
  readonly config: Config;
  readonly projections: readonly string[];
  readonly status: LiveStatus;
}

/** To the thread. */
export type Order = { readonly kind: 'update'; readonly update: LiveUpdate } | { readonly kind: 'close' };

/** From the thread. */
export type Report =
  | { readonly kind: 'listening'; readonly url: string }
  | {
      readonly kind: 'failed';
      readonly code: ErrorCode | null;
      readonly message: string;
      readonly meta: Readonly<Record<string, unknown>>;
    };

export class ServerThread {
  /** Resolves when the server listens. */
  readonly url: Promise<string>;
  /** Resolves when the thread has ended as it was told to; rejects when it ended by itself. */
  readonly ended: Promise<void>;
  private readonly worker: Worker;
  private closing = false;

  constructor(data: ThreadData) {
    // The same file as it stands beside this one: a source in a checkout, compiled in a package.
    const file = import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js';
    this.worker = new Worker(new URL(file, import.meta.url), { workerData: data, name: 'unspent http' });
    let failure: Error | null = null;
    this.ended = new Promise((resolve, reject) => {
      this.worker.once('error', (error) => {
        failure = error instanceof Error ? error : new Error(String(error));
      });
      this.worker.once('exit', () =>
        this.closing && failure === null ? resolve() : reject(failure ?? new Error('the server thread ended')),
      );
    });
    this.url = new Promise((resolve, reject) => {
      this.worker.on('message', (report: Report) => {
        if (report.kind === 'listening') resolve(report.url);
        else {
          failure = errorOf(report);
          reject(failure);
        }
      });
      this.ended.catch(reject);
    });
  }

  tell(update: LiveUpdate): void {
    this.order({ kind: 'update', update });
  }

  /** Resolves when nobody over there holds on to the engine any more. */
  async close(): Promise<void> {
    if (!this.closing) {
      this.closing = true;
      this.order({ kind: 'close' });
    }
    // Whether as told or not, it has ended; why is for those who wait for `ended`.
    await this.ended.catch(() => {});
  }

  private order(order: Order): void {
    this.worker.postMessage(order);
  }
}

function errorOf({ code, message, meta }: Extract<Report, { kind: 'failed' }>): Error {
  return code === null ? new Error(message) : new UnspentError(code, message, meta);
}
