/** Payments in the mempool to addresses that nobody was given yet, and to wallets that are made after the node has told of them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { feedWallets } from '../../../../src/server/wallets/feed-wallets.ts';
import type { MempoolChange, MempoolFeed } from '../../../../src/sources/source.ts';
import type { FollowState, OpenStore } from '../../../../src/store/store.ts';
import { equalBytes, toHex } from '../../../../src/util/bytes.ts';
import { BitcoinWallets } from '../../../../src/wallet/bitcoin/bitcoin-wallets.ts';
import * as keys from '../../../../src/wallet/bitcoin/keys/index.ts';
import { until } from '../../../support/patience.ts';
import { WalletFiles } from '../../sql/wallet-files.ts';
import { RegtestWallets } from './regtest-wallets.ts';

describe('the mempool', () => {
  it('pays addresses behind the last one, and wallets that are made later', async (t) => {
    const all = await RegtestWallets.open(t, 61);
    const { chain, account, store } = all;
    using files = new WalletFiles();
    const wallets = await files.openFresh();
    t.after(() => wallets.close());
    const opened = new BitcoinWallets({ store: wallets, network: chain.network, keys, gapLimit: 20, now: Date.now });
    await opened.createWatching('early', { descriptor: account.descriptor });
    const listeners = new Set<(change: MempoolChange) => void>();
    const raws = () => chain.mempool().map((id) => chain.tx(id) ?? assert.fail('the mempool has it'));
    const mempool: MempoolFeed = {
      watch(listener) {
        listeners.add(listener);
        listener({ kind: 'add', txs: raws() });
        return () => listeners.delete(listener);
      },
      submit: async (raw) => chain.submit(raw),
    };
    const following = { source: { mempool }, progress: null } as unknown as FollowState;
    const followed = new Proxy(store, {
      get: (target, name) => {
        const value: unknown = name === 'following' ? following : Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    }) as OpenStore;
    const second = opened.keys.parseAccount(chain.network, account.accountDescriptor(1));
    // Index 7: nobody was given it, or any before it.
    const ahead = chain.fund(account.script(0, 7), 70_000n);
    const late = chain.fund(second.derive(0, 3)[0].script, 30_000n);
    const stop = new AbortController();
    const feeding = feedWallets(opened, followed, { signal: stop.signal });
    const pendingOf = async (name: string): Promise<string[]> => {
      const { id } = await wallets.getWallet(name);
      return (await wallets.listTxs(id, 'unmined')).map(({ tx }) => toHex(tx.id));
    };
    try {
      await until(async () => (await pendingOf('early')).includes(toHex(ahead)), 'the payment to an address behind the last one is seen');
      await opened.createWatching('late', { descriptor: account.accountDescriptor(1) });
      await until(async () => (await pendingOf('late')).includes(toHex(late)), 'the payment from before the wallet is seen');
      const [{ nextExternalIndex }] = await wallets.listAccounts((await wallets.getWallet('early')).id);
      assert.equal(nextExternalIndex, 8);
      chain.mine();
      all.apply();
      await until(
        async () => (await wallets.listWallets()).every(({ syncedTo }) => syncedTo && equalBytes(syncedTo.hash, chain.tip.hash)),
        'both have the block',
      );
      assert.deepEqual([await pendingOf('early'), await pendingOf('late')], [[], []]);
    } finally {
      stop.abort();
      await feeding;
    }
  });
});
