/**
 * A command of another process, run in a thread of this one, which has the store
 * open: it reads the open database at one block (`attached-store.ts`), so the
 * fold does not wait for it. What it changes it asks of this thread
 * (`changes.ts`). What it writes it sends here, and waits while too much of it
 * has not been read yet.
 */
import { Worker } from 'node:worker_threads';
import type { Config } from '../../config/schema.ts';
import type { ColumnSpec } from '../../engine/engine.ts';
import type { EngineHandle } from '../../engine/open.ts';
import { type PinnedFiles, releaseFiles } from '../../engine/pinned-files.ts';
import type { Network } from '../../families/family.ts';
import type { Point } from '../../ledgers/ledger.ts';
import type { FoldOptions } from '../../state/fold.ts';
import { type Failure, failureOf } from '../../util/failure.ts';
import { PIN_HOLD_MS } from '../../util/limits.ts';
import type { Publishing } from '../publishing.ts';
import type { OpenStore } from '../store.ts';
import { changesOf, type PinnedBlock, pinBlock, type StoreChanges } from './changes.ts';
import type { CommandOutput, CommandRequest } from './protocol.ts';
import { ThreadFlow } from './thread-flow.ts';

/** What a thread needs to read a store that is open in this process. Only what can be sent: a ledger is made anew over there. */
export interface StoreParcel {
  readonly handle: EngineHandle;
  readonly columns: readonly ColumnSpec[];
  readonly data: string;
  readonly network: { readonly name: string; readonly parameters: Network['parameters'] };
  readonly config: Config;
  readonly projections: readonly string[];
  readonly fold: FoldOptions;
  /** As it was when the command came. */
  readonly publishing: Publishing | null;
}

export interface CommandThreadData {
  readonly store: StoreParcel;
  readonly request: CommandRequest;
  /** Where the store is served; null: nowhere. */
  readonly url: string | null;
  /** The memory of the `ThreadFlow`. */
  readonly flow: SharedArrayBuffer;
}

/** From the thread. */
export type CommandReport =
  | { readonly kind: 'output'; readonly output: CommandOutput }
  /** One at a time. */
  | { readonly kind: 'rollback'; readonly to: Point | null }
  | { readonly kind: 'prune' }
  /** `hold`: the fold waits until it is 1, because whoever asked then reads the same block. */
  | { readonly kind: 'pin'; readonly hold: SharedArrayBuffer };

/** To the thread. */
export type CommandOrder =
  | { readonly kind: 'changed'; readonly result: Awaited<ReturnType<StoreChanges['rollback'] | StoreChanges['prune']>> | PinnedBlock }
  | { readonly kind: 'refused'; readonly failure: Failure }
  | { readonly kind: 'stop' };

/** `write` calls back when what it was given is on its way. */
export type OutputWriter = (output: CommandOutput, sent: () => void) => void;

export class CommandThread {
  /** Resolves when the thread has ended and reads nothing any more. */
  readonly ended: Promise<void>;
  private readonly worker: Worker;
  private readonly flow = new ThreadFlow(new SharedArrayBuffer(ThreadFlow.BYTES));
  private readonly changes: StoreChanges;
  private readonly store: OpenStore;
  private readonly pins: PinnedFiles[] = [];
  /** Said when the thread is gone: whoever hears it may rely on its place being free, and on nothing reading the store. */
  private lastWord: CommandOutput = { failure: { code: null, message: 'the thread of the command ended', meta: {} } };

  constructor(store: OpenStore, parcel: StoreParcel, request: CommandRequest, write: OutputWriter) {
    this.store = store;
    this.changes = changesOf(store);
    // Commands belong to the command line, which nobody imports: the thread begins there.
    const file = import.meta.url.endsWith('.ts') ? '../../cli/held/worker.ts' : '../../cli/held/worker.js';
    const workerData: CommandThreadData = { store: parcel, request, url: servedAt(store), flow: this.flow.memory };
    this.worker = new Worker(new URL(file, import.meta.url), { workerData, name: 'unspent command' });
    this.worker.unref();
    this.worker.on('message', (report: CommandReport) => {
      if (report.kind !== 'output') void this.change(report);
      else if ('exit' in report.output || 'failure' in report.output) this.lastWord = report.output;
      else write(report.output, () => this.flow.sent(report.output));
    });
    this.ended = new Promise((resolve) => {
      this.worker.once('error', (error) => {
        this.lastWord = { failure: failureOf(error) };
      });
      this.worker.once('exit', () => {
        // It has released them itself, unless it was ended.
        for (const pin of this.pins) releaseFiles(pin);
        resolve();
        write(this.lastWord, () => {});
      });
    });
  }

  /** From now on it keeps the process alive, which it does not by itself. */
  ref(): void {
    this.worker.ref();
  }

  /** The command ends where it next looks whether it should. */
  stop(): void {
    this.flow.stop();
    this.order({ kind: 'stop' });
  }

  private async change(report: Exclude<CommandReport, { kind: 'output' }>): Promise<void> {
    try {
      if (report.kind === 'pin') {
        this.pin(new Int32Array(report.hold));
        return;
      }
      const result = report.kind === 'prune' ? await this.changes.prune() : await this.changes.rollback(report.to);
      this.order({ kind: 'changed', result });
    } catch (error) {
      this.order({ kind: 'refused', failure: failureOf(error) });
    }
  }

  private pin(hold: Int32Array): void {
    const result = pinBlock(this.store);
    if (result.files !== null) this.pins.push(result.files);
    this.order({ kind: 'changed', result });
    Atomics.wait(hold, 0, 0, PIN_HOLD_MS);
  }

  private order(order: CommandOrder): void {
    this.worker.postMessage(order);
  }
}

/** Null: nowhere. */
export function servedAt({ readers }: OpenStore): string | null {
  return [...readers].find((reader) => reader.url !== undefined)?.url ?? null;
}
