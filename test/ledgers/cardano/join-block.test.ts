/** Blocks put together again from their header and transactions are the blocks, byte for byte, or nothing. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import { decodeBlock } from '../../../src/ledgers/cardano/index.ts';
import { joinCardanoBlock } from '../../../src/ledgers/cardano/join-block.ts';
import { wholeTxs } from '../../../src/ledgers/cardano/whole-tx.ts';
import { equalBytes } from '../../../src/util/bytes.ts';
import { fixtures, needsFixtures, readFixture } from '../../support/fixtures.ts';
import { Devnet, devnetOptions } from '../../support/harness.ts';

const BYRON_EPOCH_SLOTS = 21_600;

describe('a block from its parts', () => {
  test('is the block, of every era from Shelley on', needsFixtures, () => {
    const joined = new Map<number, number>();
    for (const name of readdirSync(fixtures('cardano', 'blocks')).filter((file) => file.endsWith('.cbor'))) {
      const raw = readFixture('cardano', 'blocks', name);
      const block = decodeBlock(raw, BYRON_EPOCH_SLOTS);
      const made = joinCardanoBlock(block.era, block.headerBytes!, wholeTxs(block));
      if (block.era <= 1) assert.equal(made, null, name);
      else {
        assert.ok(made !== null && equalBytes(made, raw), name);
        joined.set(block.era, (joined.get(block.era) ?? 0) + 1);
      }
    }
    assert.deepEqual([...joined.keys()].sort(), [2, 3, 4, 5, 6, 7]);
  });

  test('is nothing where header and transactions do not belong together', () => {
    const devnet = new Devnet(devnetOptions(3, 'conway'));
    const blocks = devnet.mine(6);
    for (const [i, block] of blocks.entries()) {
      const txs = wholeTxs(block);
      assert.ok(
        equalBytes(joinCardanoBlock(block.era, block.headerBytes!, txs) ?? new Uint8Array(0), devnet.rawOf(devnet.chain.blocks[i])),
      );
      if (txs.length > 0) assert.equal(joinCardanoBlock(block.era, block.headerBytes!, txs.slice(1)), null);
    }
  });
});
