/**
 * Balances: exact sums of any size, no row for nothing, and a reader that finds
 * them; whatever the steps were grouped into. Random chains are in
 * test/property.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { blake2b224 } from '../../src/crypto/hash.ts';
import { type BalanceKind, balanceProjection, readBalance } from '../../src/projections/balance/balance.ts';
import { fromHex, toHex } from '../../src/util/bytes.ts';
import { baseAddress, engineFor, ledger, type Made, makeCoin, move } from '../support/coins.ts';
import { keysOf } from '../support/expected.ts';
import { assertCode, assertSameDump, Devnet, dump, memoryRig, TEST_SEED } from '../support/harness.ts';

const POLICY_A = 'aa'.repeat(28);
const POLICY_B = 'bb'.repeat(28);
const U64_MAX = (1n << 64n) - 1n;

const ofAddress = (kind: BalanceKind = 'address', traits = ledger.traits) => {
  const projection = balanceProjection(kind, traits);
  return { projection, engine: engineFor(projection) };
};
const hashOf = (address: Uint8Array) => blake2b224(address);
const told = ({ utxos, value, assets }: ReturnType<typeof readBalance>) => ({
  utxos,
  lovelace: value,
  assets: assets.map(({ policy, name, quantity }) => [toHex(policy), toHex(name), quantity]),
});

describe('balances', () => {
  const address = baseAddress('01', '02');

  it('are the sum of what is unspent, assets in order', () => {
    const { projection, engine } = ofAddress();
    const coins = [
      makeCoin({
        tx: 1,
        lovelace: 5n,
        assets: [
          [POLICY_B, '01', 7n],
          [POLICY_A, '', 1n],
        ],
      }),
      makeCoin({
        tx: 2,
        lovelace: 6n,
        assets: [
          [POLICY_A, '02', 2n],
          [POLICY_B, '01', 3n],
        ],
      }),
      makeCoin({ tx: 3, lovelace: 900n, address: baseAddress('03', '02') }),
    ];
    move(engine, projection, coins);
    assert.deepEqual(told(readBalance(engine, 'address', hashOf(address))), {
      utxos: 2,
      lovelace: 11n,
      assets: [
        [POLICY_A, '', 1n],
        [POLICY_A, '02', 2n],
        [POLICY_B, '01', 10n],
      ],
    });
    move(engine, projection, [], [coins[1]]);
    assert.deepEqual(told(readBalance(engine, 'address', hashOf(address))), {
      utxos: 1,
      lovelace: 5n,
      assets: [
        [POLICY_A, '', 1n],
        [POLICY_B, '01', 7n],
      ],
    });
    assert.deepEqual(told(readBalance(engine, 'address', new Uint8Array(28))), { utxos: 0, lovelace: 0n, assets: [] });
    move(engine, projection, [], [coins[0], coins[2]]);
    assert.deepEqual([...engine.scan('balance_address')], [], 'nothing leaves no row');
  });

  it('of a stake credential gather all its addresses', () => {
    const { projection, engine } = ofAddress('stake');
    move(engine, projection, [
      makeCoin({ tx: 1, lovelace: 5n, address: baseAddress('01', '02') }),
      makeCoin({ tx: 2, lovelace: 6n, address: baseAddress('03', '02') }),
      makeCoin({ tx: 3, lovelace: 7n, address: fromHex(`60${'01'.repeat(28)}`) }),
    ]);
    assert.deepEqual(told(readBalance(engine, 'stake', fromHex('02'.repeat(28)))), { utxos: 2, lovelace: 11n, assets: [] });
    assert.equal([...engine.scan('balance_stake')].length, 1, 'who has no stake credential has no row');
  });

  it('go beyond 64 bits, in one step and over several', () => {
    const coins = Array.from({ length: 9 }, (_, tx) => makeCoin({ tx, lovelace: U64_MAX, assets: [[POLICY_A, '01', U64_MAX]] }));
    const together = ofAddress();
    move(together.engine, together.projection, coins);
    const single = ofAddress();
    for (const coin of coins) move(single.engine, single.projection, [coin]);
    assertSameDump(dump(single.engine), dump(together.engine), 'one by one');
    const { value, assets } = readBalance(single.engine, 'address', hashOf(address));
    assert.deepEqual([value, assets[0].quantity], [9n * U64_MAX, 9n * U64_MAX]);
  });

  it('keep a row for outputs worth nothing', () => {
    const { projection, engine } = ofAddress();
    const coin = makeCoin({ lovelace: 0n });
    move(engine, projection, [coin]);
    assert.deepEqual(told(readBalance(engine, 'address', hashOf(address))), { utxos: 1, lovelace: 0n, assets: [] });
    move(engine, projection, [], [coin]);
    assert.deepEqual([...engine.scan('balance_address')], []);
  });

  it('write nothing when nothing changes', () => {
    const { projection, engine } = ofAddress();
    const [before, after] = [1, 2].map((tx) => makeCoin({ tx, assets: [[POLICY_A, '01', 4n]] }));
    move(engine, projection, [before]);
    const batch = engine.batch();
    projection.apply({ blocks: [], added: [after], removed: [before] }, engine, batch);
    assert.equal(batch.size, 0);
    batch.clear();
  });

  it('refuse to fall below nothing, and change nothing then', () => {
    for (const [have, take] of [
      [{ lovelace: 5n }, { lovelace: 6n }],
      [{ lovelace: 5n }, { lovelace: 4n }],
      [{ assets: [[POLICY_A, '01', 4n]] }, { assets: [[POLICY_A, '01', 5n]] }],
    ] as [Made, Made][]) {
      const { projection, engine } = ofAddress();
      move(engine, projection, [makeCoin({ ...have, tx: 1 })]);
      const before = dump(engine);
      assertCode(() => move(engine, projection, [], [makeCoin({ ...take, tx: 2 })]), 'STORE_DAMAGED');
      assertSameDump(dump(engine), before, 'after the refusal');
    }
  });

  it('count value alone where outputs carry nothing else', () => {
    const { projection, engine } = ofAddress('address', null);
    move(engine, projection, [makeCoin({ lovelace: 5n, assets: [[POLICY_A, '01', 4n]] })]);
    assert.deepEqual(told(readBalance(engine, 'address', hashOf(address))), { utxos: 1, lovelace: 5n, assets: [] });
  });

  it('do not depend on how the outputs are portioned', () => {
    const amount = fc.bigInt({ min: 1n, max: U64_MAX });
    const made: fc.Arbitrary<Made> = fc.record({
      address: fc.constantFrom(baseAddress('01', '02'), baseAddress('03', '02'), baseAddress('01', '04')),
      lovelace: amount,
      assets: fc.array(fc.tuple(fc.constantFrom(POLICY_A, POLICY_B), fc.constantFrom('', '01', '0102'), amount), { maxLength: 4 }),
    });
    const property = fc.property(
      fc.array(made, { maxLength: 30 }),
      fc.array(fc.nat({ max: 9 })),
      fc.constantFrom<BalanceKind>('address', 'stake'),
      (all, sizes, kind) => {
        const coins = all.map((one, tx) => makeCoin({ ...one, tx }));
        const whole = ofAddress(kind);
        move(whole.engine, whole.projection, coins);
        const parts = ofAddress(kind);
        for (let at = 0, i = 0; at < coins.length; i++) {
          const size = 1 + (sizes[i] ?? 0);
          move(parts.engine, parts.projection, coins.slice(at, at + size));
          at += size;
        }
        assertSameDump(dump(parts.engine), dump(whole.engine), 'in portions');
        for (const coin of coins.reverse()) move(parts.engine, parts.projection, [], [coin]);
        assert.deepEqual([...dump(parts.engine).values()], [[]], 'all taken away');
      },
    );
    fc.assert(property, { seed: TEST_SEED, numRuns: 300 });
  });

  it('are found by their reader as the model has them', () => {
    const devnet = new Devnet({ seed: TEST_SEED, addresses: 20 });
    const rig = memoryRig(devnet);
    rig.forward(80, [7]);
    for (const kind of ['address', 'stake'] as const) {
      const keys = new Set([...devnet.chain.utxos.values()].flatMap((utxo) => (keysOf(utxo)[kind] ? [toHex(keysOf(utxo)[kind]!)] : [])));
      assert.ok(keys.size > 2);
      for (const key of keys) {
        const own = [...devnet.chain.utxos.values()].filter((utxo) => toHex(keysOf(utxo)[kind] ?? new Uint8Array()) === key);
        const assets = new Map<string, bigint>();
        for (const utxo of own) for (const [asset, quantity] of utxo.assets) assets.set(asset, (assets.get(asset) ?? 0n) + quantity);
        assert.deepEqual(told(readBalance(rig.engine, kind, fromHex(key))), {
          utxos: own.length,
          lovelace: own.reduce((sum, { lovelace }) => sum + lovelace, 0n),
          assets: [...assets].sort(([a], [b]) => (a < b ? -1 : 1)).map(([asset, quantity]) => [...asset.split('.'), quantity]),
        });
      }
    }
  });
});
