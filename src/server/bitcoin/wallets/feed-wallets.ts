/**
 * Feeds wallets from a store that this process has open: with its blocks, with
 * the past of new accounts from its index, and, while it follows, with the
 * mempool of the node that the store follows.
 */
import { needBitcoin } from '../../../families/bitcoin.ts';
import type { OpenStore } from '../../../store/store.ts';
import { isUnspentError, UnspentError } from '../../../util/errors.ts';
import { type RescanResult, rescanWallets } from '../../../wallet/bitcoin/operations/rescan.ts';
import type { WalletContext } from '../../../wallet/bitcoin/operations/wallet-context.ts';
import { WalletScanner } from '../../../wallet/bitcoin/operations/wallet-scanner.ts';
import { type ScriptHistory, storeHistory } from '../../../wallet/bitcoin/script-history.ts';
import { historyTxs, walletTxOf } from '../../../wallet/bitcoin/wallet-tx.ts';
import { storeFeed } from '../../../wallet/feed/store-feed.ts';
import { type FeedSource, WalletFeed } from '../../../wallet/feed/wallet-feed.ts';
import { WalletMempool } from '../../../wallet/feed/wallet-mempool.ts';
import { MempoolLink } from '../../mempool/link.ts';

export interface FeedWalletsOptions {
  /** Undefined: up to the newest block of the store, and no further. Otherwise until it comes. */
  readonly signal?: AbortSignal | undefined;
}

/** Throws UNSUPPORTED where the store keeps no history, EXPIRED where it cannot tell any more what happened since: `rescanFrom` then. */
export async function feedWallets(wallets: WalletContext, store: OpenStore, { signal }: FeedWalletsOptions = {}): Promise<void> {
  const { name, mweb, scanner, source } = partsOf(wallets, store, signal === undefined);
  const chain = new WalletFeed(wallets.store, {
    feed: name,
    now: wallets.now,
    onMove: async () => mempool.moved(),
    prepare: (txs) => scanner.prepare(txs),
    eventsMax: wallets.eventsMax,
  });
  const mempool = new WalletMempool(chain, (raw) => walletTxOf(raw, mweb));
  try {
    if (signal === undefined) await chain.follow(scanner.beside(source), new AbortController().signal);
    else await withMempool(store, mempool, signal, (stop) => chain.follow(scanner.beside(source), stop));
  } catch (error) {
    if (!isUnspentError(error, 'EXPIRED')) throw error;
    const advice = '`unspent wallet rescan` brings the wallets to its newest block from the index of scripts';
    throw new UnspentError(
      'EXPIRED',
      `the store cannot tell any more what happened since the wallets were fed: ${advice}`,
      error.meta,
      error,
    );
  }
}

/** The wallets are brought to the newest block of the store, from its index. Throws as `rescanWallets`. */
export function rescanFrom(wallets: WalletContext, store: OpenStore, from?: number): Promise<RescanResult> {
  const { name, history, source } = partsOf(wallets, store, true);
  return rescanWallets(wallets, history, source, { feed: name, from });
}

interface FeedParts {
  /** Under which the wallets are fed. */
  readonly name: string;
  readonly mweb: boolean;
  readonly history: ScriptHistory;
  readonly scanner: WalletScanner;
  readonly source: FeedSource;
}

/** `ends`: with the newest block. Throws UNSUPPORTED. */
function partsOf(wallets: WalletContext, store: OpenStore, ends: boolean): FeedParts {
  const { parameters, dialect, name } = needBitcoin(store.network, 'a wallet');
  if (!store.config.utxo.history) {
    throw new UnspentError('UNSUPPORTED', 'wallets are fed from the history of a store, and this one keeps none: set utxo.history');
  }
  const { mweb } = parameters;
  const history = storeHistory(store, mweb, dialect.clock);
  const source = storeFeed(store, historyTxs(mweb), dialect.clock, { ends });
  return { name, mweb, history, scanner: new WalletScanner(wallets, history, name), source };
}

/** While the body runs, the wallets hear of the mempool of the node that is followed. Throws what either throws. */
async function withMempool(
  store: OpenStore,
  mempool: WalletMempool,
  signal: AbortSignal,
  body: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  let failure: { readonly error: unknown } | null = null;
  const link = new MempoolLink(store);
  link.start(async (changes) => {
    try {
      for (const change of changes) await mempool.take(change);
    } catch (error) {
      failure ??= { error };
      stop.abort();
    }
  });
  try {
    await body(AbortSignal.any([signal, stop.signal]));
  } finally {
    link.close();
  }
  if (failure !== null) throw (failure as { readonly error: unknown }).error;
}
