/**
 * The pump between a source and the fold over chains of the Bitcoin family: the
 * same story, told in any runs, with a queue and without, ends in the same store,
 * which is the producer's account; and a bad block is told of with its name.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Random } from '../../src/chains/random.ts';
import { bitcoinNetwork, formatId } from '../../src/ledgers/bitcoin/index.ts';
import { type FollowFoldOptions, follow } from '../../src/sources/follow.ts';
import type { ChainEvent, Run, Source } from '../../src/sources/source.ts';
import { type PlainBlock, PlainChain } from '../support/bitcoin-chain.ts';
import { assertIsAccount, type BitcoinRig, memoryBitcoin } from '../support/bitcoin-rig.ts';
import { assertSameDump, TEST_SEED } from '../support/harness.ts';

const forward = ({ raw, height }: PlainBlock, intact: boolean): ChainEvent => ({ kind: 'forward', raw, height, intact });

/** A chain with its reorganisations, as events. The chain ends where the story ends. */
function story(seed: number, network: 'bitcoin-regtest' | 'litecoin-regtest'): { chain: PlainChain; events: ChainEvent[] } {
  const chain = new PlainChain(seed, { network: bitcoinNetwork(network) });
  const random = new Random(seed, 5);
  const events: ChainEvent[] = [];
  for (let turn = 0; turn < 8; turn++) {
    for (let n = 1 + random.int(12); n > 0; n--) events.push(forward(chain.mine(), random.chance(0.5)));
    const depth = Math.min(random.int(9), chain.blocks.length);
    chain.rollback(depth);
    if (depth > 0) events.push({ kind: 'back', point: chain.tip ?? null });
  }
  events.push(forward(chain.mine(), false));
  return { chain, events };
}

/** The events cut into runs; some are empty, and some say that this is the tip. */
function telling(events: readonly ChainEvent[], random: Random): Source {
  const runs: Run[] = [];
  for (let at = 0; at < events.length; ) {
    const size = random.int(9);
    runs.push({ events: events.slice(at, at + size), atTip: random.chance(0.3) });
    at += size;
  }
  return {
    name: 'script:',
    async *runs() {
      yield* [...runs, { events: [], atTip: true }];
    },
  };
}

function pump({ fold, ledger }: BitcoinRig, source: Source, options: Partial<FollowFoldOptions>): ReturnType<typeof follow> {
  return follow(source, fold, ledger, {
    until: { kind: 'end' },
    follow: false,
    groupBlocks: 10,
    signal: new AbortController().signal,
    ...options,
  });
}

describe('follow (Bitcoin family)', () => {
  for (const [i, network] of (['bitcoin-regtest', 'litecoin-regtest', 'bitcoin-regtest'] as const).entries()) {
    it(`ends in the same store whatever the groups (${network}, story ${i})`, async () => {
      const { chain, events } = story(TEST_SEED + i, network);
      const random = new Random(TEST_SEED + i, 6);
      const results = [];
      for (const groupBlocks of [1, 3, 7, 10, 1000]) {
        const rig = memoryBitcoin(chain);
        const { blocks, rollbacks, undone, reason } = await pump(rig, telling(events, random), { groupBlocks });
        const rows = assertIsAccount(rig, `groups of ${groupBlocks}`);
        results.push({ rows, told: { blocks, rollbacks, undone, reason } });
      }
      for (const { rows, told } of results) {
        assertSameDump(rows, results[0].rows, `story ${i}`);
        assert.deepEqual(told, results[0].told);
      }
      assert.equal(results[0].told.rollbacks, events.filter(({ kind }) => kind === 'back').length);
    });
  }

  it(`tells of a bad block by the name people write, and keeps the good ones`, async () => {
    const chain = new PlainChain(TEST_SEED);
    for (let i = 0; i < 9; i++) chain.mine();
    const { blocks } = chain;
    const torn = { ...blocks[5], raw: blocks[5].raw.slice() };
    torn.raw[40] ^= 1;
    for (const [bad, code, name] of [
      [forward(blocks[8], true), 'BLOCK_UNLINKED', formatId(blocks[8].hash)],
      [forward(torn, false), 'BLOCK_INVALID', /Merkle|merkle/],
    ] as const) {
      const rig = memoryBitcoin(chain);
      const events = [...blocks.slice(0, 5).map((block) => forward(block, false)), bad];
      const failing = pump(rig, telling(events, new Random(1)), {});
      await assert.rejects(failing, { code, message: new RegExp(name) });
      assert.equal(rig.fold.head?.height, 4);
    }
  });
});
