/**
 * What a node says of its whole unspent set, so that a store can be compared
 * with it. Which families have nodes that say so, and how it is worked out from
 * ours, is behind `Family.commitment`.
 */
export interface Commitment {
  readonly txouts: number;
  readonly value: bigint;
  /** With at least one unspent output. */
  readonly transactions: number;
  readonly bogosize: number;
  /** Hex, the way people write them. */
  readonly hashSerialized2: string;
  readonly hashSerialized3: string;
  /** Null: not asked for. */
  readonly muhash: string | null;
}

export interface CommitmentOptions {
  /** Costs several times what all the rest does. Default: true. */
  readonly muhash?: boolean;
  readonly onRows?: ((rows: number) => void) | undefined;
}
