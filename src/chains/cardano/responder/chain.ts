/**
 * What a chain must offer to be served: a tip, readers that walk it and are
 * told when it turns, ranges of whole blocks, and, where it knows more than its
 * blocks, a view of its ledger and a mempool. The protocols know nothing else
 * of a chain.
 */
import type { CardanoNetwork } from '../../../ledgers/cardano/networks.ts';
import type { LedgerPots, StakeAccount } from '../../../ledgers/cardano/stake-accounts.ts';
import type { AcquireFailure, AcquireTarget } from '../../../sources/cardano/ouroboros/local-state-query.ts';
import type { MempoolSizes } from '../../../sources/cardano/ouroboros/local-tx-monitor.ts';
import type { WirePoint, WireTip } from '../../../sources/cardano/ouroboros/point.ts';

/** A point that is a block. */
export type BlockPoint = NonNullable<WirePoint>;

/** What a reader meets next. `raw` is the wrapped block `[eraTag, block]`, the chain's own bytes. */
export type Step = { readonly kind: 'forward'; readonly raw: Uint8Array } | { readonly kind: 'back'; readonly point: WirePoint } | AtTip;

type AtTip = { readonly kind: 'tip' };

export const AT_TIP: AtTip = { kind: 'tip' };

/** One walk along the chain: each client has its own. Begins at the origin. */
export interface ChainReader {
  /** Goes to the place behind the point; the next step is then back to that very point. False, and nothing moved: not on the chain. */
  seek(point: WirePoint): boolean | Promise<boolean>;
  next(): Step | Promise<Step>;
  close(): void;
}

/** Whole blocks by range, one range after the other. */
export interface RangeReader {
  /** False: the ends are not both on the chain, in this order. */
  open(from: BlockPoint, to: BlockPoint): boolean | Promise<boolean>;
  /** The range's next block; null after its last. */
  next(): Uint8Array | null | Promise<Uint8Array | null>;
  close(): void;
}

/** An unspent output as the ledger has it. */
export interface ServedUtxo {
  readonly txId: Uint8Array;
  readonly index: number;
  readonly addressHex: string;
  /** As it stood in its block. */
  readonly output: Uint8Array;
}

/** The ledger at one point, whatever the chain does meanwhile. Release it when done. */
export interface LedgerView {
  readonly point: WirePoint;
  /** Null at the origin. */
  readonly height: number | null;
  /** Tag of the era as a wrapped block has it. */
  readonly era: number;
  /** The protocol parameters as the era's ledger encodes them; undefined or null: this chain does not know them. */
  parameters?(): Uint8Array | null;
  /** By `<txid hex>#<index>`; undefined: this chain does not keep them. */
  utxos?(): ReadonlyMap<string, ServedUtxo>;
  /** Those that are registered, by `credentialKey`; undefined: this chain does not keep them. */
  accounts?(): ReadonlyMap<string, StakeAccount>;
  /** Treasury and reserves; undefined: this chain does not keep them. */
  pots?(): LedgerPots;
  release(): void;
}

export interface PendingTx {
  readonly id: Uint8Array;
  readonly tx: Uint8Array;
}

export type Verdict = { readonly accepted: true; readonly id: Uint8Array } | { readonly accepted: false; readonly reason: string };

export interface ServedMempool {
  /** Takes a Conway transaction `[body, witnesses, valid, auxiliary]` for the next block, or says why not. */
  submit(tx: Uint8Array): Verdict;
  /** In the order they will enter the block. */
  pending(): readonly PendingTx[];
  sizes(): MempoolSizes;
}

export interface ServedChain {
  /** Its magic, and how its clock runs. */
  readonly network: CardanoNetwork;
  readonly tip: WireTip;
  reader(): ChainReader;
  ranges(): RangeReader;
  view(target: AcquireTarget): LedgerView | AcquireFailure;
  readonly mempool?: ServedMempool;
  /** Told of every change: a block more, some blocks less, a transaction in the mempool. Returns how to stop it. */
  onChange(listener: () => void): () => void;
  /** Lets go of files and timers. Readers are closed by whoever opened them. */
  close(): Promise<void>;
}
