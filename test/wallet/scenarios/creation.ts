/** W01 to W18: a transaction comes in, alone or again. */
import assert from 'node:assert/strict';
import { concatBytes } from '../../../src/util/bytes.ts';
import type { Scenario } from '../scenarios.ts';
import { blockAt, NOW, outpointOf, scriptOf } from '../support/world.ts';

const compressedKey = (n: number): Uint8Array => concatBytes(Uint8Array.of(2), new Uint8Array(32).fill(n));
const bareMultisig = (...keys: readonly Uint8Array[]): Uint8Array =>
  concatBytes(Uint8Array.of(0x51), ...keys.flatMap((key) => [Uint8Array.of(key.length), key]), Uint8Array.of(0x50 + keys.length, 0xae));

export const creationScenarios: readonly Scenario[] = [
  [
    'W01 a pending transaction with one credit: row, credit, inputs, balance',
    async (world) => {
      await world.create('A', {
        status: 'pending',
        label: 'rent',
        spends: ['x:1', 'y:0'],
        pays: [
          { other: 1, amount: 7n },
          { own: 3, amount: 100n },
        ],
      });
      const [wallet] = (await world.rows()).wallets;
      assert.deepEqual(await world.states(), ['A pending']);
      assert.equal(wallet.txs[0].label, 'rent');
      assert.equal(wallet.txs[0].received, NOW);
      assert.deepEqual(await world.edges(), ['A:1 unspent']);
      assert.equal(wallet.credits[0].owner, Buffer.from(scriptOf(1, 3)).toString('hex'));
      assert.deepEqual(
        wallet.inputs.map(({ input, prevIndex }) => [input, prevIndex]),
        [
          [0, 1],
          [1, 0],
        ],
      );
      assert.equal(await world.total(), 100n);
      assert.equal((await world.store.getAddress(world.wallet, scriptOf(1, 3))).isUsed, true);
      assert.equal((await world.store.getAddress(world.wallet, scriptOf(1, 4))).isUsed, false);
    },
  ],
  [
    'W02 confirmed without a block row is refused',
    (world) => world.refused('BLOCK_UNKNOWN', () => world.create('A', { block: blockAt(5) })),
  ],
  [
    'W03 a block row with another hash or timestamp is refused',
    async (world) => {
      const block = await world.sync(5);
      await world.refused('BLOCK_MISMATCH', () => world.create('A', { block: blockAt(5, 1) }));
      await world.refused('BLOCK_MISMATCH', () => world.create('A', { block: { ...block, timestamp: 1 } }));
    },
  ],
  [
    'W04 a coinbase without a block, pending or orphaned is refused',
    async (world) => {
      const block = await world.sync(5);
      const coinbase = world.news('coinbase', { block });
      await world.refused('INVALID_STATUS', () => world.store.createTx({ ...coinbase, block: undefined }));
      await world.refused('INVALID_STATUS', () => world.store.createTx({ ...coinbase, status: 'pending' }));
      await world.refused('INVALID_STATUS', () => world.store.createTx({ ...coinbase, status: 'orphaned' }));
    },
  ],
  [
    'W05 confirmed and pending, or new and dead, is refused',
    async (world) => {
      const block = await world.sync(5);
      await world.refused('INVALID_STATUS', () => world.create('A', { block, status: 'pending' }));
      for (const status of ['replaced', 'failed', 'orphaned'] as const) {
        await world.refused('INVALID_STATUS', () => world.create('A', { status }));
      }
    },
  ],
  [
    'W06 one outpoint twice among the inputs is refused',
    (world) => world.refused('INPUT_TWICE', () => world.create('A', { spends: ['x:0', 'y:0', 'x:0'] })),
  ],
  [
    'W07 a credit of an output that is not there is refused',
    (world) => world.refused('INDEX_RANGE', () => world.create('A', { credits: new Map([[1, null]]) })),
  ],
  [
    'W08 a credit whose owner the output does not pay is refused, also if an OP_RETURN carries its key',
    async (world) => {
      await world.refused('INVALID_PARAM', () => world.create('A', { credits: new Map([[0, scriptOf(1, 1)]]) }));
      const [owner, publicKey] = [scriptOf(9, 1), compressedKey(1)];
      await world.store.importAddress(world.wallet, { script: owner, kind: 'p2wpkh', publicKey }, NOW);
      const script = concatBytes(Uint8Array.of(0x6a, publicKey.length), publicKey);
      const credits = new Map([[0, owner]]);
      await world.refused('INVALID_PARAM', () => world.create('B', { pays: [{ script, amount: 0n }], credits }));
    },
  ],
  [
    'W09 bare 1-of-2 multisig is owned through its second key, and watched with its own script',
    async (world) => {
      const [owner, publicKey] = [scriptOf(9, 1), compressedKey(2)];
      await world.store.importAddress(world.wallet, { script: owner, kind: 'p2wpkh', publicKey }, NOW);
      const script = bareMultisig(compressedKey(1), publicKey);
      await world.create('A', { pays: [{ script, amount: 5n }], credits: new Map([[0, owner]]) });
      const watched = await world.store.listOutputsToWatch(world.wallet);
      assert.deepEqual(watched, [{ outpoint: outpointOf('A:0'), amount: 5n, script }]);
      assert.deepEqual((await world.store.getCoin(world.wallet, outpointOf('A:0'), NOW)).script, script);
    },
  ],
  [
    'W09 candidates are tried after the script of the output; an output of none of them is no credit',
    async (world) => {
      const [owner, publicKey] = [scriptOf(9, 1), compressedKey(2)];
      await world.store.importAddress(world.wallet, { script: owner, kind: 'p2wpkh', publicKey }, NOW);
      const script = bareMultisig(compressedKey(1), publicKey);
      const candidates = [scriptOf(0, 1), scriptOf(1, 1), owner];
      await world.create('A', {
        pays: [
          { own: 2, amount: 1n },
          { script, amount: 2n },
          { other: 0, amount: 3n },
        ],
        credits: new Map(),
        creditCandidates: new Map([
          [0, candidates],
          [1, candidates],
          [2, candidates],
        ]),
      });
      assert.deepEqual(await world.edges(), ['A:0 unspent', 'A:1 unspent']);
      const owners = (await world.rows()).wallets[0].credits.map((credit) => credit.owner);
      assert.deepEqual(
        owners,
        [scriptOf(1, 2), owner].map((bytes) => Buffer.from(bytes).toString('hex')),
      );
    },
  ],
  [
    'W10 a credit for an unknown address is refused, and nothing stays',
    async (world) => {
      const credits = new Map([
        [0, null],
        [1, null],
      ]);
      await world.refused('ADDRESS_UNKNOWN', () =>
        world.create('A', {
          pays: [
            { own: 0, amount: 1n },
            { other: 0, amount: 1n },
          ],
          credits,
        }),
      );
    },
  ],
  [
    'W11 the same again changes nothing',
    async (world) => {
      const block = await world.sync(5);
      const stories = { A: { status: 'pending' }, B: { status: 'published' }, C: { block } } as const;
      for (const [name, story] of Object.entries(stories)) {
        await world.create(name, { ...story, label: 'x' });
        await world.changesNothing(() => world.create(name, { ...story, label: 'x' }));
        await world.changesNothing(() => world.create(name, story));
      }
    },
  ],
  [
    'W12 a duplicate with another label is refused',
    async (world) => {
      const block = await world.sync(5);
      await world.create('A', { label: 'x' });
      await world.refused('TX_EXISTS', () => world.create('A', { label: 'y' }));
      await world.create('B', { block });
      await world.refused('TX_EXISTS', () => world.create('B', { block, label: 'y' }));
    },
  ],
  [
    'W13 a duplicate adds a credit that was missed, and a stored child gets its edge',
    async (world) => {
      const pays = [
        { own: 0, amount: 1n },
        { own: 1, amount: 2n },
      ];
      await world.create('A', { pays, credits: new Map([[0, null]]) });
      await world.create('B', { spends: ['A:1'] });
      assert.deepEqual(await world.edges(), ['A:0 unspent', 'B:0 unspent']);
      const mark = await world.mark();
      await world.create('A');
      assert.deepEqual(await world.edges(), ['A:0 unspent', 'A:1 by B', 'B:0 unspent']);
      assert.deepEqual(await world.eventsSince(mark), ['utxo.created A:1 2', 'utxo.spent A:1 2']);
    },
  ],
  [
    'W14 an unmined duplicate of a confirmed row is ignored',
    async (world) => {
      const block = await world.sync(5);
      await world.create('A', { block });
      await world.changesNothing(() => world.create('A', { status: 'published' }));
      await world.changesNothing(() => world.create('A', { status: 'pending', label: 'other' }));
    },
  ],
  [
    'W15 a published duplicate of a pending row promotes it, and keeps its label',
    async (world) => {
      await world.create('A', { status: 'pending', label: 'rent' });
      const mark = await world.mark();
      await world.create('A', { status: 'published', received: NOW + 5 });
      const { status, label, received } = await world.store.getTx(world.wallet, world.tx('A').id);
      assert.deepEqual([status, label, received], ['published', 'rent', NOW]);
      assert.deepEqual(await world.eventsSince(mark), ['tx.status A pending -> published (broadcast)']);
      await world.changesNothing(() => world.create('A', { status: 'pending' }));
    },
  ],
  [
    'W16 a second spend of one coin without `replace` is refused',
    async (world) => {
      await world.create('A');
      await world.create('B', { status: 'pending', spends: ['A:0'] });
      await world.refused('INPUT_CONFLICT', () => world.create('C', { status: 'pending', spends: ['A:0'] }));
      await world.refused('INPUT_CONFLICT', () => world.create('D', { status: 'published', spends: ['z:0', 'A:0'] }));
    },
  ],
  [
    'W17 a spend of a credit whose parent failed is refused, in a block too',
    async (world) => {
      const block = await world.sync(5);
      await world.create('A');
      await world.store.invalidateTx(world.wallet, world.tx('A').id);
      await world.refused('PARENT_DEAD', () => world.create('B', { spends: ['A:0'] }));
      await world.refused('PARENT_DEAD', () => world.create('B', { spends: ['A:0'], block }));
    },
  ],
  [
    'W18 of a chain of pending transactions only the last outputs count',
    async (world) => {
      await world.create('A', { status: 'pending' });
      await world.create('B', { status: 'pending', spends: ['A:0'], pays: [{ own: 1, amount: 90n }] });
      await world.create('C', { status: 'pending', spends: ['B:0'], pays: [{ own: 2, amount: 80n }] });
      assert.deepEqual(await world.edges(), ['A:0 by B', 'B:0 by C', 'C:0 unspent']);
      assert.equal(await world.total(), 80n);
      const { trustedPending, untrustedPending, spendable } = await world.balance();
      assert.deepEqual([trustedPending, untrustedPending, spendable], [80n, 0n, 80n]);
    },
  ],
];
