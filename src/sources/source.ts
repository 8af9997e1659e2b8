/**
 * The source contract: where blocks come from. A source hands over raw bytes
 * and never looks at the state; the follower decides what they mean.
 *
 * Events come in runs, as many as are at hand, because awaiting each of ninety
 * thousand blocks a second would cost more than decoding them.
 */
import type { Block, Point } from '../ledgers/ledger.ts';
import type { MempoolChange } from '../ledgers/mempool-change.ts';

export type { MempoolChange } from '../ledgers/mempool-change.ts';

/** What a source hands over: the next block, or that the blocks behind a point are void. */
export type ChainEvent =
  /** `intact`: the source has already checked these bytes against a checksum or hash of the whole block. */
  | {
      readonly kind: 'forward';
      readonly raw: Uint8Array;
      readonly intact: boolean;
      /** Where it stands, where the source knows and the block may not say. */
      readonly height?: number;
      /** The same bytes decoded, where checking them took that anyway. */
      readonly block?: Block;
    }
  /** Go back to `point` (null: the origin), then forward from there. */
  | { readonly kind: 'back'; readonly point: Point | null };

/** The newest block a source knows of. */
export interface SourceTip {
  /** Its slot; of the Bitcoin family, its height. */
  readonly slot: number;
  /** Its height, where the source knows it. */
  readonly height?: number;
}

/** Some events that were at hand together. */
export interface Run {
  /** In the order of the chain. */
  readonly events: readonly ChainEvent[];
  /** The newest point the source knows of, where it knows. */
  readonly tip?: SourceTip;
  /** True when the source has nothing further right now: we are at its tip. */
  readonly atTip: boolean;
}

/** The reader's own chain. */
export interface OwnChain {
  /** From the tip, exponentially older, down to the oldest point it can go back to. */
  recentPoints(): readonly Point[];
  /** The block of that hash, if it is on the chain. */
  pointOf(hash: Uint8Array): Point | null;
  /** The lowest height it can go back to; null: the origin. */
  readonly horizonHeight: number | null;
  /** Its blocks from that height up, each with what its ledger wanted kept of it. */
  blocksFrom(height: number): Iterable<Point & { readonly extra: Uint8Array }>;
}

/** From where a source is followed, and for how long. */
export interface FollowOptions {
  /** Points we have, newest first; the source continues after the first one it knows. Empty: from its first block. */
  readonly from: readonly Point[];
  /** For what `from` cannot say later on: where we are by then, and whether a block is ours. */
  readonly chain?: OwnChain;
  /** Aborting it ends the runs. */
  readonly signal: AbortSignal;
  /** Keep waiting for new blocks at the tip; otherwise end there. */
  readonly follow: boolean;
}

/** The transactions a node knows that are in no block yet, for as long as the source is followed. */
export interface MempoolFeed {
  /** Told what is there and then each change. Returns how to stop. */
  watch(listener: (change: MempoolChange) => void): () => void;
  /** Hands a transaction to the node; its id. Throws TX_REFUSED with the node's own words, SOURCE_UNREACHABLE. */
  submit(raw: Uint8Array): Promise<Uint8Array>;
}

/** What a node says of its ledger at its newest block, in CBOR as it says it, to be sent on as it is. Only Cardano's nodes are asked. */
export interface LedgerAnswers {
  /** The protocol parameters; their shape is that of the Conway era. */
  readonly parameters: Uint8Array;
  /** When the chain began. */
  readonly systemStart: Uint8Array;
  /** The eras up to now, with the lengths of their slots and epochs. */
  readonly eraHistory: Uint8Array;
  /** Where accounts were asked about: their pools and rewards, whom they vote by, and their deposits. */
  readonly accounts?: { readonly rewards: Uint8Array; readonly votes: Uint8Array; readonly deposits: Uint8Array };
  /** Where the pots were asked about: treasury and reserves. */
  readonly pots?: Uint8Array;
}

/** What a node is asked besides its parameters and its clock, at the same block. */
export interface LedgerQuestion {
  /** Stake accounts, by their reward addresses. */
  readonly accounts?: readonly Uint8Array[];
  /** True: what treasury and reserves hold. */
  readonly pots?: boolean;
}

/** The ledger of a node, for as long as the source is followed. */
export interface LedgerFeed {
  /** Throws UNSUPPORTED before the Conway era, SOURCE_UNREACHABLE, PROTOCOL. */
  answers(question?: LedgerQuestion): Promise<LedgerAnswers>;
  /** Hands a transaction to the node; its id. Throws USAGE, TX_REFUSED with the ledger's reason, SOURCE_UNREACHABLE, PROTOCOL. */
  submit(raw: Uint8Array): Promise<Uint8Array>;
}

/** The texts of a chain's genesis files. Only Cardano has such: what a chain of the Bitcoin family begins with is built in. */
export interface GenesisTexts {
  /** The Byron genesis. */
  readonly byron: string;
  /** The Shelley genesis. */
  readonly shelley: string;
}

/** Where blocks come from. Write one to feed a store from anything that has blocks. */
export interface Source {
  /** The URL it was made from, for messages. */
  readonly name: string;
  /** The text of the genesis files of the chain it serves, where it makes that chain itself. */
  readonly genesis?: GenesisTexts;
  /**
   * True: its blocks are settled and it never goes back. It may lag behind us,
   * and then hands over blocks we have; where one of its blocks has another
   * parent than our tip, our tip was the branch that lost.
   */
  readonly final?: boolean;
  /** Where the source is a node that shows its mempool. */
  readonly mempool?: MempoolFeed;
  /** Where the source is a node that answers about its ledger. */
  readonly ledger?: LedgerFeed;
  /** The blocks behind what the reader has, in order. Ends at the tip, unless it is to be followed. */
  runs(options: FollowOptions): AsyncIterable<Run>;
}
