/**
 * What the thread that answers requests and the thread that asks the database
 * say to each other.
 */
import type { Failure } from '../../util/failure.ts';
import type { CopyHead, RemoteRange, RemoteSize } from './contract.ts';

/** Rows that somebody wants. Keys are packed (`pack.ts`). */
export type Want =
  | { readonly kind: 'keys'; readonly column: string; readonly keys: Uint8Array }
  | { readonly kind: 'scan'; readonly column: string; readonly range: RemoteRange };

/** What the thread is given. */
export interface CopyThreadData {
  readonly url: string;
  readonly port: import('node:worker_threads').MessagePort;
  /** One number that grows with each message to the other side, for whoever sleeps until one comes. */
  readonly bell: SharedArrayBuffer;
}

/** To the thread that asks the database. */
export type CopyOrder =
  | { readonly kind: 'fetch'; readonly id: number; readonly pin: number; readonly wants: readonly Want[] }
  | { readonly kind: 'release'; readonly pin: number }
  | { readonly kind: 'close' };

/** From it. */
export type CopyReport =
  /** A newer change can be read under this number. */
  | { readonly kind: 'pinned'; readonly pin: number; readonly head: CopyHead; readonly identity: string }
  /** In the order of what was wanted: values or rows, packed. */
  | { readonly kind: 'found'; readonly id: number; readonly found: readonly Uint8Array<ArrayBuffer>[] }
  | { readonly kind: 'missed'; readonly id: number; readonly failure: Failure }
  | { readonly kind: 'state'; readonly state: CopyState }
  | { readonly kind: 'failed'; readonly failure: Failure }
  | { readonly kind: 'closed' };

/** How the database is doing, as of the last look. */
export interface CopyState {
  readonly name: string;
  /** Null: it answers. */
  readonly failure: string | null;
  /** The newest published change that is known. */
  readonly newest: CopyHead | null;
  readonly statements: number;
  /** Moments that are held in the database. */
  readonly pins: number;
  readonly sizes: Readonly<Record<string, RemoteSize>>;
}
