/**
 * Wallets of one network, opened: what commands, REST and the page ask of wallets
 * of any family. What coins, statuses, leases and history are is the same for
 * all, and the store's; how a wallet is made, what it watches and how its chain
 * comes to it differs. The descriptor of a family (`families/`) points to its
 * `WalletFamily`.
 */
import type { Dialect } from '../query/dialect.ts';
import { UnspentError } from '../util/errors.ts';
import type { WalletAddressJson, WalletNotation } from './documents.ts';
import type { ReconnectOptions, ServerAddress } from './feed/server-client.ts';
import type { FollowedStore } from './feed/store-feed.ts';
import type { FeedSource, OtherOwners, PrepareBlock } from './feed/wallet-feed.ts';
import type { RescanResult } from './past/rescan.ts';
import type { AddressInfo, WalletInfo, WalletTx } from './records.ts';
import type { WalletStore } from './store.ts';

/** What wallets of some families cannot do. `keys`: to have secrets, and to sign. `follows`: to be fed from another machine. */
export type WalletFeature = 'payments' | 'bumps' | 'broadcasts' | 'keys' | 'follows';

export interface WalletFamily<P> {
  /** `url`: of the database. Whoever opens it closes its store. Throws as `openWalletStore`, UNSUPPORTED where packages are missing. */
  open(url: string, network: P, settings: WalletSettings): Promise<FamilyWallets>;
  /** Why its wallets cannot do it, as a whole sentence. Absent: they can. */
  readonly lacks: Readonly<Partial<Record<WalletFeature, string>>>;
}

/** What the settings say of wallets. */
export interface WalletSettings {
  readonly gapLimit: number;
  readonly feeMax: number;
  readonly feeRateMax: number;
  readonly eventsMax: number;
}

export interface FamilyWallets {
  readonly store: WalletStore;
  readonly network: { readonly name: string };
  readonly notation: WalletNotation;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** About so many events are kept (`WalletFeedOptions`). */
  readonly eventsMax: number;
  /** Confirmations that a coinbase needs before it may be spent. */
  readonly coinbaseMaturity: number;
  /** Outputs may hold other things than the coin of the chain. */
  readonly hasAssets: boolean;
  /** A wallet without secrets. Throws WALLET_EXISTS, USAGE, DESCRIPTOR_INVALID, WATCH_ONLY, INVALID_PARAM. */
  createWatching(name: string, watched: WatchedText): Promise<WalletInfo>;
  /** What was added, as a document. Throws WALLET_UNKNOWN, ACCOUNT_EXISTS, and as `createWatching`. */
  watchMore(name: string, watched: WatchedText): Promise<object>;
  watchedJson(wallet: WalletInfo): Promise<WatchedJson>;
  /** The texts from which the wallet can be made again, a line each. */
  watchedLines(wallet: WalletInfo): Promise<readonly string[]>;
  /** One to be paid at. Throws ACCOUNT_UNKNOWN, ADDRESS_INDEX_MAX, UNSUPPORTED where the wallet knows none. */
  addressOf(wallet: WalletInfo, request: AddressRequest): Promise<AddressInfo>;
  /** How the wallets are fed from a store; `ends`: with its newest block. Throws UNSUPPORTED where it does not keep what that takes. */
  chainOf(store: WalletChainStore, ends: boolean): WalletChain;
  /**
   * The wallets are brought to the newest block of the store, from its history; `from`: nothing from that height on is
   * believed. Throws as `rescanWallets`.
   */
  rescan(store: WalletChainStore, from?: number): Promise<RescanResult>;
  /** How they are fed from a server on another machine; `ends`: with its newest block. Absent: they are fed beside their store only. */
  readonly chainFrom?: ((server: ChainServer, ends: boolean) => WalletChain) | undefined;
}

/** What a wallet is to watch, as people and programs say it: descriptors or addresses, whichever its family has. */
export interface WatchedText {
  /** Of the addresses that others pay to; with `<0;1>` also of change. */
  readonly descriptor?: string | undefined;
  /** Of change, where the first has one branch. */
  readonly change?: string | undefined;
  /** Name of the account that the descriptors make. Default `default`. */
  readonly account?: string | undefined;
  readonly addresses?: readonly string[] | undefined;
}

/** What a wallet watches: accounts with descriptors, or addresses. */
export interface WatchedJson {
  readonly accounts?: readonly object[];
  readonly addresses?: readonly WalletAddressJson[];
}

export interface AddressRequest {
  /** Name of the account; default: the first. */
  readonly account?: string | undefined;
  /** One for change. Default false. */
  readonly change?: boolean | undefined;
}

/** What wallets ask of an open store. */
export interface WalletChainStore extends FollowedStore {
  readonly network: { readonly name: string; readonly dialect: Pick<Dialect, 'clock'> };
  readonly config: { readonly utxo: { readonly history: boolean } };
}

/** A server that wallets are fed from, for as long as nobody aborts it. */
export interface ChainServer extends ServerAddress, ReconnectOptions {
  readonly signal: AbortSignal;
}

/** The events of a chain for the wallets of a family, with what belongs between two of them. */
export interface WalletChain {
  /** The name under which the wallets are fed. */
  readonly feed: string;
  readonly source: FeedSource;
  readonly prepare: PrepareBlock;
  readonly otherOwners?: OtherOwners | undefined;
  /** Grows with what is watched, as far as it is known by now: when it has, the mempool is told again. */
  readonly accountCount?: (() => number) | undefined;
  /** Reads a transaction of the mempool; null: it is none that can be read. */
  readonly mempoolTx: (raw: Uint8Array) => WalletTx | null;
}

/** Throws UNSUPPORTED. */
export function needFeature({ lacks }: Pick<WalletFamily<never>, 'lacks'>, feature: WalletFeature): void {
  const why = lacks[feature];
  if (why !== undefined) throw new UnspentError('UNSUPPORTED', why, { feature });
}
