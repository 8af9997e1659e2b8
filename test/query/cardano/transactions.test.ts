/**
 * Transactions from the history against the devnet's own account of its chain,
 * over random chains with forks: what each spent and made, resolved, who spent
 * that, and the transactions of every owner in order and in pages. And what a
 * history says that began later than its store.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { blake2b256 } from '../../../src/crypto/hash.ts';
import type { Ledger } from '../../../src/ledgers/ledger.ts';
import { outpointKey } from '../../../src/ledgers/outpoint.ts';
import { PART_KINDS } from '../../../src/projections/coin.ts';
import { historyProjection } from '../../../src/projections/history/history.ts';
import { projectionTable, selectProjections } from '../../../src/projections/registry.ts';
import { writeStartHeight } from '../../../src/projections/start-height.ts';
import { HistoryOutputs } from '../../../src/query/cardano/history-outputs.ts';
import { type ResolvedTx, Transactions } from '../../../src/query/cardano/transactions.ts';
import type { Query } from '../../../src/query/query.ts';
import { Fold } from '../../../src/state/fold.ts';
import { pruneStep } from '../../../src/state/pruned.ts';
import { verifyStore } from '../../../src/store/verify/verify.ts';
import { fromHex, toHex } from '../../../src/util/bytes.ts';
import {
  assertCode,
  Devnet,
  devnetOptions,
  type Flavour,
  KEEP_ALL,
  memoryRig,
  type Rig,
  TEST_SEED,
  VERIFY_ALL,
} from '../../support/harness.ts';
import { type ModelTx, modelOutputs, modelOwners, modelTxs } from '../../support/history-model.ts';
import { leaveOut } from '../../support/keep.ts';

const HISTORY = ['history', 'history.payment', 'history.stake'];

/** On a chain with forks: some blocks forward, some back, again and again. */
function grown(seed: number, flavour: Flavour, options: Parameters<typeof memoryRig>[1] = {}): Rig {
  const rig = memoryRig(new Devnet(devnetOptions(seed, flavour), { dressed: true }), options);
  for (const [forward, back] of [
    [40, 7],
    [25, 12],
    [30, 0],
  ]) {
    rig.forward(forward, [1, 5, 17]);
    rig.fold.rollback(rig.devnet.pointBelow(back));
    rig.devnet.chain.rollback(back);
  }
  return rig;
}

/** Forgets what was spent more than a few blocks ago. */
function prune({ engine, projections, fold }: Rig): void {
  pruneStep(engine, projections, fold.head!.height, { pruneDepth: 3, rollbackWindow: 60 }, 1000);
}

function assertIsTx(actual: ResolvedTx | null, wanted: ModelTx, devnet: Devnet): void {
  assert.ok(actual !== null, wanted.id);
  const { height, slot, txIndex, valid, body } = actual;
  assert.deepEqual(
    { id: toHex(actual.id), height, slot, blockHash: toHex(actual.blockHash), txIndex, valid },
    { id: wanted.id, height: wanted.height, slot: wanted.slot, blockHash: wanted.blockHash, txIndex: wanted.txIndex, valid: wanted.valid },
  );
  const spent = valid ? actual.inputs : actual.collateral;
  assert.deepEqual(
    spent.map(({ txId, index, utxo }) => [`${toHex(txId)}#${index}`, utxo && toHex(utxo.output.raw), utxo?.output.value]),
    wanted.spends.map(({ key, output, lovelace }) => [key, toHex(output), lovelace]),
    `what ${wanted.id} spends`,
  );
  for (const [input, { utxo }] of spent.entries()) {
    assert.ok(utxo?.spent, 'it is spent by this transaction');
    assert.deepEqual([utxo.spent.txId && toHex(utxo.spent.txId), utxo.spent.input], [wanted.id, input]);
  }
  assert.deepEqual(
    actual.outputs.map(({ txId, index, output, spent: by }) => [
      `${toHex(txId)}#${index}`,
      toHex(output.raw),
      by === null ? null : `${by.txId === null ? 'ledger' : toHex(by.txId)}#${by.input}`,
    ]),
    wanted.creates.map(({ key, output }) => {
      const by = devnet.chain.spentBy(key);
      const isUnspent = devnet.chain.utxos.has(key);
      return [key, toHex(output), by === undefined ? (isUnspent ? null : `ledger#${0xffff_ffff}`) : `${by.txId}#${by.inputIndex}`];
    }),
    `what ${wanted.id} makes`,
  );
  for (const { utxo } of [...actual.inputs, ...actual.collateral, ...actual.referenceInputs]) assert.ok(utxo !== null, 'all is resolved');
  const lovelace = (list: readonly { readonly lovelace: bigint }[]): bigint => list.reduce((sum, each) => sum + each.lovelace, 0n);
  if (body.withdrawn === 0n && body.certificateKinds.length === 0 && body.proposals.length === 0 && body.donation === 0n)
    assert.equal(actual.fee, lovelace(wanted.spends) - lovelace(wanted.creates), 'what it pays');
}

/** The stored bytes are `[body, ...]` with the very body of the block. */
function assertIsWhole({ raw, id, witnesses, auxiliary }: ResolvedTx, devnet: Devnet, tx: ModelTx): void {
  const block = devnet.blocks().find(({ hash }) => toHex(hash) === tx.blockHash)!;
  const { start, end } = block.txs[tx.txIndex] as unknown as { readonly start: number; readonly end: number };
  const body = block.raw.subarray(start, end);
  assert.deepEqual(blake2b256(body), id);
  assert.equal(toHex(raw.subarray(1, 1 + body.length)), toHex(body));
  for (const part of [witnesses, auxiliary ?? witnesses])
    assert.ok(Buffer.from(block.raw).includes(Buffer.from(part)), 'its parts stand in the block');
}

function assertOwners(query: Query, devnet: Devnet, fromHeight = 0): number {
  const txs = new Transactions(query);
  let compared = 0;
  for (const [kind, owners] of modelOwners(devnet, fromHeight)) {
    for (const [key, ids] of owners) {
      const bytes = fromHex(key);
      const read = (page: Parameters<Transactions['ofOwner']>[2]): string[] =>
        Array.from(txs.ofOwner(kind, bytes, page), ({ id }) => toHex(id));
      assert.deepEqual(read({}), ids, `${kind} ${key}`);
      assert.deepEqual(read({ order: 'desc' }), ids.toReversed());
      for (const order of ['asc', 'desc'] as const) {
        const paged: string[] = [];
        for (let after: { height: number; txIndex: number } | undefined; ; ) {
          const page = [...txs.ofOwner(kind, bytes, { order, limit: 3, after })];
          paged.push(...page.map(({ id }) => toHex(id)));
          if (page.length < 3) break;
          after = page[2];
        }
        assert.deepEqual(paged, order === 'asc' ? ids : ids.toReversed(), `${kind} ${key} in pages, ${order}`);
      }
      compared += ids.length;
    }
    assert.deepEqual([...txs.ofOwner(kind, new Uint8Array(28).fill(7))], []);
  }
  return compared;
}

describe('transactions of Cardano', () => {
  for (const flavour of ['conway', 'ancient'] as const) {
    it(`are what the ${flavour} chain says, with everything they name, after forks and after pruning`, () => {
      const rig = grown(TEST_SEED, flavour);
      const { devnet } = rig;
      for (const turn of ['spent outputs there', 'spent outputs forgotten']) {
        rig.read((query) => {
          const txs = new Transactions(query);
          for (const tx of modelTxs(devnet)) {
            const resolved = txs.byId(fromHex(tx.id));
            assertIsTx(resolved, tx, devnet);
            assertIsWhole(resolved!, devnet, tx);
          }
          assert.ok(assertOwners(query, devnet) > 100, turn);
          assert.equal(txs.byId(new Uint8Array(32)), null);
        });
        assert.deepEqual(verifyStore(rig.engine, devnet.ledger, VERIFY_ALL).faults, [], turn);
        prune(rig);
      }
      rig.read((query) => assert.ok(query.pruned().spent > 0));
    });

    it(`every output of the ${flavour} chain is found by its outpoint for ever`, () => {
      const rig = grown(TEST_SEED + 1, flavour);
      prune(rig);
      const model = modelOutputs(rig.devnet);
      rig.read((query) => {
        const found = new HistoryOutputs(query).resolve(model.map(({ utxo }) => outpointKey(utxo.txId, utxo.index)));
        assert.deepEqual(
          found.map(
            (utxo) =>
              utxo && [
                toHex(utxo.output.raw),
                utxo.spent && (utxo.spent.txId === null ? 'ledger' : `${toHex(utxo.spent.txId)}#${utxo.spent.input}`),
              ],
          ),
          model.map(({ utxo, spent }) => [toHex(utxo.output), spent]),
        );
        // As if it had just been read from the unspent set, keys and all.
        for (const utxo of query.unspent()) {
          const row = query.tx(utxo.txId).row;
          if (row === null) continue;
          const tx = query.history().txAt(row.height, row.txIndex)!;
          const made = new HistoryOutputs(query).ofTxs([tx]).find(({ index }) => index === utxo.index);
          assert.deepEqual(made?.output, { ...utxo.output, raw: Uint8Array.from(utxo.output.raw), keys: made?.output.keys });
          for (const kind of PART_KINDS)
            assert.equal(toHex(made.output.keys[kind] ?? new Uint8Array(0)), toHex(utxo.output.keys[kind] ?? new Uint8Array(0)));
        }
      });
    });
  }

  it('are refused with the setting where no history is kept', () => {
    const rig = grown(3, 'conway', { keeps: leaveOut(KEEP_ALL, 'history') });
    rig.read((query) => assertCode(() => new Transactions(query), 'UNSUPPORTED', ['utxo.history']));
    const withoutStake = grown(3, 'conway', { keeps: leaveOut(KEEP_ALL, 'history.stake') });
    withoutStake.read((query) =>
      assertCode(() => [...new Transactions(query).ofOwner('stake', new Uint8Array(28))], 'UNSUPPORTED', ['utxo.history']),
    );
  });
});

describe('a history of some depth', () => {
  it('forgets the bytes of old transactions and says so, and knows all else', () => {
    const devnet = new Devnet(devnetOptions(TEST_SEED + 4, 'ancient'));
    const table = projectionTable([]).map((entry) =>
      entry.name === 'history' ? { ...entry, make: (ledger: Ledger) => historyProjection(ledger, ledger.txBytes!, 10) } : entry,
    );
    const rig = memoryRig(devnet, { table });
    rig.forward(70, [1, 9]);
    prune(rig);
    // Spent outputs go three blocks below the tip, bytes of transactions ten below that.
    const forgotten = rig.fold.head!.height - 3 - 10;
    rig.read((query) => {
      const txs = new Transactions(query);
      assert.equal(query.history().forgottenHeight, forgotten);
      for (const tx of modelTxs(devnet)) {
        if (tx.height <= forgotten) assertCode(() => txs.byId(fromHex(tx.id)), 'PRUNED', ['utxo.historyDepth']);
        else assert.equal(toHex(txs.byId(fromHex(tx.id))!.id), tx.id);
        for (const { txId, index, key } of tx.spends) assert.equal(query.history().spend(txId, index)?.height, tx.height, key);
      }
      assertOwners(query, devnet);
    });
    assert.deepEqual(verifyStore(rig.engine, devnet.ledger, VERIFY_ALL).faults, []);
    rig.forward(5);
    prune(rig);
    rig.read((query) => assert.equal(query.history().forgottenHeight, forgotten + 5));
    // Blocks that can be undone have all it takes.
    const before = rig.fold.head!.height;
    rig.fold.rollback(devnet.pointBelow(2));
    rig.apply(devnet.blocks(devnet.chain.blocks.length - 2));
    assert.equal(rig.fold.head!.height, before);
  });
});

describe('a history that begins later', () => {
  /** Blocks without, then with; as the store switches it on. */
  function late(seed: number, without: number, options: Parameters<typeof memoryRig>[1] = {}): Rig {
    const rig = memoryRig(new Devnet(devnetOptions(seed, 'ancient')), options);
    const before = rig.projections.filter(({ name }) => !HISTORY.includes(name));
    const fold = new Fold(rig.engine, rig.devnet.ledger, before, rig.options);
    fold.apply(rig.devnet.mine(without));
    const batch = rig.engine.batch();
    for (const name of HISTORY) writeStartHeight(batch, name, fold.head!.height + 1);
    batch.commit();
    rig.fold = rig.newFold();
    return rig;
  }

  it('resolves all that is spent from there on, and says what it never had', () => {
    const rig = late(TEST_SEED, 50);
    const start = rig.fold.head!.height + 1;
    rig.forward(30, [1, 4]);
    prune(rig);
    rig.read((query) => {
      const txs = new Transactions(query);
      assert.equal(txs.startHeight, start);
      for (const tx of modelTxs(rig.devnet)) {
        if (tx.height < start) assertCode(() => txs.byId(fromHex(tx.id)), 'PRUNED', [`begins at height ${start}`]);
        else assertIsTx(txs.byId(fromHex(tx.id)), tx, rig.devnet);
      }
      assertOwners(query, rig.devnet, start);
    });
    assert.deepEqual(verifyStore(rig.engine, rig.devnet.ledger, VERIFY_ALL).faults, []);
  });

  it('begins where a rollback went below its start', () => {
    for (const [forward, back] of [
      [10, 4],
      [10, 10],
      [10, 25],
      [0, 8],
    ]) {
      const rig = late(TEST_SEED + 2, 60);
      const start = rig.fold.head!.height + 1;
      rig.forward(forward, [3]);
      rig.fold.rollback(rig.devnet.pointBelow(back));
      rig.devnet.chain.rollback(back);
      const began = Math.min(start, rig.fold.head!.height + 1);
      rig.forward(20, [2]);
      rig.read((query) => {
        assert.equal(new Transactions(query).startHeight, began);
        assertOwners(query, rig.devnet, began);
        for (const tx of modelTxs(rig.devnet))
          if (tx.height >= began) assertIsTx(new Transactions(query).byId(fromHex(tx.id)), tx, rig.devnet);
      });
      assert.deepEqual(verifyStore(rig.engine, rig.devnet.ledger, VERIFY_ALL).faults, [], `${forward} forward, ${back} back`);
    }
  });

  it('goes back to the origin, and has every block of the store from then on', () => {
    const rig = late(TEST_SEED + 3, 10);
    rig.forward(5);
    rig.fold.rollback(null);
    rig.apply(rig.devnet.blocks());
    const straight = memoryRig(rig.devnet);
    straight.apply(rig.devnet.blocks());
    rig.read((query) => assert.equal(query.history().startHeight, 0));
    straight.read((query) => assertOwners(query, rig.devnet));
    rig.read((query) => assertOwners(query, rig.devnet));
    for (const name of selectProjections(HISTORY, rig.devnet.ledger).flatMap(({ columns }) => columns.map((column) => column.name)))
      assert.deepEqual([...rig.engine.scan(name)], [...straight.engine.scan(name)], name);
  });
});
