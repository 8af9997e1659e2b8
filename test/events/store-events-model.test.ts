/**
 * Readers of a store's events against the producer's own account: whatever forks
 * come, however the blocks are grouped, whoever crashes or restarts and when,
 * what a reader has stored is the unspent set of the block it is at, and a
 * position that cannot be gone on from is refused. One seed is one story.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Random } from '../../src/chains/random.ts';
import { isUnspentError } from '../../src/util/errors.ts';
import { PlainChain } from '../support/bitcoin-chain.ts';
import { memoryBitcoin, rocksBitcoin } from '../support/bitcoin-rig.ts';
import { Devnet, devnetOptions, diskRig, memoryRig, TEST_SEED } from '../support/harness.ts';
import { keep } from '../support/keep.ts';
import { bitcoinWorld, cardanoWorld, EventReader, type EventWorld } from './event-world.ts';

const STEPS = [
  ['forward', 30],
  ['fork', 14],
  ['read', 40],
  ['crash', 10],
  ['crashInEvent', 6],
  ['prune', 10],
  ['restart', 6],
] as const;

interface Counts {
  applied: number;
  undone: number;
  rollback: number;
  crashes: number;
  expired: number;
}

class Story {
  readonly counts: Counts = { applied: 0, undone: 0, rollback: 0, crashes: 0, expired: 0 };
  private readonly random: Random;
  private readonly world: EventWorld;
  private readonly readers: readonly EventReader[];

  constructor(seed: number, world: EventWorld) {
    this.random = new Random(seed);
    this.world = world;
    this.world.forward(this.random.int(12), [1, 3]);
    this.readers = [new EventReader(world, 'origin'), new EventReader(world, 'now')];
  }

  async run(steps: number): Promise<void> {
    for (let i = 0; i < steps; i++) {
      const kind = this.random.weighted(STEPS);
      if (kind === 'forward') this.forward();
      else if (kind === 'fork') this.fork();
      else if (kind === 'prune') this.world.prune(1 + this.random.int(30));
      else if (kind === 'restart') await this.restart();
      else for (const reader of this.readers) if (this.random.chance(0.7)) await this.act(reader, kind);
      assert.ok(this.world.readers.heldSnapshots <= this.readers.length + 1, 'one snapshot for each reader, and the newest');
    }
    for (const reader of this.readers) {
      await this.read(reader, Number.POSITIVE_INFINITY);
      await reader.drain();
      for (const kind of ['applied', 'undone', 'rollback', 'crashes'] as const) this.counts[kind] += reader.counts[kind];
    }
  }

  private forward(): void {
    const { random } = this;
    this.world.forward(1 + random.int(8), [1 + random.int(6), 1 + random.int(3)]);
  }

  private fork(): void {
    const depth = 1 + this.random.int(this.random.chance(0.2) ? 20 : 5);
    if (this.world.back(depth) && this.random.chance(0.8)) this.forward();
  }

  private async restart(): Promise<void> {
    for (const reader of this.readers) if (reader.isAttached) reader.detach();
    await this.world.restart();
  }

  private async act(reader: EventReader, kind: 'read' | 'crash' | 'crashInEvent'): Promise<void> {
    if (kind === 'read') return await this.read(reader, 1 + this.random.int(10));
    if (kind === 'crash' && reader.isAttached) return reader.detach();
    if (kind === 'crashInEvent' && reader.isAttached && !reader.hasEverything) await this.refusable(reader, () => reader.take(true));
  }

  private async read(reader: EventReader, most: number): Promise<void> {
    if (!reader.isAttached) await this.refusable(reader, async () => reader.attach());
    for (let i = 0; i < most && !reader.hasEverything; i++) await this.refusable(reader, () => reader.take(false));
  }

  /** What a reader asks for is told, or is refused because it is not known any more. */
  private async refusable(reader: EventReader, body: () => Promise<void>): Promise<void> {
    const { world } = this;
    const { height } = reader.at;
    const depth = reader.depthOfFork;
    const isLost = depth > 0 && !reader.isAttached;
    try {
      await body();
    } catch (error) {
      if (!isUnspentError(error, 'EXPIRED')) throw error;
      // Older blocks of a position are up to eight times as deep as the fork, so that they may be out of reach where the fork is not.
      const reach = isLost ? height - 8 * depth - 1 : height;
      assert.ok(reach <= world.forgotten, `refused at ${height}, fork ${depth}: all above ${world.forgotten} is known`);
      if (isLost && reader.horizon >= 0) assert.ok(world.forgotten > reader.horizon, 'the horizon is a block that both know');
      this.counts.expired++;
      reader.readAnew();
    }
  }
}

async function tell(seed: number): Promise<Counts> {
  const random = new Random(seed);
  const pruneDepth = 6 + random.int(30);
  const options = { pruneDepth, rollbackWindow: pruneDepth + random.int(20), selfContained: random.chance(0.5) };
  const world = await worldOf(seed, random, options);
  try {
    const story = new Story(seed, world);
    await story.run(70);
    return story.counts;
  } finally {
    await world.close();
  }
}

async function worldOf(seed: number, random: Random, options: object): Promise<EventWorld> {
  const onDisk = random.chance(0.25);
  if (random.chance(0.5)) {
    const chain = new PlainChain(seed, { txsMax: 3, wide: 0 });
    return bitcoinWorld(await (onDisk ? rocksBitcoin : memoryBitcoin)(chain, options));
  }
  const devnet = new Devnet(devnetOptions(seed, random.chance(0.5) ? 'ancient' : 'conway'));
  const kept = { ...options, keeps: keep() };
  return cardanoWorld(onDisk ? await diskRig(random.chance(0.5) ? 'rocks' : 'sqlite', devnet, kept) : memoryRig(devnet, kept));
}

describe('events for programs', () => {
  it('add up to the unspent set at every block, whoever crashes', async (t) => {
    const stories = Number(process.env['UNSPENT_EVENT_STORIES'] ?? 16);
    const all: Counts = { applied: 0, undone: 0, rollback: 0, crashes: 0, expired: 0 };
    for (let i = 0; i < stories; i++) {
      const seed = TEST_SEED + i;
      const counts = await tell(seed).catch((error: unknown) => {
        throw new Error(`seed ${seed}`, { cause: error });
      });
      for (const kind of Object.keys(all) as (keyof Counts)[]) all[kind] += counts[kind];
    }
    t.diagnostic(JSON.stringify(all));
    for (const [kind, count] of Object.entries(all)) assert.ok(count > stories / 4, `${count} x ${kind}: nothing was shown of it`);
  });
});
