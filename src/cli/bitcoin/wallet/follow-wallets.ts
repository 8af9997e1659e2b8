/**
 * The wallets beside a store: fed with its blocks, and the past of new ones
 * found in its index. `start` does it for as long as it runs, `wallet sync` up
 * to the newest block.
 */
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isGiven } from '../../../config/schema.ts';
import { bitcoin, needBitcoin } from '../../../families/bitcoin.ts';
import type { Family } from '../../../families/family.ts';
import { MempoolLink } from '../../../server/mempool/link.ts';
import type { OpenStore } from '../../../store/store.ts';
import { isUnspentError, UnspentError } from '../../../util/errors.ts';
import { WALLET_POLL_MS } from '../../../util/limits.ts';
import type { WalletContext } from '../../../wallet/bitcoin/operations/wallet-context.ts';
import { WalletScanner } from '../../../wallet/bitcoin/operations/wallet-scanner.ts';
import { storeHistory } from '../../../wallet/bitcoin/script-history.ts';
import { historyTxs, walletTxOf } from '../../../wallet/bitcoin/wallet-tx.ts';
import { walletDatabaseFile, walletDatabaseUrl } from '../../../wallet/database-url.ts';
import { storeFeed } from '../../../wallet/feed/store-feed.ts';
import { WalletFeed } from '../../../wallet/feed/wallet-feed.ts';
import { WalletMempool } from '../../../wallet/feed/wallet-mempool.ts';
import type { Context } from '../../context.ts';
import { withWallets } from './open-wallets.ts';

/** Up to the newest block of the store. Throws UNSUPPORTED where it keeps no history, EXPIRED where it cannot tell any more what happened. */
export async function syncWallets(wallets: WalletContext, store: OpenStore): Promise<void> {
  await feed(wallets, store, new AbortController().signal, true);
}

/** Until the signal comes. Waits for the database where there is none yet. What goes wrong is said, and ends nothing else. */
export async function followWallets(context: Context, store: OpenStore, signal: AbortSignal): Promise<void> {
  if (store.network.family !== (bitcoin as Family)) return;
  const { config } = context.settings;
  const file = walletDatabaseFile(walletDatabaseUrl(config.wallet.database, store.data));
  if (!isGiven(config, 'wallet.database')) while (file !== null && !existsSync(file) && !signal.aborted) await pause(signal);
  if (signal.aborted) return;
  try {
    await withWallets(context, (wallets) => feed(wallets, store, signal, false), { create: true });
  } catch (error) {
    if (!isUnspentError(error)) throw error;
    context.output.complain(`unspent: the wallets are not followed any more: ${error.message}`);
  }
}

async function feed(wallets: WalletContext, store: OpenStore, signal: AbortSignal, ends: boolean): Promise<void> {
  const { parameters, dialect, name } = needBitcoin(store.network, 'a wallet');
  if (!store.config.utxo.history) {
    throw new UnspentError('UNSUPPORTED', 'wallets are fed from the history of a store, and this one keeps none: set utxo.history');
  }
  const scanner = new WalletScanner(wallets, storeHistory(store, parameters.mweb, dialect.clock), name);
  const source = scanner.beside(storeFeed(store, historyTxs(parameters.mweb), dialect.clock, { ends }));
  const chain = new WalletFeed(wallets.store, {
    feed: name,
    now: wallets.now,
    onMove: async () => mempool.moved(),
    prepare: (txs) => scanner.prepare(txs),
  });
  const mempool = new WalletMempool(chain, (raw) => walletTxOf(raw, parameters.mweb));
  if (ends) await chain.follow(source, signal);
  else await withMempool(store, mempool, signal, (stop) => chain.follow(source, stop));
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

/** A while, or until the signal comes. */
async function pause(signal: AbortSignal): Promise<void> {
  try {
    await sleep(WALLET_POLL_MS, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
