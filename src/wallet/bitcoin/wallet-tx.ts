/** Transactions of the Bitcoin family as wallets take them: from their bytes, and the bytes from the history of a store. */
import { decodeTx, describeTx } from '../../ledgers/bitcoin/index.ts';
import type { BlockTxs } from '../feed/store-feed.ts';
import type { WalletTx } from '../records.ts';

/** Throws BLOCK_INVALID. `mweb`: the network has extension blocks (`BitcoinNetwork.mweb`). */
export function walletTxOf(raw: Uint8Array, mweb: boolean): WalletTx {
  const { id, coinbase, inputs, outputs } = describeTx(decodeTx(raw, mweb));
  return {
    id,
    raw,
    inputs: coinbase ? [] : inputs.map(({ txId, index }) => ({ txId, index })),
    outputs: outputs.map(({ script, value }) => ({ script, amount: value })),
    isCoinbase: coinbase,
  };
}

/** Needs a store that keeps the history (`utxo.history`). Throws UNSUPPORTED without. */
export function historyTxs(mweb: boolean): BlockTxs {
  return ({ block }, query) =>
    query
      .history()
      .txs(block.height)
      .map(({ raw }) => walletTxOf(raw, mweb));
}
