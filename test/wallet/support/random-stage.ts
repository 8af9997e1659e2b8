/** One store in which a random life is lived: its wallets, the calls that actions stand for, and what they answer as text. */
import { toHex } from '../../../src/util/bytes.ts';
import { type ErrorCode, isUnspentError } from '../../../src/util/errors.ts';
import type { WalletLabel } from '../../../src/wallet/label-records.ts';
import type { WalletId, WalletTx } from '../../../src/wallet/records.ts';
import { listReorgEffects } from '../../../src/wallet/reorg-effects.ts';
import type { WalletRows } from '../../../src/wallet/rows.ts';
import type { FeedPosition, NewTx, WalletStore } from '../../../src/wallet/store.ts';
import { RANDOM_WALLETS, type RandomAction, type RandomNews } from './random-actions.ts';
import { eventText, firstCoins, idOf, NOW, nameOf, type OpenedWalletStore, scriptOf } from './world.ts';

const SCOPES = [
  { scope: { purpose: 84, coinType: 0 }, kind: 'p2wpkh', first: 0, last: 5 },
  { scope: { purpose: 86, coinType: 0 }, kind: 'p2tr', first: 6, last: 7 },
] as const;
const IMPORTED = [8, 9];

/** Some transactions have a label before they come, and some outputs are frozen. */
function labelsBefore({ id: txId }: WalletTx, n: number): WalletLabel[] {
  const said = { ref: toHex(txId), origin: '', txId, label: 'before', others: '{}', isForeign: false } as const;
  if (n % 5 === 0) return [{ ...said, type: 'tx', index: null, spendable: null }];
  return n % 7 === 0 ? [{ ...said, ref: `${said.ref}:0`, type: 'output', index: 0, spendable: false }] : [];
}

export class RandomStage {
  readonly store: WalletStore;
  readonly rows: () => Promise<WalletRows>;
  readonly #opened: OpenedWalletStore;
  readonly #txs: readonly WalletTx[];
  readonly wallets: WalletId[] = [];
  /** The account of the scan horizon, by wallet. */
  readonly #accounts: number[] = [];
  #told = 0;
  /** How far the feed of the chain is. */
  #position: string | null = null;

  private constructor(opened: OpenedWalletStore, txs: readonly WalletTx[]) {
    this.#opened = opened;
    this.store = opened.store;
    this.rows = () => opened.rows();
    this.#txs = txs;
  }

  static async open(opened: OpenedWalletStore, txs: readonly WalletTx[]): Promise<RandomStage> {
    const stage = new RandomStage(opened, txs);
    for (let n = 1; n <= RANDOM_WALLETS; n++) await stage.#addWallet(n);
    return stage;
  }

  async close(): Promise<void> {
    await this.#opened.close();
  }

  async #addWallet(n: number): Promise<void> {
    const { id } = await this.store.createWallet({ name: `wallet ${n}`, isWatchOnly: true });
    for (const { scope, kind, first, last } of SCOPES) {
      const account = await this.store.createAccount(id, {
        scope,
        name: 'main',
        externalKind: kind,
        internalKind: kind,
        isDerived: true,
        now: NOW,
      });
      const derive = (_: number, index: number) => ({ script: scriptOf(n, first + index), kind });
      const horizons = [{ accountId: account.id, branch: 0, index: last - first, derive }] as const;
      await this.store.applyScanBatch(id, { horizons, txs: [], syncedBlocks: [], now: NOW });
      if (first === 0) this.#accounts.push(account.id);
    }
    await this.store.keepLabels(id, this.#txs.flatMap(labelsBefore), NOW);
    for (const index of IMPORTED) await this.store.importAddress(id, { script: scriptOf(n, index), kind: 'p2wpkh' }, NOW);
    this.wallets.push(id);
  }

  /** What the call answers, or the code of its refusal. Anything else that it throws is a fault. */
  async perform(action: RandomAction): Promise<string> {
    try {
      return `${(await this.#call(action)) ?? 'done'}`;
    } catch (error) {
      if (!isUnspentError(error)) throw error;
      return `refused: ${error.code satisfies ErrorCode}`;
    }
  }

  async #call(action: RandomAction): Promise<unknown> {
    const { store } = this;
    switch (action.kind) {
      case 'create':
        return await store.createTx(this.#news(action.news));
      case 'batch':
        return await store.applyTxBatch(this.wallets[action.wallet], this.#all(action.txs), action.tip);
      case 'scan':
        return await this.#scan(action);
      case 'connect': {
        const feed = this.#feed(action.isStale, action.block.height);
        await store.connectBlock({ block: action.block, txs: this.#all(action.txs), feed });
        this.#position = feed.position;
        return;
      }
      case 'rollback': {
        const feed = this.#feed(action.isStale, action.height - 1);
        await store.rollbackToBlock(action.height, feed);
        this.#position = feed.position;
        return;
      }
      case 'rewind':
        return await store.rewindWallet(this.wallets[action.wallet], action.block);
      case 'sync': {
        const change = action.birthday ? { birthdayBlock: action.block } : { syncedTo: action.block };
        return (await store.updateWallet(this.wallets[action.wallet], change)).syncedTo?.height;
      }
      case 'prune':
        return (await store.pruneDead(this.wallets[action.wallet], action.before)).map(nameOf);
      case 'expire':
        return await store.deleteExpiredLeases(action.now);
      case 'lease':
      case 'release':
      case 'select':
        return await this.#leasing(action);
      case 'invalidate':
        return await store.invalidateTx(this.wallets[action.wallet], this.#txs[action.tx].id);
      case 'delete':
        return await store.deleteTx(this.wallets[action.wallet], this.#txs[action.tx].id);
      case 'mempool':
        return await store.markMempool(this.wallets[action.wallet], this.#txs[action.tx].id, action.seen, action.now);
      case 'update':
        return await store.updateTx(this.wallets[action.wallet], this.#txs[action.tx].id, {
          label: action.label,
          state: action.status && { status: action.status, block: action.block },
        });
    }
  }

  async #scan({ wallet, index, txs, blocks }: RandomAction & { kind: 'scan' }): Promise<void> {
    const derive = (branch: number, at: number) =>
      at === 1 ? null : ({ script: scriptOf(100 + wallet, 10 * branch + at), kind: 'p2wpkh' } as const);
    const horizons = [{ accountId: this.#accounts[wallet], branch: 1, index, derive }] as const;
    await this.store.applyScanBatch(this.wallets[wallet], { horizons, txs: this.#all(txs), syncedBlocks: blocks, now: NOW });
  }

  async #leasing(action: RandomAction & { kind: 'lease' | 'release' | 'select' }): Promise<unknown> {
    const [walletId, id, now] = [this.wallets[action.wallet], idOf(action.id), action.now];
    if (action.kind === 'release') return await this.store.releaseCoin(walletId, action.coin, id, now);
    if (action.kind === 'lease') {
      const request = { id, now, durationMs: action.durationMs, releaseAfterSpendConfs: action.confs };
      return (await this.store.leaseCoins(walletId, action.coins, request)).map(({ expiresAt }) => expiresAt);
    }
    const { coins } = await this.store.selectAndLease(walletId, { now }, (all) => ({ coins: firstCoins(all, action.count) }), {
      id,
      now,
      durationMs: 2000,
    });
    return coins.map(({ txId, index }) => `${nameOf(txId)}:${index}`);
  }

  /** Stale: as a reader would have it that another one has overtaken. */
  #feed(isStale: boolean, height: number): FeedPosition {
    return { feed: 'chain', after: isStale ? 'long ago' : this.#position, position: `${height}` };
  }

  #all(txs: readonly RandomNews[]): NewTx[] {
    return txs.map((news) => this.#news(news));
  }

  #news({ tx: number, wallet, status, block, label, received, replace, reactivate, withoutCredit }: RandomNews): NewTx {
    const tx = this.#txs[number];
    const credits = new Map<number, null>();
    for (const [index, { script }] of tx.outputs.entries())
      if (script[2] === wallet + 1 && index !== withoutCredit) credits.set(index, null);
    // A block may name the inputs of what a wallet has in another order; the row has its own.
    const told = received % 3 === 0 ? { ...tx, inputs: tx.inputs.toReversed() } : tx;
    return { walletId: this.wallets[wallet], tx: told, status, block, label, received, replace, reactivate, credits };
  }

  /** What was told since the last time, a line each, with the wallet's number in the life. */
  async newEvents(): Promise<string[]> {
    const events = await this.store.listEvents(this.#told, 100_000);
    this.#told = events.at(-1)?.sequence ?? this.#told;
    return events.map(({ walletId, event }) => `${this.wallets.indexOf(walletId)} ${eventText(event)}`);
  }

  /** Forgets events, and tells how many, and which reorganisations are still known. */
  async trimEvents(keep: number): Promise<unknown> {
    const count = await this.store.trimEvents(keep);
    const reorgs: object[] = [];
    for (const walletId of this.wallets) {
      for (const { txs, ...reorg } of await listReorgEffects(this.store, walletId, { limit: 100 }))
        reorgs.push({ ...reorg, txs: txs.map(({ txId, height, status }) => `${nameOf(txId)} ${height} ${status}`) });
    }
    return { count, range: await this.store.eventRange(), reorgs };
  }

  /** Balances of the wallets as the store sums them, and as its own list of coins does: I10. */
  async checkSums(now: number): Promise<string[]> {
    const sums: string[] = [];
    for (const walletId of this.wallets) {
      const coins = await this.store.listCoins(walletId, { now });
      const all = await this.store.balance(walletId, { now });
      const sum = (some: typeof coins): bigint => some.reduce((total, { amount }) => total + amount, 0n);
      equal(all.total, sum(coins), 'total');
      equal(all.locked, sum(coins.filter(({ lease }) => lease !== null)), 'locked');
      equal(all.total, all.confirmed + all.trustedPending + all.untrustedPending + all.immature, 'parts');
      equal(all.trustedPending, sum(coins.filter(({ height, isOwnChange }) => height === null && isOwnChange)), 'trusted');
      let inAccounts = sum(coins.filter(({ account }) => account === null));
      for (const { scope } of SCOPES) inAccounts += (await this.store.balance(walletId, { now, scope, account: 0 })).total;
      equal(inAccounts, all.total, 'sum over accounts');
      sums.push(
        Object.values(all).join(' '),
        ...coins.map(({ outpoint, height }) => `${nameOf(outpoint.txId)}:${outpoint.index}@${height}`),
      );
    }
    return sums;
  }
}

function equal(found: bigint, wanted: bigint, what: string): void {
  if (found !== wanted) throw new Error(`I10 does not hold: ${what} is ${found}, and should be ${wanted}`);
}
