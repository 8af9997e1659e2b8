/**
 * Cardano wallets that hear of the mempool of the node that their store follows,
 * over its socket: payments that wait, chained ones, those that a block takes,
 * that a fork gives back, and that the node lets go of.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { openNetworkSource } from '../../../src/families/open-source.ts';
import { cardanoNetwork } from '../../../src/ledgers/cardano/index.ts';
import { feedWallets } from '../../../src/server/wallets/feed-wallets.ts';
import { openStore } from '../../../src/store/store.ts';
import { equalBytes, fromHex, toHex } from '../../../src/util/bytes.ts';
import { CardanoWallets } from '../../../src/wallet/cardano/cardano-wallets.ts';
import { pendingWalletTx } from '../../../src/wallet/cardano/whole-tx.ts';
import { MemoryWalletStore } from '../../../src/wallet/memory/index.ts';
import type { WalletId, WalletTxRow } from '../../../src/wallet/records.ts';
import { isEvicted } from '../../../src/wallet/rules/status.ts';
import type { WalletStore } from '../../../src/wallet/store.ts';
import { LiveStage, type SignedTx, type WalletCoin } from '../../support/live-stage.ts';
import { until } from '../../support/patience.ts';
import { WalletFiles } from '../sql/wallet-files.ts';

const ADA = 1_000_000n;
const FEE = 200_000n;

/** A node, a store that follows it, and a wallet that watches the address of the node's rich. */
class Shop {
  readonly stage: LiveStage;
  readonly store: WalletStore;
  readonly wallet: WalletId;

  private constructor(stage: LiveStage, store: WalletStore, wallet: WalletId) {
    this.stage = stage;
    this.store = store;
    this.wallet = wallet;
  }

  static async open(t: TestContext, seed: number, wallets: WalletStore): Promise<Shop> {
    const stage = await LiveStage.start(seed, [50n * ADA, 60n * ADA, 70n * ADA]);
    const data = mkdtempSync(join(tmpdir(), 'unspent-wallet-pending-'));
    const chain = await openStore({ data, network: 'devnet', genesis: stage.chain.genesis });
    const source = openNetworkSource([`n2c:${stage.socket}`], chain.network, { onPeer: () => {} });
    const end = new AbortController();
    const following = chain.follow(source, { follow: true, signal: end.signal });
    const family = new CardanoWallets(wallets, cardanoNetwork('devnet'), { eventsMax: 0 });
    const { id } = await family.createWatching('shop', { addresses: [stage.address] });
    const feeding = feedWallets(family, chain, { signal: end.signal });
    t.after(async () => {
      end.abort();
      await Promise.all([following, feeding]);
      await chain.close();
      await stage.close();
      await wallets.close();
      rmSync(data, { recursive: true, force: true });
    });
    const shop = new Shop(stage, wallets, id);
    await shop.caughtUp();
    return shop;
  }

  async caughtUp(): Promise<void> {
    const { hash } = this.stage.chain.tip.point!;
    await until(async () => {
      const { syncedTo } = await this.store.getWallet('shop');
      return syncedTo !== null && equalBytes(syncedTo.hash, hash);
    }, 'the wallet is at the tip');
  }

  async mine(): Promise<void> {
    await this.stage.mine();
    await this.caughtUp();
  }

  /** Coins in blocks, the largest first. */
  async coins(): Promise<WalletCoin[]> {
    const coins = await this.store.listCoins(this.wallet, { now: 0, minConfs: 1 });
    return coins.map(({ outpoint, amount }) => ({ txId: toHex(outpoint.txId), index: outpoint.index, lovelace: amount })).reverse();
  }

  /** The row, when it is as wanted. */
  async row({ id }: SignedTx, isWanted: (row: WalletTxRow) => boolean = () => true): Promise<WalletTxRow> {
    let found: WalletTxRow | null = null;
    await until(async () => {
      found = await this.store.getTx(this.wallet, fromHex(id)).catch(() => null);
      return found !== null && isWanted(found);
    }, `the wallet and ${id}`);
    return found!;
  }

  submit({ hex }: SignedTx): void {
    assert.ok(this.stage.chain.submit(fromHex(hex)).accepted);
  }

  async balance(): Promise<{ total: bigint; confirmed: bigint; trusted: bigint; spendable: bigint }> {
    const { total, confirmed, trustedPending: trusted, spendable } = await this.store.balance(this.wallet, { now: 0, coinbaseMaturity: 0 });
    return { total, confirmed, trusted, spendable };
  }
}

const change = ({ id }: SignedTx, lovelace: bigint): WalletCoin => ({ txId: id, index: 0, lovelace });

for (const [name, seed, open] of [
  ['memory', 31, async () => new MemoryWalletStore()],
  ['SQLite', 32, () => new WalletFiles().openFresh()],
] as const) {
  describe(`Cardano wallets in ${name} that hear of the mempool`, () => {
    it('see what waits, what depends on it, what a block takes, and what a fork gives back and the node does not have', async (t) => {
      const shop = await Shop.open(t, seed, await open());
      const [first] = await shop.coins();
      const before = await shop.balance();
      const paid = shop.stage.payment(first);
      shop.submit(paid);
      const row = await shop.row(paid);
      assert.deepEqual([row.status, row.block, toHex(row.tx.raw)], ['published', null, paid.hex]);
      const spent = { confirmed: before.confirmed - first.lovelace, trusted: first.lovelace - FEE };
      assert.deepEqual(await shop.balance(), { ...spent, total: before.total - FEE, spendable: before.total - FEE });

      const chained = shop.stage.payment(change(paid, first.lovelace - FEE));
      shop.submit(chained);
      await shop.row(chained);
      assert.equal((await shop.balance()).total, before.total - 2n * FEE);

      await shop.mine();
      const [mined] = [await shop.row(paid, ({ block }) => block !== null), await shop.row(chained, ({ block }) => block !== null)];
      assert.ok(!isEvicted(mined), 'what leaves for a block was never gone');
      const { total, confirmed } = await shop.balance();
      assert.deepEqual([total, confirmed], [before.total - 2n * FEE, before.total - 2n * FEE]);

      // The node has what it took out of the block, and the wallet keeps it.
      shop.stage.chain.rollback(1);
      for (const each of [paid, chained]) {
        const { status } = await shop.row(each, (row) => row.block === null && !isEvicted(row));
        assert.equal(status, 'published');
      }
      assert.equal((await shop.balance()).trusted, first.lovelace - 2n * FEE);
      await shop.mine();
      await shop.row(chained, ({ block }) => block !== null);
      assert.equal((await shop.balance()).confirmed, before.total - 2n * FEE);
    });

    it('keep the coins of what its time has run out for, until it is given up', async (t) => {
      const shop = await Shop.open(t, seed + 10, await open());
      const [first] = await shop.coins();
      const before = await shop.balance();
      const late = shop.stage.payment(first, undefined, shop.stage.chain.tip.point!.slot + 2);
      shop.submit(late);
      await shop.row(late);
      // What has left the node is told with the block after that, because it may be in the next one.
      await until(async () => {
        await shop.mine();
        return isEvicted(await shop.row(late));
      }, 'the wallet hears that no node has it');
      const { status, block } = await shop.row(late);
      assert.deepEqual([status, block], ['published', null]);
      assert.equal((await shop.balance()).spendable, before.total - first.lovelace, 'what no node has is not built on');
      await shop.store.invalidateTx(shop.wallet, fromHex(late.id));
      assert.deepEqual(await shop.balance(), before);
    });
  });
}

describe('a pending transaction of Cardano', () => {
  it('that cannot be read is none', () => {
    for (const bytes of ['', '84a0', '00', 'ff'.repeat(40)]) assert.equal(pendingWalletTx(fromHex(bytes)), null);
  });
});
