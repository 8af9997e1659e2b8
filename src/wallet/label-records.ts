/**
 * Labels as wallets tell them each other (BIP329), of whatever they are. Those of
 * transactions that the wallet has are in the rows of these; all that were taken
 * in are kept besides, as they came, also of things that the wallet does not have
 * yet (labels.ts).
 */
import type { Outpoint } from '../ledgers/outpoint.ts';

/** What labels can be of. The database stores the position in this list. */
export const LABEL_TYPES = ['tx', 'addr', 'pubkey', 'input', 'output', 'xpub'] as const;
export type LabelType = (typeof LABEL_TYPES)[number];

/** What tells labels apart, and their order: by type, then by the bytes of the others. */
export interface LabelKey {
  readonly type: LabelType;
  /** As BIP329 writes it: an id, an id and an index with a colon between, an address, a key. */
  readonly ref: string;
  /** How the descriptor of the wallet begins that it is of; empty: it is not said. */
  readonly origin: string;
}

export interface WalletLabel extends LabelKey {
  /** Of which transaction, or of an input or output of which; null: of something else. */
  readonly txId: Uint8Array | null;
  /** Of which input or output; null: of something else. */
  readonly index: number | null;
  /** Null: nothing is said, and what was said before stays. */
  readonly label: string | null;
  /** Of an output, false: its owner does not want it spent. Null: as `label`. */
  readonly spendable: boolean | null;
  /** What else is said of it, as the text of a JSON object. */
  readonly others: string;
  /** It is of another wallet: kept, and nothing is done with it. */
  readonly isForeign: boolean;
}

/** What labels did. */
export interface KeptLabels {
  /** Transactions that have their label now. */
  readonly applied: number;
  /** Outputs of the wallet that are leased without end now, so that nobody spends them. */
  readonly frozen: readonly Outpoint[];
  /** Those that no such lease keeps from being spent any more. */
  readonly thawed: readonly Outpoint[];
  /** Those that were to be frozen, and that somebody else has leased for a time. */
  readonly held: readonly Outpoint[];
}
