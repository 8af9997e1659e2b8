/**
 * The mempool beyond what the model meets: bounds, age, bytes that are no
 * transaction, moves too far to look at each block, and fees.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeTx, describeTx, scriptKey } from '../../../src/ledgers/bitcoin/index.ts';
import type { MempoolChange } from '../../../src/ledgers/mempool-change.ts';
import { feeHistogram, rateWithin } from '../../../src/query/bitcoin/mempool/fees.ts';
import { Mempool, type MempoolOptions } from '../../../src/query/bitcoin/mempool/mempool.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { MEMPOOL_BLOCKS_MAX, MEMPOOL_SECONDS_MAX, MEMPOOL_TRAIL_MAX } from '../../../src/util/limits.ts';
import { forgeTx } from '../../ledgers/bitcoin/forge.ts';
import { type Made, makeTx, PoolChain, type PoolChainOptions, SCRIPTS } from '../../support/pool-chain.ts';

function rigOf(options: MempoolOptions = {}, chainOptions: PoolChainOptions = {}) {
  const chain = new PoolChain(chainOptions);
  const mempool = new Mempool(options);
  return {
    chain,
    mempool,
    take: (...changes: MempoolChange[]): void => chain.read((query) => mempool.takeAll(changes, query)),
    add: (...txs: Made[]): void => chain.read((query) => mempool.take({ kind: 'add', txs: txs.map(({ raw }) => raw) }, query)),
    settle: (): void => chain.read((query) => mempool.settle(query)),
    ids: (): string[] => [...mempool.all()].map(({ id }) => toHex(id)),
  };
}

const spend = ({ id }: Made, index = 0) => ({ txId: id, index });
const COIN = 5_000_000_000n;
const idsOf = (...txs: readonly Made[]): string[] => txs.map(({ id }) => toHex(id));

describe('what is in the mempool', () => {
  it('says what a transaction is, pays and builds on', () => {
    const { chain, mempool, add } = rigOf({ now: () => 1_700_000_123 });
    const coin = chain.mine();
    const value = coin.outputs[0].value;
    const parent = makeTx([spend(coin)], [[value - 1000n, 1]]);
    const child = makeTx([spend(parent)], [[value - 3000n, 2]]);
    add(child, parent);
    const [first, second] = mempool.all();
    assert.deepEqual([toHex(first.id), toHex(second.id)], idsOf(child, parent));
    assert.deepEqual([first.fee, second.fee, first.time], [2000n, 1000n, 1_700_000_123]);
    assert.deepEqual([first.hasUnconfirmedParents, second.hasUnconfirmedParents], [true, false]);
    assert.deepEqual(first.described, describeTx(decodeTx(child.raw)));
    assert.equal(first.virtualSize, first.described.virtualSize);
    assert.equal(mempool.byScript(scriptKey(SCRIPTS[1])).length, 2);
    assert.equal(mempool.byScript(scriptKey(SCRIPTS[4])).length, 0);
    chain.mine([parent]);
    chain.read((query) => mempool.settle(query));
    assert.deepEqual([first.fee, first.hasUnconfirmedParents, mempool.size], [2000n, false, 1]);
  });

  it('keeps its own bytes, whatever becomes of those it was given', () => {
    const { chain, mempool, take } = rigOf();
    const tx = makeTx([spend(chain.mine())], [[1n, 0]]);
    const given = Buffer.from(tx.raw);
    take({ kind: 'add', txs: [given] });
    given.fill(0);
    assert.deepEqual(mempool.get(tx.id)?.raw, tx.raw);
    assert.equal(toHex(mempool.get(tx.id)?.described.id ?? given), toHex(tx.id));
  });

  it('passes over what is no transaction, and a coinbase, and counts the former', () => {
    const { chain, mempool, take } = rigOf();
    const coin = chain.mine();
    const tx = makeTx([spend(coin)], [[1n, 0]]);
    chain.back(1);
    take({ kind: 'add', txs: [new Uint8Array(0), tx.raw.subarray(1), coin.raw, tx.raw, tx.raw.subarray(0, 40)] });
    assert.equal(mempool.size, 1);
    assert.equal(mempool.refused, 3);
  });

  it('takes transactions with an extension only where the chain has them', () => {
    const mweb = forgeTx({
      inputs: [{ txId: new Uint8Array(32).fill(7), index: 0 }],
      outputs: [{ value: 1n, script: SCRIPTS[0] }],
      mweb: Uint8Array.of(1, 2, 3),
    });
    for (const isKnown of [true, false]) {
      const { mempool, take } = rigOf({ mweb: isKnown });
      take({ kind: 'add', txs: [mweb] });
      assert.deepEqual([mempool.size, mempool.refused], isKnown ? [1, 0] : [0, 1]);
    }
  });

  it('tells of several changes once, and of none not at all', () => {
    const { chain, mempool, take, settle, ids } = rigOf();
    const txs = [1, 2, 3].map((n) => makeTx([spend(chain.mine())], [[1n, n]]));
    const told: string[][] = [];
    const stop = mempool.onChange((keys) => told.push([...keys].sort()));
    const keys = (...numbers: number[]): string[] => numbers.map((n) => toHex(scriptKey(SCRIPTS[n]))).sort();
    take({ kind: 'add', txs: [txs[0].raw] }, { kind: 'reset' }, { kind: 'add', txs: [txs[1].raw, txs[2].raw] });
    assert.deepEqual(told, [keys(0, 1, 2, 3)]);
    assert.deepEqual(ids(), idsOf(txs[1], txs[2]));
    take({ kind: 'remove', ids: [txs[0].id] });
    take({ kind: 'add', txs: [txs[1].raw] });
    chain.mine();
    settle();
    assert.equal(told.length, 1);
    take({ kind: 'remove', ids: [txs[1].id] });
    assert.deepEqual(told[1], keys(0, 2));
    stop();
    take({ kind: 'reset' });
    assert.equal(told.length, 2);
  });
});

describe('a mempool that moves far', () => {
  /** Confirmed, in conflict, resolved at last, and untouched. */
  function story(blocksAfter: number, chainOptions: PoolChainOptions = {}) {
    const rig = rigOf({}, chainOptions);
    const { chain, add } = rig;
    const coins = [chain.mine(), chain.mine(), chain.mine(), chain.mine()];
    const mined = makeTx([spend(coins[0])], [[10n, 1]]);
    const lost = makeTx([spend(coins[1])], [[10n, 1]]);
    const onLost = makeTx([spend(lost)], [[9n, 1]]);
    const unknown = makeTx([spend(coins[2])], [[10n, 1]]);
    const early = makeTx([spend(unknown)], [[9n, 1]]);
    const kept = makeTx([spend(coins[3])], [[10n, 1]]);
    const onMined = makeTx([spend(mined)], [[9n, 1]]);
    add(mined, lost, onLost, early, kept, onMined);
    assert.equal(rig.mempool.get(early.id)?.fee, null);
    chain.mine([mined, unknown, makeTx([spend(coins[1])], [[11n, 2]])]);
    for (let i = 0; i < blocksAfter; i++) chain.mine();
    return { ...rig, left: [early, kept, onMined] };
  }

  for (const blocks of [0, 3, MEMPOOL_BLOCKS_MAX - 1, MEMPOOL_BLOCKS_MAX, 2 * MEMPOOL_BLOCKS_MAX])
    it(`by ${blocks + 1} blocks`, () => {
      const { mempool, settle, ids, left } = story(blocks);
      settle();
      assert.deepEqual(ids(), idsOf(...left));
      assert.deepEqual([...mempool.all()].map(({ fee, hasUnconfirmedParents }) => [fee, hasUnconfirmedParents])[0], [1n, false]);
      assert.deepEqual(
        [...mempool.all()].map(({ hasUnconfirmedParents }) => hasUnconfirmedParents),
        [false, false, false],
      );
    });

  it('when what was spent there is forgotten already, and so is what the blocks did', () => {
    const { chain, settle, ids, left } = story(12, { pruneDepth: 2, rollbackWindow: 4 });
    chain.prune();
    settle();
    assert.deepEqual(ids(), idsOf(...left));
  });

  it('and does not take again what was in a block so long ago that its inputs are forgotten', () => {
    const { chain, mempool, add } = rigOf({}, { pruneDepth: 2, rollbackWindow: 4 });
    const old = makeTx([spend(chain.mine())], [[10n, 1]]);
    chain.mine([old]);
    for (let i = 0; i < 12; i++) chain.mine();
    chain.prune();
    const child = makeTx([spend(old)], [[9n, 1]]);
    add(old, child);
    assert.deepEqual([mempool.size, mempool.get(child.id)?.fee], [1, 1n]);
  });

  it('back to before anything it remembers, and on to another branch', () => {
    const { chain, mempool, add, settle, ids } = rigOf();
    const below = chain.mine();
    const coin = chain.mine();
    const stays = makeTx([spend(below)], [[1n, 1]]);
    const hangs = makeTx([spend(coin)], [[1n, 1]]);
    const blocks = MEMPOOL_TRAIL_MAX + 10;
    for (let i = 0; i < blocks; i++) {
      chain.mine();
      if (i === 0) add(stays, hangs);
      else settle();
    }
    assert.equal(mempool.get(hangs.id)?.hasUnconfirmedParents, false);
    chain.back(blocks + 1);
    for (let i = 0; i < 3; i++) chain.mine();
    settle();
    assert.deepEqual(ids(), idsOf(stays, hangs));
    assert.deepEqual([mempool.get(stays.id)?.fee, mempool.get(hangs.id)?.fee], [COIN - 1n, null]);
    chain.back(chain.height);
    settle();
    assert.equal(mempool.get(stays.id)?.fee, null);
  });
});

describe('the bounds of the mempool', () => {
  it('lets those go that pay least, with what builds on them, until there is room', () => {
    const { chain, mempool, add } = rigOf({ txsMax: 20 });
    const txs = Array.from({ length: 20 }, (_, i) => {
      const coin = chain.mine();
      return makeTx([spend(coin)], [[coin.outputs[0].value - BigInt(1000 * (i + 1)), 1]]);
    });
    const dear = makeTx([spend(txs[0])], [[1n, 1]]);
    add(...txs);
    assert.equal(mempool.size, 20);
    add(dear);
    // The cheapest takes its child along, however much that pays.
    assert.equal(mempool.size, 19);
    assert.deepEqual([mempool.get(txs[0].id), mempool.get(dear.id)], [undefined, undefined]);
    assert.ok(mempool.get(txs[1].id));
  });

  it('counts bytes too', () => {
    const chain = new PoolChain();
    const txs = Array.from({ length: 10 }, (_, i) => makeTx([spend(chain.mine())], [[BigInt(1000 - i), 1]]));
    const bytes = txs[0].raw.length;
    const mempool = new Mempool({ bytesMax: 8 * bytes });
    chain.read((query) => mempool.take({ kind: 'add', txs: txs.map(({ raw }) => raw) }, query));
    assert.equal(mempool.bytes, 7 * bytes);
    assert.equal(mempool.size, 7);
  });

  it('forgets what is too old', () => {
    let now = 1_000_000;
    const { chain, add, settle, ids } = rigOf({ now: () => now });
    const txs = [1, 2].map(() => makeTx([spend(chain.mine())], [[1n, 1]]));
    add(txs[0]);
    now += 1000;
    add(txs[1]);
    now = 1_000_000 + MEMPOOL_SECONDS_MAX + 1;
    chain.mine();
    settle();
    assert.deepEqual(ids(), idsOf(txs[1]));
  });
});

describe('fees', () => {
  const paying = (...pairs: readonly (readonly [rate: number, virtualSize: number])[]) =>
    pairs.map(([rate, virtualSize]) => ({ rate, virtualSize }));

  it('in steps that grow, what pays the same together, all of it told', () => {
    assert.deepEqual(feeHistogram([]), []);
    assert.deepEqual(feeHistogram(paying([9, 60_000], [8, 30_000], [7, 20_000], [6, 100_000], [5, 9_999], [4, 1], [4, 5], [3, 1])), [
      [7, 110_000],
      [4, 110_005],
      [3, 1],
    ]);
    const many = paying(...Array.from({ length: 5000 }, (_, i) => [5000 - i, 400] as const));
    const steps = feeHistogram(many);
    assert.equal(
      steps.reduce((sum, [, size]) => sum + size, 0),
      5000 * 400,
    );
    for (const [i, [rate]] of steps.entries()) if (i > 0) assert.ok(rate < steps[i - 1][0]);
    assert.ok(steps.length > 5 && steps.length < 20, `${steps.length} steps`);
  });

  it('by blocks: what would not fit sets the rate, and it is never below 1', () => {
    assert.equal(rateWithin([], 1), 1);
    const list = paying([50, 600_000], [20, 400_000], [10, 900_000], [0.5, 900_000]);
    assert.deepEqual(
      [1, 2, 3, 25].map((blocks) => rateWithin(list, blocks)),
      [10, 1, 1, 1],
    );
    assert.equal(rateWithin(paying([50, 1_000_001]), 1), 50);
  });

  it('of the mempool, without those whose fee nobody knows', () => {
    const { chain, mempool, add, take } = rigOf();
    const coin = chain.mine();
    const known = makeTx([spend(coin)], [[coin.outputs[0].value - 6000n, 1]]);
    add(known, makeTx([{ txId: new Uint8Array(32).fill(9), index: 3 }], [[1n, 1]]));
    const size = describeTx(decodeTx(known.raw)).virtualSize;
    assert.deepEqual(mempool.histogram(), [[6000 / size, size]]);
    assert.equal(mempool.feeRate(1), 1);
    take({ kind: 'reset' });
    assert.deepEqual(mempool.histogram(), []);
  });
});
