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
import { type ChainState, WalletChain } from './wallet-chain.ts';

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
  readonly amounts: Amounts;
  readonly chain: WalletChain;
}

type Amounts = { readonly least: number; readonly most: number };

/** A database and the lives in it, as JSON, to go on with another time. */
export interface DatabaseState {
  readonly height: number;
  readonly lives: readonly { readonly name: string; readonly amounts: Amounts; readonly chain: ChainState }[];
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

  /** A database that was filled before; commits wait for the disk. */
  static async open(url: string, { height, lives }: DatabaseState): Promise<WalletDatabase> {
    const store = await openWalletStore(url);
    const open = new WalletDatabase(url, store, [], new BlockMaker(height));
    for (const { name, amounts, chain } of lives) await open.#addLife(name, amounts, chain);
    return open;
  }

  life(name: string): WalletLife {
    const life = this.#lives.find(({ info }) => info.name === name);
    if (life === undefined) throw new Error(`the database has no wallet ${name}`);
    return life;
  }

  get state(): DatabaseState {
    const lives = this.#lives.map(({ info, amounts, chain }) => ({ name: info.name, amounts, chain: chain.state }));
    return { height: this.#blocks.height, lives };
  }

  /** A wallet with addresses of an account of its own. */
  async addWallet(name: string, amounts: Amounts): Promise<WalletLife> {
    const number = this.#lives.length;
    const master = keys.masterOf(NETWORK, keys.parseMnemonic(MNEMONIC));
    if (master === null) throw new Error('the words have a master key');
    const descriptor = keys.accountDescriptor(NETWORK, master, { purpose: 84, account: number });
    const { id } = await createWatchOnlyWallet(this.context, { name, descriptor });
    const [account] = await this.store.listAccounts(id);
    const derive = keys.addressesOf(this.context.account(account));
    const horizons = [{ accountId: account.id, branch: 0 as const, index: ADDRESSES - 1, derive }];
    await this.store.applyScanBatch(id, { horizons, txs: [], syncedBlocks: [], now: NOW });
    return this.#addLife(name, amounts);
  }

  async #addLife(name: string, amounts: Amounts, state?: ChainState): Promise<WalletLife> {
    const info = await this.store.getWallet(name);
    const scripts = (await this.store.listAddresses(info.id)).map(({ script }) => script);
    const life = { info, amounts, chain: new WalletChain(this.#lives.length + 1, scripts, amounts, state) };
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
  readonly #chain: WalletChain;

  constructor(height = 0) {
    this.#chain = new WalletChain(0, [], { least: 1, most: 1 }, { height, coins: '' });
  }

  get height(): number {
    return this.#chain.height;
  }

  next(): WalletBlock {
    return this.#chain.block();
  }
}
