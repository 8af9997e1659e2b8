/** W29 to W35: transactions that fail with all that depends on them, and rows that are changed by hand. W90: how old what has failed is. */
import assert from 'node:assert/strict';
import type { NewTx } from '../../../src/wallet/store.ts';
import type { Scenario } from '../scenarios.ts';
import { blockAt, idOf, NOW, nameOf, outpointOf } from '../support/world.ts';

export const failureScenarios: readonly Scenario[] = [
  [
    'W29 three generations with a diamond fail once each, and free their coins',
    async (world) => {
      await world.create('F');
      await world.create('A', {
        spends: ['F:0'],
        pays: [
          { own: 1, amount: 1n },
          { own: 2, amount: 2n },
        ],
      });
      await world.create('B', { spends: ['A:0'] });
      await world.create('C', { spends: ['A:1'] });
      await world.create('D', { spends: ['B:0', 'C:0'] });
      const mark = await world.mark();
      await world.invalidate('A');
      assert.deepEqual(await world.states(), ['F published', 'A failed', 'B failed', 'C failed', 'D failed']);
      assert.deepEqual(await world.coins(), ['F:0']);
      assert.deepEqual(await world.eventsSince(mark), [
        'utxo.unspent F:0 100',
        'utxo.unspent A:0 1',
        'utxo.unspent A:1 2',
        'utxo.unspent B:0 100',
        'utxo.unspent C:0 100',
        'tx.status A published -> failed (invalidated)',
        'tx.status B published -> failed (ancestor)',
        'tx.status C published -> failed (ancestor)',
        'tx.status D published -> failed (ancestor)',
      ]);
    },
  ],
  [
    'W30 a chain of 10,000 fails as a whole',
    async (world) => {
      const chain: NewTx[] = [];
      for (let n = 0; n < 10_000; n++) chain.push(world.news(`${n}`, { spends: [`${n - 1}:0`], status: 'pending' }));
      await world.store.applyTxBatch(world.wallet, chain);
      assert.deepEqual(await world.coins(), ['9999:0']);
      await world.invalidate('0');
      assert.deepEqual(await world.coins(), []);
      assert.equal((await world.store.listTxs(world.wallet, 'unmined')).length, 0);
      assert.equal(await world.status('9999'), 'failed');
    },
  ],
  [
    'W31 what is confirmed, a coinbase, dead or missing cannot be invalidated',
    async (world) => {
      const block = await world.sync(1);
      await world.create('A', { block });
      await world.create('coinbase', { block });
      await world.create('B');
      await world.invalidate('B');
      for (const name of ['A', 'coinbase', 'B']) await world.refused('TX_NOT_UNMINED', () => world.invalidate(name));
      await world.store.rollbackToBlock(1);
      await world.refused('TX_NOT_UNMINED', () => world.invalidate('coinbase'));
      await world.refused('TX_UNKNOWN', () => world.invalidate('X'));
    },
  ],
  [
    'W31 what a confirmed row depends on cannot be invalidated or replaced',
    async (world) => {
      const block = await world.sync(1);
      await world.create('A', { spends: ['x:0'] });
      await world.create('B', { spends: ['A:0'] });
      await world.create('C', { spends: ['B:0'], block });
      await world.refused('CHAIN_INCONSISTENT', () => world.invalidate('A'));
      await world.refused('CHAIN_INCONSISTENT', () => world.create('V', { spends: ['x:0'], replace: true }));
      await world.refused('CHAIN_INCONSISTENT', () => world.create('W', { spends: ['x:0'], block }));
    },
  ],
  [
    'W31 a winner that spends an output of its victim is refused',
    async (world) => {
      const block = await world.sync(1);
      await world.create('A', { spends: ['x:0'] });
      await world.refused('CHAIN_INCONSISTENT', () => world.create('V', { spends: ['x:0', 'A:0'], replace: true }));
      await world.refused('CHAIN_INCONSISTENT', () => world.create('W', { spends: ['x:0', 'A:0'], block }));
    },
  ],
  [
    'W32 a descendant frees an unrelated coin that it spends, too',
    async (world) => {
      await world.create('F');
      await world.create('G');
      await world.create('A', { spends: ['F:0'] });
      await world.create('B', { spends: ['A:0', 'G:0'] });
      await world.invalidate('A');
      assert.deepEqual(await world.coins(), ['F:0', 'G:0']);
    },
  ],
  [
    'W33 updateTx confirms a pending row, and looks at no conflict',
    async (world) => {
      const block = await world.sync(3);
      await world.create('A', { status: 'pending', spends: ['x:0'] });
      await world.create('R', { status: 'pending', spends: ['x:0'] });
      await world.refused('BLOCK_UNKNOWN', () =>
        world.store.updateTx(world.wallet, idOf('A'), { state: { status: 'published', block: blockAt(4) } }),
      );
      const other = blockAt(3, 1);
      await world.refused('BLOCK_MISMATCH', () =>
        world.store.updateTx(world.wallet, idOf('A'), { state: { status: 'published', block: other } }),
      );
      const mark = await world.mark();
      await world.store.updateTx(world.wallet, idOf('A'), { state: { status: 'published', block } });
      const row = await world.store.getTx(world.wallet, idOf('A'));
      assert.deepEqual([row.status, row.block, row.confirmedOrder], ['published', block, 0]);
      assert.deepEqual(await world.eventsSince(mark), ['tx.status A pending -> published (confirmed)', 'tx.confirmed A at 3']);
      assert.equal(await world.status('R'), 'pending');
      await world.changesNothing(() => world.store.updateTx(world.wallet, idOf('A'), { state: { status: 'published', block } }));
      await world.store.updateTx(world.wallet, idOf('R'), { state: { status: 'published' }, label: 'both' });
      assert.deepEqual(await world.states(), ['A published 3', 'R published']);
    },
  ],
  [
    'W34 updateTx neither invalidates nor touches a coinbase, nor changes nothing, nor goes back',
    async (world) => {
      const block = await world.sync(1);
      await world.create('A');
      await world.create('coinbase', { block });
      await world.create('dead');
      await world.invalidate('dead');
      const refused = (name: string, change: Parameters<typeof world.store.updateTx>[2]) =>
        world.refused('INVALID_PARAM', () => world.store.updateTx(world.wallet, idOf(name), change));
      for (const status of ['failed', 'replaced', 'orphaned'] as const) await refused('A', { state: { status } });
      await refused('coinbase', { state: { status: 'published', block } });
      await refused('A', {});
      await refused('A', { state: { status: 'pending', block } });
      await refused('A', { state: { status: 'pending' } });
      await refused('dead', { state: { status: 'published' } });
      await world.create('A', { block });
      await refused('A', { state: { status: 'published' } });
      await world.refused('TX_UNKNOWN', () => world.store.updateTx(world.wallet, idOf('X'), { label: 'x' }));
    },
  ],
  [
    'names and labels that no database keeps as they are given are refused',
    async (world) => {
      const { store, wallet } = world;
      await world.create('A');
      for (const text of ['a\0b', '\0', 'half \ud83d', '\ude00 half']) {
        await world.refused('INVALID_PARAM', () => store.updateTx(wallet, idOf('A'), { label: text }));
        await world.refused('INVALID_PARAM', () => world.create('B', { label: text }));
        await world.refused('INVALID_PARAM', () => store.createWallet({ name: text, isWatchOnly: true }));
        const scope = { purpose: 84, coinType: 0 };
        const account = { scope, externalKind: 'p2wpkh', internalKind: 'p2wpkh', isDerived: true, now: NOW } as const;
        await world.refused('INVALID_PARAM', () => store.createAccount(wallet, { ...account, name: text }));
        await world.refused('INVALID_PARAM', () => store.renameAccount(wallet, { scope, number: 0 }, text));
        await world.refused('WALLET_UNKNOWN', () => store.getWallet(text));
        await world.refused('INVALID_PARAM', () => store.listWallets({ after: text, limit: 1 }));
        await world.refused('ACCOUNT_UNKNOWN', () => store.getAccount(wallet, { scope, name: text }));
        await world.refused('ACCOUNT_QUERY', () => store.balance(wallet, { now: NOW, scope, accountName: text }));
        await world.refused('ACCOUNT_QUERY', () => store.listCoins(wallet, { now: NOW, scope, accountName: text }));
      }
      // All others are kept as they are.
      const label = 'caf\u00e9 \u{1f600} \u0001 \uffff';
      await store.updateTx(wallet, idOf('A'), { label });
      assert.equal((await store.getTx(wallet, idOf('A'))).label, label);
    },
  ],
  [
    'W35 a label has up to 500 characters, is cleared by nothing in it, and survives every change of status',
    async (world) => {
      const label = 'x'.repeat(500);
      await world.create('F');
      await world.create('A', { spends: ['F:0'] });
      await world.store.updateTx(world.wallet, idOf('A'), { label });
      await world.refused('INVALID_PARAM', () => world.store.updateTx(world.wallet, idOf('A'), { label: `${label}x` }));
      await world.refused('INVALID_PARAM', () => world.create('G', { label: `${label}x` }));
      const keepsLabel = async (status: string) => {
        const row = await world.store.getTx(world.wallet, idOf('A'));
        assert.deepEqual([row.status, row.label], [status, label]);
      };
      await world.create('B', { spends: ['F:0'], replace: true });
      await keepsLabel('replaced');
      const block = await world.sync(1);
      await world.create('A', { block });
      await keepsLabel('published');
      await world.store.rollbackToBlock(1);
      await keepsLabel('published');
      await world.invalidate('A');
      await keepsLabel('failed');
      await world.create('A', { reactivate: true });
      await keepsLabel('published');
      await world.store.updateTx(world.wallet, idOf('A'), { label: '' });
      assert.equal((await world.store.getTx(world.wallet, idOf('A'))).label, '');
      await world.create('coinbase', { block: await world.sync(1), label: 'mined' });
      await world.store.rollbackToBlock(1);
      assert.deepEqual((await world.store.getTx(world.wallet, idOf('coinbase'))).label, 'mined');
      await assert.rejects(world.store.getCoin(world.wallet, outpointOf('coinbase:0'), NOW), { code: 'UTXO_UNKNOWN' });
    },
  ],
  [
    'W90 what died today stays, however old it is, and so does what fell with it',
    async (world) => {
      await world.create('F', { received: 1 });
      await world.create('old', { spends: ['F:0'], received: 2 });
      await world.create('child', { spends: ['old:0'], received: 3 });
      await world.create('grandchild', { spends: ['child:0'], received: 4 });
      await world.create('G', { received: 1 });
      await world.create('lost', { spends: ['G:0'], received: 2 });
      await world.store.markMempool(world.wallet, idOf('lost'), false, 700);
      await world.invalidate('lost');
      await world.create('bump', { spends: ['F:0'], replace: true, received: 900 });
      const prune = async (before: number) => (await world.store.pruneDead(world.wallet, before)).map(nameOf).join(' ');
      assert.equal(await prune(700), '');
      assert.equal(await prune(900), 'lost');
      assert.equal(await prune(901), 'old child grandchild');
    },
  ],
];
