/** A block says the same in whatever encoding CBOR allows for it: lengths that are open, closed, or longer than they need be. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decodeBlock } from '../../src/ledgers/cardano/decode.ts';
import { describeOutput } from '../../src/ledgers/cardano/describe.ts';
import { ERA } from '../../src/ledgers/cardano/header.ts';
import { toHex } from '../../src/util/bytes.ts';
import { needsFixtures } from '../support/fixtures.ts';
import { blocks, decoded, EPOCH_SLOTS } from './cardano-samples.ts';
import { rewrite } from './cbor-tree.ts';

/** What a block does, without the ids that follow from its very bytes. */
function effectsOf(raw: Uint8Array) {
  const block = decodeBlock(raw, EPOCH_SLOTS);
  const { era, height, slot, prevHash, boundary, extra } = block;
  const txs = block.txs.map(({ valid, spends, creates }) => ({
    valid,
    spends: spends.map(({ at, index }) => [toHex(raw, at, at + 32), index]),
    creates: creates.map(({ index, start, end, flags, valueHi, valueLo }) => {
      const { lovelace, assets, address, datumHash } = describeOutput(raw, start, end);
      assert.equal(lovelace, (BigInt(valueHi) << 32n) | BigInt(valueLo));
      // Byron writes an address as items in place, so that its bytes change with the rest.
      return { index, flags, lovelace, assets, datumHash, address: era === ERA.byron ? null : toHex(address) };
    }),
  }));
  return { era, height, slot, boundary, prevHash: prevHash && toHex(prevHash), extra: toHex(extra), txs };
}

describe('the same block in other bytes', () => {
  for (const style of ['indefinite', 'definite', 'wide'] as const) {
    test(`${style}: the same effects`, () => {
      for (const raw of blocks) {
        const other = rewrite(raw, style);
        assert.deepEqual(effectsOf(other), effectsOf(raw));
        // The header changes with its encoding, and the body's proof with the body's.
        assert.notEqual(toHex(decodeBlock(other, EPOCH_SLOTS).hash), toHex(decodeBlock(raw, EPOCH_SLOTS).hash));
      }
    });
  }

  test('every era is among them', needsFixtures, () => {
    assert.deepEqual(new Set(decoded.map(({ era }) => era)), new Set<number>(Object.values(ERA)));
  });
});
