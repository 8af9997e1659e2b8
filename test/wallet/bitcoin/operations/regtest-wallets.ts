/**
 * Wallets on a regtest chain of this process: the chain, a store that follows
 * it, a SQLite database of wallets that is fed from the store, and the keys of
 * one wallet, to sign what the wallet itself cannot.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { RegtestDevnet } from '../../../../src/chains/bitcoin/regtest/index.ts';
import { loadConfig } from '../../../../src/config/load.ts';
import { type OpenStore, openStore } from '../../../../src/store/store.ts';
import { equalBytes } from '../../../../src/util/bytes.ts';
import * as keys from '../../../../src/wallet/bitcoin/keys/index.ts';
import { WalletContext } from '../../../../src/wallet/bitcoin/operations/wallet-context.ts';
import { WalletScanner } from '../../../../src/wallet/bitcoin/operations/wallet-scanner.ts';
import { bitcoinPast, historyTxs } from '../../../../src/wallet/bitcoin/wallet-tx.ts';
import { storeFeed } from '../../../../src/wallet/feed/store-feed.ts';
import { WalletFeed } from '../../../../src/wallet/feed/wallet-feed.ts';
import { openWalletStore } from '../../../../src/wallet/open.ts';
import { storeHistory } from '../../../../src/wallet/past/script-history.ts';
import type { WalletInfo } from '../../../../src/wallet/records.ts';
import { until } from '../../../support/patience.ts';
import { CLOCK_SECONDS, RegtestAccount } from '../../../support/regtest-account.ts';

/** Coinbases can be spent from here on. */
const RIPE_BLOCKS = 102;

export class RegtestWallets {
  readonly chain: RegtestDevnet;
  readonly store: OpenStore;
  readonly context: WalletContext;
  readonly account: RegtestAccount;
  #now = 1000 * CLOCK_SECONDS;

  private constructor(account: RegtestAccount, store: OpenStore, wallets: WalletContext['store']) {
    this.account = account;
    this.chain = account.chain;
    this.store = store;
    this.context = new WalletContext({ store: wallets, network: this.chain.network, keys, gapLimit: 20, now: () => this.#now++ });
  }

  static async open(t: TestContext, seed: number): Promise<RegtestWallets> {
    const directory = mkdtempSync(join(tmpdir(), 'unspent-wallet-'));
    const account = new RegtestAccount(seed);
    const { chain } = account;
    chain.mine(RIPE_BLOCKS);
    const { config } = loadConfig({ flags: { set: ['utxo.history=true'] }, env: {} });
    const store = await openStore({ data: join(directory, 'data'), network: chain.network.name, config });
    const wallets = await openWalletStore(`sqlite:${join(directory, 'wallets.sqlite')}`, { isDurable: false });
    t.after(async () => {
      await wallets.close();
      await store.close();
      rmSync(directory, { recursive: true, force: true });
    });
    const all = new RegtestWallets(account, store, wallets);
    all.apply();
    return all;
  }

  /** Runs the feed until the test ends. */
  follow(t: TestContext): void {
    const { dialect } = this.store.network;
    const scanner = new WalletScanner(this.context, storeHistory(this.store, bitcoinPast(false), dialect.clock), 'chain');
    const source = scanner.beside(storeFeed(this.store, historyTxs(false), dialect.clock));
    const end = new AbortController();
    const feed = new WalletFeed(this.context.store, { feed: 'chain', now: this.context.now, prepare: (txs) => scanner.prepare(txs) });
    const following = feed.follow(source, end.signal);
    t.after(async () => {
      end.abort();
      await following;
    });
  }

  /** The store becomes what the chain is. */
  apply(): void {
    this.account.apply(this.store);
  }

  /** One more block, which all wallets have when it resolves. */
  async mine(): Promise<void> {
    this.chain.mine();
    await this.settle();
  }

  /** All wallets are at the newest block of the chain when it resolves. */
  async settle(): Promise<void> {
    this.apply();
    await until(async () => {
      const wallets = await this.context.store.listWallets();
      return wallets.every(({ syncedTo }) => syncedTo !== null && equalBytes(syncedTo.hash, this.chain.tip.hash));
    }, 'the wallets are at the tip');
  }

  wallet(name: string): Promise<WalletInfo> {
    return this.context.store.getWallet(name);
  }

  readonly submit = async (raw: Uint8Array): Promise<Uint8Array> => this.chain.submit(raw);
}
