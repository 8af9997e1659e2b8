/**
 * A wallet with something of everything that is shown of wallets, told to a
 * store: payments, a bump of a bump, one that was replaced and confirmed after
 * all, coins that are reserved, and a reorganisation that takes a coinbase with
 * its child, sends one payment to another block and lets another lose for good.
 */
import type { WalletStore } from '../../../src/wallet/store.ts';
import { idOf, NOW, outpointOf, scriptOf, World } from './world.ts';

export const SHOWN_WALLET = 'shop';
/** Where it is in the end. */
export const SHOWN_HEIGHT = 104;
const OWN_ADDRESSES = 10;

/** `now`: what leases begin at; they are of a coin each, for an hour and without end. */
export async function tellShownWallet(store: WalletStore, now = NOW): Promise<World> {
  const { id } = await store.createWallet({ name: SHOWN_WALLET, isWatchOnly: true });
  for (let n = 0; n < OWN_ADDRESSES; n++) await store.importAddress(id, { script: scriptOf(1, n), kind: 'p2wpkh' }, NOW);
  const world = await World.resume(async () => ({ store, rows: () => Promise.reject(new Error('not read')), close: async () => {} }), [id]);
  const own = (n: number, amount: bigint) => [{ own: n, amount }];
  let received = NOW;
  const tell: World['create'] = (name, story) => world.create(name, { received: received++, ...story });

  const first = await world.sync(100);
  await tell('sale', { block: first, pays: own(0, 50_000_000n), label: 'sale' });
  await tell('second sale', { block: first, pays: own(1, 20_000_000n), label: 'second sale' });
  await tell('third sale', { block: first, pays: own(2, 700_000n), label: 'third sale' });
  await tell('gift money', { block: first, pays: own(3, 900_000n) });
  for (const [n, name] of ['rent', 'rent again', 'rent at last'].entries()) {
    const pays = [{ other: 1, amount: 30_000_000n }, ...own(4, 19_999_000n - 1000n * BigInt(n))];
    await tell(name, { spends: ['sale:0'], pays, label: name, replace: true });
  }
  await tell('gift', { spends: ['gift money:0'], pays: [{ other: 2, amount: 899_000n }], label: 'gift' });
  await tell('gift for more', { spends: ['gift money:0'], pays: [{ other: 2, amount: 890_000n }], replace: true });
  await tell('gift', { block: await world.sync(101) });

  const lost = await world.sync(102);
  await tell('rent at last', { block: lost });
  await tell('order', { spends: ['second sale:0'], pays: own(5, 19_000_000n), block: lost, label: 'order' });
  const coinbase = await world.sync(103);
  await tell('coinbase one', { block: coinbase, pays: own(6, 5_000_000_000n) });
  await tell('spends coinbase', { spends: ['coinbase one:0'], pays: own(7, 4_999_000_000n) });
  await store.rollbackToBlock(102);
  await world.sync(102, 1);
  await tell('rent at last', { block: await world.sync(103, 1) });
  await tell('order of others', { spends: ['second sale:0'], pays: own(8, 18_000_000n), block: await world.sync(SHOWN_HEIGHT, 1) });
  await tell('tip', { pays: own(9, 5000n) });

  const lease = { id: idOf('the till'), now };
  await store.leaseCoins(id, [outpointOf('third sale:0')], { ...lease, durationMs: 3_600_000 });
  await store.leaseCoins(id, [outpointOf('rent at last:1')], { ...lease, id: idOf('the owner'), durationMs: null });
  return world;
}
