/**
 * Wallets of a Cardano network, opened: they watch addresses and stake
 * credentials, and their coins come from the indexes of a store and from what its
 * blocks do to outputs.
 */
import {
  type CardanoNetwork,
  formatAddress,
  parseAddress,
  parseCredential,
  readAddress,
  rewardAddress,
} from '../../ledgers/cardano/index.ts';
import { CARDANO_CURRENCY } from '../../query/cardano/dialect.ts';
import { fromHex, toHex } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import { addressJson, type WalletNotation } from '../documents.ts';
import type {
  AddressRequest,
  FamilyWallets,
  WalletChain,
  WalletChainStore,
  WalletSettings,
  WatchedJson,
  WatchedText,
} from '../family-wallets.ts';
import { scanBeside } from '../feed/scan-beside.ts';
import { storeFeed } from '../feed/store-feed.ts';
import { openWalletStore } from '../open.ts';
import { type RescanResult, rescanWallets } from '../past/rescan.ts';
import { storeHistory } from '../past/script-history.ts';
import type { AddressInfo, WalletBlock, WalletInfo } from '../records.ts';
import { refusal } from '../rules/failures.ts';
import type { NewAddress, WalletStore } from '../store.ts';
import { AddressScanner } from './address-scanner.ts';
import { stakeOwners, watchedAddress } from './owners.ts';
import { scanCoins } from './scan.ts';
import { eventTxs } from './wallet-tx.ts';
import { CARDANO_PAST, pendingWalletTx } from './whole-tx.ts';

const ID_BYTES = 32;
/** That of the first block after the one with which the outputs of the genesis come. */
const FIRST_TXS_HEIGHT = 1;
/** Deposits, withdrawals and mints are in the difference of inputs and outputs, too, so the fee is not known from them. */
const NOTATION: WalletNotation = {
  formatId: toHex,
  parseId: (text) => fromHex(text, ID_BYTES),
  coin: CARDANO_CURRENCY,
  formatAddress,
  feeOf: () => null,
  isPruned: () => false,
};

export async function openCardanoWallets(
  url: string,
  network: CardanoNetwork,
  settings: Pick<WalletSettings, 'eventsMax'>,
): Promise<CardanoWallets> {
  return new CardanoWallets(await openWalletStore(url), network, settings);
}

export class CardanoWallets implements FamilyWallets {
  readonly store: WalletStore;
  readonly network: CardanoNetwork;
  readonly notation = NOTATION;
  readonly eventsMax: number;
  readonly now = Date.now;
  /** Genesis outputs are the only coinbases, and may be spent at once. */
  readonly coinbaseMaturity = 0;
  readonly hasAssets = true;

  constructor(store: WalletStore, network: CardanoNetwork, { eventsMax }: Pick<WalletSettings, 'eventsMax'>) {
    this.store = store;
    this.network = network;
    this.eventsMax = eventsMax;
  }

  async createWatching(name: string, watched: WatchedText): Promise<WalletInfo> {
    const addresses = this.#read(watched);
    const wallet = await this.#unfinished(name, addresses);
    await this.#import(wallet, addresses);
    return wallet;
  }

  async watchMore(name: string, watched: WatchedText): Promise<object> {
    const addresses = this.#read(watched);
    const made = await this.#import(await this.store.getWallet(name), addresses);
    return { addresses: made.map((address) => addressJson(this.notation, address)) };
  }

  async watchedJson({ id }: WalletInfo): Promise<WatchedJson> {
    return { addresses: (await this.store.listAddresses(id)).map((address) => addressJson(this.notation, address)) };
  }

  async watchedLines({ id }: WalletInfo): Promise<readonly string[]> {
    return (await this.store.listAddresses(id)).map(({ script }) => formatAddress(script));
  }

  /** The first that is watched, each time: without keys there is no next one. */
  async addressOf({ id, name }: WalletInfo, { account, change }: AddressRequest): Promise<AddressInfo> {
    if (account !== undefined || change === true)
      throw new UnspentError('USAGE', 'wallets of Cardano have neither accounts nor addresses for change');
    const found = (await this.store.listAddresses(id)).find(({ kind }) => kind !== 'cardano-stake');
    if (found !== undefined) return found;
    throw new UnspentError(
      'UNSUPPORTED',
      `wallet '${name}' watches stake credentials only, and has no key from which an address could be made`,
    );
  }

  chainOf(store: WalletChainStore, ends: boolean): WalletChain {
    const { name } = this.network;
    const { clock } = store.network.dialect;
    const scanner = new AddressScanner(this.store, store, { feed: name, clock });
    return {
      feed: name,
      source: scanBeside(storeFeed(store, eventTxs, clock, { ends }), async () => void (await scanner.scanNew())),
      prepare: () => scanner.scanNew(),
      otherOwners: stakeOwners,
      accountCount: () => scanner.watchVersion,
      mempoolTx: pendingWalletTx,
    };
  }

  async rescan(store: WalletChainStore, from?: number): Promise<RescanResult> {
    if (!store.config.utxo.history)
      throw new UnspentError(
        'UNSUPPORTED',
        'wallets of Cardano are rescanned from the history of a store, and this one keeps none: set utxo.history, or make the wallets again in another database (wallet.database); wallet export has their addresses and labels',
      );
    const { clock } = store.network.dialect;
    const parts = {
      store: this.store,
      history: storeHistory(store, CARDANO_PAST, clock),
      source: storeFeed(store, eventTxs, clock, { ends: true }),
      otherOwners: stakeOwners,
      // Outputs of the genesis are in no transaction; and what a rollback gives back is as a feed would have told it.
      findMore: ({ id }: WalletInfo, block: WalletBlock) => scanCoins(this.store, store, { walletId: id, block, clock }),
    };
    // The outputs of the genesis came with the first block, in no transaction: the history cannot tell of them.
    return rescanWallets(parts, { feed: this.network.name, from: from === undefined ? undefined : Math.max(from, FIRST_TXS_HEIGHT) });
  }

  /** An address that outputs of this network can have. Throws USAGE. */
  payable(text: string): Uint8Array {
    const address = parseAddress(text);
    const { kind, network } = readAddress(address);
    if (kind !== 'reward' && network === this.network.addressNetworkId) return address;
    throw new UnspentError('USAGE', `'${text.slice(0, 120)}' is no address of ${this.network.name} that can be paid`);
  }

  /** Throws USAGE, also for addresses of another network. */
  #read({ descriptor, addresses = [] }: WatchedText): NewAddress[] {
    if (descriptor !== undefined)
      throw new UnspentError('USAGE', 'wallets of Cardano have no descriptors: name addresses, or stake addresses for all that have them');
    if (addresses.length === 0) throw new UnspentError('USAGE', 'say what the wallet watches: addresses, or stake addresses');
    return addresses.map((text) => {
      const address = this.#addressNamed(text);
      if (readAddress(address).network === this.network.addressNetworkId) return watchedAddress(address);
      throw new UnspentError('USAGE', `'${text.slice(0, 120)}' is no address of ${this.network.name}`);
    });
  }

  /** Of a stake credential its reward address. */
  #addressNamed(text: string): Uint8Array {
    if (!/^stake_(shared_)?vkh?1/i.test(text)) return parseAddress(text);
    const { hash } = parseCredential(text);
    return rewardAddress({ kind: 'key', hash }, this.network.addressNetworkId);
  }

  async #import({ id }: WalletInfo, addresses: readonly NewAddress[]): Promise<AddressInfo[]> {
    const made: AddressInfo[] = [];
    for (const address of addresses) made.push(await this.store.importAddress(id, address, this.now()));
    return made;
  }

  /** A wallet that has some of the addresses, and no others, is one whose making was cut off: it is finished. */
  async #unfinished(name: string, addresses: readonly NewAddress[]): Promise<WalletInfo> {
    const info = (await this.store.listWallets()).find((wallet) => wallet.name === name);
    if (info === undefined) return this.store.createWallet({ name, isWatchOnly: true });
    const known = new Set((await this.store.listAddresses(info.id)).map(({ script }) => toHex(script)));
    const wanted = new Set(addresses.map(({ script }) => toHex(script)));
    if (known.size < wanted.size && [...known].every((script) => wanted.has(script))) return info;
    throw refusal.walletExists(name);
  }
}
