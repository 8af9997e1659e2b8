/**
 * Finds the coins of wallets that are new, or have new addresses, between two
 * events of their feed: what they have up to the block that the wallets are at
 * comes from the indexes of the store, and the feed brings the rest.
 *
 * Which addresses were scanned is not stored. Whoever begins to feed scans wallets
 * that are at no block yet, and those with an address that nothing has paid as
 * far as they know: it may have been added when nobody looked.
 */
import type { Clock } from '../../query/dialect.ts';
import { isUnspentError } from '../../util/errors.ts';
import type { FollowedStore } from '../feed/store-feed.ts';
import type { WalletBlock, WalletId } from '../records.ts';
import type { FeedPlace, WalletStore } from '../store.ts';
import { scanCoins } from './scan.ts';

export interface AddressScannerOptions {
  /** The name under which the wallets are fed. */
  readonly feed: string;
  readonly clock: Clock;
}

export class AddressScanner {
  readonly #wallets: WalletStore;
  readonly #chain: Pick<FollowedStore, 'read'>;
  readonly #feed: string;
  readonly #clock: Clock;
  /** How many addresses of each wallet need no scan any more; they are listed in the order in which they were added. */
  readonly #settled = new Map<WalletId, number>();
  /** Wallets to be scanned, with how many addresses they have. */
  readonly #unscanned = new Map<WalletId, number>();
  /** Of what is watched: up to it the wallets are known. */
  #watchVersion = 0;

  constructor(wallets: WalletStore, chain: Pick<FollowedStore, 'read'>, { feed, clock }: AddressScannerOptions) {
    this.#wallets = wallets;
    this.#chain = chain;
    this.#feed = feed;
    this.#clock = clock;
  }

  /** Up to it what is watched is known here: whoever told of transactions before has to tell of them again. */
  get watchVersion(): number {
    return this.#watchVersion;
  }

  /** The version of what is watched for which the wallets are scanned, as far as the chain allowed it. */
  async scanNew(): Promise<number> {
    const { watchVersion, block, position } = await this.#wallets.watchedAccounts(this.#feed, this.#watchVersion);
    // Before the feed has begun there is no block up to which a scan could look.
    if (position === null) return this.#watchVersion;
    if (watchVersion !== this.#watchVersion) await this.#findUnscanned();
    this.#watchVersion = watchVersion;
    await this.#scanAll(block, { feed: this.#feed, position });
    return watchVersion;
  }

  async #findUnscanned(): Promise<void> {
    for (const { id, syncedTo } of await this.#wallets.listWallets()) {
      const addresses = await this.#wallets.listAddresses(id);
      const settled = this.#settled.get(id);
      const isNew = settled === undefined ? syncedTo === null || addresses.some(({ isUsed }) => !isUsed) : addresses.length > settled;
      if (isNew) this.#unscanned.set(id, addresses.length);
      else this.#settled.set(id, addresses.length);
    }
  }

  /** Those that cannot be scanned, because the chain has moved and the feed has not, are tried again with the next call. */
  async #scanAll(block: WalletBlock | null, feed: FeedPlace): Promise<void> {
    for (const [walletId, count] of this.#unscanned) {
      try {
        const scan = { walletId, clock: this.#clock, feed };
        if (block !== null && !(await scanCoins(this.#wallets, this.#chain, { ...scan, block }))) continue;
      } catch (error) {
        // Another process has taken in a block meanwhile: the wallets are scanned up to that one.
        if (!isUnspentError(error, 'FEED_MOVED')) throw error;
        return;
      }
      this.#unscanned.delete(walletId);
      this.#settled.set(walletId, count);
    }
  }
}
