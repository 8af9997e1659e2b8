/**
 * A database of `bench wallet`: watching wallets on one chain, each with the life
 * that wallet-chain.ts makes up. Blocks come in through the feed where they are
 * measured, and through the store's own `connectBlock` while wallets grow.
 */
import { bitcoinNetwork } from '../src/ledgers/bitcoin/index.ts';
import * as keys from '../src/wallet/bitcoin/keys/index.ts';
import { createWatchOnlyWallet } from '../src/wallet/bitcoin/operations/create-wallet.ts';
import { WalletContext } from '../src/wallet/bitcoin/operations/wallet-context.ts';
import { WalletFeed } from '../src/wallet/feed/wallet-feed.ts';
import { openWalletStore } from '../src/wallet/open.ts';
import type { WalletBlock, WalletInfo, WalletTx } from '../src/wallet/records.ts';
import type { WalletStore } from '../src/wallet/store.ts';
import { WalletChain } from './wallet-chain.ts';

/** Milliseconds since 1970 at which everything happens. */
export const NOW = 1_800_000_000_000;
const NETWORK = bitcoinNetwork('bitcoin-regtest');
const MNEMONIC = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about';
/** Enough that no address has most coins, and few enough to derive. */
const ADDRESSES = 100;
const GROWTH_BLOCK = 1000;
const GAP_LIMIT = 20;
const FEED = 'bench';

/** A wallet, and what happens to it. */
export interface WalletLife {
  readonly info: WalletInfo;
  readonly chain: WalletChain;
}

export class WalletDatabase {
  readonly url: string;
  readonly store: WalletStore;
  readonly context: WalletContext;
  readonly #lives: WalletLife[];
  readonly #feed: WalletFeed;
  readonly #blocks: BlockMaker;

  private constructor(url: string, store: WalletStore, lives: WalletLife[], blocks: BlockMaker) {
    this.url = url;
    this.store = store;
    this.context = new WalletContext({ store, network: NETWORK, keys, gapLimit: GAP_LIMIT, now: () => NOW });
    this.#lives = lives;
    this.#feed = new WalletFeed(store, { feed: FEED, now: () => NOW });
    this.#blocks = blocks;
  }

  /** Without waiting for the disk: to fill it. */
  static async create(url: string): Promise<WalletDatabase> {
    return new WalletDatabase(url, await openWalletStore(url, { isDurable: false }), [], new BlockMaker());
  }

  /** The same database, whose commits wait for the disk, with nothing in the memory of the process. */
  async reopen(): Promise<WalletDatabase> {
    await this.store.close();
    return new WalletDatabase(this.url, await openWalletStore(this.url), this.#lives, this.#blocks);
  }

  /** A wallet with addresses of an account of its own. */
  async addWallet(name: string, amounts: { readonly least: number; readonly most: number }): Promise<WalletLife> {
    const number = this.#lives.length;
    const master = keys.masterOf(NETWORK, keys.parseMnemonic(MNEMONIC));
    if (master === null) throw new Error('the words have a master key');
    const descriptor = keys.accountDescriptor(NETWORK, master, { purpose: 84, account: number });
    const { id } = await createWatchOnlyWallet(this.context, { name, descriptor });
    const [account] = await this.store.listAccounts(id);
    const derive = keys.addressesOf(this.context.account(account));
    const horizons = [{ accountId: account.id, branch: 0 as const, index: ADDRESSES - 1, derive }];
    await this.store.applyScanBatch(id, { horizons, txs: [], syncedBlocks: [], now: NOW });
    const scripts = (await this.store.listAddresses(id)).map(({ script }) => script);
    const life = { info: await this.store.getWallet(name), chain: new WalletChain(number + 1, scripts, amounts) };
    this.#lives.push(life);
    return life;
  }

  /** So many transactions of the wallet in blocks, until it has so many coins; from then on each spends one and makes one. */
  async grow({ info: { id }, chain }: WalletLife, transactions: number, coins: number): Promise<void> {
    for (let done = 0; done < transactions; ) {
      const block = this.#blocks.next();
      const count = Math.min(GROWTH_BLOCK, transactions - done);
      const txs = Array.from({ length: count }, () => (chain.coinCount < coins ? chain.receive() : chain.spend()));
      await this.store.connectBlock({ block, txs: txs.map((tx) => chain.news(id, tx, NOW, block)) });
      done += count;
    }
  }

  /** So many coins at once, in few transactions. */
  async give({ info: { id }, chain }: WalletLife, coins: number, coinsPerTx = 100): Promise<void> {
    const txs: WalletTx[] = [];
    for (let given = 0; given < coins; given += coinsPerTx) txs.push(chain.receive(Math.min(coinsPerTx, coins - given)));
    const block = this.#blocks.next();
    await this.store.connectBlock({ block, txs: txs.map((tx) => chain.news(id, tx, NOW, block)) });
  }

  /** The next block, as a chain's feed brings it; the block is made before the returned function is called. */
  nextBlock(txs: readonly WalletTx[]): () => Promise<void> {
    const block = this.#blocks.next();
    const position = `${block.height}`;
    return async () => this.#feed.take({ kind: 'connected', block, txs, position }, (await this.store.feedPosition(FEED)) ?? '');
  }

  /** Before the first block that the feed brings. */
  async beginFeed(): Promise<void> {
    const block = this.#blocks.next();
    await this.store.connectBlock({ block, txs: [], feed: { feed: FEED, after: null, position: `${block.height}` } });
  }
}

/** Blocks one behind the other. */
class BlockMaker {
  readonly #chain = new WalletChain(0, [], { least: 1, most: 1 });

  next(): WalletBlock {
    return this.#chain.block();
  }
}
