/**
 * What checks a projection against the unspent set. `verify` walks the set once
 * and tells every output to every check; a projection brings its own check in
 * its entry (`entry.ts`), and learns here all that a check may need.
 */
import type { Reader } from '../engine/engine.ts';
import type { Ledger } from '../ledgers/ledger.ts';
import type { ChainRow } from './chain.ts';
import type { Coin } from './coin.ts';

/** What a projection remembers of a block that can be undone. */
export interface StoredUndo {
  /** Of the block's row in the delta column. */
  readonly key: Uint8Array;
  /** What the projection returned for the block; undefined: nothing. */
  readonly undo: Uint8Array | undefined;
  /** Whether the outputs that the block spent are still kept somewhere. */
  readonly keepsSpent: boolean;
}

/** What a check of a projection's rows may need. */
export interface Inspection {
  /** The store, at the block that is checked. */
  readonly reader: Reader;
  /** The ledger of its network. */
  readonly ledger: Ledger;
  /** The block a snapshot began the store with: what is older is not there to be compared with. Null: none did. */
  readonly base: ChainRow | null;
  /** Inputs that were never resolved, because the store began in the middle of the chain. */
  readonly missingInputs: number;
  /** Unspent outputs found so far; when a check finishes, all of them. */
  readonly utxos: number;
  /** Outpoints in hex whose output does not decode; told once, and not asked what they cannot answer. */
  readonly unreadable: ReadonlySet<string>;
  /** What the projection of that name remembers of each block that can be undone, oldest first. */
  undos(projection: string): Iterable<StoredUndo>;
  /** Tells of a row that is not what it should be. */
  fault(column: string, key: Uint8Array, what: string): void;
  /** Tells how far the check is. */
  progress(what: string, rows: number): void;
}

/** The check of one projection's rows. */
export interface ProjectionCheck {
  /** The rows it counts, by which the result names them. */
  readonly column: string;
  /** Told every unspent output once, in portions. */
  expect(rows: readonly Coin[]): void;
  /** When all were told: what is there besides. Returns the number of rows. */
  finish(): number;
}
