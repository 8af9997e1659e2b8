/** Opens the records of transactions of a store, where it keeps some: in its own engine, or in a database beside it. */
import type { Config } from '../config/schema.ts';
import { needBitcoin } from '../families/bitcoin.ts';
import { isTxsDatabase } from '../projections/txs-switch.ts';
import type { RemovalGuard } from '../txstore/chain/chain-records.ts';
import { ChainTxStore } from '../txstore/chain/chain-store.ts';
import { txsEntry, txsSettings } from '../txstore/chain/entry.ts';
import { HistoryBlobs } from '../txstore/chain/history-bytes.ts';
import { openFedRecords, type TxDatabaseOptions } from '../txstore/open.ts';
import { UnspentError } from '../util/errors.ts';
import type { OpenStore } from './store.ts';
import { type RecordsOwner, StoreTxs } from './store-txs.ts';
import { TxsFeed } from './txs-feed.ts';

/** Null: it keeps none. Throws CONFIG, UNSUPPORTED, and as `openTxStore`. */
export async function openStoreTxs(store: OpenStore): Promise<StoreTxs | null> {
  const { config, fold } = store;
  if (isTxsDatabase(config.txs.store)) return databaseTxs(store, config.txs.store);
  return fold.projections.some(({ name }) => name === txsEntry.name) ? embeddedTxs(store) : null;
}

/** In the engine of the chain. Throws CONFIG. */
export function embeddedTxs(store: RecordsOwner): StoreTxs {
  const { config, fold } = store;
  const records = new ChainTxStore(fold.engine, txsSettings(config.txs), {
    raiseHorizon: (height) => fold.raiseHorizon(height),
    headHeight: () => fold.head?.height ?? 0,
    boundsHistory: boundsHistory(config),
  });
  return new StoreTxs(store, { kind: 'embedded', records });
}

/** In a database beside the store. Throws CONFIG, UNSUPPORTED, and as `openTxStore`. */
export async function databaseTxs(store: OpenStore, url: string, options?: TxDatabaseOptions): Promise<StoreTxs> {
  const { config, network } = store;
  const { parameters, name } = needBitcoin(network, 'a transaction store');
  if (!config.utxo.enabled || !config.utxo.history)
    throw new UnspentError('CONFIG', 'records of transactions in a database are fed from the history of the store: set utxo.history');
  const settings = txsSettings(config.txs);
  // The feed is made with the records that the guard is for: nothing is deleted before it is there.
  let feed: TxsFeed | null = null;
  const records = await openFedRecords(url, settings, { feed: name, guard: guardOf(store, settings.window, () => feed) }, options);
  try {
    feed = new TxsFeed(store, records, parameters.mweb);
    await feed.look();
    const blobs = boundsHistory(config) ? new HistoryBlobs(store.fold.engine, records) : undefined;
    return new StoreTxs(store, { kind: url.startsWith('sqlite:') ? 'sqlite' : 'postgres', records, feed, blobs });
  } catch (error) {
    await records.close();
    throw error;
  }
}

/**
 * A pass at height H has proven that spenders were in blocks up to H - W. The database may have these blocks from a branch
 * that the chain has left meanwhile: nothing is deleted then. Otherwise the chain cannot go below them any more.
 */
function guardOf({ fold, config }: OpenStore, window: number, feedOf: () => TxsFeed | null): RemovalGuard {
  return {
    mayRemove(height) {
      const feed = feedOf();
      if (feed === null || !feed.isOnChain || feed.height < height - window) return false;
      fold.raiseHorizon(height - window);
      return true;
    },
    hasBlobs: boundsHistory(config),
  };
}

function boundsHistory({ txs, utxo }: Config): boolean {
  return txs.boundHistory && utxo.history;
}
