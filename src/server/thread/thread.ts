/**
 * The server in a thread of its own, seen from the thread of the fold: so that
 * neither starves the other (DESIGN decision 12). The two share the open
 * database and send each other plain data. The thread ends before the engine
 * does; whoever owns the engine closes last.
 */

import { Worker } from 'node:worker_threads';
import type { Config } from '../../config/schema.ts';
import type { ColumnSpec } from '../../engine/engine.ts';
import type { EngineHandle } from '../../engine/open.ts';
import type { Network } from '../../families/family.ts';
import type { MempoolChange } from '../../ledgers/mempool-change.ts';
import { errorOf, type Failure, failureOf } from '../../util/failure.ts';
import type { LogLevel, LogLine } from '../../util/log.ts';
import type { ThreadPlace } from '../http/shared-port.ts';
import { type PackedChanges, packChanges } from '../mempool/pack.ts';
import type { PortsByShape } from '../shapes.ts';
import { NO_FIGURES, type ThreadFigures } from './figures.ts';
import type { Listening } from './host.ts';
import type { LiveStatus, LiveUpdate } from './live.ts';
import type { FollowedNode } from './node-link.ts';
import type { NodeAnswer, NodeQuestion } from './thread-node.ts';

/** What the thread is given. Only what can be sent: a ledger is made anew over there. */
export interface ThreadData {
  readonly handle: EngineHandle;
  readonly columns: readonly ColumnSpec[];
  readonly network: { readonly name: string; readonly parameters: Network['parameters'] };
  readonly config: Config;
  readonly projections: readonly string[];
  readonly status: LiveStatus;
  readonly ports: PortsByShape;
  /** Absent: it serves alone. */
  readonly place?: ThreadPlace;
}

/** To the thread. */
export type Order =
  | { readonly kind: 'update'; readonly update: LiveUpdate }
  | { readonly kind: 'mempool'; readonly packed: PackedChanges }
  /** The answer to the question of that number. */
  | { readonly kind: 'answered'; readonly number: number; readonly answer: NodeAnswer }
  /** What it counts is asked for, under that number. */
  | { readonly kind: 'tellFigures'; readonly number: number }
  /** What the others count: the answer to its own question of that number. */
  | { readonly kind: 'othersFigures'; readonly number: number; readonly figures: readonly ThreadFigures[] }
  | { readonly kind: 'close' };

/** From the thread. */
export type Report =
  | { readonly kind: 'listening'; readonly listening: Listening }
  /** The changes of the mempool sent last are taken in. */
  | { readonly kind: 'taken' }
  /** For the node that is followed. */
  | { readonly kind: 'ask'; readonly number: number; readonly question: NodeQuestion }
  | { readonly kind: 'figures'; readonly number: number; readonly figures: ThreadFigures }
  | { readonly kind: 'askFigures'; readonly number: number }
  | { readonly kind: 'log'; readonly text: string; readonly level: LogLevel | undefined; readonly event: string | undefined }
  | { readonly kind: 'failed'; readonly failure: Failure };

export class ServerThread {
  /** Resolves when the server listens. */
  readonly listening: Promise<Listening>;
  /** Resolves when the thread has ended as it was told to; rejects when it ended by itself. */
  readonly ended: Promise<void>;
  private readonly worker: Worker;
  private readonly node: FollowedNode;
  private closing = false;
  private onTaken: (() => void) | null = null;
  private readonly others: () => Promise<readonly ThreadFigures[]>;
  private readonly asked = new Map<number, (figures: ThreadFigures) => void>();
  private lastAsked = 0;

  /** `node`: the one that is followed here, for what readers over there ask and submit. `others`: what the threads beside it count. */
  constructor(data: ThreadData, node: FollowedNode, log: LogLine, others: () => Promise<readonly ThreadFigures[]> = async () => []) {
    this.node = node;
    this.others = others;
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
    this.listening = new Promise((resolve, reject) => {
      this.worker.on('message', (report: Report) => {
        if (report.kind === 'listening') resolve(report.listening);
        else if (report.kind === 'taken') this.onTaken?.();
        else if (report.kind === 'log') log(report.text, report.level, report.event);
        else if (report.kind === 'figures') this.told(report.number, report.figures);
        else if (report.kind === 'askFigures') void this.tellOthers(report.number);
        else if (report.kind === 'ask') void this.answer(report.number, report.question);
        else {
          failure = errorOf(report.failure);
          reject(failure);
        }
      });
      this.ended.catch(reject);
    });
  }

  tell(update: LiveUpdate): void {
    this.order({ kind: 'update', update });
  }

  /** Resolves when they are taken in. One call at a time. */
  change(changes: readonly MempoolChange[]): Promise<void> {
    const packed = packChanges(changes);
    this.worker.postMessage({ kind: 'mempool', packed } satisfies Order, [packed.bytes.buffer]);
    return new Promise((resolve) => {
      this.onTaken = resolve;
    });
  }

  /** What it counts; nothing once it is ending. */
  figures(): Promise<ThreadFigures> {
    const number = ++this.lastAsked;
    return new Promise((resolve) => {
      if (this.closing) return resolve(NO_FIGURES);
      this.asked.set(number, resolve);
      this.ended.then(
        () => this.told(number, NO_FIGURES),
        () => this.told(number, NO_FIGURES),
      );
      this.order({ kind: 'tellFigures', number });
    });
  }

  private told(number: number, figures: ThreadFigures): void {
    const resolve = this.asked.get(number);
    this.asked.delete(number);
    resolve?.(figures);
  }

  private async tellOthers(number: number): Promise<void> {
    this.order({ kind: 'othersFigures', number, figures: await this.others() });
  }

  /** Resolves when the other thread has closed its engine. */
  async close(): Promise<void> {
    if (!this.closing) {
      this.closing = true;
      this.order({ kind: 'close' });
    }
    // Whether as told or not, it has ended; why is for those who wait for `ended`.
    await this.ended.catch(() => {});
  }

  private async answer(number: number, question: NodeQuestion): Promise<void> {
    const asked = question.about === 'submit' ? this.node.submit(question.raw) : this.node.ledger(question.question);
    const answer = await asked.then(
      (value): NodeAnswer => ({ value }),
      (error): NodeAnswer => ({ failure: failureOf(error) }),
    );
    this.order({ kind: 'answered', number, answer });
  }

  private order(order: Order): void {
    this.worker.postMessage(order);
  }
}
