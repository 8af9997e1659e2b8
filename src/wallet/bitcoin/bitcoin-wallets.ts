/**
 * Wallets of a network of the Bitcoin family, opened: they watch the scripts of
 * descriptors, and their past comes from the history of a store. What only they
 * do, payments and keys, is in `operations/`.
 */
import { UnspentError } from '../../util/errors.ts';
import type {
  AddressRequest,
  ChainServer,
  FamilyWallets,
  WalletChain,
  WalletChainStore,
  WatchedJson,
  WatchedText,
} from '../family-wallets.ts';
import { HttpFeed, upToNow } from '../feed/http-feed.ts';
import { storeFeed } from '../feed/store-feed.ts';
import type { FeedSource } from '../feed/wallet-feed.ts';
import { type RescanResult, rescanWallets } from '../past/rescan.ts';
import { type ScriptHistory, storeHistory } from '../past/script-history.ts';
import type { AddressInfo, WalletBlock, WalletInfo } from '../records.ts';
import { COINBASE_MATURITY } from '../rules/confirmations.ts';
import { httpHistory } from './http-history.ts';
import { newAddressOf } from './operations/addresses.ts';
import { createWatchOnlyWallet, importDescriptor, type NewDescriptorAccount } from './operations/create-wallet.ts';
import { scanAccount } from './operations/scan.ts';
import { WalletContext } from './operations/wallet-context.ts';
import { accountJson } from './operations/wallet-json.ts';
import { WalletScanner } from './operations/wallet-scanner.ts';
import { bitcoinPast, esploraBodies, historyTxs, walletTxOf } from './wallet-tx.ts';

export class BitcoinWallets extends WalletContext implements FamilyWallets {
  readonly coinbaseMaturity = COINBASE_MATURITY;
  readonly hasAssets = false;

  createWatching(name: string, watched: WatchedText): Promise<WalletInfo> {
    return createWatchOnlyWallet(this, { name, ...descriptorsOf(watched) });
  }

  async watchMore(name: string, watched: WatchedText): Promise<object> {
    return accountJson(this, await importDescriptor(this, name, descriptorsOf(watched)));
  }

  async watchedJson({ id }: WalletInfo): Promise<WatchedJson> {
    return { accounts: (await this.store.listAccounts(id)).map((account) => accountJson(this, account)) };
  }

  async watchedLines({ id }: WalletInfo): Promise<readonly string[]> {
    return (await this.store.listAccounts(id)).flatMap((info) => {
      const { external, change } = this.account(info);
      return change === null ? [`${external}`] : [`${external}`, `${change}`];
    });
  }

  addressOf(wallet: WalletInfo, { account, change = false }: AddressRequest): Promise<AddressInfo> {
    return newAddressOf(this, wallet, { account, branch: change ? 1 : 0 });
  }

  chainOf(store: WalletChainStore, ends: boolean): WalletChain {
    checkHistory(store);
    const { mweb } = this.network;
    const { clock } = store.network.dialect;
    return this.#chain(storeHistory(store, bitcoinPast(mweb), clock), storeFeed(store, historyTxs(mweb), clock, { ends }));
  }

  chainFrom(server: ChainServer, ends: boolean): WalletChain {
    const source = this.#feedFrom(server);
    return this.#chain(this.#historyAt(server), ends ? upToNow(source) : source);
  }

  #chain(history: ScriptHistory, source: FeedSource): WalletChain {
    const { name, mweb } = this.network;
    const scanner = new WalletScanner(this, history, name);
    return {
      feed: name,
      source: scanner.beside(source),
      prepare: (txs) => scanner.prepare(txs),
      accountCount: () => scanner.accountCount,
      mempoolTx: (raw) => walletTxOf(raw, mweb),
    };
  }

  #historyAt(server: ChainServer): ScriptHistory {
    return httpHistory({ ...server, network: this.network });
  }

  #feedFrom(server: ChainServer): HttpFeed {
    return new HttpFeed({ ...server, bodies: esploraBodies(this.network) });
  }

  /** The wallets are brought to the newest block of the store, from its index. Throws as `rescanWallets`. */
  rescan(store: WalletChainStore, from?: number): Promise<RescanResult> {
    checkHistory(store);
    const { mweb } = this.network;
    const { clock } = store.network.dialect;
    return this.#rescan(storeHistory(store, bitcoinPast(mweb), clock), storeFeed(store, historyTxs(mweb), clock, { ends: true }), from);
  }

  /** The same from a server on another machine. */
  rescanFrom(server: ChainServer, from?: number): Promise<RescanResult> {
    return this.#rescan(this.#historyAt(server), this.#feedFrom(server), from);
  }

  #rescan(history: ScriptHistory, source: FeedSource, from: number | undefined): Promise<RescanResult> {
    const findMore = async (wallet: WalletInfo, to: WalletBlock): Promise<boolean> => {
      for (const account of await this.store.listAccounts(wallet.id))
        if (!(await scanAccount(this, wallet, account, history, { block: to }, false))) return false;
      return true;
    };
    return rescanWallets({ store: this.store, history, source, findMore }, { feed: this.network.name, from });
  }
}

function checkHistory({ config }: WalletChainStore): void {
  if (!config.utxo.history) {
    throw new UnspentError('UNSUPPORTED', 'wallets are fed from the history of a store, and this one keeps none: set utxo.history');
  }
}

function descriptorsOf({ descriptor, change, account, addresses }: WatchedText): NewDescriptorAccount {
  if (addresses !== undefined && addresses.length > 0) {
    throw new UnspentError('USAGE', 'wallets of the Bitcoin family watch descriptors; of a single address that is addr(ADDRESS)');
  }
  if (descriptor === undefined) throw new UnspentError('USAGE', 'say what the wallet watches: a descriptor');
  return { descriptor, change, account };
}
