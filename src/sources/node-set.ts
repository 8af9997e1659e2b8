/**
 * The unspent set as a node has it, handed over as a whole instead of block by
 * block: a file that the node wrote, or its answer to one question. It names the
 * block it is of by that block's header, and gives the outputs in the order of
 * their outpoints, a stretch at a time, so that memory is bounded.
 *
 * A node does not keep where in its block a transaction stood, and Cardano's not
 * even which block made an output: `lacks` says which.
 */

/** An unspent output: its outpoint key at `keyAt`, its bytes as they stand in a block at `start..end`. */
export interface NodeOutput {
  readonly bytes: Uint8Array;
  readonly keyAt: number;
  readonly start: number;
  readonly end: number;
  /** Of the block that made it; null: the node does not say. */
  readonly height: number | null;
  /** The ledger's own bits. */
  readonly flags: number;
}

export interface NodeSet {
  /** For messages. */
  readonly name: string;
  /** Of the block it is of, and the era to read it in. */
  readonly header: Uint8Array;
  readonly era: number;
  /** The height of that block, where a node said it; null: the newest output is of it. */
  readonly height: number | null;
  /** How many outputs there are; null: that is known at the end. */
  readonly count: number | null;
  /** What the set has to hash to (`SetHash`), where somebody said so. */
  readonly setHash: string | null;
  /** What is not told of an output: its place in its block, or the block as well. */
  readonly lacks: 'place' | 'block';
  /** Ends when all of it was read and found whole. Throws SNAPSHOT_INVALID, and what reading throws. */
  batches(signal: AbortSignal | undefined): AsyncGenerator<readonly NodeOutput[], void, undefined>;
  close(): Promise<void>;
}

/** What somebody trusted says of the set. */
export interface NodeSetOptions {
  /** A node that is asked about the block and the hash of its set. */
  readonly node?: string | undefined;
  /** The header of the block, in hex, where no node is asked. */
  readonly header?: string | undefined;
  /** `hash_serialized_2` or `hash_serialized_3` as a node computes it, in hex. */
  readonly hashSerialized?: string | undefined;
  /** What the set hashes to (`SetHash`), in hex. */
  readonly setHash?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}
