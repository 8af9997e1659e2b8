/** W19 to W28: transactions that take the place of others, and come back. */
import assert from 'node:assert/strict';
import { equalBytes } from '../../../src/util/bytes.ts';
import { WalletFeed } from '../../../src/wallet/feed/wallet-feed.ts';
import { WalletMempool } from '../../../src/wallet/feed/wallet-mempool.ts';
import { ReplacementGroups } from '../../../src/wallet/replacement-groups.ts';
import type { Scenario } from '../scenarios.ts';
import { idOf, NOW, nameOf, type World } from '../support/world.ts';

/** F funds; A spends it with change, C spends the change, D what C leaves. */
async function fundAndSpend(world: World): Promise<void> {
  const block = await world.sync(1);
  await world.create('F', { block, pays: [{ own: 0, amount: 1000n }] });
  await world.create('A', {
    spends: ['F:0'],
    pays: [
      { other: 1, amount: 300n },
      { own: 1, amount: 690n },
    ],
  });
  await world.create('C', { spends: ['A:1'], pays: [{ own: 2, amount: 680n }] });
  await world.create('D', { spends: ['C:0'], pays: [{ own: 3, amount: 670n }] });
}

async function chainOf(world: World, name: string): Promise<string[]> {
  return (await world.store.replacementChain(world.wallet, idOf(name))).map(nameOf);
}

/** The history without what was replaced, newest first, each with the replacements of its group. */
async function historyWithout(world: World): Promise<string[]> {
  const details = await world.store.history(world.wallet, { limit: 100, withoutReplaced: true });
  const groups = await ReplacementGroups.load(world.store, world.wallet, details);
  assert.equal(groups.isCut, false);
  return details.map((detail) => {
    const name = nameOf(detail.tx.id);
    const group = groups.groupOf(detail);
    if (group === null) return name;
    return `${name}: ${group.replacements.map(({ replaced, replacement }) => `${nameOf(replaced)} -> ${nameOf(replacement)}`).join(', ')}`;
  });
}

export const replacementScenarios: readonly Scenario[] = [
  [
    'W19 a bump replaces its victim; child and grandchild fail; the coin is of the bump',
    async (world) => {
      await fundAndSpend(world);
      await world.create('B', { spends: ['F:0'], pays: [{ own: 4, amount: 650n }], replace: true, received: NOW + 9 });
      assert.deepEqual(await world.states(), ['F published 1', 'A replaced', 'C failed', 'D failed', 'B published']);
      assert.deepEqual(await world.edges(), ['F:0 by B', 'A:1 unspent', 'C:0 unspent', 'D:0 unspent', 'B:0 unspent']);
      assert.deepEqual(await world.replacements(), ['A -> B']);
      assert.deepEqual(await world.coins(), ['B:0']);
      const [edge] = await world.store.listReplacements(world.wallet, [idOf('A')]);
      assert.deepEqual([nameOf(edge.replaced), nameOf(edge.replacement), edge.createdAt], ['A', 'B', NOW + 9]);
      assert.deepEqual(await world.store.listReplacements(world.wallet, [idOf('B')]), [edge]);
      assert.deepEqual(await world.store.listReplacements(world.wallet, [idOf('C')]), []);
    },
  ],
  [
    'W20 a chain of bumps is told in order, and only the last lives',
    async (world) => {
      await world.create('F');
      for (const name of ['A', 'B', 'C']) await world.create(name, { spends: ['F:0'], replace: true });
      assert.deepEqual(await world.states(), ['F published', 'A replaced', 'B replaced', 'C published']);
      assert.deepEqual(await world.replacements(), ['A -> B', 'B -> C']);
      assert.deepEqual(await chainOf(world, 'A'), ['B', 'C']);
      assert.deepEqual(await chainOf(world, 'B'), ['C']);
      assert.deepEqual(await chainOf(world, 'C'), []);
      await assert.rejects(chainOf(world, 'X'), { code: 'TX_UNKNOWN' });
      const edges = await world.store.listReplacements(world.wallet, [idOf('B'), idOf('C'), idOf('X')]);
      assert.deepEqual(
        edges.map(({ replaced, replacement }) => `${nameOf(replaced)} -> ${nameOf(replacement)}`),
        ['A -> B', 'B -> C'],
      );
      assert.deepEqual(await historyWithout(world), ['C: A -> B, B -> C', 'F']);
    },
  ],
  [
    'W21 one transaction replaces two victims, and frees what else they spent',
    async (world) => {
      for (const name of ['F', 'G', 'H', 'I']) await world.create(name);
      await world.create('A', { spends: ['F:0', 'G:0'] });
      await world.create('B', { spends: ['H:0', 'I:0'] });
      await world.create('C', { spends: ['H:0', 'G:0'], replace: true });
      assert.deepEqual(await world.replacements(), ['A -> C', 'B -> C']);
      assert.deepEqual((await world.edges()).slice(0, 4), ['F:0 unspent', 'G:0 by C', 'H:0 by C', 'I:0 unspent']);
    },
  ],
  [
    'W22 what the victim spent and the winner does not is unspent again',
    async (world) => {
      await world.create('F');
      await world.create('G');
      await world.create('A', { spends: ['F:0', 'G:0'] });
      await world.create('B', { spends: ['G:0'], replace: true });
      assert.deepEqual((await world.edges()).slice(0, 2), ['F:0 unspent', 'G:0 by B']);
      assert.deepEqual(await world.coins(), ['B:0', 'F:0']);
    },
  ],
  [
    'W23 a confirmed winner replaces the victim; descendants fail',
    async (world) => {
      await fundAndSpend(world);
      const block = await world.sync(2);
      await world.create('W', { spends: ['F:0'], pays: [{ other: 0, amount: 999n }], block });
      assert.deepEqual(await world.states(), ['F published 1', 'A replaced', 'C failed', 'D failed', 'W published 2']);
      assert.deepEqual(await world.replacements(), ['A -> W']);
      assert.equal(await world.total(), 0n);
    },
  ],
  [
    'W24 a confirmed winner finds a victim that shares only an outpoint of somebody else',
    async (world) => {
      const block = await world.sync(2);
      await world.create('A', { spends: ['x:0', 'y:0'] });
      await world.create('C', { spends: ['A:0'] });
      await world.create('W', { spends: ['z:0', 'y:0'], block });
      assert.deepEqual(await world.states(), ['A replaced', 'C failed', 'W published 2']);
      assert.deepEqual(await world.replacements(), ['A -> W']);
    },
  ],
  [
    'W25 a stored winner that gets into a block replaces in the same call',
    async (world) => {
      const block = await world.sync(2);
      await world.create('A', { spends: ['x:0'] });
      await world.create('W', { spends: ['x:0'], label: 'mine' });
      assert.deepEqual(await world.states(), ['A published', 'W published']);
      await world.create('W', { block });
      assert.deepEqual(await world.states(), ['A replaced', 'W published 2']);
      assert.deepEqual(await world.replacements(), ['A -> W']);
      assert.equal((await world.store.getTx(world.wallet, idOf('W'))).label, 'mine');
    },
  ],
  [
    'W25 `replace` for a stored row takes the place of its rivals, too, but never of one in a block',
    async (world) => {
      const block = await world.sync(2);
      await world.create('A', { spends: ['x:0'] });
      await world.create('W', { spends: ['x:0'] });
      await world.create('W', { replace: true });
      assert.deepEqual(await world.states(), ['A replaced', 'W published']);
      await world.create('W', { block });
      await world.refused('INPUT_CONFLICT', () => world.create('V', { spends: ['x:0'], replace: true }));
    },
  ],
  [
    'W26 and W27 a replaced transaction confirms after all, and then its child',
    async (world) => {
      await fundAndSpend(world);
      await world.create('B', { spends: ['F:0'], pays: [{ own: 4, amount: 650n }], replace: true });
      await world.create('E', { spends: ['B:0'], pays: [{ own: 5, amount: 640n }] });
      const block = await world.sync(2);
      await world.create('A', { block });
      const after = ['F published 1', 'A published 2', 'C failed', 'D failed', 'B replaced', 'E failed'];
      assert.deepEqual(await world.states(), after);
      assert.deepEqual(await world.replacements(), ['A -> B', 'B -> A']);
      assert.deepEqual((await world.edges()).slice(0, 2), ['F:0 by A', 'A:1 unspent']);
      assert.deepEqual(await chainOf(world, 'A'), []);
      assert.deepEqual(await chainOf(world, 'B'), ['A']);
      assert.deepEqual(await historyWithout(world), ['E', 'D', 'C', 'A: A -> B, B -> A', 'F']);
      const next = await world.sync(3);
      await world.create('C', { block: next });
      assert.deepEqual(await world.states(), after.with(2, 'C published 3'));
      assert.deepEqual(await world.coins(), ['C:0']);
    },
  ],
  [
    'W28 a dead row lives again only if asked, and if nothing that lives is in its way',
    async (world) => {
      await world.create('F');
      await world.create('A', { spends: ['F:0'] });
      await world.create('C', { spends: ['A:0'] });
      await world.create('B', { spends: ['F:0'], replace: true });
      await world.refused('TX_EXISTS', () => world.create('A'));
      await world.refused('INPUT_CONFLICT', () => world.create('A', { reactivate: true }));
      await world.refused('PARENT_DEAD', () => world.create('C', { reactivate: true }));
      await world.refused('INVALID_STATUS', () => world.create('A', { reactivate: true, status: 'pending' }));
      await world.invalidate('B');
      await world.create('A', { reactivate: true });
      await world.create('C', { reactivate: true });
      assert.deepEqual(await world.states(), ['F published', 'A published', 'C published', 'B failed']);
      assert.deepEqual(await world.edges(), ['F:0 by A', 'A:0 by C', 'C:0 unspent', 'B:0 unspent']);
      await world.changesNothing(() => world.create('A', { reactivate: true }));
    },
  ],
  [
    'W28 a conflict with an outpoint of somebody else refuses, too; with `replace` the dead one takes its place back from one that is evicted',
    async (world) => {
      await world.create('A', { spends: ['x:0'] });
      await world.create('B', { spends: ['x:0'], replace: true });
      await world.refused('INPUT_CONFLICT', () => world.create('A', { reactivate: true }));
      await world.refused('INPUT_CONFLICT', () => world.create('A', { reactivate: true, replace: true }));
      await world.store.markMempool(world.wallet, idOf('B'), false, NOW);
      await world.refused('INPUT_CONFLICT', () => world.create('A', { reactivate: true }));
      await world.create('A', { reactivate: true, replace: true });
      assert.deepEqual(await world.states(), ['A published', 'B replaced']);
      await world.store.markMempool(world.wallet, idOf('A'), false, NOW);
      await world.create('B', { reactivate: true, replace: true });
      assert.deepEqual(await world.replacements(), ['B -> A', 'A -> B']);
      assert.deepEqual(await chainOf(world, 'A'), ['B']);
      await world.create('B', { block: await world.sync(1) });
      await world.refused('INPUT_CONFLICT', () => world.create('A', { reactivate: true, replace: true }));
    },
  ],
  [
    'W28 a mempool that tells late of what was bumped brings nothing back; one that has lost the bump does',
    async (world) => {
      const txs = ['F', 'A', 'B'].map((name) => world.tx(name, name === 'F' ? {} : { spends: ['F:0'] }));
      const feed = new WalletFeed(world.store, { feed: 'chain', now: () => NOW });
      const mempool = new WalletMempool(feed, (raw) => txs.find((tx) => equalBytes(tx.raw, raw))!);
      const add = (...names: string[]) => mempool.take({ kind: 'add', txs: names.map((name) => world.tx(name).raw) });
      const remove = (name: string) => mempool.take({ kind: 'remove', ids: [idOf(name)] });
      await world.create('F');
      await world.create('A', { status: 'pending' });
      await world.create('B', { replace: true });
      const bumped = ['F published', 'A replaced', 'B published'];
      for (const tell of [() => add('A'), () => mempool.moved(), () => add('B'), () => remove('A'), () => mempool.moved()]) {
        await tell();
        assert.deepEqual([await world.states(), await world.edges()], [bumped, ['F:0 by B', 'A:0 unspent', 'B:0 unspent']]);
      }
      await add('A');
      assert.deepEqual(await world.states(), bumped);
      await remove('B');
      assert.deepEqual(await world.states(), ['F published', 'A published', 'B replaced']);
      await add('B');
      await world.invalidate('A');
      await mempool.moved();
      assert.deepEqual(await world.states(), ['F published', 'A failed', 'B published']);
    },
  ],
];
