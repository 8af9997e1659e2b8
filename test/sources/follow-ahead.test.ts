/** Following with an engine that commits ahead: when it is asked for that, and what becomes of the last group. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { follow } from '../../src/sources/follow.ts';
import type { Run, Source } from '../../src/sources/source.ts';
import { DelayedEngine } from '../support/delayed-engine.ts';
import { assertIsModel } from '../support/expected.ts';
import { Devnet, devnetOptions, memoryRig, type Rig } from '../support/harness.ts';

const GROUP_BLOCKS = 5;

/** Counts how often it is asked, and is never without a thread. */
class Counting extends DelayedEngine {
  asked = 0;

  override ahead() {
    this.asked++;
    for (;;) {
      const ahead = super.ahead();
      if (ahead !== null) return ahead;
    }
  }
}

interface Followed {
  readonly rig: Rig;
  readonly engine: Counting;
  /** How often the engine had been asked when each run was taken. */
  readonly asked: readonly number[];
}

/** Follows a source that has so many blocks at hand, in runs of so many. */
async function followed(seed: number, blocks: number, runBlocks: number): Promise<Followed> {
  const rig = memoryRig(new Devnet(devnetOptions(seed, 'conway')), { wrap: (inner) => new Counting(inner, seed) });
  const engine = rig.engine as Counting;
  const raws = rig.devnet.mine(blocks).map(({ raw }) => raw);
  const asked: number[] = [];
  const source: Source = {
    name: 'scripted',
    async *runs(): AsyncGenerator<Run> {
      for (let i = 0; i < raws.length; i += runBlocks) {
        const events = raws.slice(i, i + runBlocks).map((raw) => ({ kind: 'forward', raw, intact: true }) as const);
        yield { events, atTip: i + runBlocks >= raws.length };
        asked.push(engine.asked);
      }
    },
  };
  const { signal } = new AbortController();
  const { ledger } = rig.devnet;
  await follow(source, rig.fold, ledger, { until: { kind: 'end' }, follow: false, groupBlocks: GROUP_BLOCKS, signal });
  assert.equal(engine.onTheirWay, 0, 'nothing is on its way when following ends');
  assert.equal(rig.fold.head?.height, rig.devnet.chain.tip?.height);
  assertIsModel(rig);
  return { rig, engine, asked };
}

it('the thread is made ready when more is to come than the first run', async () => {
  const { asked } = await followed(1, 12, 2);
  assert.equal(asked[0], 1, 'before a group is full');
});

it('no thread is asked for where all is there at once and is less than a group', async () => {
  const { asked, engine } = await followed(2, 4, 4);
  assert.deepEqual(asked, [0]);
  assert.equal(engine.counts.handed, 0);
});

it('the last group is handed over behind those that are on their way', async () => {
  for (let seed = 1; seed <= 5; seed++) {
    const { engine } = await followed(seed, 4 * GROUP_BLOCKS + 3, GROUP_BLOCKS + 2);
    assert.equal(engine.counts.handed, 5);
  }
});
