/** Slots, epochs and times at points of the chains that are known from elsewhere. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { CARDANO_NETWORKS, cardanoNetwork, networkFromGenesis } from '../../../src/ledgers/cardano/networks.ts';
import { epochToSlot, firstSlotFromMs, slotAtMs, slotToEpoch, slotToTime, timeToSlot } from '../../../src/ledgers/cardano/time.ts';
import { needsFixtures, readFixtureText } from '../../support/fixtures.ts';

const mainnet = cardanoNetwork('mainnet');
const preprod = cardanoNetwork('preprod');
const preview = cardanoNetwork('preview');

describe('known points', () => {
  test('mainnet', () => {
    assert.equal(slotToTime(mainnet, 0), 1506203091);
    assert.equal(slotToTime(mainnet, 4_492_799), 1506203091 + 20 * 4_492_799);
    for (const slot of [4_492_800, 16_588_800, 133_660_800]) assert.equal(slotToTime(mainnet, slot), slot + 1591566291);
    assert.equal(new Date(1000 * slotToTime(mainnet, 133_660_800)).toISOString(), '2024-09-01T21:44:51.000Z');
  });
  test('preprod and preview', () => {
    assert.equal(slotToTime(preprod, 86_400), 86_400 + 1655683200);
    assert.equal(slotToTime(preprod, 68_774_400), 68_774_400 + 1655683200);
    assert.equal(slotToTime(preview, 0), 1666656000);
    assert.equal(slotToTime(preview, 1_209_598), 1_209_598 + 1666656000);
  });
  test('epochs at the start of each era', () => {
    const epochs = {
      mainnet: { byron: 0, shelley: 208, allegra: 236, mary: 251, alonzo: 290, babbage: 365, conway: 507 },
      preprod: { byron: 0, shelley: 4, allegra: 5, mary: 6, alonzo: 7, babbage: 12, conway: 163 },
      preview: { byron: 0, shelley: 0, allegra: 0, mary: 0, alonzo: 0, babbage: 3, conway: 646 },
    };
    for (const [name, eras] of Object.entries(epochs)) {
      const network = cardanoNetwork(name);
      for (const [era, epoch] of Object.entries(eras)) {
        const slot = network.eraStartSlots[era as keyof typeof eras];
        assert.ok(slot !== undefined);
        assert.equal(slotToEpoch(network, slot), epoch, `${name} ${era}`);
        assert.equal(epochToSlot(network, epoch), slot, `${name} ${era}`);
      }
    }
    assert.equal(slotToEpoch(mainnet, 4_492_799), 207);
  });
  test('before the start there is no slot', () => {
    assert.throws(() => timeToSlot(mainnet, 1506203090), { code: 'USAGE' });
  });
  test('an unknown name lists the known ones', () => {
    assert.throws(() => cardanoNetwork('mainet'), { code: 'NETWORK_UNKNOWN', message: /mainnet, preprod, preview, devnet/ });
  });
});

test('moments that anybody may have written have a slot', () => {
  for (const network of CARDANO_NETWORKS) {
    const startMs = BigInt(Math.round(1000 * network.systemStart));
    for (const before of [-1n, 0n, startMs - 1n]) {
      assert.deepEqual([slotAtMs(network, before), firstSlotFromMs(network, before)], [0, 0], network.name);
    }
    const slot = network.firstShelleySlot + 1000;
    const beginMs = BigInt(Math.round(1000 * slotToTime(network, slot)));
    assert.deepEqual([slotAtMs(network, beginMs), firstSlotFromMs(network, beginMs)], [slot, slot], network.name);
    assert.deepEqual([slotAtMs(network, beginMs + 1n), firstSlotFromMs(network, beginMs + 1n)], [slot, slot + 1], network.name);
    assert.deepEqual([slotAtMs(network, beginMs - 1n), firstSlotFromMs(network, beginMs - 1n)], [slot - 1, slot], network.name);
    assert.ok(Number.isSafeInteger(slotAtMs(network, 2n ** 200n)), network.name);
  }
});

test('there and back, on every network', () => {
  fc.assert(
    fc.property(fc.constantFrom(...CARDANO_NETWORKS), fc.integer({ min: 0, max: 200_000_000 }), (network, slot) => {
      const time = slotToTime(network, slot);
      assert.equal(timeToSlot(network, time), slot);
      assert.ok(slotToTime(network, slot + 1) > time);
      const epoch = slotToEpoch(network, slot);
      assert.ok(epochToSlot(network, epoch) <= slot && slot < epochToSlot(network, epoch + 1));
      assert.equal(slotToEpoch(network, epochToSlot(network, epoch)), epoch);
    }),
  );
});

describe('networks from genesis files', () => {
  const read = (network: string, era: string) => readFixtureText('cardano', 'genesis', `${network}-${era}-genesis.json`);
  for (const { name, firstShelleyEpoch, ...known } of [mainnet, preprod, preview]) {
    test(`${name}: the table equals its files`, needsFixtures, () => {
      const { eraStartSlots, ...found } = networkFromGenesis(name, read(name, 'byron'), read(name, 'shelley'), firstShelleyEpoch);
      assert.deepEqual({ ...found, eraStartSlots: known.eraStartSlots }, { name, firstShelleyEpoch, ...known });
      // When eras begin is not in the files.
      assert.deepEqual(eraStartSlots, {});
    });
  }
  test('a devnet of short slots keeps exact time', needsFixtures, () => {
    const devnet = networkFromGenesis('mine', read('dingo-devnet', 'byron'), read('dingo-devnet', 'shelley'));
    assert.equal(devnet.magic, 42);
    assert.equal(devnet.shelleySlotMs, 100);
    assert.equal(devnet.byronSlotMs, 250);
    assert.equal(devnet.shelleyEpochSlots, 5);
    for (const slot of [0, 1, 3, 7, 29, 1_000_003]) assert.equal(timeToSlot(devnet, slotToTime(devnet, slot)), slot);
    assert.equal(slotToTime(devnet, 3), 1657186415.3);
  });
  test('files of two networks do not go together', needsFixtures, () => {
    assert.throws(() => networkFromGenesis('x', read('preprod', 'byron'), read('preview', 'shelley')), {
      code: 'GENESIS_WRONG',
      message: /magic 1.* of 2/,
    });
    assert.throws(() => networkFromGenesis('x', '{}', read('preview', 'shelley')), { code: 'GENESIS_WRONG', message: /protocolConsts/ });
    assert.throws(() => networkFromGenesis('x', '{', '{}'), { code: 'GENESIS_WRONG', message: /not JSON/ });
  });
});
