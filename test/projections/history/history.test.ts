/**
 * The history of a store against a model that reads blocks in the plainest way:
 * over random chains with forks, however the blocks were grouped, in memory and
 * on RocksDB; and each way back leaves the bytes of a store that never went there.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bitcoinLedger, bitcoinNetwork, scriptKey } from '../../../src/ledgers/bitcoin/index.ts';
import { SPENT } from '../../../src/projections/utxo.ts';
import { pruneStep } from '../../../src/state/pruned.ts';
import { forgeBlock, forgeCoinbase, forgeTx, OP_TRUE } from '../../ledgers/bitcoin/forge.ts';
import { expectedHistory, ForgedChain, type ForgedRig, forgedRig, forgedRocksRig, randomFrom } from '../../support/forged-chain.ts';
import { assertCode, assertSameDump, assertSameRows, dump, TEST_SEED } from '../../support/harness.ts';

/** The store is what the chain says, and what a store built straight to it is. */
function assertIs(rig: ForgedRig, chain: ForgedChain, when: string): void {
  const rows = dump(rig.engine);
  for (const [column, expected] of expectedHistory(chain)) assertSameRows(rows.get(column)!, expected, `${when}: ${column}`);
  const straight = forgedRig(chain.ledger, { selfContained: rig.fold.options.selfContained });
  straight.apply(chain.blocks, [1000]);
  assertSameDump(rows, dump(straight.engine), `${when}: against a store built straight`);
}

function walk(rig: ForgedRig, chain: ForgedChain, seed: number, rounds: number): void {
  const random = randomFrom(seed);
  rig.apply(chain.blocks);
  for (let round = 0; round < rounds; round++) {
    if (random(3) === 0) {
      const height = Math.max(0, chain.blocks.length - 1 - random(6));
      rig.fold.rollback(chain.blocks[height]);
      chain.fork(height);
      assertIs(rig, chain, `seed ${seed}, back to ${height}`);
    } else {
      rig.apply(chain.mine(1 + random(5)), [1 + random(4), 1 + random(3)]);
      assertIs(rig, chain, `seed ${seed}, on to ${chain.blocks.length - 1}`);
    }
  }
  rig.fold.rollback(null);
  for (const [column, rows] of dump(rig.engine)) assert.deepEqual(rows, [], `seed ${seed}: ${column} at the origin`);
}

describe('history', () => {
  it('is what the blocks say, after every step and every way back', () => {
    for (let i = 0; i < 12; i++) {
      const seed = TEST_SEED + i;
      const chain = new ForgedChain(randomFrom(seed), bitcoinNetwork(i % 2 === 0 ? 'bitcoin-regtest' : 'litecoin-regtest'));
      walk(forgedRig(chain.ledger, { selfContained: i % 3 === 0 }), chain, seed, 14);
    }
  });

  it('is the same on RocksDB', async () => {
    for (const seed of [TEST_SEED, TEST_SEED + 77]) {
      const chain = new ForgedChain(randomFrom(seed), bitcoinNetwork('litecoin-regtest'));
      const rig = await forgedRocksRig(chain.ledger);
      walk(rig, chain, seed, 12);
      await rig.close();
    }
  });

  it('has met what it is meant to meet', () => {
    const chain = new ForgedChain(randomFrom(TEST_SEED + 1), bitcoinNetwork('litecoin-regtest'));
    chain.mine(40);
    const txs = chain.blocks.flatMap((block) => block.txs);
    const gaps = txs.filter(({ creates }) => creates.some(({ index }, i) => index !== creates[0].index + i));
    const tails = chain.blocks.filter((block) => block.bodyEnd < block.raw.length);
    const rows = expectedHistory(chain).get('history_script')!;
    assert.ok(gaps.length > 5 && tails.length > 3, `${gaps.length} gaps, ${tails.length} tails`);
    assert.ok(
      txs.some(({ creates }) => creates.length > 20),
      'a wide transaction',
    );
    assert.ok(
      rows.some((row) => /^\S+ 0000000[2-9]/.test(row)) && rows.some((row) => /0000000[2-9].{16}$/.test(row)),
      'several of one script',
    );
    const height = chain.blocks.findIndex(({ raw, txs: own }) =>
      own.some(({ spends }) => spends.some(({ at }) => own.some(({ id }) => id.every((byte, i) => byte === raw[at + i])))),
    );
    assert.ok(height > 0, 'an output spent in the block that made it');
  });

  it('outlives the pruning of spent outputs', () => {
    const chain = new ForgedChain(randomFrom(TEST_SEED));
    const rig = forgedRig(chain.ledger);
    rig.apply(chain.blocks);
    rig.apply(chain.mine(30), [7]);
    pruneStep(rig.engine, rig.projections, 30, { pruneDepth: 5, rollbackWindow: 5 }, 100);
    const rows = dump(rig.engine);
    for (const [column, expected] of expectedHistory(chain)) assertSameRows(rows.get(column)!, expected, column);
  });

  it('sums what one transaction does to one script, even beyond 32 bits', () => {
    const ledger = bitcoinLedger(bitcoinNetwork('bitcoin-regtest'));
    const chain = new ForgedChain(() => 0);
    const value = 0xffff_ffffn;
    const coinbase = forgeCoinbase(
      1,
      Array.from({ length: 3 }, () => ({ value, script: OP_TRUE })),
    );
    const first = ledger.decode(forgeBlock(chain.blocks[0].hash, [coinbase]), 1);
    const inputs = [0, 1, 2].map((index) => ({ txId: first.txs[0].id, index }));
    const spend = forgeTx({ inputs, outputs: [{ value: 3n * value, script: OP_TRUE }] });
    const rig = forgedRig(ledger);
    rig.apply(
      [
        ...chain.blocks,
        first,
        ledger.decode(forgeBlock(first.hash, [forgeCoinbase(2, [{ value: 0n, script: Uint8Array.of(0x6a) }]), spend]), 2),
      ],
      [3],
    );
    const rows = rig.read((query) => [...query.history().ofKey('address', scriptKey(OP_TRUE))]);
    assert.deepEqual(rows, [
      { height: 1, txIndex: 0, fundedCount: 3, fundedSum: 3n * value, spentCount: 0, spentSum: 0n },
      { height: 2, txIndex: 1, fundedCount: 1, fundedSum: 3n * value, spentCount: 3, spentSum: 3n * value },
    ]);
  });

  it('refuses sums that 64 bits cannot hold, and changes nothing', () => {
    const chain = new ForgedChain(() => 0);
    const outputs = [1, 2, 3].map(() => ({ value: (1n << 63n) - 1n, script: OP_TRUE }));
    const block = chain.ledger.decode(forgeBlock(chain.blocks[0].hash, [forgeCoinbase(1, outputs)]), 1);
    const rig = forgedRig(chain.ledger);
    rig.apply(chain.blocks);
    const before = dump(rig.engine);
    assertCode(() => rig.fold.apply([block]), 'BLOCK_INVALID');
    assertSameDump(dump(rig.engine), before, 'after the refusal');
  });

  it('says so when what the way back needs is of another block', () => {
    const chain = new ForgedChain(randomFrom(TEST_SEED));
    const rig = forgedRig(chain.ledger);
    rig.apply(chain.blocks);
    rig.apply(chain.mine(20));
    const batch = rig.engine.batch();
    // Each says that another transaction spent it.
    for (const [key, value] of rig.engine.scan(SPENT))
      batch.put(
        SPENT,
        key,
        Uint8Array.from(value, (byte, i) => (i === 0 ? byte ^ 1 : byte)),
      );
    batch.commit();
    const before = dump(rig.engine);
    assertCode(() => rig.fold.rollback(chain.blocks[0]), 'STORE_DAMAGED');
    assertSameDump(dump(rig.engine), before, 'after the refusal');
  });
});
