/**
 * Wallets that hear of the mempool from a server, over a real socket: payments,
 * replacements and evictions, also when the server was away meanwhile.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { serveP2p } from '../../../src/chains/bitcoin/responder/index.ts';
import { openNetworkSource } from '../../../src/families/open-source.ts';
import { decodeTx, describeTx, parseId } from '../../../src/ledgers/bitcoin/index.ts';
import type { MempoolChange } from '../../../src/ledgers/mempool-change.ts';
import { type Served, serve } from '../../../src/server/serve.ts';
import type { Source } from '../../../src/sources/source.ts';
import { fromHex } from '../../../src/util/bytes.ts';
import { esploraBodies, walletTxOf } from '../../../src/wallet/bitcoin/wallet-tx.ts';
import { HttpFeed } from '../../../src/wallet/feed/http-feed.ts';
import { HttpMempool } from '../../../src/wallet/feed/http-mempool.ts';
import { WalletFeed } from '../../../src/wallet/feed/wallet-feed.ts';
import { WalletMempool } from '../../../src/wallet/feed/wallet-mempool.ts';
import { isEvicted } from '../../../src/wallet/rules/status.ts';
import { forgeTx } from '../../ledgers/bitcoin/forge.ts';
import { until } from '../../support/patience.ts';
import { FEED, Town } from '../support/town.ts';

const TOKEN = 'token-for-tests';
const SETTINGS = ['utxo.history=true', `server.token=${TOKEN}`];

/** The source, and a way to tell what nodes tell that show what leaves their mempool, as those over P2P do not. */
function overheard(source: Source): { readonly source: Source; tell(change: MempoolChange): void } {
  const listeners = new Set<(change: MempoolChange) => void>();
  const { mempool } = source;
  assert.ok(mempool !== undefined);
  const watch = (listener: (change: MempoolChange) => void): (() => void) => {
    listeners.add(listener);
    const stop = mempool.watch(listener);
    return () => {
      listeners.delete(listener);
      stop();
    };
  };
  return {
    source: { name: source.name, runs: (options) => source.runs(options), mempool: { watch, submit: (raw) => mempool.submit(raw) } },
    tell: (change) => {
      for (const listener of listeners) listener(change);
    },
  };
}

describe('wallets that hear of the mempool from a server', () => {
  it('see payments, replacements and evictions, and what happened while the server was away', async (t) => {
    const town = await Town.open(t, { seed: 31, settings: SETTINGS });
    const { chain, store, wallets } = town;
    const end = new AbortController();
    const p2p = await serveP2p(chain, { port: 0 });
    const { source, tell } = overheard(openNetworkSource([`p2p://127.0.0.1:${p2p.port}`], store.network, { onPeer: () => {} }));
    const following = store.follow(source, { follow: true, signal: end.signal });
    let served: Served | null = await serve(store, { port: 0, thread: false });
    const { url } = served;
    t.after(async () => {
      end.abort();
      await Promise.allSettled(running);
      await served?.close();
      await following;
      await p2p.close();
    });

    const server = { url, token: TOKEN, reconnectMs: [1, 20] } as const;
    const feed: WalletFeed = new WalletFeed(wallets, { ...FEED, onMove: () => mempool.moved() });
    const mempool = new WalletMempool(feed, (raw) => walletTxOf(raw, false));
    const overHttp = new HttpMempool({ ...server, parseId, idOf: (raw) => walletTxOf(raw, false).id });
    const running = [
      feed.follow(new HttpFeed({ ...server, bodies: esploraBodies(chain.network) }), end.signal),
      overHttp.follow((change) => mempool.take(change), end.signal),
    ];
    await until(() => town.hasFed(), 'the wallets are at the tip');

    const [[script, owner]] = town.owners;
    const { id: walletId } = (await wallets.listWallets())[owner];
    const row = async (txId: Uint8Array) => wallets.getTx(walletId, txId).catch(() => null);
    const has = (txId: Uint8Array, what: string) => until(async () => (await row(txId)) !== null, what);

    const paid = chain.fund(fromHex(script), 70_000n);
    await has(paid, 'the wallet sees a payment');
    const { inputs } = describeTx(decodeTx(chain.tx(paid)!));
    const rival = forgeTx({
      inputs: inputs.map(({ txId, index }) => ({ txId, index })),
      outputs: [{ value: 60_000n, script: fromHex(script) }],
    });
    const rivalId = walletTxOf(rival, false).id;
    tell({ kind: 'add', txs: [rival] });
    await has(rivalId, 'the wallet sees what replaces it');
    assert.equal((await row(paid))?.status, 'replaced');

    tell({ kind: 'remove', ids: [rivalId] });
    await until(async () => isEvicted((await row(rivalId))!), 'the wallet hears that it was evicted');
    const coin = await wallets.getCoin(walletId, { txId: rivalId, index: 0 }, FEED.now());
    assert.ok(coin.isEvicted);

    await served.close();
    served = null;
    const later = chain.fund(fromHex(script), 80_000n);
    served = await serve(store, { port: Number(new URL(url).port), thread: false });
    await has(later, 'the wallet sees what came while the server was away');
    assert.ok(!isEvicted((await row(later))!));

    chain.mine(1);
    await until(async () => (await row(later))?.block?.height === chain.height, 'the block has it');
    await until(() => town.hasFed(), 'the wallets are at the tip');
    await town.assertSame();
  });

  it('are told that they are not allowed to', async (t) => {
    const town = await Town.open(t, { seed: 32, settings: SETTINGS });
    const served = await serve(town.store, { port: 0, thread: false });
    t.after(() => served.close());
    const options = { url: served.url, parseId, idOf: (raw: Uint8Array) => raw };
    const { signal } = new AbortController();
    await assert.rejects(
      new HttpMempool({ ...options, token: 'another' }).follow(async () => {}, signal),
      { code: 'UNAUTHORIZED' },
    );
    assert.throws(() => new HttpMempool({ ...options, url: 'ftp://somewhere' }), { code: 'USAGE' });
  });
});
