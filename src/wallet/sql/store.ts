/**
 * The wallet store on SQL. Every method is one transaction of the database: what
 * reads sees one moment, what writes ends with its events (event-log.ts). What
 * the methods do stands in the files of this folder, by subject.
 */
import type { Outpoint } from '../../ledgers/outpoint.ts';
import type { FailureCount } from '../../sql/database.ts';
import type { KeptLabels, LabelKey, WalletLabel } from '../label-records.ts';
import type * as records from '../records.ts';
import type { WalletId } from '../records.ts';
import type { WalletRows } from '../rows.ts';
import { refusal } from '../rules/failures.ts';
import type * as calls from '../store.ts';
import type { Page, WalletStore } from '../store.ts';
import * as accounts from './accounts.ts';
import * as addresses from './addresses.ts';
import { sumCoins } from './balance.ts';
import { listBlocks } from './blocks.ts';
import { addBatch, addBlock, addOne, addScan, removeBlocks, rewindTo } from './chain.ts';
import { CoinCache } from './coin-cache.ts';
import * as coins from './coins.ts';
import type { SqlTransaction, WalletDatabase } from './database.ts';
import { EventLog, readEventRange, readEvents, readReorgs, trimEvents } from './event-log.ts';
import { listLabels, writeLabels } from './labels.ts';
import { dropExpired, dropLease, takeLeases } from './leases.ts';
import { lockWallet } from './locks.ts';
import { invalidate, pruneRows, removeTx } from './removal.ts';
import { allRows } from './rows.ts';
import { chooseCoins } from './selection.ts';
import { readTouched } from './touched.ts';
import { changeMempool, changeTx } from './tx-changes.ts';
import * as reads from './tx-reads.ts';
import * as wallets from './wallets.ts';
import { readWatched } from './watched.ts';

export class SqlWalletStore implements WalletStore {
  readonly #database: WalletDatabase;
  readonly #coins = new CoinCache();

  constructor(database: WalletDatabase) {
    this.#database = database;
  }

  /** Failures of the database so far, by class and reason. */
  get failures(): readonly FailureCount[] {
    return this.#database.failures;
  }

  /** False after a fatal failure: every call fails until the store is opened anew. */
  get isHealthy(): boolean {
    return this.#database.isHealthy;
  }

  /** Every row, to compare with those of another store. */
  rows(): Promise<WalletRows> {
    return this.#database.read(allRows);
  }

  createWallet(wallet: calls.NewWallet): Promise<records.WalletInfo> {
    return this.#write(async (tx) => {
      const info = await wallets.insertWallet(tx, wallet);
      for (const account of wallet.accounts ?? []) await accounts.insertAccount(tx, info.id, account);
      return info;
    });
  }

  getWallet(name: string): Promise<records.WalletInfo> {
    return this.#database.read((tx) => wallets.walletByName(tx, name));
  }

  listWallets(page?: Page<string>): Promise<readonly records.WalletInfo[]> {
    return this.#database.read((tx) => wallets.listWallets(tx, page));
  }

  updateWallet(walletId: WalletId, change: calls.WalletChange): Promise<records.WalletInfo> {
    return this.#write((tx, events) => wallets.changeWallet(tx, events, walletId, change));
  }

  listSyncedBlocks(from: number, to: number): Promise<readonly records.WalletBlock[]> {
    return this.#database.read((tx) => listBlocks(tx, from, to));
  }

  getSecrets(walletId: WalletId): Promise<calls.WalletSecrets | null> {
    return this.#database.read((tx) => wallets.readSecrets(tx, walletId));
  }

  setSecrets(walletId: WalletId, secrets: calls.WalletSecrets): Promise<void> {
    return this.#write((tx) => wallets.writeSecrets(tx, walletId, secrets));
  }

  createAccount(walletId: WalletId, account: calls.NewAccount): Promise<records.AccountInfo> {
    return this.#write((tx) => accounts.insertAccount(tx, walletId, account));
  }

  getAccount(walletId: WalletId, account: calls.AccountName): Promise<records.AccountInfo> {
    return this.#read(walletId, (tx) => accounts.accountNamed(tx, walletId, account));
  }

  listAccounts(walletId: WalletId): Promise<readonly records.AccountInfo[]> {
    return this.#list(walletId, (tx) => accounts.listAccounts(tx, walletId));
  }

  renameAccount(walletId: WalletId, account: calls.AccountName, name: string): Promise<records.AccountInfo> {
    return this.#write((tx) => accounts.changeAccountName(tx, walletId, account, name));
  }

  newAddress(
    walletId: WalletId,
    accountId: records.AccountId,
    branch: records.AddressBranch,
    derive: calls.DeriveAddress,
    now: number,
    isChange?: boolean,
  ): Promise<records.AddressInfo> {
    return this.#write((tx) => addresses.insertNext(tx, walletId, { accountId, branch, derive, now, isChange }));
  }

  givenForChange(walletId: WalletId, scripts: readonly Uint8Array[]): Promise<ReadonlyMap<string, boolean>> {
    return this.#read(walletId, (tx) => addresses.givenForChange(tx, walletId, scripts));
  }

  importAddress(walletId: WalletId, address: calls.NewAddress, now: number): Promise<records.AddressInfo> {
    return this.#write((tx) => addresses.insertImported(tx, walletId, address, now));
  }

  getAddress(walletId: WalletId, script: Uint8Array): Promise<records.AddressInfo> {
    return this.#read(walletId, (tx) => addresses.addressOf(tx, walletId, script));
  }

  resolveOwned(walletId: WalletId, scripts: readonly Uint8Array[]): Promise<ReadonlyMap<string, records.AddressInfo>> {
    return this.#read(walletId, (tx) => addresses.resolveOwned(tx, walletId, scripts));
  }

  listAddresses(walletId: WalletId, page?: Page<Uint8Array>): Promise<readonly records.AddressInfo[]> {
    return this.#read(walletId, (tx) => addresses.listAddresses(tx, walletId, page));
  }

  createTx(news: calls.NewTx): Promise<void> {
    return this.#write((tx, events) => addOne(tx, events, news));
  }

  updateTx(walletId: WalletId, txId: Uint8Array, change: calls.TxChange): Promise<void> {
    return this.#write((tx, events) => changeTx(tx, events, walletId, txId, change));
  }

  deleteTx(walletId: WalletId, txId: Uint8Array): Promise<void> {
    return this.#write((tx, events) => removeTx(tx, events, walletId, txId));
  }

  invalidateTx(walletId: WalletId, txId: Uint8Array): Promise<void> {
    return this.#write((tx, events) => invalidate(tx, events, walletId, txId));
  }

  applyTxBatch(walletId: WalletId, txs: readonly calls.NewTx[], syncedTo?: records.WalletBlock): Promise<void> {
    return this.#write((tx, events) => addBatch(tx, events, walletId, txs, syncedTo));
  }

  applyScanBatch(walletId: WalletId, scan: calls.ScanBatch): Promise<void> {
    return this.#write((tx, events) => addScan(tx, events, walletId, scan));
  }

  connectBlock(block: calls.ConnectedBlock): Promise<void> {
    return this.#write((tx, events) => addBlock(tx, events, block));
  }

  rollbackToBlock(height: number, feed?: calls.FeedPosition): Promise<void> {
    return this.#write((tx, events) => removeBlocks(tx, events, height, feed));
  }

  rewindWallet(walletId: WalletId, block: records.WalletBlock): Promise<void> {
    return this.#write((tx, events) => rewindTo(tx, events, walletId, block));
  }

  markMempool(walletId: WalletId, txId: Uint8Array, seen: boolean, now: number): Promise<void> {
    return this.#write((tx, events) => changeMempool(tx, events, walletId, { txId, seen, now }));
  }

  pruneDead(walletId: WalletId, before: number): Promise<readonly Uint8Array[]> {
    return this.#write((tx, events) => pruneRows(tx, events, walletId, before));
  }

  feeds(): Promise<readonly string[]> {
    return this.#database.read((tx) => wallets.walletFeeds.names(tx));
  }

  feedPosition(feed: string): Promise<string | null> {
    return this.#database.read((tx) => wallets.walletFeeds.read(tx, feed));
  }

  watchedAccounts(feed: string, since: number): Promise<calls.WatchedAccounts> {
    return this.#database.read((tx) => readWatched(tx, feed, since));
  }

  findTouched(scripts: readonly Uint8Array[], outpoints: readonly Outpoint[]): Promise<calls.TouchedWallets> {
    return this.#database.readForWrite((tx) => readTouched(tx, scripts, outpoints));
  }

  getTx(walletId: WalletId, txId: Uint8Array): Promise<records.WalletTxRow> {
    return this.#read(walletId, (tx) => reads.readTx(tx, walletId, txId));
  }

  getTxDetail(walletId: WalletId, txId: Uint8Array): Promise<records.TxDetail> {
    return this.#read(walletId, (tx) => reads.readDetail(tx, walletId, txId));
  }

  listTxs(walletId: WalletId, range: { readonly from: number; readonly to: number } | 'unmined'): Promise<readonly records.WalletTxRow[]> {
    return this.#read(walletId, (tx) => reads.listRows(tx, walletId, range));
  }

  listUnmined(walletId: WalletId): Promise<readonly records.TxDetail[]> {
    return this.#read(walletId, (tx) => reads.listUnmined(tx, walletId));
  }

  listInMempool(): Promise<readonly { readonly walletId: WalletId; readonly txId: Uint8Array }[]> {
    return this.#database.read(reads.listInMempool);
  }

  listTxDetails(walletId: WalletId, start: number, end: number): Promise<readonly records.TxDetail[]> {
    return this.#read(walletId, (tx) => reads.listDetails(tx, walletId, start, end));
  }

  history(walletId: WalletId, page?: calls.HistoryPage): Promise<readonly records.TxDetail[]> {
    return this.#read(walletId, (tx) => reads.listHistory(tx, walletId, page));
  }

  listReplacements(walletId: WalletId, txIds: readonly Uint8Array[]): Promise<readonly records.TxReplacement[]> {
    return this.#read(walletId, (tx) => reads.listReplacements(tx, walletId, txIds));
  }

  replacementChain(walletId: WalletId, txId: Uint8Array): Promise<readonly Uint8Array[]> {
    return this.#read(walletId, (tx) => reads.listChain(tx, walletId, txId));
  }

  getCoin(walletId: WalletId, outpoint: Outpoint, now: number): Promise<records.WalletCoin> {
    return this.#read(walletId, (tx) => coins.coinAt(tx, walletId, outpoint, now));
  }

  listCoins(walletId: WalletId, filter: calls.CoinFilter, page?: Page<calls.CoinPlace>): Promise<readonly records.WalletCoin[]> {
    return this.#list(walletId, (tx) => coins.listCoins(tx, walletId, filter, page));
  }

  balance(walletId: WalletId, filter: calls.CoinFilter): Promise<records.WalletBalance> {
    return this.#read(walletId, (tx) => sumCoins(tx, walletId, filter));
  }

  listOutputsToWatch(walletId: WalletId): Promise<readonly calls.WatchedOutput[]> {
    return this.#read(walletId, (tx) => coins.listWatched(tx, walletId));
  }

  leaseCoins(walletId: WalletId, outpoints: readonly Outpoint[], lease: calls.LeaseRequest): Promise<readonly records.CoinLease[]> {
    return this.#write(async (tx, events) => {
      await lockWallet(tx, walletId);
      return takeLeases(tx, events, walletId, outpoints, lease);
    });
  }

  releaseCoin(walletId: WalletId, outpoint: Outpoint, leaseId: Uint8Array, now: number): Promise<void> {
    return this.#write((tx, events) => dropLease(tx, events, walletId, { outpoint, leaseId, now }));
  }

  listLeases(walletId: WalletId, now: number): Promise<readonly records.WalletCoin[]> {
    return this.#read(walletId, (tx) => coins.listLeased(tx, walletId, now));
  }

  deleteExpiredLeases(now: number): Promise<number> {
    return this.#write((tx, events) => dropExpired(tx, events, now));
  }

  selectAndLease<T extends { readonly coins: readonly Outpoint[] }>(
    walletId: WalletId,
    filter: calls.CoinFilter,
    choose: calls.ChooseCoins<T>,
    lease: calls.LeaseRequest,
  ): Promise<T> {
    return this.#write((tx, events) => chooseCoins(tx, events, this.#coins, { walletId, filter, choose, lease }));
  }

  keepLabels(walletId: WalletId, labels: readonly WalletLabel[], now: number): Promise<KeptLabels> {
    return this.#write((tx, events) => writeLabels(tx, events, walletId, labels, now));
  }

  listLabels(walletId: WalletId, page?: Page<LabelKey>): Promise<readonly WalletLabel[]> {
    return this.#read(walletId, (tx) => listLabels(tx, walletId, page));
  }

  listEvents(after: number, limit: number, walletId?: WalletId): Promise<readonly records.NumberedWalletEvent[]> {
    return this.#database.read((tx) => readEvents(tx, after, limit, walletId));
  }

  eventRange(): Promise<calls.WalletEventRange> {
    return this.#database.read(readEventRange);
  }

  trimEvents(keep: number): Promise<number> {
    return this.#database.write((tx) => trimEvents(tx, keep));
  }

  listReorgs(walletId: WalletId, page: Page<number>): Promise<readonly records.NumberedWalletEvent[]> {
    return this.#read(walletId, (tx) => readReorgs(tx, walletId, page));
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  /** WALLET_UNKNOWN. */
  #read<T>(walletId: WalletId, body: (tx: SqlTransaction) => Promise<T>): Promise<T> {
    return this.#database.read(async (tx) => {
      const wallet = await tx.db.selectFrom('wallets').select('id').where('id', '=', walletId).executeTakeFirst();
      if (wallet === undefined) throw refusal.walletUnknown(walletId);
      return body(tx);
    });
  }

  /** Of one statement: it needs no transaction, and a wallet that has something exists. WALLET_UNKNOWN. */
  async #list<T>(walletId: WalletId, body: (tx: SqlTransaction) => Promise<readonly T[]>): Promise<readonly T[]> {
    const rows = await this.#database.readOne(body);
    return rows.length > 0 ? rows : this.#read(walletId, body);
  }

  #write<T>(body: (tx: SqlTransaction, events: EventLog) => Promise<T>): Promise<T> {
    return this.#database.write(async (tx) => {
      const events = new EventLog();
      const result = await body(tx, events);
      await events.write(tx);
      return result;
    });
  }
}
