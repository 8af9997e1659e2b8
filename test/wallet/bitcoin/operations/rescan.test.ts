/**
 * A rescan of a healthy feed that is cut off between any two of its calls: no
 * feed goes on as if nothing were missing, and the next rescan finds all of it.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { feedWallets } from '../../../../src/server/wallets/feed-wallets.ts';
import { BitcoinWallets } from '../../../../src/wallet/bitcoin/bitcoin-wallets.ts';
import * as keys from '../../../../src/wallet/bitcoin/keys/index.ts';
import { rescanHeight } from '../../../../src/wallet/feed/rescan-marker.ts';
import type { WalletStore } from '../../../../src/wallet/store.ts';
import { WalletFiles } from '../../sql/wallet-files.ts';
import { RegtestWallets } from './regtest-wallets.ts';

class Killed extends Error {}

/** Fails at its call number `at`, and at all after it, as if the process had ended before. */
function killedAt(store: WalletStore, at: number): { readonly store: WalletStore; calls(): number } {
  let calls = 0;
  const handler: ProxyHandler<WalletStore> = {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function') return method;
      return async (...args: readonly unknown[]) => {
        if (++calls >= at) throw new Killed();
        return Reflect.apply(method, target, args) as unknown;
      };
    },
  };
  return { store: new Proxy(store, handler), calls: () => calls };
}

describe('a rescan', () => {
  it('that is cut off anywhere leaves no wallet that lacks something and goes on', async (t) => {
    const all = await RegtestWallets.open(t, 51);
    const { chain, account, store } = all;
    using files = new WalletFiles();
    const wallets = await files.openFresh();
    t.after(() => wallets.close());
    const parts = { network: chain.network, keys, gapLimit: 20, now: Date.now };
    const whole = new BitcoinWallets({ ...parts, store: wallets });
    for (const name of ['one', 'two']) {
      await whole.createWatching(name, { descriptor: name === 'one' ? account.descriptor : account.accountDescriptor(1) });
    }
    await feedWallets(whole, store);
    for (const index of [0, 1, 15]) {
      chain.fund(account.script(0, index), 10_000n + BigInt(index));
      chain.mine(2);
    }
    all.apply();
    await feedWallets(whole, store);
    const tip = chain.height;
    const rowsOf = async () =>
      Promise.all(
        (await wallets.listWallets()).map(async ({ id, syncedTo }) => {
          const coins = await wallets.listCoins(id, { now: 0, minConfs: 1 });
          return { height: syncedTo?.height, amounts: coins.map(({ amount }) => amount) };
        }),
      );
    const expected = await rowsOf();
    assert.deepEqual(expected[0], { height: tip, amounts: [10_000n, 10_001n, 10_015n] });

    let cutOff = 0;
    for (let at = 1; ; at++) {
      const killed = killedAt(wallets, at);
      const dying = new BitcoinWallets({ ...parts, store: killed.store });
      try {
        await dying.rescan(store, tip - 4);
        assert.ok(killed.calls() < at);
        break;
      } catch (error) {
        assert.ok(error instanceof Killed, `${error}`);
      }
      // Either nothing is missing, or whoever feeds is told.
      if (rescanHeight(await wallets.feedPosition(chain.network.name)) === null) {
        await feedWallets(whole, store);
        assert.deepEqual(await rowsOf(), expected, `cut off before call ${at}`);
        continue;
      }
      cutOff++;
      await assert.rejects(feedWallets(whole, store), { code: 'EXPIRED', message: /unspent wallet rescan/ });
      // Without a height: it begins where the other one began.
      await whole.rescan(store);
      assert.deepEqual(await rowsOf(), expected, `cut off before call ${at}`);
      await feedWallets(whole, store);
    }
    assert.ok(cutOff > 8, `${cutOff}`);
    assert.deepEqual(await rowsOf(), expected);
    assert.equal(rescanHeight(await wallets.feedPosition(chain.network.name)), null);
  });
});
