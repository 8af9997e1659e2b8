/**
 * The kept hash of the unspent set: what a node says of real blocks, the same
 * whatever the grouping and the ways back, filled later like kept from the
 * start, and gone when it is switched off.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { type BitcoinBlock, bitcoinLedger, formatId, genesisBlock, MuHash } from '../../src/ledgers/bitcoin/index.ts';
import { CHAIN, metaKey } from '../../src/projections/chain.ts';
import { PROJECTIONS } from '../../src/projections/registry.ts';
import { readSetHash } from '../../src/projections/set-hash/set-hash.ts';
import { commitmentOf } from '../../src/query/bitcoin/commitment.ts';
import { Fills, writeFillStart } from '../../src/state/fill.ts';
import { Fold } from '../../src/state/fold.ts';
import { beginFills, planShape, type Shape } from '../../src/store/shape.ts';
import { bitcoin, type Expected, expectedSets, readRun } from '../ledgers/bitcoin/samples.ts';
import { needsFixtures } from '../support/fixtures.ts';
import { ForgedChain, type ForgedRig, forgedRig, forgedRocksRig, KEEP_ALL_BITCOIN, randomFrom } from '../support/forged-chain.ts';
import { assertCode, assertSameDump, dump, TEST_SEED } from '../support/harness.ts';
import { keep, leaveOut } from '../support/keep.ts';

const ledger = bitcoinLedger(bitcoin);
const decodeRun = (raws: readonly Uint8Array[], from: number): BitcoinBlock[] => raws.map((raw, i) => ledger.decode(raw, from + i));

/** What the store says of its set: walked, and as it is kept. */
function summary(rig: ForgedRig): Expected {
  const { txouts, transactions, value, bogosize, hashSerialized2, hashSerialized3, muhash } = commitmentOf(rig.engine, rig.fold.head!.hash);
  const kept = rig.read((query) => query.setHash(ledger.setHash));
  assert.deepEqual(kept, { hash: muhash, bogosize }, 'as it is kept');
  const hashes = { hash2: hashSerialized2, hash3: hashSerialized3, muhash: kept!.hash };
  return { coins: txouts, ids: transactions, value: value.toString(), bogosize, ...hashes };
}

/** Forward to each height that has an expected set, on to the end, and back through them again. */
function throughMainnet(rig: ForgedRig, sizes: readonly number[]): void {
  const blocks = [ledger.decode(genesisBlock(bitcoin)), ...decodeRun(readRun('btcd-blocks1-255.dat'), 1)];
  const heights = [1, 170, 255];
  let from = 0;
  for (const height of heights) {
    rig.apply(blocks.slice(from, height + 1), sizes);
    assert.deepEqual(summary(rig), expectedSets.get(`mainnet 1..${height}`), `at ${height}`);
    from = height + 1;
  }
  for (const height of [170, 1]) {
    rig.fold.rollback(blocks[height]);
    assert.deepEqual(summary(rig), expectedSets.get(`mainnet 1..${height}`), `back at ${height}`);
  }
  rig.fold.rollback(null);
  for (const [column, rows] of dump(rig.engine)) assert.deepEqual(rows, [], `${column} at the origin`);
}

describe('the hash of the set', () => {
  it('is the expected one of mainnet at heights 1, 170 and 255, there and back', needsFixtures, async () => {
    throughMainnet(forgedRig(ledger), [1]);
    throughMainnet(forgedRig(ledger, { selfContained: true }), [50, 3]);
    const rocks = await forgedRocksRig(ledger);
    throughMainnet(rocks, [7]);
    await rocks.close();
  });

  it('is the expected one before and after a reorganisation', needsFixtures, () => {
    const trunk = decodeRun(readRun('btcd-blk_0_to_4.dat'), 0);
    const branch = decodeRun(
      ['3A', '4A', '5A'].flatMap((name) => readRun(`btcd-blk_${name}.dat`)),
      3,
    );
    const rig = forgedRig(ledger);
    rig.apply(trunk);
    for (let round = 0; round < 2; round++) {
      assert.deepEqual(summary(rig), expectedSets.get('btcd reorg file 1..4 (before)'));
      rig.fold.rollback(trunk[2]);
      rig.apply(branch, [3 - round]);
      assert.deepEqual(summary(rig), expectedSets.get('btcd reorg 1, 2, 3A, 4A, 5A (after)'));
      rig.fold.rollback(trunk[2]);
      rig.apply(trunk.slice(3));
    }
  });

  it('is that of the set after every step of random chains', () => {
    const random = randomFrom(TEST_SEED);
    const chain = new ForgedChain(random);
    const rig = forgedRig(chain.ledger);
    rig.apply(chain.blocks);
    for (let round = 0; round < 40; round++) {
      if (random(3) === 0) {
        const height = Math.max(0, chain.blocks.length - 1 - random(5));
        rig.fold.rollback(chain.blocks[height]);
        chain.fork(height);
      } else rig.apply(chain.mine(1 + random(4)), [1 + random(4)]);
      assert.equal(summary(rig).coins, rig.fold.head!.utxos);
    }
  });

  it('of nothing has no row, and is known all the same', () => {
    const rig = forgedRig(ledger);
    const nothing = { hash: formatId(new MuHash().digest()), bogosize: 0 };
    assert.deepEqual(
      rig.read((query) => query.setHash(ledger.setHash)),
      nothing,
    );
    // The output of the first block is not in the set.
    rig.apply([ledger.decode(genesisBlock(bitcoin))]);
    assert.equal(readSetHash(rig.engine), undefined);
    assert.deepEqual(
      rig.read((query) => query.setHash(ledger.setHash)),
      nothing,
    );
  });

  it('is null where it is not kept or not ready, and damage is said', () => {
    const chain = new ForgedChain(randomFrom(TEST_SEED));
    const blocks = [...chain.blocks, ...chain.mine(5)];
    const without = forgedRig(chain.ledger, { keeps: leaveOut(KEEP_ALL_BITCOIN, 'setHash') });
    without.apply(blocks);
    assert.equal(
      without.read((query) => query.setHash(ledger.setHash)),
      null,
    );
    const rig = forgedRig(chain.ledger);
    rig.apply(blocks.slice(0, -1));
    const state = readSetHash(rig.engine)!;
    const put = (value: Uint8Array): void => {
      const batch = rig.engine.batch();
      batch.put(CHAIN, metaKey('set_hash'), value);
      batch.commit();
    };
    for (const damaged of [state.subarray(1), new Uint8Array(state.length), new Uint8Array(state.length).fill(0xff)]) {
      put(damaged);
      assertCode(() => rig.read((query) => query.setHash(ledger.setHash)), 'STORE_DAMAGED');
      assertCode(() => rig.fold.apply(blocks.slice(-1)), 'STORE_DAMAGED');
    }
    put(state);
    rig.apply(blocks.slice(-1));
    const batch = rig.engine.batch();
    writeFillStart(batch, 'setHash');
    batch.commit();
    assert.equal(
      rig.read((query) => query.setHash(ledger.setHash)),
      null,
    );
  });

  it('filled later is what it would be had it been kept from the start', () => {
    const chain = new ForgedChain(randomFrom(TEST_SEED + 5));
    const blocks = [...chain.blocks, ...chain.mine(25)];
    const straight = forgedRig(chain.ledger);
    straight.apply(blocks, [9]);
    const late = forgedRig(chain.ledger, { keeps: leaveOut(KEEP_ALL_BITCOIN, 'setHash') });
    late.apply(blocks.slice(0, 15));
    const batch = late.engine.batch();
    writeFillStart(batch, 'setHash');
    batch.commit();
    const fills = new Fills(late.engine, straight.projections, chain.ledger);
    const fold = new Fold(late.engine, chain.ledger, fills.projections, late.fold.options);
    for (const block of blocks.slice(15)) {
      fills.step({ rows: 3, bytes: 1 << 20 });
      fold.apply([block]);
    }
    fold.rollback(blocks[20]);
    fills.step({ rows: 5, bytes: 1 << 20 });
    fold.apply(blocks.slice(21));
    while (!fills.isDone) fills.step();
    assertSameDump(dump(late.engine), dump(straight.engine), 'filled later');
  });

  it('goes when it is switched off, and begins anew when it is switched on again', () => {
    const chain = new ForgedChain(randomFrom(TEST_SEED));
    const rig = forgedRig(chain.ledger, { keeps: keep('index.address', 'balance.address', 'history', 'setHash', 'csmt') });
    rig.apply([...chain.blocks, ...chain.mine(8)]);
    const kept = rig.projections.map(({ name }) => name);
    const config = (setHash: boolean) =>
      loadConfig({
        env: {
          UNSPENT_UTXO_HISTORY: 'true',
          UNSPENT_UTXO_BALANCES: 'true',
          UNSPENT_PROOFS_SET_HASH: String(setHash),
          UNSPENT_PROOFS_CSMT: 'true',
          UNSPENT_UTXO_INDEX_PAYMENT_CREDENTIAL: 'false',
          UNSPENT_UTXO_INDEX_STAKE_CREDENTIAL: 'false',
        },
      }).config;
    const shape = (have: Shape, setHash: boolean) => planShape(have, config(setHash), chain.ledger, PROJECTIONS);
    const off = shape({ projections: kept }, false);
    assert.deepEqual(off.removed, ['setHash']);
    const before = readSetHash(rig.engine);
    assert.ok(before);
    beginFills(rig.engine, off);
    assert.equal(readSetHash(rig.engine), undefined, 'switched off');
    // As after a crash between: the row is there, and nobody says so.
    const batch = rig.engine.batch();
    batch.put(CHAIN, metaKey('set_hash'), before);
    batch.commit();
    const on = shape(off.after, true);
    assert.deepEqual(
      on.added.map(({ name }) => name),
      ['setHash'],
    );
    beginFills(rig.engine, on);
    assert.equal(readSetHash(rig.engine), undefined, 'empty to begin with');
    const fills = new Fills(rig.engine, on.projections, chain.ledger);
    while (!fills.isDone) fills.step();
    assert.deepEqual(readSetHash(rig.engine), before);
  });
});
