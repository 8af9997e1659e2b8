/**
 * Wallets beside a feed: keeps watch for addresses that nobody was given yet,
 * and finds the past of accounts that are new. It stands between a source of
 * events and the feed that takes them in, so that both happen between two
 * blocks: whatever an account has up to the block that the wallets are at is
 * found here, and the feed brings the rest.
 *
 * The addresses behind the last one of each branch, as many as the gap limit,
 * are known only here. When a block pays to one of them, it and those before it
 * become addresses of the account before the feed takes the block in.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { toHex } from '../../../util/bytes.ts';
import { WALLET_POLL_MS } from '../../../util/limits.ts';
import type { FeedEvent, FeedSource } from '../../feed/wallet-feed.ts';
import type { AccountId, AccountInfo, AddressBranch, WalletBlock, WalletId, WalletInfo } from '../../records.ts';
import type { ScriptHistory } from '../script-history.ts';
import { scanAccount } from './scan.ts';
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
  /** By script in hex. */
  readonly #coming = new Map<string, ComingAddress>();
  /** For each account the indexes from which on its addresses are in `#coming`. */
  readonly #watched = new Map<AccountId, string>();
  /** Accounts whose past was found. */
  readonly #scanned = new Set<AccountId>();

  constructor(context: WalletContext, history: ScriptHistory) {
    this.#context = context;
    this.#history = history;
  }

  /** The source, with every event prepared before it is given out. */
  beside(source: FeedSource): FeedSource {
    return { newest: (signal) => source.newest(signal), events: (after, signal) => this.#prepared(source.events(after, signal)) };
  }

  async *#prepared(events: AsyncIterable<FeedEvent>): AsyncGenerator<FeedEvent, void, undefined> {
    const iterator = events[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = iterator.next();
        // Awaited below; until then nobody else listens to it.
        next.catch(() => {});
        do await this.scanNew();
        while (!(await isSettledBefore(next, WALLET_POLL_MS)));
        const { done, value } = await next;
        if (done === true) return;
        if (value.kind === 'connected') await this.#extend(value);
        yield value;
      }
    } finally {
      await iterator.return?.();
    }
  }

  /** Finds the past of accounts that were not there the last time, and of addresses behind those that a block has paid to. */
  async scanNew(): Promise<void> {
    const { store } = this.#context;
    const wallets = await store.listWallets();
    let block: WalletBlock | null | undefined;
    for (const wallet of wallets) {
      for (const account of await store.listAccounts(wallet.id)) {
        if (this.#scanned.has(account.id)) {
          this.#watch(wallet.id, account);
          continue;
        }
        block ??= await newestBlock(this.#context, wallets);
        if (!(await scanAccount(this.#context, wallet, account, this.#history, block))) continue;
        this.#scanned.add(account.id);
        const after = (await store.listAccounts(wallet.id)).find(({ id }) => id === account.id);
        if (after !== undefined) this.#watch(wallet.id, after);
      }
    }
  }

  /** Addresses that the block pays to, and all before them, become addresses of their accounts. */
  async #extend({ txs }: Extract<FeedEvent, { readonly kind: 'connected' }>): Promise<void> {
    const paid = txs.flatMap(({ outputs }) => outputs.flatMap(({ script }) => this.#coming.get(toHex(script)) ?? []));
    for (const { account, walletId, branch, index } of paid) {
      const derive = this.#context.keys.addressesOf(this.#context.account(account));
      const horizons = [{ accountId: account.id, branch, index, derive }];
      await this.#context.store.applyScanBatch(walletId, { horizons, txs: [], syncedBlocks: [], now: this.#context.now() });
      this.#scanned.delete(account.id);
    }
  }

  /** Derives the addresses behind the last one of each branch, where that has moved. */
  #watch(walletId: WalletId, account: AccountInfo): void {
    const { id, nextExternalIndex, nextInternalIndex } = account;
    const place = `${nextExternalIndex}/${nextInternalIndex}`;
    if (this.#watched.get(id) === place) return;
    this.#watched.set(id, place);
    for (const [script, coming] of this.#coming) if (coming.account.id === id) this.#coming.delete(script);
    const { keys, gapLimit } = this.#context;
    const descriptors = this.#context.account(account);
    const derive = keys.addressesOf(descriptors);
    const branches: readonly AddressBranch[] = descriptors.change === null ? [0] : [0, 1];
    for (const branch of branches) {
      if (!descriptors.descriptor(branch).isRanged) continue;
      const first = branch === 0 ? nextExternalIndex : nextInternalIndex;
      for (let index = first; index < first + gapLimit; index++) {
        const address = derive(branch, index);
        if (address !== null) this.#coming.set(toHex(address.script), { walletId, account, branch, index });
      }
    }
  }
}

/** The block that the wallets are at; null: none yet. A wallet that is new is at none, the others are all at the same. */
async function newestBlock({ store }: WalletContext, wallets: readonly WalletInfo[]): Promise<WalletBlock | null> {
  let newest: WalletBlock | null = null;
  for (const { syncedTo } of wallets) if (syncedTo !== null && syncedTo.height > (newest?.height ?? -1)) newest = syncedTo;
  return newest ?? (await store.listSyncedBlocks(0, HEIGHT_MAX)).at(-1) ?? null;
}

/** Above every height that databases store. */
const HEIGHT_MAX = 0x7fff_ffff;

/** False: not in that time. What it is settled with is the caller's affair. */
async function isSettledBefore(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const end = new AbortController();
  const late = sleep(ms, false, { signal: end.signal, ref: false }).catch(() => false);
  const settled = promise.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([settled, late]);
  } finally {
    end.abort();
  }
}
