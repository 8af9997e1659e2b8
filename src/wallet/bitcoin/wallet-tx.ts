/**
 * Transactions of the Bitcoin family as wallets take them: from their bytes, and
 * the bytes from the history of a store, or from the blocks of a server.
 */
import {
  type BitcoinBlock,
  type BitcoinNetwork,
  type BitcoinTx,
  bitcoinLedger,
  decodeTx,
  describeTx,
  formatId,
  parseId,
  scriptKey,
} from '../../ledgers/bitcoin/index.ts';
import { equalBytes } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import type { BlockBodies } from '../feed/http-feed.ts';
import type { BlockTxs } from '../feed/store-feed.ts';
import type { PastForm } from '../past/script-history.ts';
import type { WalletTx } from '../records.ts';

/** Throws BLOCK_INVALID. `mweb`: the network has extension blocks (`BitcoinNetwork.mweb`). */
export function walletTxOf(raw: Uint8Array, mweb: boolean): WalletTx {
  return walletTx(decodeTx(raw, mweb), raw);
}

function walletTx(tx: BitcoinTx, raw: Uint8Array): WalletTx {
  const { id, coinbase, inputs, outputs } = describeTx(tx);
  return {
    id,
    raw,
    inputs: coinbase ? [] : inputs.map(({ txId, index }) => ({ txId, index })),
    outputs: outputs.map(({ script, value }) => ({ script, amount: value })),
    isCoinbase: coinbase,
  };
}

/** As the history of a store has them. */
export function bitcoinPast(mweb: boolean): PastForm {
  return { keyOf: (script) => ({ kind: 'address', key: scriptKey(script) }), txOf: (raw) => walletTxOf(raw, mweb) };
}

/** Needs a store that keeps the history (`utxo.history`). Throws UNSUPPORTED without. */
export function historyTxs(mweb: boolean): BlockTxs {
  return ({ block }, query) =>
    query
      .history()
      .txs(block.height)
      .map(({ raw }) => walletTxOf(raw, mweb));
}

/** Blocks from a server's Esplora API, whose store keeps the history. */
export function esploraBodies(network: BitcoinNetwork): BlockBodies {
  const ledger = bitcoinLedger(network);
  return {
    parseId,
    path: (hash) => `/api/block/${formatId(hash)}/raw`,
    read(raw, { hash, height }) {
      const block: BitcoinBlock = ledger.decode(raw, height);
      ledger.verify?.(block, true);
      if (!equalBytes(block.hash, hash)) {
        throw new UnspentError('PROTOCOL', `the server was asked for block ${formatId(hash)} and gives ${formatId(block.hash)}`);
      }
      return block.txs.map((tx) => walletTx(tx, raw.slice(tx.start, tx.end)));
    },
  };
}
