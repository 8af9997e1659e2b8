/** What the thread of the fold and the thread that writes tell each other. */

import type { MessagePort } from 'node:worker_threads';
import type { Failure } from '../../../util/failure.ts';
import type { ColumnSpec } from '../../engine.ts';
import type { RocksHandle } from '../rocks.ts';

/** What the thread is given. */
export interface WriterThreadData {
  readonly handle: RocksHandle;
  readonly columns: readonly ColumnSpec[];
  /** Numbers by `CONTROL`. */
  readonly control: SharedArrayBuffer;
  readonly port: MessagePort;
}

/** Places in the numbers that both threads see and wait for. */
export const CONTROL = { state: 0, landed: 1, numbers: 2 } as const;

/** Of the thread, in `CONTROL.state`. */
export const THREAD = { starting: 0, ready: 1, ended: 2 } as const;

/** A slab of a batch. `shared`: only the first time. */
export interface SentSlab {
  readonly id: number;
  readonly used: number;
  readonly shared?: SharedArrayBuffer;
}

/** To the thread. */
export type WriterOrder =
  | { readonly kind: 'write'; readonly slabs: readonly SentSlab[]; readonly fsync: boolean; readonly generation: number }
  | { readonly kind: 'forget'; readonly ids: readonly number[] }
  | { readonly kind: 'close' };

/** From the thread: what became of the oldest batch that it has not told of yet. */
export interface WriterReport {
  readonly failure: Failure | null;
}
