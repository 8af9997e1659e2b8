/**
 * The contract of a wallet store: everything wallets keep and every question
 * they ask. Three stores fulfil it: PostgreSQL, SQLite, and plain maps in memory
 * as the model that the other two are held to (docs/wallets.md).
 *
 * Every method that writes is one database transaction: all of it or nothing.
 * No method looks at a clock. Errors are UnspentError; the codes stand with the
 * methods.
 */
import type { Outpoint } from '../ledgers/outpoint.ts';
import type { FailureCount } from '../sql/database.ts';
import type { FreeCoins } from './free-coins.ts';
import type { KeptLabels, LabelKey, WalletLabel } from './label-records.ts';
import type {
  AccountId,
  AccountInfo,
  AddressBranch,
  AddressInfo,
  CoinLease,
  KeyScope,
  NumberedWalletEvent,
  ScriptKind,
  TxDetail,
  TxReplacement,
  TxStatus,
  WalletBalance,
  WalletBlock,
  WalletCoin,
  WalletId,
  WalletInfo,
  WalletTx,
  WalletTxRow,
} from './records.ts';

export interface WalletStore {
  /** False after a fatal failure of the database: every call fails until the store is opened anew. */
  readonly isHealthy: boolean;
  /** Failures of the database so far, by class and reason. */
  readonly failures: readonly FailureCount[];
  /** WALLET_EXISTS, INVALID_PARAM (no name), WATCH_ONLY (secrets for a wallet that must have none), MASTER_KEY_NEEDED, and of its accounts as `createAccount`. */
  createWallet(wallet: NewWallet): Promise<WalletInfo>;
  /** WALLET_UNKNOWN. */
  getWallet(name: string): Promise<WalletInfo>;
  /** By name. */
  listWallets(page?: Page<string>): Promise<readonly WalletInfo[]>;
  /** Stores block rows that are missing. WALLET_UNKNOWN, BLOCK_MISMATCH. */
  updateWallet(walletId: WalletId, change: WalletChange): Promise<WalletInfo>;
  /** Block rows from `from` to `to`, both included, ascending. */
  listSyncedBlocks(from: number, to: number): Promise<readonly WalletBlock[]>;
  /** Encrypted material, as it was given; null: watch-only. */
  getSecrets(walletId: WalletId): Promise<WalletSecrets | null>;
  /** A new passphrase. WATCH_ONLY. */
  setSecrets(walletId: WalletId, secrets: WalletSecrets): Promise<void>;

  /**
   * The first account of a scope decides the kinds of the scope's scripts; INVALID_PARAM for others.
   * ACCOUNT_EXISTS, ACCOUNT_NAME_RESERVED ("imported"), ACCOUNT_NUMBER_MAX.
   */
  createAccount(walletId: WalletId, account: NewAccount): Promise<AccountInfo>;
  /** ACCOUNT_UNKNOWN; ACCOUNT_QUERY unless exactly one of name and number is given. */
  getAccount(walletId: WalletId, account: AccountName): Promise<AccountInfo>;
  /** In the order they were made. */
  listAccounts(walletId: WalletId): Promise<readonly AccountInfo[]>;
  /** ACCOUNT_UNKNOWN, ACCOUNT_EXISTS, ACCOUNT_NAME_RESERVED. */
  renameAccount(walletId: WalletId, account: AccountName, name: string): Promise<AccountInfo>;

  /**
   * Takes the next index that `derive` gives an address for; null: that child key does not exist. An address that was
   * imported by itself before becomes one of the account; one of another account is INVALID_PARAM.
   * `isChange`: it is for change of a payment, or is not. ACCOUNT_UNKNOWN, ADDRESS_INDEX_MAX.
   */
  newAddress(
    walletId: WalletId,
    accountId: AccountId,
    branch: AddressBranch,
    derive: DeriveAddress,
    now: number,
    isChange?: boolean,
  ): Promise<AddressInfo>;
  /** Of the wallet's addresses among the scripts, by the script in hex: whether it was given out for change. Absent: nobody said. */
  givenForChange(walletId: WalletId, scripts: readonly Uint8Array[]): Promise<ReadonlyMap<string, boolean>>;
  /** The same address again is no change. SCRIPT_MISSING. */
  importAddress(walletId: WalletId, address: NewAddress, now: number): Promise<AddressInfo>;
  /** ADDRESS_UNKNOWN. */
  getAddress(walletId: WalletId, script: Uint8Array): Promise<AddressInfo>;
  /** Those of the scripts that are the wallet's own, by the script in hex. */
  resolveOwned(walletId: WalletId, scripts: readonly Uint8Array[]): Promise<ReadonlyMap<string, AddressInfo>>;
  /** In the order they were made. */
  listAddresses(walletId: WalletId, page?: Page<Uint8Array>): Promise<readonly AddressInfo[]>;

  /**
   * A transaction was made, seen in the mempool, or seen in a block: T1 to T3, T5 to T7, T9, T11b, T14 to T16 of the
   * states of a transaction. What it does to a row that is there already is decided by `effectOnRow` (rules/status.ts).
   * INVALID_PARAM, INVALID_STATUS, INDEX_RANGE, INPUT_TWICE, TX_EXISTS, INPUT_CONFLICT, PARENT_DEAD, BLOCK_UNKNOWN,
   * BLOCK_MISMATCH, ADDRESS_UNKNOWN, CHAIN_INCONSISTENT.
   */
  createTx(tx: NewTx): Promise<void>;
  /** TX_UNKNOWN, INVALID_PARAM, BLOCK_UNKNOWN, BLOCK_MISMATCH. */
  updateTx(walletId: WalletId, txId: Uint8Array, change: TxChange): Promise<void>;
  /** TX_UNKNOWN, TX_NOT_UNMINED, TX_HAS_CHILDREN. */
  deleteTx(walletId: WalletId, txId: Uint8Array): Promise<void>;
  /** It and its descendants fail; their coins are free again. TX_UNKNOWN, TX_NOT_UNMINED, CHAIN_INCONSISTENT. */
  invalidateTx(walletId: WalletId, txId: Uint8Array): Promise<void>;
  /** Of one wallet; in any order (`parentsFirst`). Stores block rows that are missing. As createTx. */
  applyTxBatch(walletId: WalletId, txs: readonly NewTx[], syncedTo?: WalletBlock): Promise<void>;
  /** What a scan found: addresses up to an index, transactions, blocks. As applyTxBatch, ACCOUNT_UNKNOWN, FEED_MOVED. */
  applyScanBatch(walletId: WalletId, scan: ScanBatch): Promise<void>;
  /** The next block, which wallets are at after it that were at the block before or at none, and how far the feed is. As applyTxBatch, FEED_MOVED, WATCH_CHANGED. */
  connectBlock(block: ConnectedBlock): Promise<void>;
  /** Blocks from `height` on are gone, for all wallets; and how far the feed is. CHAIN_INCONSISTENT, FEED_MOVED. */
  rollbackToBlock(height: number, feed?: FeedPosition): Promise<void>;
  /** One wallet is to be scanned again from the block on; it keeps what it has up to it, and stays there until a scan or `updateWallet` moves it. Blocks and other wallets stay. BLOCK_MISMATCH, CHAIN_INCONSISTENT. */
  rewindWallet(walletId: WalletId, block: WalletBlock): Promise<void>;
  /** The mempool has it, or has it no more. Never changes a status. TX_UNKNOWN. */
  markMempool(walletId: WalletId, txId: Uint8Array, seen: boolean, now: number): Promise<void>;
  /** Dead rows of which nothing was heard from `before` on (`deadSince`) and that nothing needs (`prunable`), in the order they were added. Returns the ids that are gone. */
  pruneDead(walletId: WalletId, before: number): Promise<readonly Uint8Array[]>;
  /** The names of the feeds that have begun. */
  feeds(): Promise<readonly string[]>;
  /** Null: never fed. */
  feedPosition(feed: string): Promise<string | null>;
  /** The accounts that are new, or have new addresses, since a version of the watched set (0: all), in the order they were made. */
  watchedAccounts(feed: string, since: number): Promise<WatchedAccounts>;
  /** Which wallets own one of the scripts, and which have a coin, or a transaction with an input, among the outpoints. */
  findTouched(scripts: readonly Uint8Array[], outpoints: readonly Outpoint[]): Promise<TouchedWallets>;

  /** TX_UNKNOWN. */
  getTx(walletId: WalletId, txId: Uint8Array): Promise<WalletTxRow>;
  /** TX_UNKNOWN. */
  getTxDetail(walletId: WalletId, txId: Uint8Array): Promise<TxDetail>;
  /** Confirmed rows between two heights, in the order of the chain, or the unmined ones (live, without a block), newest first. */
  listTxs(walletId: WalletId, range: { readonly from: number; readonly to: number } | 'unmined'): Promise<readonly WalletTxRow[]>;
  /** The unmined ones (live, without a block), newest first. */
  listUnmined(walletId: WalletId): Promise<readonly TxDetail[]>;
  /** Of all wallets: what is published, in no block, and not told to be evicted. By wallet, in the order they were added. */
  listInMempool(): Promise<readonly { readonly walletId: WalletId; readonly txId: Uint8Array }[]>;
  /**
   * Negative: rows without a block, dead ones included, newest received first. Confirmed rows in the order of the chain;
   * with start > end, or a negative start, the newest block first, in each the same order (`detailParts`).
   */
  listTxDetails(walletId: WalletId, start: number, end: number): Promise<readonly TxDetail[]>;
  /** Newest first, for people: rows without a block, then confirmed ones. TX_UNKNOWN of a page after an unknown one. */
  history(walletId: WalletId, page?: HistoryPage): Promise<readonly TxDetail[]>;
  /** Where one of the transactions is either end; by time, then in the order they were added. */
  listReplacements(walletId: WalletId, txIds: readonly Uint8Array[]): Promise<readonly TxReplacement[]>;
  /** What replaced it last, what replaced that, and so on, as long as each has the status `replaced`. */
  replacementChain(walletId: WalletId, txId: Uint8Array): Promise<readonly Uint8Array[]>;

  /** UTXO_UNKNOWN. */
  getCoin(walletId: WalletId, outpoint: Outpoint, now: number): Promise<WalletCoin>;
  /** By amount, then txid and index, ascending. ACCOUNT_QUERY. */
  listCoins(walletId: WalletId, filter: CoinFilter, page?: Page<CoinPlace>): Promise<readonly WalletCoin[]>;
  /** ACCOUNT_QUERY. */
  balance(walletId: WalletId, filter: CoinFilter): Promise<WalletBalance>;
  /** Coins that a block could still spend, with the scripts of their outputs; by txid and index. */
  listOutputsToWatch(walletId: WalletId): Promise<readonly WatchedOutput[]>;

  /** All or none. UTXO_UNKNOWN, COIN_LEASED, INVALID_PARAM. */
  leaseCoins(walletId: WalletId, outpoints: readonly Outpoint[], lease: LeaseRequest): Promise<readonly CoinLease[]>;
  /** UTXO_UNKNOWN (also of a spent coin, unless its lease is to outlive the spend), LEASE_OF_ANOTHER. No lease is no error. */
  releaseCoin(walletId: WalletId, outpoint: Outpoint, leaseId: Uint8Array, now: number): Promise<void>;
  /** Active leases of coins of live transactions: unspent ones, and spent ones whose lease is to outlive the spend. By txid and index. */
  listLeases(walletId: WalletId, now: number): Promise<readonly WalletCoin[]>;
  /** Frees space; what has expired is invisible before. Returns how many. */
  deleteExpiredLeases(now: number): Promise<number>;
  /** Chooses among the coins of the filter that are neither leased nor evicted, and leases what was chosen, in one database transaction. */
  selectAndLease<T extends { readonly coins: readonly Outpoint[] }>(
    walletId: WalletId,
    filter: CoinFilter,
    choose: ChooseCoins<T>,
    lease: LeaseRequest,
  ): Promise<T>;

  /**
   * Labels of whatever has one: transactions of the wallet have theirs at once, others when they come. Outputs that are not
   * to be spent are leased without end, those that the wallet does not have yet in the change in which they come.
   * All or none. INVALID_PARAM.
   */
  keepLabels(walletId: WalletId, labels: readonly WalletLabel[], now: number): Promise<KeptLabels>;
  /** All that `keepLabels` was ever told, in the order of their keys. */
  listLabels(walletId: WalletId, page?: Page<LabelKey>): Promise<readonly WalletLabel[]>;

  /** What committed changes did, after that event, in order. EXPIRED: some that came after it are forgotten, of whichever wallet. */
  listEvents(after: number, limit: number, walletId?: WalletId): Promise<readonly NumberedWalletEvent[]>;
  eventRange(): Promise<WalletEventRange>;
  /**
   * Forgets the oldest events of the database, but for the newest `keep`; WALLET_EVENTS_TRIM_MAX of them at most, so that
   * others do not wait for long. Returns how many. INVALID_PARAM.
   */
  trimEvents(keep: number): Promise<number>;
  /**
   * The wallet's events of the kind `reorg`, newest first; a page goes on with those before its key. The last one may be
   * one that is forgotten, for the sake of the one that follows it (`listReorgEffects`).
   */
  listReorgs(walletId: WalletId, page: Page<number>): Promise<readonly NumberedWalletEvent[]>;
  close(): Promise<void>;
}

/** Which events the database has, by their numbers. */
export interface WalletEventRange {
  /** Those up to this one are forgotten; 0: none. */
  readonly trimmed: number;
  /** Behind it comes what happens from now on. 0: nothing happened yet. */
  readonly newest: number;
}

/** The page after `after`, the key of the last row of the page before. */
export interface Page<Key> {
  readonly after?: Key | undefined;
  readonly limit: number;
}

export interface HistoryPage extends Page<Uint8Array> {
  /** Leaves out rows of the status `replaced` whose replacement is still there: they are told with that one. */
  readonly withoutReplaced?: boolean | undefined;
}

export type ChooseCoins<T> = (coins: FreeCoins) => T;

/** Where a coin stands in the order of coins. */
export type CoinPlace = Pick<WalletCoin, 'amount' | 'outpoint'>;

export interface NewWallet {
  readonly name: string;
  readonly isWatchOnly: boolean;
  readonly isImported?: boolean | undefined;
  readonly masterPublicKey?: Uint8Array | undefined;
  /** Required of a wallet that is not watch-only. */
  readonly secrets?: WalletSecrets | undefined;
  readonly birthday?: number | undefined;
  /** Its first accounts: all of it is made, or nothing. */
  readonly accounts?: readonly NewAccount[] | undefined;
}

/** Encrypted by the keys room; the store never sees what is inside. */
export interface WalletSecrets {
  readonly masterParams: Uint8Array;
  readonly cryptoPrivateKey: Uint8Array;
  readonly cryptoScriptKey: Uint8Array | null;
  readonly masterPrivateKey: Uint8Array;
}

export interface WalletChange {
  readonly birthday?: number | undefined;
  readonly birthdayBlock?: WalletBlock | undefined;
  readonly syncedTo?: WalletBlock | undefined;
}

export interface NewAccount {
  readonly scope: KeyScope;
  readonly name: string;
  /** Of the addresses on the two branches. */
  readonly externalKind: ScriptKind;
  readonly internalKind: ScriptKind;
  /** False: from an extended public key of somebody else, without a number of ours. */
  readonly isDerived: boolean;
  readonly publicKey?: Uint8Array | undefined;
  readonly masterFingerprint?: number | undefined;
  readonly now: number;
}

export interface AccountName {
  readonly scope: KeyScope;
  readonly name?: string | undefined;
  readonly number?: number | undefined;
}

export interface NewAddress {
  readonly script: Uint8Array;
  readonly kind: ScriptKind;
  readonly publicKey?: Uint8Array | undefined;
}

export type DeriveAddress = (branch: AddressBranch, index: number) => NewAddress | null;

export interface NewTx {
  readonly walletId: WalletId;
  readonly tx: WalletTx;
  readonly received: number;
  readonly status: TxStatus;
  readonly block?: WalletBlock | undefined;
  readonly label?: string | undefined;
  /** Outputs that are the wallet's own, with the script of the address that owns each; null: the output's own script. */
  readonly credits: ReadonlyMap<number, Uint8Array | null>;
  /** Outputs that may be the wallet's own: the output's script is tried first, then these. */
  readonly creditCandidates?: ReadonlyMap<number, readonly Uint8Array[]> | undefined;
  /** It may take the place of live unmined transactions that spend the same. */
  readonly replace?: boolean | undefined;
  /**
   * A dead row that the mempool has again may live again, where nothing that lives spends the same. With `replace` it takes
   * the place of those that the mempool was last told to have no more: another one may just have taken its own place, and
   * the mempool is told of it late.
   */
  readonly reactivate?: boolean | undefined;
}

export interface TxChange {
  readonly label?: string | undefined;
  readonly state?: { readonly status: TxStatus; readonly block?: WalletBlock | undefined } | undefined;
}

export interface ScanBatch {
  readonly horizons: readonly {
    readonly accountId: AccountId;
    readonly branch: AddressBranch;
    readonly index: number;
    readonly derive: DeriveAddress;
  }[];
  readonly txs: readonly NewTx[];
  readonly syncedBlocks: readonly WalletBlock[];
  readonly now: number;
  /** Up to where the chain was scanned. FEED_MOVED if the feed is elsewhere: what came since was not looked at for these addresses. */
  readonly feed?: FeedPlace | undefined;
}

export interface FeedPlace {
  readonly feed: string;
  /** Null: it has not begun. */
  readonly position: string | null;
}

/** How far the reader of a chain's events is; stored with the data. */
export interface FeedPosition {
  readonly feed: string;
  /** Where the reader was before: FEED_MOVED if the database says otherwise, because another process feeds it, too. Null: the beginning. */
  readonly after: string | null;
  readonly position: string;
}

/**
 * What is watched is every address of every wallet, and how far each account has given out addresses. Whatever adds to it
 * raises its version, in the same database transaction.
 */
export interface WatchedAccounts {
  readonly watchVersion: number;
  readonly accounts: readonly { readonly wallet: WalletInfo; readonly account: AccountInfo }[];
  /** The newest block of the database, and where the feed is, at the same moment. */
  readonly block: WalletBlock | null;
  readonly position: string | null;
}

export interface TouchedWallets {
  /** What was watched when the others were read. */
  readonly watchVersion: number;
  /** By the script in hex. */
  readonly owners: ReadonlyMap<string, readonly WalletId[]>;
  /** By the outpoint as text (`outpointText`). */
  readonly spenders: ReadonlyMap<string, readonly WalletId[]>;
}

export interface ConnectedBlock {
  readonly block: WalletBlock;
  /** Of any wallets; wallets without one advance to the block, too. */
  readonly txs: readonly NewTx[];
  /**
   * The version of what was watched when the wallets that the block touches were looked for: WATCH_CHANGED if it is
   * another by now, because an address that was added meanwhile may be paid by the block. Undefined: not compared.
   */
  readonly watchVersion?: number | undefined;
  readonly feed?: FeedPosition | undefined;
}

export interface CoinFilter {
  readonly now: number;
  readonly scope?: KeyScope | undefined;
  readonly account?: number | undefined;
  readonly accountName?: string | undefined;
  readonly minConfs?: number | undefined;
  readonly maxConfs?: number | undefined;
  /** Confirmations that a coinbase needs to be listed; of a balance, not to be immature. 0: none. */
  readonly coinbaseMaturity?: number | undefined;
}

export interface LeaseRequest {
  readonly id: Uint8Array;
  readonly now: number;
  /** Null: without end. INVALID_PARAM unless above 0. */
  readonly durationMs: number | null;
  readonly releaseAfterSpendConfs?: number | undefined;
}

export interface WatchedOutput {
  readonly outpoint: Outpoint;
  readonly amount: bigint;
  readonly script: Uint8Array;
}
