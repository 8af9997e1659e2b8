/** W70 to W77 and W87 to W90: what a wallet answers, tells, and forgets. */
import assert from 'node:assert/strict';
import type { FreeCoins } from '../../../src/wallet/free-coins.ts';
import type { Scenario } from '../scenarios.ts';
import { blockAt, firstCoins, idOf, NOW, nameOf, outpointOf, scriptOf, type World } from '../support/world.ts';

async function details(world: World, start: number, end: number): Promise<string> {
  return (await world.store.listTxDetails(world.wallet, start, end)).map(({ tx }) => nameOf(tx.id)).join(' ');
}

export const readScenarios: readonly Scenario[] = [
  [
    'W70 confirmations: none asked for, 1, 6, at most; unknown without a tip and above it',
    async (world) => {
      const pays = (amount: bigint) => ({ pays: [{ own: 0, amount }] });
      await world.create('unmined', pays(1n));
      const txs = [world.news('old', { block: blockAt(5), ...pays(10n) }), world.news('new', { block: blockAt(10), ...pays(100n) })];
      await world.store.applyTxBatch(world.wallet, [...txs, world.news('above', { block: blockAt(11), ...pays(1000n) })]);
      assert.deepEqual(await Promise.all([0, 1, 6].map((minConfs) => world.total({ minConfs }))), [1111n, 0n, 0n]);
      assert.deepEqual(await Promise.all([0, 1, 6].map((maxConfs) => world.total({ maxConfs }))), [1n, 1n, 1n]);
      await world.sync(10);
      assert.deepEqual(await Promise.all([0, 1, 2, 6, 7].map((minConfs) => world.total({ minConfs }))), [1111n, 110n, 10n, 10n, 0n]);
      assert.deepEqual(await Promise.all([0, 1, 5, 6].map((maxConfs) => world.total({ maxConfs }))), [1n, 101n, 101n, 111n]);
      assert.equal(await world.total({ minConfs: 1, maxConfs: 1 }), 100n);
      assert.equal((await world.balance()).confirmed, 1110n);
      await assert.rejects(world.balance({ minConfs: -1 }), { code: 'INVALID_PARAM' });
    },
  ],
  [
    'W71 a coinbase of height h is mature at h + 99 with 100 confirmations, and at h + 100 with 101',
    async (world) => {
      await world.create('coinbase', { block: await world.sync(20) });
      const mature = async () => Promise.all([100, 101].map(async (coinbaseMaturity) => (await world.coins({ coinbaseMaturity })).length));
      for (const [tip, wanted] of [
        [118, [0, 0]],
        [119, [1, 0]],
        [120, [1, 1]],
      ] as const) {
        await world.sync(tip);
        assert.deepEqual(await mature(), wanted, `at ${tip}`);
        const { immature, confirmed, spendable, total } = await world.balance();
        assert.deepEqual([immature, confirmed, spendable, total], tip < 119 ? [100n, 0n, 0n, 100n] : [0n, 100n, 100n, 100n]);
        assert.equal(await world.total({ coinbaseMaturity: 0 }), 100n);
        for (const [coinbaseMaturity, firstMature] of [
          [100, 119],
          [101, 120],
          [0, 0],
        ] as const) {
          const sums = await world.balance({ coinbaseMaturity });
          const isMature = tip >= firstMature;
          assert.deepEqual(
            [sums.immature, sums.confirmed, sums.spendable, sums.total],
            isMature ? [0n, 100n, 100n, 100n] : [100n, 0n, 0n, 100n],
          );
        }
      }
    },
  ],
  [
    'W72 a filter by number or name needs its scope, and takes one of them',
    async (world) => {
      const scope = { purpose: 84, coinType: 0 };
      for (const filter of [{ account: 0 }, { accountName: 'main' }, { scope, account: 0, accountName: 'main' }]) {
        await assert.rejects(world.balance(filter), { code: 'ACCOUNT_QUERY' });
        await assert.rejects(world.coins(filter), { code: 'ACCOUNT_QUERY' });
      }
      await assert.rejects(world.store.getAccount(world.wallet, { scope }), { code: 'ACCOUNT_QUERY' });
      await assert.rejects(world.store.getAccount(world.wallet, { scope, name: 'main', number: 0 }), { code: 'ACCOUNT_QUERY' });
    },
  ],
  [
    'W73 one number in two scopes, an imported account and an imported address count once each',
    async (world) => {
      const account = async (purpose: number, name: string, isDerived: boolean) => {
        const kind = purpose === 86 ? 'p2tr' : 'p2wpkh';
        const scope = { purpose, coinType: 0 };
        return world.store.createAccount(world.wallet, { scope, name, externalKind: kind, internalKind: kind, isDerived, now: NOW });
      };
      const taproot = await account(86, 'main', true);
      const watched = await account(86, 'watched', false);
      assert.deepEqual([taproot.number, watched.number], [0, null]);
      const script = (n: number) => ({ script: scriptOf(60, n), kind: 'p2tr' }) as const;
      await world.store.newAddress(world.wallet, taproot.id, 0, () => script(1), NOW);
      await world.store.newAddress(world.wallet, watched.id, 0, () => script(2), NOW);
      await world.store.importAddress(world.wallet, script(3), NOW);
      const pays = [{ own: 0, amount: 1n }, ...[1, 2, 3].map((n) => ({ script: scriptOf(60, n), amount: 10n ** BigInt(n) }))];
      await world.create('A', { pays, credits: new Map([0, 1, 2, 3].map((n) => [n, null])) });
      const [wpkh, tr] = [84, 86].map((purpose) => ({ purpose, coinType: 0 }));
      assert.equal(await world.total(), 1111n);
      assert.equal(await world.total({ scope: wpkh, account: 0 }), 1n);
      assert.equal(await world.total({ scope: tr, account: 0 }), 10n);
      assert.equal(await world.total({ scope: tr, accountName: 'watched' }), 100n);
      assert.equal(await world.total({ scope: tr }), 110n);
      assert.equal(await world.total({ scope: tr, account: 1 }), 0n);
      const coins = await world.store.listCoins(world.wallet, { now: NOW });
      assert.deepEqual(
        coins.map(({ account: of, kind }) => [of?.name ?? null, kind]),
        [
          ['main', 'p2wpkh'],
          ['main', 'p2tr'],
          ['watched', 'p2tr'],
          [null, 'p2tr'],
        ],
      );
    },
  ],
  [
    'W75 the detail of a failed transaction still shows what it spent',
    async (world) => {
      await world.create('A', { pays: [{ own: 0, amount: 70n }] });
      await world.create('B', {
        spends: ['x:0', 'A:0'],
        pays: [
          { other: 0, amount: 1n },
          { own: 1, amount: 60n },
        ],
      });
      const detail = () => world.store.getTxDetail(world.wallet, idOf('B'));
      const before = await detail();
      assert.deepEqual(before.ownedInputs, [{ index: 1, amount: 70n }]);
      assert.deepEqual(before.ownedOutputs, [{ index: 1, amount: 60n }]);
      await world.invalidate('B');
      assert.deepEqual(await detail(), { ...before, status: 'failed' });
      assert.deepEqual(before.tx, world.tx('B'));
      await assert.rejects(world.store.getTxDetail(world.wallet, idOf('X')), { code: 'TX_UNKNOWN' });
    },
  ],
  [
    'W76 lists of details in their four forms; reversed, the order inside a block stays',
    async (world) => {
      for (const height of [1, 2, 3]) {
        const block = await world.sync(height);
        for (const name of ['a', 'b']) await world.create(`${height}${name}`, { block });
      }
      for (const [n, name] of ['u', 'v', 'dead'].entries()) await world.create(name, { received: NOW + n });
      await world.invalidate('dead');
      assert.equal(await details(world, 1, 2), '1a 1b 2a 2b');
      assert.equal(await details(world, 3, 2), '3a 3b 2a 2b');
      assert.equal(await details(world, -1, 2), 'dead v u 3a 3b 2a 2b');
      assert.equal(await details(world, 2, -1), '2a 2b 3a 3b dead v u');
      assert.equal(await details(world, -1, -1), 'dead v u');
      const history = await world.store.history(world.wallet);
      assert.equal(history.map(({ tx }) => nameOf(tx.id)).join(' '), 'dead v u 3b 3a 2b 2a 1b 1a');
      const page = await world.store.history(world.wallet, { after: idOf('u'), limit: 2 });
      assert.equal(page.map(({ tx }) => nameOf(tx.id)).join(' '), '3b 3a');
      const listed = async (range: Parameters<typeof world.store.listTxs>[1]) =>
        (await world.store.listTxs(world.wallet, range)).map(({ tx }) => nameOf(tx.id)).join(' ');
      assert.equal(await listed('unmined'), 'v u');
      assert.equal(await listed({ from: 2, to: 9 }), '2a 2b 3a 3b');
    },
  ],
  [
    'W77 two wallets see one transaction, each in its own way',
    async (world) => {
      const second = await world.addWallet();
      const pays = [
        { script: scriptOf(1, 0), amount: 1n },
        { script: scriptOf(2, 0), amount: 2n },
      ];
      await world.create('A', { pays, label: 'mine' });
      await world.create('A', { walletId: second, status: 'pending', label: 'theirs' });
      await world.create('B', { spends: ['A:1'], walletId: second });
      await world.invalidate('A');
      assert.deepEqual(await world.states(1), ['A failed']);
      assert.deepEqual(await world.states(2), ['A pending', 'B published']);
      assert.deepEqual([await world.edges(1), await world.edges(2)], [['A:0 unspent'], ['A:1 by B']]);
      assert.deepEqual(
        (await world.rows()).wallets.map(({ txs }) => txs[0].label),
        ['mine', 'theirs'],
      );
      assert.deepEqual([await world.total(), await world.total({}, second)], [0n, 0n]);
    },
  ],
  [
    'W87 an evicted transaction is still there, and its coins are still reserved',
    async (world) => {
      await world.create('A');
      await world.create('B', { spends: ['A:0'], pays: [{ other: 0, amount: 1n }] });
      await world.store.markMempool(world.wallet, idOf('B'), true, NOW + 1);
      const mark = await world.mark();
      await world.store.markMempool(world.wallet, idOf('B'), false, NOW + 2);
      assert.deepEqual(await world.eventsSince(mark), ['tx.evicted B']);
      const row = await world.store.getTx(world.wallet, idOf('B'));
      assert.deepEqual([row.status, row.mempool], ['published', { seenAt: NOW + 1, evictedAt: NOW + 2 }]);
      assert.deepEqual(await world.coins(), []);
      const chosen = await world.store.selectAndLease(world.wallet, { now: NOW }, (coins) => ({ coins: firstCoins(coins, coins.count) }), {
        id: idOf('lease'),
        now: NOW,
        durationMs: 1,
      });
      assert.deepEqual(chosen.coins, []);
      await world.changesNothing(() => world.store.markMempool(world.wallet, idOf('B'), false, NOW + 2));
      await world.store.markMempool(world.wallet, idOf('B'), true, NOW + 3);
      await world.store.markMempool(world.wallet, idOf('B'), false, NOW + 4);
      assert.deepEqual(await world.eventsSince(mark), ['tx.evicted B', 'tx.seen B', 'tx.evicted B']);
      await world.refused('TX_UNKNOWN', () => world.store.markMempool(world.wallet, idOf('X'), true, NOW));
    },
  ],
  [
    'W87 a coin of an evicted transaction is listed as such, and no selection takes it',
    async (world) => {
      await world.create('F', { pays: [{ own: 0, amount: 9n }], block: await world.sync(5) });
      await world.create('A', { spends: ['F:0'], pays: [{ own: 1, amount: 8n }] });
      const selected = async (): Promise<string[]> => {
        const lease = { id: idOf('lease'), now: NOW, durationMs: 1 };
        const all = (coins: FreeCoins) => ({ coins: firstCoins(coins, coins.count) });
        const { coins } = await world.store.selectAndLease(world.wallet, { now: NOW }, all, lease);
        for (const outpoint of coins) await world.store.releaseCoin(world.wallet, outpoint, idOf('lease'), NOW);
        return coins.map(({ txId, index }) => `${nameOf(txId)}:${index}`);
      };
      const spendable = async () => {
        const { total, trustedPending, spendable } = await world.balance();
        return [total, trustedPending, spendable];
      };
      const isListedAsEvicted = async () => (await world.store.getCoin(world.wallet, outpointOf('A:0'), NOW)).isEvicted;
      assert.deepEqual([await selected(), await spendable(), await isListedAsEvicted()], [['A:0'], [8n, 8n, 8n], false]);
      await world.store.markMempool(world.wallet, idOf('A'), false, NOW + 1);
      assert.deepEqual([await selected(), await spendable(), await isListedAsEvicted()], [[], [8n, 8n, 0n], true]);
      await world.store.markMempool(world.wallet, idOf('A'), true, NOW + 2);
      assert.deepEqual([await selected(), await spendable(), await isListedAsEvicted()], [['A:0'], [8n, 8n, 8n], false]);
      await world.store.markMempool(world.wallet, idOf('A'), false, NOW + 3);
      await world.create('A', { block: await world.sync(6) });
      assert.deepEqual([await selected(), await spendable(), await isListedAsEvicted()], [['A:0'], [8n, 0n, 8n], false]);
    },
  ],
  [
    'W88 events of a bump (W19), in order, and none of a call that is refused',
    async (world) => {
      await world.create('F', { pays: [{ own: 0, amount: 9n }] });
      await world.create('A', { spends: ['F:0'], pays: [{ own: 1, amount: 8n }], status: 'pending' });
      await world.create('C', { spends: ['A:0'], pays: [{ own: 2, amount: 7n }] });
      await world.create('D', { spends: ['C:0'], pays: [{ own: 3, amount: 6n }] });
      await world.refused('INPUT_CONFLICT', () => world.create('B', { spends: ['F:0'], pays: [{ own: 4, amount: 5n }] }));
      const mark = await world.mark();
      await world.create('B', { replace: true });
      assert.deepEqual(await world.eventsSince(mark), [
        'tx.added B published',
        'utxo.unspent F:0 9',
        'utxo.unspent A:0 8',
        'utxo.unspent C:0 7',
        'tx.status A pending -> replaced (replaced by B)',
        'tx.status C published -> failed (ancestor by B)',
        'tx.status D published -> failed (ancestor by B)',
        'utxo.created B:0 5',
        'utxo.spent F:0 9',
      ]);
      const some = await world.store.listEvents(mark, 2, world.wallet);
      assert.equal(some.length, 2);
      assert.ok(some[0].sequence > mark && some[1].sequence > some[0].sequence);
      assert.deepEqual(await world.store.listEvents(mark, 9, 999), []);
    },
  ],
  [
    'W88 events of a coinbase that goes and comes back (W38, W40)',
    async (world) => {
      const block = await world.sync(1);
      await world.create('coinbase', { block, pays: [{ own: 0, amount: 50n }] });
      await world.create('B', { spends: ['coinbase:0'], pays: [{ own: 1, amount: 40n }] });
      await world.create('A', { block: await world.sync(2), pays: [{ own: 2, amount: 1n }] });
      const mark = await world.mark();
      await world.store.rollbackToBlock(1);
      assert.deepEqual(await world.eventsSince(mark), [
        'reorg 2 -> 0, 2 deep',
        'tx.unconfirmed A at 2',
        'tx.unconfirmed coinbase at 1',
        'tx.status coinbase published -> orphaned (disconnected)',
        'utxo.unspent coinbase:0 50',
        'tx.status B published -> failed (ancestor)',
      ]);
      const next = await world.mark();
      await world.store.connectBlock({
        block: blockAt(1, 1),
        txs: [world.news('coinbase', { block: blockAt(1, 1) })],
      });
      assert.deepEqual(await world.eventsSince(next), [
        'sync.tip 1 block 1 of 1',
        'tx.status coinbase orphaned -> published (confirmed)',
        'tx.confirmed coinbase at 1',
      ]);
    },
  ],
  [
    'W89 a coinbase that a later block has again is one row, of that block, while none of it is spent',
    async (world) => {
      await world.create('coinbase', { block: await world.sync(5) });
      await world.create('coinbase', { block: await world.sync(9) });
      assert.deepEqual(await world.states(), ['coinbase published 9']);
      assert.equal(await world.total(), 100n);
      await world.refused('TX_EXISTS', () => world.create('coinbase', { block: blockAt(5) }));
      await world.create('A', { spends: ['coinbase:0'] });
      const block = await world.sync(12);
      await world.refused('TX_EXISTS', () => world.create('coinbase', { block }));
      await world.create('B', { block });
      await world.refused('TX_EXISTS', () => world.create('B', { block: blockAt(9) }));
    },
  ],
  [
    'W89 the place in a block that such a coinbase leaves is free in the same batch',
    async (world) => {
      const five = await world.sync(5);
      await world.create('A');
      await world.create('coinbase', { block: five });
      const nine = blockAt(9);
      const [moved, mined] = [world.news('coinbase', { block: nine }), world.news('A', { block: five })];
      await world.store.applyTxBatch(world.wallet, [moved, mined], nine);
      const { txs } = (await world.rows()).wallets[0];
      assert.deepEqual(
        txs.map(({ height, confirmedOrder }) => [height, confirmedOrder]),
        [
          [5, 0],
          [9, 0],
        ],
      );
    },
  ],
  [
    'W90 dead rows are pruned, chains of replacements as a whole, and the living see no difference',
    async (world) => {
      await world.create('F', { received: 1 });
      for (const [n, name] of ['A', 'B', 'C'].entries()) await world.create(name, { spends: ['F:0'], replace: true, received: n + 2 });
      await world.create('X', { spends: ['C:0'], received: 1 });
      await world.create('Y', { spends: ['X:0'], received: 1 });
      await world.invalidate('X');
      const coins = await world.coins();
      const prune = async (before: number) => (await world.store.pruneDead(world.wallet, before)).map(nameOf).join('');
      assert.equal(await prune(1), '');
      // B alone is not enough: it explains why A is dead.
      await world.store.updateTx(world.wallet, idOf('A'), { label: 'x' });
      const mark = await world.mark();
      assert.equal(await prune(2), 'XY');
      assert.deepEqual(await world.eventsSince(mark), ['tx.deleted X', 'tx.deleted Y']);
      // B was replaced at 4, however long before it was seen.
      assert.equal(await prune(4), 'A');
      assert.equal(await prune(5), 'B');
      assert.equal(await prune(NOW), '');
      assert.deepEqual(await world.states(), ['F published', 'C published']);
      assert.deepEqual([await world.replacements(), await world.coins()], [[], coins]);
      assert.deepEqual((await world.rows()).wallets[0].inputs.length, 2);
    },
  ],
  [
    'W90 a row stays as long as one that it replaced does',
    async (world) => {
      await world.create('F', { received: 1 });
      for (const [name, received] of [
        ['A', 9],
        ['B', 2],
        ['C', 3],
      ] as const)
        await world.create(name, { spends: ['F:0'], replace: true, received });
      assert.deepEqual(await world.store.pruneDead(world.wallet, 5), []);
      assert.deepEqual(await world.replacements(), ['A -> B', 'B -> C']);
    },
  ],
  [
    'coins are listed by amount, then outpoint, page by page, with all that is known of them',
    async (world) => {
      const block = await world.sync(3);
      await world.create('B', { block, pays: [5n, 1n, 5n].map((amount, own) => ({ own, amount })), received: NOW + 7 });
      await world.create('A', { pays: [{ own: 3, amount: 5n }] });
      await world.create('D', { spends: ['A:0'], pays: [{ own: 4, amount: 4n }] });
      assert.deepEqual(await world.coins(), ['B:1', 'D:0', 'B:0', 'B:2']);
      const all = await world.store.listCoins(world.wallet, { now: NOW });
      for (let n = 0; n < all.length; n++) {
        const page = await world.store.listCoins(world.wallet, { now: NOW }, { after: all[n], limit: 2 });
        assert.deepEqual(page, all.slice(n + 1, n + 3));
      }
      const [account] = await world.store.listAccounts(world.wallet);
      assert.deepEqual(all[3], {
        outpoint: outpointOf('B:2'),
        amount: 5n,
        script: scriptOf(1, 2),
        kind: 'p2wpkh',
        assets: [],
        carriesScript: false,
        account: { id: account.id, scope: { purpose: 84, coinType: 0 }, number: 0, name: 'main' },
        received: NOW + 7,
        isCoinbase: false,
        height: 3,
        isOwnChange: false,
        isEvicted: false,
        lease: null,
      });
      assert.deepEqual([all[1].isOwnChange, all[1].height], [true, null]);
      assert.deepEqual(
        (await world.store.listOutputsToWatch(world.wallet)).map(({ outpoint }) => `${nameOf(outpoint.txId)}:${outpoint.index}`),
        ['A:0', 'B:0', 'B:1', 'B:2', 'D:0'],
      );
      await assert.rejects(world.store.listCoins(world.wallet, { now: NOW }, { limit: 0 }), { code: 'INVALID_PARAM' });
    },
  ],
];
