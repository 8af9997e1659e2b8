/**
 * The past of scripts, from the index of a store that keeps the history: which
 * scripts were ever used, and the transactions of those that were. This is how a
 * wallet finds its past without a look at any block.
 */
import { scriptKey } from '../../ledgers/bitcoin/index.ts';
import type { Clock } from '../../query/dialect.ts';
import type { Query } from '../../query/query.ts';
import { equalBytes } from '../../util/bytes.ts';
import { assert } from '../../util/errors.ts';
import { type FollowedStore, walletBlock } from '../feed/store-feed.ts';
import type { WalletBlock, WalletTx } from '../records.ts';
import { walletTxOf } from './wallet-tx.ts';

/** What a scan asks of the chain. */
export interface ScriptHistory {
  /** Whether each was ever paid, in their order. Throws UNSUPPORTED where the store keeps no history. */
  used(scripts: readonly Uint8Array[]): readonly boolean[];
  /** What paid to them or spent from them up to that block, in the order of the chain; null: the block is not on the chain any more. */
  txsUpTo(block: WalletBlock, scripts: readonly Uint8Array[]): readonly ConfirmedTx[] | null;
}

export interface ConfirmedTx {
  readonly tx: WalletTx;
  readonly block: WalletBlock;
}

/** `mweb`: the network has extension blocks (`BitcoinNetwork.mweb`). */
export function storeHistory(store: Pick<FollowedStore, 'read'>, mweb: boolean, clock: Clock): ScriptHistory {
  return {
    used: (scripts) =>
      store.read((query) => {
        const history = query.history();
        return scripts.map((script) => history.ofKey('address', scriptKey(script), { limit: 1 }).next().done !== true);
      }),
    txsUpTo: (block, scripts) =>
      store.read((query) => {
        const row = query.blockAtHeight(block.height);
        return row === null || !equalBytes(row.hash, block.hash) ? null : readTxs(query, block.height, scripts, mweb, clock);
      }),
  };
}

function readTxs(query: Query, heightMax: number, scripts: readonly Uint8Array[], mweb: boolean, clock: Clock): ConfirmedTx[] {
  const history = query.history();
  const places = new Map<string, { readonly height: number; readonly txIndex: number }>();
  for (const script of scripts) {
    for (const { height, txIndex } of history.ofKey('address', scriptKey(script))) {
      if (height > heightMax) break;
      places.set(`${height}/${txIndex}`, { height, txIndex });
    }
  }
  const blocks = new Map<number, WalletBlock>();
  const blockAt = (height: number): WalletBlock => {
    const row = query.blockAtHeight(height);
    assert(row !== null, `block ${height} is on the chain`);
    const block = blocks.get(height) ?? walletBlock(row, clock);
    blocks.set(height, block);
    return block;
  };
  const ordered = [...places.values()].sort((a, b) => a.height - b.height || a.txIndex - b.txIndex);
  return ordered.map(({ height, txIndex }) => {
    const found = history.txAt(height, txIndex);
    assert(found !== null, `transaction ${txIndex} of block ${height} is in the history`);
    return { tx: walletTxOf(found.raw, mweb), block: blockAt(height) };
  });
}
