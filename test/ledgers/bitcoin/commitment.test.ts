/**
 * The set after real blocks, and what a node would say of it: count, value,
 * bogosize, both serialized hashes and MuHash, kept forward and back.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  type BitcoinBlock,
  bitcoinLedger,
  type CoinRecord,
  coinBytes,
  formatId,
  genesisBlock,
  MuHash,
  parseId,
  SerializedHash2,
  SerializedHash3,
  SetTotals,
} from '../../../src/ledgers/bitcoin/index.ts';
import { concatBytes, fromHex, toHex } from '../../../src/util/bytes.ts';
import { needsFixtures, readFixtureText } from '../../support/fixtures.ts';
import { bitcoin, expectedSets, PlainSet, readRun, regtest } from './samples.ts';

const ledger = bitcoinLedger(bitcoin);
const decodeRun = (raws: readonly Uint8Array[], from: number): BitcoinBlock[] =>
  raws.map((raw, i) => {
    const block = ledger.decode(raw, from + i);
    ledger.verify(block);
    return block;
  });

describe('mainnet from its beginning', () => {
  test('the set at heights 1, 170 and 255 is the expected one', needsFixtures, () => {
    const set = new PlainSet();
    const blocks = decodeRun(readRun('btcd-blocks1-255.dat'), 1);
    assert.equal(blocks.length, 255);
    let checked = 0;
    for (const block of blocks) {
      set.apply(block);
      const expected = expectedSets.get(`mainnet 1..${block.height}`);
      if (expected === undefined) continue;
      assert.deepEqual(set.summary(block.hash), expected);
      checked++;
    }
    assert.equal(checked, 3);
  });

  test('back from 255 to nothing, every height is as it was', needsFixtures, () => {
    const set = new PlainSet();
    const blocks = decodeRun(readRun('btcd-blocks1-255.dat'), 1);
    const seen = blocks.map((block) => {
      set.apply(block);
      return toHex(set.totals.muhash.toBytes());
    });
    for (let i = blocks.length - 1; i >= 0; i--) {
      assert.equal(toHex(set.totals.muhash.toBytes()), seen[i], `height ${i + 1}`);
      set.revert();
    }
    assert.equal(set.coins.size, 0);
    assert.deepEqual([set.totals.count, set.totals.value, set.totals.bogosize], [0, 0n, 0]);
    assert.equal(toHex(set.totals.muhash.toBytes()), toHex(new MuHash().toBytes()));
  });

  test('the first block adds nothing', () => {
    const set = new PlainSet();
    set.apply(ledger.decode(genesisBlock(bitcoin)));
    assert.equal(set.coins.size, 0);
  });
});

describe('reorganisations', () => {
  test('the chain with blocks 3, 4 replaced by 3A, 4A, 5A, there and back', needsFixtures, () => {
    const [genesis, ...trunk] = decodeRun(readRun('btcd-blk_0_to_4.dat'), 0);
    const branch = decodeRun(
      ['btcd-blk_3A.dat', 'btcd-blk_4A.dat', 'btcd-blk_5A.dat'].flatMap((file) => readRun(file)),
      3,
    );
    const set = new PlainSet();
    set.apply(genesis);
    for (const block of trunk) set.apply(block);
    const before = expectedSets.get('btcd reorg file 1..4 (before)');
    const after = expectedSets.get('btcd reorg 1, 2, 3A, 4A, 5A (after)');
    assert.deepEqual(set.summary(trunk[3].hash), before);
    for (let round = 0; round < 2; round++) {
      for (const block of branch) assert.deepEqual(block.prevHash, block.height === 3 ? trunk[1].hash : branch[block.height - 4].hash);
      set.revert();
      set.revert();
      for (const block of branch) set.apply(block);
      assert.deepEqual(set.summary(branch[2].hash), after);
      for (let i = 0; i < 3; i++) set.revert();
      for (const block of trunk.slice(2)) set.apply(block);
      assert.deepEqual(set.summary(trunk[3].hash), before);
    }
  });

  test('a regtest chain whose last five blocks are replaced by eleven', needsFixtures, () => {
    const ours = bitcoinLedger(regtest);
    const [trunk, branch] = JSON.parse(readFixtureText('bitcoin', 'blocks', 'floresta-regtest-reorg.json')) as [string[], string[]];
    const decode = (hexes: readonly string[], from: number): BitcoinBlock[] =>
      hexes.map((hex, i) => {
        const block = ours.decode(fromHex(hex), from + i);
        ours.verify(block);
        return block;
      });
    const [first, second] = [decode(trunk, 1), decode(branch, 6)];
    assert.deepEqual(first[0].prevHash, ours.decode(genesisBlock(regtest)).hash);
    assert.deepEqual([first.length, second.length], [10, 11]);
    const set = new PlainSet();
    for (const block of first) set.apply(block);
    const before = set.summary(first[9].hash);
    for (let i = 0; i < 5; i++) set.revert();
    for (const [i, block] of second.entries()) {
      assert.deepEqual(block.prevHash, i === 0 ? first[4].hash : second[i - 1].hash);
      set.apply(block);
    }
    assert.equal(set.totals.count, 16);
    for (let i = 0; i < second.length; i++) set.revert();
    for (const block of first.slice(5)) set.apply(block);
    assert.deepEqual(set.summary(first[9].hash), before);
  });
});

describe('the hashes of a set', () => {
  const coin = fc.record({
    txId: fc.uint8Array({ minLength: 32, maxLength: 32 }),
    index: fc.nat(0xffff_ffff),
    height: fc.nat(900_000),
    coinbase: fc.boolean(),
    output: fc
      .tuple(fc.bigInt({ min: 0n, max: 2_100_000_000_000_000n }), fc.uint8Array({ maxLength: 60 }))
      .map(([value, script]) => outputBytes(value, script)),
  });

  test('a coin is hashed as outpoint, height and flag, output', () => {
    const record: CoinRecord = {
      txId: new Uint8Array(32).fill(0xab),
      index: 258,
      height: 3,
      coinbase: true,
      output: outputBytes(1n, Uint8Array.of(0x51)),
    };
    assert.equal(toHex(coinBytes(record)), `${'ab'.repeat(32)}0201000007000000${'0100000000000000'}0151`);
  });

  test('of nothing', () => {
    const tip = parseId(bitcoin.genesisHash);
    const twice = (bytes: Uint8Array): string =>
      formatId(createHash('sha256').update(createHash('sha256').update(bytes).digest()).digest());
    assert.equal(formatId(new SerializedHash2(tip).digest()), twice(tip));
    assert.equal(formatId(new SerializedHash3().digest()), twice(new Uint8Array(0)));
  });

  test('another hasher gives the same, and any number of coins goes through the buffer', () => {
    fc.assert(
      fc.property(fc.array(coin, { maxLength: 40 }), fc.constantFrom(0, 70_000), (coins, padding) => {
        const sorted = distinct(coins);
        if (padding > 0 && sorted.length > 0) {
          const last = sorted.length - 1;
          sorted[last] = { ...sorted[last], output: outputBytes(5n, new Uint8Array(padding)) };
        }
        const mine = new SerializedHash3();
        const nodes = new SerializedHash3(createHash('sha256'));
        for (const each of sorted) {
          mine.add(each);
          nodes.add(each);
        }
        const whole = createHash('sha256')
          .update(concatBytes(...sorted.map(coinBytes)))
          .digest();
        const wanted = toHex(createHash('sha256').update(whole).digest());
        assert.equal(toHex(mine.digest()), wanted);
        assert.equal(toHex(nodes.digest()), wanted);
      }),
      { numRuns: 40 },
    );
  });

  test('coins out of order are a mistake of the caller', () => {
    const [a, b] = [1, 2].map((byte) => ({
      txId: new Uint8Array(32).fill(byte),
      index: 0,
      height: 1,
      coinbase: false,
      output: outputBytes(1n, new Uint8Array(0)),
    }));
    for (const hash of [new SerializedHash3(), new SerializedHash2(a.txId)]) {
      hash.add(b);
      assert.throws(() => hash.add(a), /order/);
      assert.throws(() => hash.add(b), /order/);
    }
  });

  test('totals: what comes and goes again leaves nothing', () => {
    fc.assert(
      fc.property(fc.array(coin, { maxLength: 8 }), (coins) => {
        const totals = new SetTotals();
        for (const each of coins) totals.add(each);
        assert.equal(totals.count, coins.length);
        for (const each of coins) totals.remove(each);
        assert.deepEqual([totals.count, totals.value, totals.bogosize], [0, 0n, 0]);
        assert.equal(toHex(totals.muhash.digest()), toHex(new MuHash().digest()));
      }),
      { numRuns: 20 },
    );
  });
});

function outputBytes(value: bigint, script: Uint8Array): Uint8Array {
  const head = new Uint8Array(8);
  new DataView(head.buffer).setBigUint64(0, value, true);
  const length =
    script.length < 0xfd ? [script.length] : [0xfe, script.length, script.length >> 8, script.length >> 16, script.length >> 24];
  return concatBytes(head, Uint8Array.from(length), script);
}

function distinct(coins: readonly CoinRecord[]): CoinRecord[] {
  const byKey = new Map(coins.map((each) => [`${toHex(each.txId)}${each.index.toString().padStart(5, '0')}`, each]));
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}
