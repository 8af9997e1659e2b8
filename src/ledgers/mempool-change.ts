/**
 * What a node's mempool does, as sources tell it and readers take it. A source
 * that cannot see what leaves says only what comes.
 */
export type MempoolChange =
  /** Everything told before is void: the connection is a new one. */
  | { readonly kind: 'reset' }
  /** Transactions as nodes relay them. */
  | { readonly kind: 'add'; readonly txs: readonly Uint8Array[] }
  /** Ids of those that have left, whether into a block or not. */
  | { readonly kind: 'remove'; readonly ids: readonly Uint8Array[] };
