/** W49 to W60: rows that are deleted, parents that come late, batches and scans. */
import assert from 'node:assert/strict';
import type { NewTx } from '../../../src/wallet/store.ts';
import type { Scenario } from '../scenarios.ts';
import { blockAt, idOf, NOW, outpointOf, scriptOf, type World } from '../support/world.ts';

async function remove(world: World, name: string): Promise<void> {
  await world.store.deleteTx(world.wallet, idOf(name));
}

/** Two families of three and four, which share an ancestor. */
function familyOfSix(world: World): NewTx[] {
  const two = [
    { own: 1, amount: 1n },
    { own: 2, amount: 2n },
  ];
  const spends = { A: ['x:0'], B: ['A:0'], C: ['A:1'], D: ['B:0', 'C:1'], E: ['D:1'], F: ['y:0', 'C:0'] };
  return Object.entries(spends).map(([name, outpoints]) => world.news(name, { spends: outpoints, pays: two }));
}

export function permutations<T>(items: readonly T[]): T[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((item, at) => permutations(items.toSpliced(at, 1)).map((rest) => [item, ...rest]));
}

/** W56: the batch of six in every order, or in every nth. */
export async function everyOrder(world: World, nth: number): Promise<void> {
  const spent = ['A:0 by B', 'A:1 by C', 'B:0 by D', 'C:0 by F', 'C:1 by D', 'D:1 by E'];
  for (const batch of permutations(familyOfSix(world)).filter((_, n) => n % nth === 0)) {
    await world.store.applyTxBatch(world.wallet, batch);
    assert.deepEqual((await world.edges()).filter((edge) => !edge.endsWith('unspent')).toSorted(), spent);
    assert.deepEqual((await world.coins()).toSorted(), ['B:1', 'D:0', 'E:0', 'E:1', 'F:0', 'F:1']);
    await world.invalidate('A');
    assert.equal((await world.store.pruneDead(world.wallet, NOW + 1)).length, 6);
  }
}

export const batchScenarios: readonly Scenario[] = [
  [
    'W49 a deleted leaf leaves its parent unspent, and nothing of itself',
    async (world) => {
      await world.create('A');
      const before = await world.rows();
      await world.create('B', { status: 'pending', spends: ['A:0', 'x:0'] });
      await world.lease('B:0');
      const mark = await world.mark();
      await remove(world, 'B');
      assert.deepEqual(await world.rows(), before);
      assert.deepEqual(await world.eventsSince(mark), ['utxo.unspent A:0 100', 'tx.deleted B']);
    },
  ],
  [
    'W50 what live rows spend is not deleted, whether the output is ours or not',
    async (world) => {
      await world.create('A', {
        pays: [
          { own: 0, amount: 1n },
          { other: 0, amount: 1n },
        ],
      });
      await world.create('B', { spends: ['A:0'] });
      await world.refused('TX_HAS_CHILDREN', () => remove(world, 'A'));
      await remove(world, 'B');
      await world.create('C', { spends: ['A:1'] });
      await world.refused('TX_HAS_CHILDREN', () => remove(world, 'A'));
      await world.create('C', { block: await world.sync(1) });
      await world.refused('TX_HAS_CHILDREN', () => remove(world, 'A'));
    },
  ],
  [
    'W51 what only a failed row spends is deleted',
    async (world) => {
      await world.create('A');
      await world.create('B', { spends: ['A:0'] });
      await world.invalidate('B');
      await remove(world, 'A');
      assert.deepEqual(await world.states(), ['B failed']);
      assert.deepEqual((await world.rows()).wallets[0].inputs.length, 1);
    },
  ],
  [
    'W52 what is confirmed, dead or missing is not deleted',
    async (world) => {
      await world.create('A', { block: await world.sync(1) });
      await world.create('B');
      await world.invalidate('B');
      for (const name of ['A', 'B']) await world.refused('TX_NOT_UNMINED', () => remove(world, name));
      await world.refused('TX_UNKNOWN', () => remove(world, 'X'));
    },
  ],
  [
    'W53 a child that was there before its parent gets its edge',
    async (world) => {
      const pays = [
        { own: 0, amount: 1n },
        { own: 1, amount: 2n },
      ];
      await world.create('B', { spends: ['A:1', 'A:0'] });
      const mark = await world.mark();
      await world.create('A', { pays });
      assert.deepEqual(await world.edges(), ['B:0 unspent', 'A:0 by B', 'A:1 by B']);
      assert.deepEqual(
        (await world.rows()).wallets[0].credits.map(({ spentInput }) => spentInput),
        [null, 1, 0],
      );
      assert.deepEqual(await world.eventsSince(mark), [
        'tx.added A published',
        'utxo.created A:0 1',
        'utxo.created A:1 2',
        'utxo.spent A:0 1',
        'utxo.spent A:1 2',
      ]);
    },
  ],
  [
    'W54 two unmined children before their parent: it is not clear which, and the parent is refused',
    async (world) => {
      await world.create('B', { spends: ['A:0'] });
      await world.create('C', { spends: ['A:0'] });
      await world.refused('INPUT_CONFLICT', () => world.create('A'));
      await world.invalidate('B');
      await world.create('A');
      assert.deepEqual(await world.edges(), ['B:0 unspent', 'C:0 unspent', 'A:0 by C']);
    },
  ],
  [
    'W55 of a confirmed and two unmined children before their parent the confirmed one holds',
    async (world) => {
      await world.create('B', { spends: ['A:0'] });
      await world.create('C', { spends: ['A:0', 'z:0'] });
      await world.create('D', { spends: ['C:0'] });
      const block = await world.sync(1);
      await world.create('W', { spends: ['A:0', 'y:0'] });
      await world.store.updateTx(world.wallet, idOf('W'), { state: { status: 'published', block } });
      await world.create('A', { received: NOW + 1 });
      assert.deepEqual(await world.states(), ['B replaced', 'C replaced', 'D failed', 'W published 1', 'A published']);
      assert.deepEqual(await world.replacements(), ['B -> W', 'C -> W']);
      assert.ok((await world.edges()).includes('A:0 by W'));
    },
  ],
  [
    'W55 two confirmed children before their parent are refused',
    async (world) => {
      const block = await world.sync(1);
      await world.create('B', { spends: ['A:0'], block });
      await world.create('C', { spends: ['A:0'], block });
      await world.refused('INPUT_CONFLICT', () => world.create('A'));
    },
  ],
  ['W56 a batch of six ends in one state, in whatever order it is given (every seventh of the 720)', (world) => everyOrder(world, 7)],
  [
    'W57 a batch with a member of another wallet, or without a transaction, is refused before anything is written',
    async (world) => {
      const second = await world.addWallet();
      const batch = [world.news('A'), world.news('B', { walletId: second, credits: new Map() })];
      await world.refused('INVALID_PARAM', () => world.store.applyTxBatch(world.wallet, batch, blockAt(1)));
      const empty = { ...world.news('C'), tx: undefined } as unknown as NewTx;
      await world.refused('INVALID_PARAM', () => world.store.applyTxBatch(world.wallet, [world.news('A'), empty], blockAt(1)));
    },
  ],
  [
    'W58 whichever member of a batch fails, nothing of it is applied, and the tip stays',
    async (world) => {
      await world.sync(1);
      for (let k = 0; k < 6; k++) {
        const batch = familyOfSix(world).map((news, n) => ({
          ...news,
          block: blockAt(2),
          ...(n === k && { credits: new Map([[0, scriptOf(0, 9)]]) }),
        }));
        await world.refused('ADDRESS_UNKNOWN', () => world.store.applyTxBatch(world.wallet, batch, blockAt(2)));
      }
    },
  ],
  [
    'W59 a batch confirms rows that are there, adds others, and moves the tip',
    async (world) => {
      await world.create('A', { status: 'pending', label: 'mine' });
      await world.create('B', { spends: ['A:0'] });
      const block = blockAt(7);
      const mark = await world.mark();
      const batch = [
        world.news('C', { block, spends: ['B:0'] }),
        world.news('B', { block }),
        world.news('A', { block }),
        world.news('D', { block: blockAt(6) }),
      ];
      await world.store.applyTxBatch(world.wallet, batch, block);
      assert.deepEqual(await world.states(), ['A published 7', 'B published 7', 'D published 6', 'C published 7']);
      assert.deepEqual(
        (await world.store.listTxs(world.wallet, { from: 7, to: 7 })).map(({ confirmedOrder, label }) => [confirmedOrder, label]),
        [
          [0, 'mine'],
          [1, ''],
          [2, ''],
        ],
      );
      assert.deepEqual((await world.eventsSince(mark)).slice(0, 3), [
        'sync.tip 7 block 7 of 0',
        'tx.status A pending -> published (confirmed)',
        'tx.confirmed A at 7',
      ]);
      await world.changesNothing(() => world.store.applyTxBatch(world.wallet, batch, block));
      await world.refused('BLOCK_MISMATCH', () => world.store.applyTxBatch(world.wallet, [], blockAt(7, 1)));
    },
  ],
  [
    'W60 a scan adds addresses up to an index, leaves out keys that do not exist, and goes on from there',
    async (world) => {
      const account = await world.store.getAccount(world.wallet, { scope: { purpose: 84, coinType: 0 }, name: 'main' });
      const derive = (branch: number, index: number) =>
        index % 3 === 2 ? null : ({ script: scriptOf(100 + branch, index), kind: 'p2wpkh' } as const);
      const scan = (branch: 0 | 1, index: number, txs: readonly NewTx[] = []) =>
        world.store.applyScanBatch(world.wallet, {
          horizons: [{ accountId: account.id, branch, index, derive }],
          txs,
          syncedBlocks: [blockAt(2), blockAt(4)],
          now: NOW,
        });
      const own = async () =>
        (await world.store.listAddresses(world.wallet))
          .filter(({ derivation }) => derivation?.branch === 1)
          .map(({ derivation }) => derivation?.index);
      // What the scan finds is of addresses that the same scan adds.
      const found = world.news('A', { pays: [{ script: scriptOf(101, 3), amount: 5n }], credits: new Map([[0, null]]), block: blockAt(3) });
      await scan(1, 5, [found]);
      assert.deepEqual(await own(), [0, 1, 3, 4]);
      assert.equal(await world.total(), 5n);
      const [wallet] = (await world.rows()).wallets;
      assert.deepEqual([wallet.syncedHeight, wallet.accounts[0].nextInternalIndex], [4, 6]);
      await world.changesNothing(() => scan(1, 5, [found]));
      await world.changesNothing(() => scan(1, 2));
      await scan(1, 7);
      assert.deepEqual(await own(), [0, 1, 3, 4, 6, 7]);
      const next = await world.store.newAddress(world.wallet, account.id, 1, derive, NOW);
      assert.equal(next.derivation?.index, 9);
      await world.refused('ADDRESS_INDEX_MAX', () => scan(1, 0x8000_0000));
      const second = await world.addWallet();
      const [foreign] = await world.store.listAccounts(second);
      const horizons = [{ accountId: foreign.id, branch: 0, index: 20, derive }] as const;
      await world.refused('ACCOUNT_UNKNOWN', () =>
        world.store.applyScanBatch(world.wallet, { horizons, txs: [], syncedBlocks: [], now: NOW }),
      );
      await world.refused('ACCOUNT_UNKNOWN', () => world.store.newAddress(world.wallet, foreign.id, 0, derive, NOW));
      await world.refused('BLOCK_MISMATCH', () =>
        world.store.applyScanBatch(world.wallet, { horizons: [], txs: [], syncedBlocks: [blockAt(5), blockAt(4, 1)], now: NOW }),
      );
    },
  ],
  [
    'W60 an address that was imported before becomes one of the account; one of another account is refused',
    async (world) => {
      const { id } = await world.store.getAccount(world.wallet, { scope: { purpose: 84, coinType: 0 }, number: 0 });
      const script = scriptOf(50, 0);
      await world.store.importAddress(world.wallet, { script, kind: 'p2wpkh' }, NOW);
      await world.create('A', { pays: [{ script, amount: 5n }], credits: new Map([[0, null]]) });
      const filter = { scope: { purpose: 84, coinType: 0 }, account: 0 };
      assert.equal(await world.total(filter), 0n);
      const derived = await world.store.newAddress(world.wallet, id, 1, () => ({ script, kind: 'p2wpkh' }), NOW);
      assert.deepEqual([derived.derivation, derived.isUsed], [{ accountId: id, branch: 1, index: 0 }, true]);
      assert.equal(await world.total(filter), 5n);
      assert.deepEqual((await world.store.getCoin(world.wallet, outpointOf('A:0'), NOW)).account?.name, 'main');
      await world.refused('INVALID_PARAM', () => world.store.newAddress(world.wallet, id, 1, () => ({ script, kind: 'p2wpkh' }), NOW));
    },
  ],
];
