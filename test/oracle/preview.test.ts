/**
 * The preview network from its first block, through the library, against the
 * oracle: every checkpoint, the invalid transactions, back and forward again. On
 * RocksDB every block of the last chunks is a commit of its own, and in the end
 * the tree over the unspent set is switched on. The chain is read once for each
 * engine, because that is what takes the time.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { OUTPUT_FLAG } from '../../src/ledgers/cardano/decode.ts';
import type { OpenStore } from '../../src/store/store.ts';
import { fromHex, toHex } from '../../src/util/bytes.ts';
import { needsFixtures } from '../support/fixtures.ts';
import {
  assertCheckpoint,
  assertSound,
  type Checkpoint,
  chunks,
  type InvalidTransaction,
  type Oracle,
  opener,
  readOracle,
  rootOf,
} from './oracle.ts';
import { rootAt } from './preview-roots.ts';

const SOURCE = 'preview-from-genesis';
const ORACLE = 'preview-from-genesis.json';
/** Chunks of the run that are applied one block a commit. */
const SINGLY = 20;

const followTo = (store: OpenStore, { slot }: Required<Checkpoint>) => store.follow(chunks(SOURCE), { until: { kind: 'slot', slot } });

/** Of a phase-2 invalid transaction the collateral is spent and its return created; declared inputs and outputs do not count. */
function assertInvalid(store: OpenStore, tx: InvalidTransaction): void {
  const txId = fromHex(tx.txId);
  store.read((query) => {
    assert.equal(query.tx(txId).row?.height, tx.blockNo);
    for (const [input, ref] of tx.collateralSpent.entries()) {
      const [id, index] = ref.split('#');
      const { spent } = query.outpoint(fromHex(id), Number(index)) ?? assert.fail(`${ref} is unknown`);
      assert.equal(spent?.txId && toHex(spent.txId), tx.txId);
      assert.deepEqual([spent?.input, spent?.slot, spent?.height], [input, tx.slot, tx.blockNo]);
    }
    for (let i = 0; i < tx.declaredOutputs; i++) assert.equal(query.outpoint(txId, i), null);
    const returned = query.outpoint(txId, tx.collateralReturnIndex) ?? assert.fail(`${tx.txId} has no collateral return`);
    const { flags, slot, height, txIndex } = returned.output;
    assert.deepEqual(
      { flags, slot, height, txIndex },
      { flags: OUTPUT_FLAG.collateralReturn, slot: tx.slot, height: tx.blockNo, txIndex: tx.txIndex },
    );
  });
}

/** Stops at one checkpoint after the other. */
class Ascent {
  readonly #oracle: Oracle;
  readonly #waiting: InvalidTransaction[];
  readonly #counts: Record<'blocks' | 'txs' | 'created' | 'spent', number>;

  constructor(oracle: Oracle) {
    this.#oracle = oracle;
    this.#waiting = [...oracle.invalidTransactions];
    // The outputs of genesis are created with the first block; the oracle does not count them.
    this.#counts = { blocks: 0, txs: 0, created: -oracle.genesis.utxos, spent: 0 };
  }

  async to(store: OpenStore, checkpoint: Required<Checkpoint>): Promise<void> {
    const pumped = await followTo(store, checkpoint);
    assertCheckpoint(store, checkpoint);
    for (const what of ['blocks', 'txs', 'created', 'spent'] as const) {
      this.#counts[what] += pumped[what];
      assert.equal(this.#counts[what], checkpoint[what], `${checkpoint.at}: ${what}`);
    }
    assert.equal(pumped.reason, checkpoint === this.#oracle.checkpoints.at(-1) ? 'end' : 'until');
    while (this.#waiting.length > 0 && this.#waiting[0].slot <= checkpoint.slot)
      assertInvalid(store, this.#waiting.shift() as InvalidTransaction);
  }

  end(): void {
    assert.equal(this.#oracle.invalidTransactions.length, 9);
    assert.equal(this.#waiting.length, 0);
  }
}

for (const engineKind of ['rocks', 'sqlite'])
  test(`preview from genesis, ${engineKind}`, needsFixtures, (t) => followPreview(t, engineKind));

async function followPreview(t: TestContext, engineKind: string): Promise<void> {
  const oracle = readOracle(ORACLE);
  const { checkpoints } = oracle;
  const last = checkpoints[checkpoints.length - 1];
  const openStore = opener(t);
  let store = await openStore({ network: 'preview' }, { engineKind });
  const ascent = new Ascent(oracle);
  const singly = engineKind === 'rocks' ? SINGLY : 0;

  await t.test('stopping at each checkpoint gives its count, value and digest, with the effects of invalid transactions', async () => {
    assert.equal(checkpoints.length, 280);
    for (const checkpoint of checkpoints.slice(0, checkpoints.length - singly)) await ascent.to(store, checkpoint);
    if (singly === 0) ascent.end();
  });

  if (singly > 0)
    await t.test('so do the last chunks with every block its own commit', async () => {
      store = await openStore({}, { syncGroupBlocks: 1 });
      assert.equal(store.config.sync.groupBlocks, 1);
      for (const checkpoint of checkpoints.slice(-singly)) await ascent.to(store, checkpoint);
      ascent.end();
      const back = checkpoints[checkpoints.length - 4];
      store.rollback(store.locate(back.hash));
      assertCheckpoint(store, back);
      await followTo(store, last);
      assertCheckpoint(store, last);
      assertSound(store);
      store = await openStore({});
      assert.ok(store.config.sync.groupBlocks > 1);
    });

  await t.test('the store is sound', () => assertSound(store));

  await t.test('back to each checkpoint inside the window, and forward again', async (t) => {
    const horizon = store.fold.horizonHeight ?? 0;
    const inside = checkpoints.filter(({ blockNo }) => blockNo >= horizon && blockNo < last.blockNo);
    assert.ok(inside.length >= 8, `${inside.length} checkpoints above height ${horizon}`);
    for (const checkpoint of [...inside].reverse()) {
      const before = store.fold.head?.height ?? 0;
      assert.equal(store.rollback(store.locate(`slot:${checkpoint.slot}`)), before - checkpoint.blockNo);
      assertCheckpoint(store, checkpoint);
    }
    assertSound(store);
    for (const checkpoint of [...inside.slice(1), last]) {
      await followTo(store, checkpoint);
      assertCheckpoint(store, checkpoint);
    }
    // All the way at once, and over the invalid transactions of the window.
    const deepest = inside[0];
    store.rollback(store.locate(deepest.hash));
    assertCheckpoint(store, deepest);
    await followTo(store, last);
    assertCheckpoint(store, last);
    for (const tx of oracle.invalidTransactions.filter(({ blockNo }) => blockNo > deepest.blockNo)) assertInvalid(store, tx);
    t.diagnostic(`${inside.length} checkpoints, the deepest ${last.blockNo - deepest.blockNo} blocks back`);
  });

  await t.test('below the horizon is refused, and nothing has changed', () => {
    const horizon = store.fold.horizonHeight ?? 0;
    const below = checkpoints.findLast(({ blockNo }) => blockNo < horizon) as Required<Checkpoint>;
    assert.throws(() => store.rollback(store.locate(`slot:${below.slot}`)), { code: 'HORIZON' });
    assert.throws(() => store.rollback(null), { code: 'HORIZON' });
    assertCheckpoint(store, last);
  });

  await t.test('following the whole folder again changes nothing', async () => {
    const { blocks, reason } = await store.follow(chunks(SOURCE));
    assert.deepEqual({ blocks, reason }, { blocks: 0, reason: 'end' });
    assertCheckpoint(store, last);
    assertSound(store);
  });

  if (engineKind === 'rocks')
    await t.test('the tree over it has the root that it always had, when it is switched on at the end', async () => {
      store = await openStore({}, { set: ['proofs.csmt=true'] });
      assert.throws(() => rootOf(store), { code: 'INDEX_NOT_READY' });
      await store.fill();
      assert.equal(rootOf(store), rootAt(checkpoints.length - 1));
      assertSound(store);
    });
}
