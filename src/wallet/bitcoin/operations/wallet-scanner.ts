/**
 * Wallets beside a feed: keeps watch for addresses that nobody was given yet,
 * and finds the past of accounts that are new. Both happen between two blocks,
 * while the feed waits for the next (`beside`) and before it takes one in
 * (`prepare`): whatever an account has up to the block that the wallets are at
 * is found here, and the feed brings the rest.
 *
 * The addresses behind the last one of each branch, as many as the gap limit,
 * are known only here. When a block pays to one of them, it and those before it
 * become addresses of the account before the feed takes the block in.
 *
 * What is known of the accounts is kept from block to block. The database has a
 * version of what is watched, so only accounts that have changed are read again,
 * and a block is taken in at the version for which it was prepared.
 */
import { toHex } from '../../../util/bytes.ts';
import { isUnspentError } from '../../../util/errors.ts';
import { scanBeside } from '../../feed/scan-beside.ts';
import type { FeedSource } from '../../feed/wallet-feed.ts';
import type { ScriptHistory } from '../../past/script-history.ts';
import type { AccountId, AccountInfo, AddressBranch, WalletId, WalletInfo, WalletTx } from '../../records.ts';
import { type ScanEnd, scanAccount } from './scan.ts';
import type { WalletContext } from './wallet-context.ts';

/** An address that an account will have. */
interface ComingAddress {
  readonly walletId: WalletId;
  readonly account: AccountInfo;
  readonly branch: AddressBranch;
  readonly index: number;
}

export class WalletScanner {
  readonly #context: WalletContext;
  readonly #history: ScriptHistory;
  readonly #feed: string;
  /** By script in hex. */
  readonly #coming = new Map<string, ComingAddress>();
  /** By account, its scripts in `#coming`. */
  readonly #scriptsOf = new Map<AccountId, readonly string[]>();
  /** Accounts whose past is to be found: new ones, and those that have got addresses. */
  readonly #unscanned = new Map<AccountId, { readonly wallet: WalletInfo; readonly account: AccountInfo }>();
  /** Accounts whose addresses that were given out have been looked up, besides those that were not. */
  readonly #known = new Set<AccountId>();
  /** Of what is watched: up to it the accounts are known. */
  #watchVersion = 0;
  #last: Promise<unknown> = Promise.resolve();

  /** `feed`: the name under which the wallets are fed. */
  constructor(context: WalletContext, history: ScriptHistory, feed: string) {
    this.#context = context;
    this.#history = history;
    this.#feed = feed;
  }

  /** The source; while it is waited for, new accounts are scanned. */
  beside(source: FeedSource): FeedSource {
    return scanBeside(source, () => this.scanNew());
  }

  /** Accounts that are known: whoever told of transactions while there were fewer has to tell of them again. */
  get accountCount(): number {
    return this.#scriptsOf.size;
  }

  /** Before a block with these transactions, or when the mempool has them: the version of what is watched for which nothing is left to be done. */
  prepare(txs: readonly WalletTx[]): Promise<number> {
    return this.#inTurn(async () => {
      do await this.#scanNew();
      while (await this.#extend(txs));
      return this.#watchVersion;
    });
  }

  /** Finds the past of accounts that are new or have got addresses since the last time. */
  scanNew(): Promise<void> {
    return this.#inTurn(() => this.#scanNew());
  }

  /** Blocks and the mempool come on two ways, and what is known here is that of one of them at a time. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async #scanNew(): Promise<void> {
    const { watchVersion, accounts, block, position } = await this.#context.store.watchedAccounts(this.#feed, this.#watchVersion);
    for (const { wallet, account } of accounts) {
      this.#unscanned.set(account.id, { wallet, account });
      this.#watch(wallet.id, account);
    }
    this.#watchVersion = watchVersion;
    // Before the feed has begun there is no block up to which a scan could look.
    if (position !== null) await this.#scanAll({ block, feed: { feed: this.#feed, position } });
  }

  async #scanAll(end: ScanEnd): Promise<void> {
    for (const [id, { wallet, account }] of this.#unscanned) {
      try {
        if (!(await scanAccount(this.#context, wallet, account, this.#history, end, !this.#known.has(id)))) continue;
        this.#unscanned.delete(id);
        this.#known.add(id);
      } catch (error) {
        // Another process has taken in a block meanwhile: the accounts are scanned up to that one.
        if (!isUnspentError(error, 'FEED_MOVED')) throw error;
        return;
      }
    }
  }

  /** Addresses that are paid to, and all before them, become addresses of their accounts. False: there is none. */
  async #extend(txs: readonly WalletTx[]): Promise<boolean> {
    const paid = txs.flatMap(({ outputs }) => outputs.flatMap(({ script }) => this.#coming.get(toHex(script)) ?? []));
    for (const { account, walletId, branch, index } of paid) {
      const derive = this.#context.keys.addressesOf(this.#context.account(account));
      const horizons = [{ accountId: account.id, branch, index, derive }];
      await this.#context.store.applyScanBatch(walletId, { horizons, txs: [], syncedBlocks: [], now: this.#context.now() });
    }
    return paid.length > 0;
  }

  /** Derives the addresses behind the last one of each branch. */
  #watch(walletId: WalletId, account: AccountInfo): void {
    const { id, nextExternalIndex, nextInternalIndex } = account;
    for (const script of this.#scriptsOf.get(id) ?? []) this.#coming.delete(script);
    const { keys, gapLimit } = this.#context;
    const descriptors = this.#context.account(account);
    const derive = keys.addressesOf(descriptors);
    const branches: readonly AddressBranch[] = descriptors.change === null ? [0] : [0, 1];
    const scripts: string[] = [];
    for (const branch of branches) {
      if (!descriptors.descriptor(branch).isRanged) continue;
      const first = branch === 0 ? nextExternalIndex : nextInternalIndex;
      for (let index = first; index < first + gapLimit; index++) {
        const address = derive(branch, index);
        if (address === null) continue;
        const script = toHex(address.script);
        scripts.push(script);
        this.#coming.set(script, { walletId, account, branch, index });
      }
    }
    this.#scriptsOf.set(id, scripts);
  }
}
