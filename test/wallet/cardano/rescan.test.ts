/**
 * Cardano wallets that were away are brought to the newest block from the history
 * of a store: afterwards they have what wallets have that were there all the time.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { DevnetChain } from '../../../src/chains/cardano/devnet/index.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { cardanoNetwork, formatAddress, readAddress, stakeAddressOf } from '../../../src/ledgers/cardano/index.ts';
import { outpointText } from '../../../src/ledgers/outpoint.ts';
import { feedWallets } from '../../../src/server/wallets/feed-wallets.ts';
import { type OpenStore, openStore } from '../../../src/store/store.ts';
import { fromHex, toHex } from '../../../src/util/bytes.ts';
import { CardanoWallets } from '../../../src/wallet/cardano/cardano-wallets.ts';
import { MemoryWalletStore } from '../../../src/wallet/memory/index.ts';
import type { WalletStore } from '../../../src/wallet/store.ts';
import { applyDevnet } from '../../support/devnet-store.ts';
import { WalletFiles } from '../sql/wallet-files.ts';

class Street {
  readonly chain: DevnetChain;
  readonly store: OpenStore;
  readonly watched: Readonly<Record<string, readonly string[]>>;

  private constructor(chain: DevnetChain, store: OpenStore) {
    this.chain = chain;
    this.store = store;
    const addresses = [...new Set([...chain.utxos.values()].map(({ addressHex }) => addressHex))]
      .map((hex) => fromHex(hex))
      .filter((address) => readAddress(address).kind !== 'unknown');
    const stakes = [...new Set(addresses.flatMap((address) => stakeAddressOf(address) ?? []).map((stake) => toHex(stake)))];
    this.watched = {
      addresses: addresses.filter((_, i) => i % 3 !== 0).map((address) => formatAddress(address)),
      stakes: stakes.filter((_, i) => i % 2 === 0).map((hex) => formatAddress(fromHex(hex))),
    };
  }

  static async open(t: TestContext, seed: number, history = true): Promise<Street> {
    const chain = new DevnetChain({ seed, txPerBlock: 8 });
    const genesis = { byron: chain.genesisByron, shelley: chain.genesisShelley };
    const { config } = loadConfig({ flags: { set: history ? ['utxo.history=true'] : [] }, env: {} });
    const data = mkdtempSync(join(tmpdir(), 'unspent-wallet-rescan-'));
    const store = await openStore({ data, network: 'devnet', genesis, config });
    t.after(async () => {
      await store.close();
      rmSync(data, { recursive: true, force: true });
    });
    for (let i = 0; i < 30; i++) chain.mine();
    const street = new Street(chain, store);
    street.apply();
    return street;
  }

  apply(): void {
    applyDevnet(this.store, this.chain);
  }

  /** Wallets that are at the tip. */
  async wallets(t: TestContext, wallets: WalletStore): Promise<CardanoWallets> {
    t.after(() => wallets.close());
    const family = new CardanoWallets(wallets, cardanoNetwork('devnet'), { eventsMax: 0 });
    for (const [name, addresses] of Object.entries(this.watched)) await family.createWatching(name, { addresses });
    await feedWallets(family, this.store);
    return family;
  }
}

/**
 * What blocks left to each wallet. Without what waits: only those who were there know of transactions that a fork took out
 * of their blocks, and what these spend.
 */
async function coinsOf({ store }: CardanoWallets): Promise<unknown> {
  const wallets = await store.listWallets();
  return Promise.all(
    wallets.map(async ({ id, name, syncedTo }) => {
      const coins: string[] = [];
      for (const { outpoint, amount } of await store.listOutputsToWatch(id)) {
        const { block, tx } = await store.getTx(id, outpoint.txId);
        const assets = (tx.outputs[outpoint.index].assets ?? []).map(
          (asset) => `${toHex(asset.policy)}.${toHex(asset.name)}:${asset.quantity}`,
        );
        if (block !== null) coins.push(`${outpointText(outpoint)} ${amount} ${assets.sort()} at ${block.height}`);
      }
      return { name, at: syncedTo?.height, coins: coins.sort() };
    }),
  );
}

const files = new WalletFiles();

for (const [name, seed, open] of [
  ['memory', 61, async () => new MemoryWalletStore()],
  ['SQLite', 62, () => files.openFresh()],
] as const) {
  describe(`a rescan of Cardano wallets in ${name}`, () => {
    it('finds what happened while they were away, through a fork, and what is not believed any more', async (t) => {
      const street = await Street.open(t, seed);
      const { chain, store } = street;
      const present = await street.wallets(t, new MemoryWalletStore());
      const away = await street.wallets(t, await open());
      assert.deepEqual(await coinsOf(away), await coinsOf(present));
      for (let i = 0; i < 12; i++) chain.mine();
      street.apply();
      await feedWallets(present, store);
      chain.fork(14);
      for (let i = 0; i < 10; i++) chain.mine();
      street.apply();
      await feedWallets(present, store);
      const { from, to, txs } = await away.rescan(store);
      assert.ok(from !== null && from.height < to.height && txs > 0);
      assert.equal(to.height, chain.tip!.height);
      assert.deepEqual(await coinsOf(away), await coinsOf(present));
      for (const height of [20, 0]) {
        await away.rescan(store, height);
        assert.deepEqual(await coinsOf(away), await coinsOf(present), `from ${height} on`);
      }

      // The feed goes on from there, also through a fork that takes back what was rescanned.
      chain.fork(6);
      street.apply();
      await feedWallets(present, store);
      await feedWallets(away, store);
      assert.deepEqual(await coinsOf(away), await coinsOf(present));
    });
  });
}

describe('a rescan of Cardano wallets', () => {
  it('needs the history', async (t) => {
    const street = await Street.open(t, 63, false);
    const wallets = await street.wallets(t, new MemoryWalletStore());
    await assert.rejects(wallets.rescan(street.store), { code: 'UNSUPPORTED', message: /utxo\.history/ });
  });
});
