/**
 * What only Cardano has: outputs with assets, owners by stake credential,
 * transactions without known inputs, and transactions whose scripts failed.
 */
import assert from 'node:assert/strict';
import type { WalletTx } from '../../../src/wallet/records.ts';
import { outcomeOf } from '../../../src/wallet/rules/status.ts';
import type { Scenario } from '../scenarios.ts';
import { blockAt, idOf, NOW, scriptOf, type World } from '../support/world.ts';

const POLICY = new Uint8Array(28).fill(7);
const ASSETS = [
  { policy: POLICY, name: new Uint8Array(0), quantity: 2n ** 64n - 1n },
  { policy: POLICY, name: new Uint8Array(32).fill(9), quantity: 1n },
];
const PAYMENT = 0x11;
const STAKE = 0x22;

/** A base address of the testnets, with a stake key. */
function baseAddress(payment: number): Uint8Array {
  const address = new Uint8Array(57).fill(payment, 1, 29).fill(STAKE, 29);
  address[0] = 0;
  return address;
}

/** That of the stake key. */
const REWARD_ADDRESS = new Uint8Array(29).fill(STAKE);
REWARD_ADDRESS[0] = 0xe0;

/** A was paid; F spends it in one form, and in the other it spends B, its collateral, some of which comes back as output 1. */
async function withScriptTx(world: World): Promise<{ readonly valid: WalletTx; readonly failed: WalletTx }> {
  const block = await world.sync(1);
  await world.create('A', { block, pays: [{ own: 0, amount: 100n }] });
  await world.create('B', { block, pays: [{ own: 1, amount: 50n }] });
  const own = { script: scriptOf(1, 2), amount: 90n };
  const valid: WalletTx = {
    id: idOf('F'),
    raw: new Uint8Array(0),
    inputs: [{ txId: idOf('A'), index: 0 }],
    outputs: [own],
    isCoinbase: false,
  };
  const failed: WalletTx = {
    ...valid,
    inputs: [{ txId: idOf('B'), index: 0 }],
    outputs: [
      { script: new Uint8Array(0), amount: 0n },
      { script: scriptOf(1, 3), amount: 30n },
    ],
    scriptsFailed: true,
  };
  return { valid, failed };
}

export const cardanoScenarios: readonly Scenario[] = [
  [
    'an output has assets, and so has its coin',
    async (world) => {
      const output = { script: scriptOf(1, 0), amount: 5n, assets: ASSETS, carriesScript: true };
      const plain = { script: scriptOf(1, 1), amount: 6n };
      const tx: WalletTx = {
        id: idOf('A'),
        raw: new Uint8Array(0),
        inputs: [{ txId: idOf('outside'), index: 0 }],
        outputs: [output, plain],
        isCoinbase: false,
      };
      const credits = new Map([
        [0, null],
        [1, null],
      ]);
      await world.store.createTx({ walletId: world.wallet, tx, received: NOW, status: 'published', credits });
      assert.deepEqual((await world.store.getTx(world.wallet, tx.id)).tx, tx);
      const [coin, other] = await world.store.listCoins(world.wallet, { now: NOW });
      assert.deepEqual([coin.assets, coin.carriesScript], [ASSETS, true]);
      assert.deepEqual([other.assets, other.carriesScript], [[], false]);
      assert.deepEqual(await world.store.getCoin(world.wallet, coin.outpoint, NOW), coin);
      const nothing = { ...tx, id: idOf('N'), outputs: [{ ...output, assets: [{ ...ASSETS[0], quantity: 0n }] }] };
      await world.refused('INVALID_PARAM', () =>
        world.store.createTx({ walletId: world.wallet, tx: nothing, received: NOW, status: 'published', credits: new Map() }),
      );
    },
  ],
  [
    'a stake credential owns what is at any address that has it, and no other',
    async (world) => {
      const { store, wallet } = world;
      await store.importAddress(wallet, { script: REWARD_ADDRESS, kind: 'cardano-stake' }, NOW);
      const story = { pays: [PAYMENT, PAYMENT + 1].map((payment) => ({ script: baseAddress(payment), amount: 7n })) };
      const credits = new Map([
        [0, REWARD_ADDRESS],
        [1, REWARD_ADDRESS],
      ]);
      await world.create('A', { ...story, credits });
      const coins = await store.listCoins(wallet, { now: NOW });
      assert.deepEqual(
        coins.map(({ script, kind }) => [script, kind]),
        story.pays.map(({ script }) => [script, 'cardano-stake']),
      );
      const [{ script }] = await store.listOutputsToWatch(wallet);
      assert.deepEqual(script, baseAddress(PAYMENT));
      const foreign = baseAddress(PAYMENT).fill(STAKE + 1, 29);
      await world.refused('INVALID_PARAM', () =>
        world.create('B', { pays: [{ script: foreign, amount: 7n }], credits: new Map([[0, REWARD_ADDRESS]]) }),
      );
      await world.create('C', {
        pays: [{ script: foreign, amount: 7n }],
        credits: new Map(),
        creditCandidates: new Map([[0, [REWARD_ADDRESS]]]),
      });
      assert.equal((await store.listCoins(wallet, { now: NOW })).length, 2);
    },
  ],
  [
    'a block may have two transactions in another form, of which one was built on the other',
    async (world) => {
      const { valid, failed } = await withScriptTx(world);
      await world.create('C', { block: blockAt(1), pays: [{ own: 4, amount: 20n }] });
      const built: WalletTx = { ...valid, id: idOf('G'), inputs: [{ txId: idOf('F'), index: 0 }] };
      const told = (tx: WalletTx, index: number) =>
        ({ walletId: world.wallet, tx, received: NOW, status: 'published', credits: new Map([[index, null]]) }) as const;
      for (const tx of [valid, built]) await world.store.createTx(told(tx, 0));
      const block = blockAt(2);
      const otherForm = { ...failed, id: built.id, inputs: [{ txId: idOf('C'), index: 0 }] };
      await world.store.applyTxBatch(
        world.wallet,
        [failed, otherForm].map((tx) => ({ ...told(tx, 1), block })),
        block,
      );
      assert.deepEqual((await world.states()).slice(3), ['F published 2', 'G published 2']);
      assert.deepEqual(await world.edges(), ['A:0 unspent', 'B:0 by F', 'C:0 by G', 'F:1 unspent', 'G:1 unspent']);
    },
  ],
  [
    'a dead row that its block tells with its inputs in another order spends what it did, by its own inputs',
    async (world) => {
      const block = await world.sync(1);
      await world.create('A', { block });
      await world.create('B', { block });
      const news = world.news('C', { spends: ['B:0', 'A:0'] });
      await world.store.createTx(news);
      await world.invalidate('C');
      const next = await world.sync(2);
      const inputs = news.tx.inputs.toReversed();
      await world.store.createTx({ ...news, tx: { ...news.tx, inputs }, block: next });
      assert.deepEqual(await world.edges(), ['A:0 by C', 'B:0 by C', 'C:0 unspent']);
      assert.deepEqual(
        (await world.rows()).wallets[0].credits.map(({ spentInput }) => spentInput),
        [1, 0, null],
      );
    },
  ],
  [
    'a dead row that its block tells without its inputs takes the place of what replaced it',
    async (world) => {
      const block = await world.sync(1);
      await world.create('A', { block });
      const news = world.news('B', { spends: ['A:0', 'x:0'] });
      await world.store.createTx(news);
      await world.create('C', { spends: ['A:0'], replace: true });
      const next = await world.sync(2);
      await world.store.createTx({ ...news, tx: { ...news.tx, inputs: [] }, block: next });
      assert.deepEqual(await world.states(), ['A published 1', 'B published 2', 'C replaced']);
      assert.deepEqual(await world.edges(), ['A:0 by B', 'B:0 unspent', 'C:0 unspent']);
    },
  ],
  [
    "a transaction whose inputs are not known is nobody's own change",
    async (world) => {
      const block = await world.sync(1);
      await world.create('A', { spends: [], block });
      assert.deepEqual((await world.store.getTx(world.wallet, idOf('A'))).tx.inputs, []);
      await world.store.rollbackToBlock(1);
      const { trustedPending, untrustedPending } = await world.balance();
      assert.deepEqual([trustedPending, untrustedPending], [0n, 100n]);
    },
  ],
  [
    'scripts failed in a block: the collateral is spent, the rest is not, and what was built on it fails',
    async (world) => {
      const { store, wallet } = world;
      const { valid, failed } = await withScriptTx(world);
      const made = { walletId: wallet, received: NOW, status: 'pending', label: 'swap', credits: new Map([[0, null]]) } as const;
      await store.createTx({ ...made, tx: valid });
      await world.create('child', { spends: ['F:0'], pays: [{ own: 4, amount: 80n }] });
      const mark = await world.mark();
      const news = {
        ...made,
        tx: failed,
        label: undefined,
        status: 'published',
        block: blockAt(2),
        credits: new Map([[1, null]]),
      } as const;
      await store.applyTxBatch(wallet, [news], blockAt(2));
      assert.deepEqual(await world.states(), ['A published 1', 'B published 1', 'child failed', 'F published 2']);
      assert.deepEqual(await world.edges(), ['A:0 unspent', 'B:0 by F', 'child:0 unspent', 'F:1 unspent']);
      assert.equal(await world.total(), 130n);
      const row = await store.getTx(wallet, failed.id);
      assert.deepEqual([row.tx, row.label, outcomeOf(row)], [failed, 'swap', 'failed']);
      assert.deepEqual(await world.eventsSince(mark), [
        'sync.tip 2 block 2 of 0',
        'utxo.unspent A:0 100',
        'utxo.unspent F:0 90',
        'tx.status F pending -> failed (invalidated)',
        'tx.status child published -> failed (ancestor)',
        'tx.deleted F',
        'tx.added F published',
        'tx.confirmed F at 2',
        'utxo.created F:1 30',
        'utxo.spent B:0 50',
      ]);
      await world.changesNothing(() => store.applyTxBatch(wallet, [news], blockAt(2)));
      await world.changesNothing(() => store.createTx({ ...made, status: 'published', tx: valid }));
    },
  ],
  [
    'the block with the failure is undone, and in the next one the scripts do not fail',
    async (world) => {
      const { store, wallet } = world;
      const { valid, failed } = await withScriptTx(world);
      const seen = { walletId: wallet, received: NOW, status: 'published' } as const;
      await store.applyTxBatch(wallet, [{ ...seen, tx: failed, block: blockAt(2), credits: new Map([[1, null]]) }], blockAt(2));
      const other = { ...seen, tx: valid, block: blockAt(2), credits: new Map([[0, null]]) };
      await world.refused('TX_EXISTS', () => store.applyTxBatch(wallet, [other], blockAt(2)));
      await store.rollbackToBlock(2);
      assert.deepEqual(await world.edges(), ['A:0 unspent', 'B:0 by F', 'F:1 unspent']);
      await store.applyTxBatch(wallet, [{ ...other, block: blockAt(2, 1) }], blockAt(2, 1));
      assert.deepEqual(await world.states(), ['A published 1', 'B published 1', 'F published 2']);
      assert.deepEqual(await world.edges(), ['A:0 by F', 'B:0 unspent', 'F:0 unspent']);
      assert.equal(outcomeOf(await store.getTx(wallet, valid.id)), 'published');
    },
  ],
];
