/**
 * The wallet store in memory: plain maps, every answer by looking at every row.
 * It is what the databases are compared with, and a store for tests of programs
 * that use wallets. Nothing of it outlives the process.
 */
import type { Outpoint } from '../../ledgers/outpoint.ts';
import { toHex } from '../../util/bytes.ts';
import { WALLET_EVENTS_TRIM_MAX } from '../../util/limits.ts';
import { freeCoinsOf } from '../free-coins.ts';
import type { KeptLabels, LabelKey, WalletLabel } from '../label-records.ts';
import type {
  AccountInfo,
  AddressInfo,
  CoinLease,
  NumberedWalletEvent,
  TxDetail,
  TxReplacement,
  WalletBalance,
  WalletBlock,
  WalletCoin,
  WalletId,
  WalletInfo,
  WalletTxRow,
} from '../records.ts';
import type { WalletRows } from '../rows.ts';
import { compareCoins } from '../rules/coins.ts';
import { checkEventsRead, trimmedUpTo } from '../rules/events.ts';
import { refusal } from '../rules/failures.ts';
import { compareLabels } from '../rules/labels.ts';
import { checkNewTx } from '../rules/new-tx.ts';
import { checkTxChange } from '../rules/status.ts';
import type {
  AccountName,
  ChooseCoins,
  CoinFilter,
  CoinPlace,
  ConnectedBlock,
  FeedPosition,
  HistoryPage,
  LeaseRequest,
  NewAccount,
  NewAddress,
  NewTx,
  NewWallet,
  Page,
  ScanBatch,
  TouchedWallets,
  TxChange,
  WalletChange,
  WalletEventRange,
  WalletSecrets,
  WalletStore,
  WatchedAccounts,
  WatchedOutput,
} from '../store.ts';
import {
  addAccount,
  addressByScript,
  addWallet,
  describeAddresses,
  findAccount,
  givenAmong,
  importAddress,
  nextAddress,
  renameAccount,
} from './accounts.ts';
import { dropBranch } from './branch.ts';
import { applyBatch, applyScan, connect, moveTip, rewind, rollback, storeBlock } from './chain.ts';
import { addTx, applyTxChange, dropOtherForms, markInMempool } from './incoming.ts';
import { labelsInOrder, takeLabels } from './labels.ts';
import { leaseAll, release, removeExpired, settleLeases } from './leases.ts';
import {
  balanceOf,
  chainOfReplacements,
  coinsOf,
  confirmedBetween,
  describeTx,
  detailOf,
  findCoin,
  historyOf,
  inDetailRange,
  inMempool,
  leasedCoins,
  replacementsOf,
  rowsOfPage,
  touchedWallets,
  unmined,
  walletsOfPage,
  watchedAccounts,
  watchedOutputs,
} from './reads.ts';
import { deleteTx, prune, unminedTx } from './removal.ts';
import { memoryRows } from './rows.ts';
import { byOrder, MemoryTables, type MemoryWallet } from './tables.ts';

export class MemoryWalletStore implements WalletStore {
  readonly #tables = new MemoryTables();

  /** All of it or nothing. */
  #write<T>(change: (tables: MemoryTables) => T): T {
    return this.#tables.journal.atomically(() => {
      const result = change(this.#tables);
      for (const wallet of this.#tables.wallets.values()) settleLeases(this.#tables, wallet);
      return result;
    });
  }

  #change<T>(walletId: WalletId, change: (wallet: MemoryWallet, tables: MemoryTables) => T): T {
    return this.#write((tables) => change(tables.wallet(walletId), tables));
  }

  /** Every row, to compare with those of another store. */
  async rows(): Promise<WalletRows> {
    return memoryRows(this.#tables);
  }

  /** There is no database that could fail. */
  readonly isHealthy = true;
  readonly failures: readonly [] = [];

  async createWallet(wallet: NewWallet): Promise<WalletInfo> {
    return this.#write((tables) => addWallet(tables, wallet));
  }

  async getWallet(name: string): Promise<WalletInfo> {
    for (const { info } of this.#tables.wallets.values()) if (info.value.name === name) return info.value;
    throw refusal.walletUnknown(name);
  }

  async listWallets(page?: Page<string>): Promise<readonly WalletInfo[]> {
    return walletsOfPage(this.#tables, page);
  }

  async updateWallet(walletId: WalletId, { birthday, birthdayBlock, syncedTo }: WalletChange): Promise<WalletInfo> {
    return this.#change(walletId, (wallet, tables) => {
      if (birthday !== undefined) wallet.info.value = { ...wallet.info.value, birthday };
      if (birthdayBlock !== undefined) {
        storeBlock(tables, birthdayBlock);
        wallet.info.value = { ...wallet.info.value, birthdayBlock };
      }
      if (syncedTo !== undefined) moveTip(tables, wallet, syncedTo);
      return wallet.info.value;
    });
  }

  async listSyncedBlocks(from: number, to: number): Promise<readonly WalletBlock[]> {
    const blocks = [...this.#tables.blocks.values()].filter(({ height }) => height >= from && height <= to);
    return blocks.sort((a, b) => a.height - b.height);
  }

  async getSecrets(walletId: WalletId): Promise<WalletSecrets | null> {
    return this.#tables.wallet(walletId).secrets.value;
  }

  async setSecrets(walletId: WalletId, secrets: WalletSecrets): Promise<void> {
    this.#change(walletId, (wallet) => {
      if (wallet.info.value.isWatchOnly) throw refusal.watchOnly(wallet.info.value.name);
      wallet.secrets.value = secrets;
    });
  }

  async createAccount(walletId: WalletId, account: NewAccount): Promise<AccountInfo> {
    return this.#change(walletId, (wallet, tables) => addAccount(tables, wallet, account));
  }

  async getAccount(walletId: WalletId, account: AccountName): Promise<AccountInfo> {
    return findAccount(this.#tables.wallet(walletId), account);
  }

  async listAccounts(walletId: WalletId): Promise<readonly AccountInfo[]> {
    return [...this.#tables.wallet(walletId).accounts.values()].sort((a, b) => a.id - b.id);
  }

  async renameAccount(walletId: WalletId, account: AccountName, name: string): Promise<AccountInfo> {
    return this.#change(walletId, (wallet) => renameAccount(wallet, account, name));
  }

  async newAddress(...[walletId, accountId, branch, derive, now, isChange]: Parameters<WalletStore['newAddress']>): Promise<AddressInfo> {
    return this.#change(walletId, (wallet, tables) => {
      const address = nextAddress(tables, wallet, accountId, branch, derive, now);
      if (isChange !== undefined) wallet.given.set(toHex(address.script), isChange);
      return describeAddresses(wallet, [address])[0];
    });
  }

  async givenForChange(walletId: WalletId, scripts: readonly Uint8Array[]): Promise<ReadonlyMap<string, boolean>> {
    return givenAmong(this.#tables.wallet(walletId), scripts);
  }

  async importAddress(walletId: WalletId, address: NewAddress, now: number): Promise<AddressInfo> {
    return this.#change(walletId, (wallet, tables) => describeAddresses(wallet, [importAddress(tables, wallet, address, now)])[0]);
  }

  async getAddress(walletId: WalletId, script: Uint8Array): Promise<AddressInfo> {
    const wallet = this.#tables.wallet(walletId);
    return describeAddresses(wallet, [addressByScript(wallet, script)])[0];
  }

  async resolveOwned(walletId: WalletId, scripts: readonly Uint8Array[]): Promise<ReadonlyMap<string, AddressInfo>> {
    const wallet = this.#tables.wallet(walletId);
    const found = scripts.map((script) => wallet.addresses.get(toHex(script))).filter((row) => row !== undefined);
    return new Map(describeAddresses(wallet, found).map((address) => [toHex(address.script), address]));
  }

  async listAddresses(walletId: WalletId, page?: Page<Uint8Array>): Promise<readonly AddressInfo[]> {
    const wallet = this.#tables.wallet(walletId);
    const after = page?.after && addressByScript(wallet, page.after).order;
    const rows = [...wallet.addresses.values()].sort(byOrder);
    return describeAddresses(
      wallet,
      rowsOfPage(rows, page && { after, limit: page.limit }, ({ order }, last) => order > last),
    );
  }

  async createTx(tx: NewTx): Promise<void> {
    checkNewTx(tx);
    this.#change(tx.walletId, (wallet, tables) => {
      for (const news of dropOtherForms(tables, wallet, [tx])) addTx(tables, news);
    });
  }

  async updateTx(walletId: WalletId, txId: Uint8Array, change: TxChange): Promise<void> {
    checkTxChange(txId, change);
    this.#change(walletId, (wallet, tables) => applyTxChange(tables, wallet, txId, change));
  }

  async deleteTx(walletId: WalletId, txId: Uint8Array): Promise<void> {
    this.#change(walletId, (wallet, tables) => deleteTx(tables, wallet, txId));
  }

  async invalidateTx(walletId: WalletId, txId: Uint8Array): Promise<void> {
    this.#change(walletId, (wallet, tables) => dropBranch(tables, wallet, [unminedTx(wallet, txId)], { kind: 'failed' }));
  }

  async applyTxBatch(walletId: WalletId, txs: readonly NewTx[], syncedTo?: WalletBlock): Promise<void> {
    this.#write((tables) => applyBatch(tables, walletId, txs, syncedTo));
  }

  async applyScanBatch(walletId: WalletId, scan: ScanBatch): Promise<void> {
    this.#write((tables) => applyScan(tables, walletId, scan));
  }

  async connectBlock(block: ConnectedBlock): Promise<void> {
    this.#write((tables) => connect(tables, block));
  }

  async rollbackToBlock(height: number, feed?: FeedPosition): Promise<void> {
    this.#write((tables) => rollback(tables, height, feed));
  }

  async rewindWallet(walletId: WalletId, block: WalletBlock): Promise<void> {
    this.#change(walletId, (wallet, tables) => rewind(tables, wallet, block));
  }

  async markMempool(walletId: WalletId, txId: Uint8Array, seen: boolean, now: number): Promise<void> {
    this.#change(walletId, (wallet, tables) => markInMempool(tables, wallet, txId, seen, now));
  }

  async pruneDead(walletId: WalletId, before: number): Promise<readonly Uint8Array[]> {
    return this.#change(walletId, (wallet, tables) => prune(tables, wallet, before));
  }

  async feeds(): Promise<readonly string[]> {
    return [...this.#tables.feeds.values()].map(({ feed }) => feed).sort();
  }

  async feedPosition(feed: string): Promise<string | null> {
    return this.#tables.feeds.get(feed)?.position ?? null;
  }

  async watchedAccounts(feed: string, since: number): Promise<WatchedAccounts> {
    return watchedAccounts(this.#tables, feed, since);
  }

  async findTouched(scripts: readonly Uint8Array[], outpoints: readonly Outpoint[]): Promise<TouchedWallets> {
    return touchedWallets(this.#tables, scripts, outpoints);
  }

  async getTx(walletId: WalletId, txId: Uint8Array): Promise<WalletTxRow> {
    return describeTx(this.#tables.wallet(walletId).tx(txId));
  }

  async getTxDetail(walletId: WalletId, txId: Uint8Array): Promise<TxDetail> {
    const wallet = this.#tables.wallet(walletId);
    return detailOf(wallet, wallet.tx(txId));
  }

  async listTxs(walletId: WalletId, range: { readonly from: number; readonly to: number } | 'unmined'): Promise<readonly WalletTxRow[]> {
    const wallet = this.#tables.wallet(walletId);
    if (range !== 'unmined') return confirmedBetween(wallet, range.from, range.to).map(describeTx);
    return unmined(wallet).map(describeTx);
  }

  async listUnmined(walletId: WalletId): Promise<readonly TxDetail[]> {
    const wallet = this.#tables.wallet(walletId);
    return unmined(wallet).map((row) => detailOf(wallet, row));
  }

  async listInMempool(): Promise<readonly { readonly walletId: WalletId; readonly txId: Uint8Array }[]> {
    return inMempool(this.#tables);
  }

  async listTxDetails(walletId: WalletId, start: number, end: number): Promise<readonly TxDetail[]> {
    const wallet = this.#tables.wallet(walletId);
    return inDetailRange(wallet, start, end).map((row) => detailOf(wallet, row));
  }

  async history(walletId: WalletId, page?: HistoryPage): Promise<readonly TxDetail[]> {
    return historyOf(this.#tables.wallet(walletId), page);
  }

  async listReplacements(walletId: WalletId, txIds: readonly Uint8Array[]): Promise<readonly TxReplacement[]> {
    return replacementsOf(this.#tables.wallet(walletId), new Set(txIds.map((txId) => toHex(txId))));
  }

  async replacementChain(walletId: WalletId, txId: Uint8Array): Promise<readonly Uint8Array[]> {
    const wallet = this.#tables.wallet(walletId);
    return chainOfReplacements(wallet, wallet.tx(txId));
  }

  async getCoin(walletId: WalletId, outpoint: Outpoint, now: number): Promise<WalletCoin> {
    return findCoin(this.#tables.wallet(walletId), outpoint, now);
  }

  async listCoins(walletId: WalletId, filter: CoinFilter, page?: Page<CoinPlace>): Promise<readonly WalletCoin[]> {
    return rowsOfPage(coinsOf(this.#tables.wallet(walletId), filter), page, (coin, after) => compareCoins(coin, after) > 0);
  }

  async balance(walletId: WalletId, filter: CoinFilter): Promise<WalletBalance> {
    return balanceOf(this.#tables.wallet(walletId), filter);
  }

  async listOutputsToWatch(walletId: WalletId): Promise<readonly WatchedOutput[]> {
    return watchedOutputs(this.#tables.wallet(walletId));
  }

  async leaseCoins(walletId: WalletId, outpoints: readonly Outpoint[], lease: LeaseRequest): Promise<readonly CoinLease[]> {
    return this.#change(walletId, (wallet, tables) => leaseAll(tables, wallet, outpoints, lease));
  }

  async releaseCoin(walletId: WalletId, outpoint: Outpoint, leaseId: Uint8Array, now: number): Promise<void> {
    this.#change(walletId, (wallet, tables) => release(tables, wallet, outpoint, leaseId, now));
  }

  async listLeases(walletId: WalletId, now: number): Promise<readonly WalletCoin[]> {
    return leasedCoins(this.#tables.wallet(walletId), now);
  }

  async deleteExpiredLeases(now: number): Promise<number> {
    return this.#write((tables) => removeExpired(tables, now));
  }

  async selectAndLease<T extends { readonly coins: readonly Outpoint[] }>(
    walletId: WalletId,
    filter: CoinFilter,
    choose: ChooseCoins<T>,
    lease: LeaseRequest,
  ): Promise<T> {
    return this.#change(walletId, (wallet, tables) => {
      const free = coinsOf(wallet, filter).filter((coin) => coin.lease === null && !coin.isEvicted);
      const chosen = choose(freeCoinsOf(free));
      leaseAll(tables, wallet, chosen.coins, lease);
      return chosen;
    });
  }

  async keepLabels(walletId: WalletId, labels: readonly WalletLabel[], now: number): Promise<KeptLabels> {
    return this.#change(walletId, (wallet, tables) => takeLabels(tables, wallet, labels, now));
  }

  async listLabels(walletId: WalletId, page?: Page<LabelKey>): Promise<readonly WalletLabel[]> {
    return rowsOfPage(labelsInOrder(this.#tables.wallet(walletId)), page, (label, after) => compareLabels(label, after) > 0);
  }

  async listEvents(after: number, limit: number, walletId?: WalletId): Promise<readonly NumberedWalletEvent[]> {
    checkEventsRead(after, await this.eventRange());
    const later = this.#tables.events.value.filter(({ sequence }) => sequence > after);
    return later.filter((event) => walletId === undefined || event.walletId === walletId).slice(0, limit);
  }

  async eventRange(): Promise<WalletEventRange> {
    return { trimmed: this.#tables.trimmed.value, newest: this.#tables.newestEvent.value };
  }

  async trimEvents(keep: number): Promise<number> {
    const range = await this.eventRange();
    const upTo = trimmedUpTo(range, keep, WALLET_EVENTS_TRIM_MAX);
    this.#write((tables) => tables.trimEvents(upTo));
    return upTo - range.trimmed;
  }

  async listReorgs(walletId: WalletId, page: Page<number>): Promise<readonly NumberedWalletEvent[]> {
    const { id } = this.#tables.wallet(walletId);
    const reorgs = this.#tables.events.value.filter((each) => each.walletId === id && each.event.kind === 'reorg').reverse();
    return rowsOfPage(reorgs, page, ({ sequence }, before) => sequence < before);
  }

  async close(): Promise<void> {}
}
