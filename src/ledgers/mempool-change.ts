/**
 * What a node's mempool does, as sources tell it and readers take it. A source
 * that cannot see what leaves says only what comes.
 */
export type MempoolChange =
  /** Everything told before is void: the connection is a new one. */
  | { readonly kind: 'reset' }
  /** Transactions as nodes relay them. */
  | { readonly kind: 'add'; readonly txs: readonly Uint8Array[] }
  /**
   * Ids of those that have left, whether into a block or not. `slot`: the one that the node's mempool was for then, which
   * is behind its newest block; absent: it does not say.
   */
  | { readonly kind: 'remove'; readonly ids: readonly Uint8Array[]; readonly slot?: number };
