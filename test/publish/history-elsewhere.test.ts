/**
 * History that only the published copy has. Beside the store that leaves it runs
 * one that keeps everything: the copy is that one, byte for byte, whatever
 * happens to publishers and however the chain turns; and what the store answers
 * is what that one answers, or PRUNED.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Random } from '../../src/chains/random.ts';
import { ONLY_COPY_KEY, PUBLISH_HISTORY_KEY, readElsewhere } from '../../src/projections/history/elsewhere.ts';
import type { CopyChange } from '../../src/publish/change.ts';
import type { PublishedStore } from '../../src/publish/published-store.ts';
import { Publisher } from '../../src/publish/publisher.ts';
import type { PublishedHead } from '../../src/publish/target.ts';
import { pruneStep } from '../../src/state/pruned.ts';
import { verifyStore } from '../../src/store/verify/verify.ts';
import { toHex } from '../../src/util/bytes.ts';
import { isUnspentError } from '../../src/util/errors.ts';
import type { SettingReader } from '../../src/util/setting.ts';
import { RandomRequests } from '../support/copy/requests.ts';
import { assertCode, assertSameRows, dump, KEEP_ALL, type RigOptions, TEST_SEED } from '../support/harness.ts';
import { MemoryTarget } from '../support/publish/memory-target.ts';
import { publishedStore, publishOnce, startPublisher } from '../support/publish/rig.ts';
import { Served } from '../support/served.ts';

const WINDOWS: RigOptions = { pruneDepth: 12, rollbackWindow: 15, keeps: [...KEEP_ALL, 'mmr'] };
const leaves: SettingReader = (key) => (key === PUBLISH_HISTORY_KEY ? 'copy' : '');

class Ended extends Error {}

/** Publishers end before a commit, or after it and before they hear of it. */
class MortalTarget extends MemoryTarget {
  ends = 0;
  private readonly random: Random;

  constructor(random: Random) {
    super();
    this.random = random;
  }

  override async publish(changes: readonly CopyChange[]): Promise<PublishedHead> {
    if (this.random.chance(0.1)) return this.end();
    const head = await super.publish(changes);
    return this.random.chance(0.1) ? this.end() : head;
  }

  private end(): never {
    this.ends++;
    throw new Ended();
  }
}

/** A store that leaves its history to a copy, and its twin that does not. */
class Pair {
  readonly local: Served;
  readonly whole: Served;
  readonly store: PublishedStore;
  /** The block that a copy was said to have, at some time. */
  kept: Uint8Array | null = null;

  private constructor(local: Served, whole: Served) {
    this.local = local;
    this.whole = whole;
    this.store = publishedStore(local.rig, 'devnet', local.devnet.ledger, leaves);
  }

  static async open(seed: number): Promise<Pair> {
    const options = { seed, blocks: 5, mirrored: false } as const;
    const local = await Served.open({ ...options, store: { ...WINDOWS, readSetting: leaves } });
    return new Pair(local, await Served.open({ ...options, store: WINDOWS }));
  }

  get height(): number {
    return this.local.rig.fold.head?.height ?? -1;
  }

  forward(count: number): void {
    for (const served of [this.local, this.whole]) served.forward(count);
  }

  /** At most as far as the store can. */
  back(wanted: number): void {
    const { fold, devnet } = this.local.rig;
    const height = fold.horizonHeight;
    const { blocks } = devnet.chain;
    const floor = height === null ? 1 : blocks.filter((block) => block.height <= height).length;
    const depth = Math.min(wanted, blocks.length - floor);
    if (depth <= 0) return;
    for (const served of [this.local, this.whole]) served.back(depth);
  }

  prune(): void {
    const { engine, projections, options, fold } = this.local.rig;
    const copy = { published: this.kept, ledger: fold.ledger };
    while (!pruneStep(engine, projections, fold.head?.height ?? 0, options, 3, 1000, copy).done);
    this.local.reads.moved();
    this.whole.prune();
  }

  /** True: the publisher has come to its end in order. */
  async publish(target: MemoryTarget): Promise<boolean> {
    let publisher: Publisher | null = null;
    try {
      publisher = await startPublisher(this.store, target);
      await publishOnce(publisher);
      // The mark goes with the first round behind a snapshot.
      await publishOnce(publisher);
      this.kept = publisher.kept;
      return true;
    } catch (error) {
      if (!(error instanceof Ended)) throw error;
      return false;
    } finally {
      publisher?.close();
    }
  }

  /** The copy says one thing more: that it alone has what it has. */
  assertCopy(target: MemoryTarget, what: string): void {
    const copy = target.dump();
    for (const [column, rows] of dump(this.whole.rig.engine)) {
      const ours = copy.get(column) ?? assert.fail(column);
      assertSameRows(
        ours.filter((row) => !row.startsWith(toHex(ONLY_COPY_KEY))),
        rows,
        `${what}: ${column}`,
      );
    }
  }

  async close(): Promise<void> {
    for (const served of [this.local, this.whole]) await served.close();
  }
}

const historyRows = ({ rig }: Served): number =>
  [...dump(rig.engine)].filter(([name]) => name.startsWith('history_')).reduce((sum, [, rows]) => sum + rows.length, 0);

describe('history that only the copy has', () => {
  it('is whole there, through rollbacks and publishers that end, and gone here', async () => {
    const random = new Random(TEST_SEED);
    const pair = await Pair.open(3);
    const target = new MortalTarget(random);
    let highest = 0;
    for (let turn = 0; turn < 60; turn++) {
      if (random.chance(0.3)) pair.back(1 + random.int(4));
      pair.forward(random.int(7));
      highest = Math.max(highest, pair.height);
      // For ten turns nothing is published, and more blocks come than the window has.
      if (turn % 20 < 10 && random.chance(0.7)) await pair.publish(target);
      // What it was told last may be of a fork that was left since.
      if (random.chance(0.3)) pair.back(1 + random.int(3));
      pair.prune();
      const { published, elsewhere } = { published: target.head.height ?? -1, elsewhere: readElsewhere(pair.local.rig.engine) };
      assert.ok(elsewhere <= published + 1, `turn ${turn}: forgotten below ${elsewhere}, published up to ${published}`);
      highest = Math.max(highest, pair.height);
      if (turn % 20 !== 4 && turn % 20 !== 19) continue;
      // The twin has pruned by the highest block there was, and the store only what was published then.
      pair.forward(Math.max(0, highest - pair.height));
      while (!(await pair.publish(target)));
      pair.prune();
      while (!(await pair.publish(target)));
      pair.assertCopy(target, `turn ${turn}`);
    }
    assert.ok(target.ends > 5, `${target.ends} ends`);
    assert.ok(readElsewhere(pair.local.rig.engine) > 25, String(readElsewhere(pair.local.rig.engine)));
    assert.ok(historyRows(pair.local) < historyRows(pair.whole) / 2);
    assert.deepEqual(verifyStore(pair.local.rig.engine, pair.local.devnet.ledger, { projections: WINDOWS.keeps ?? [] }).faults, []);
    await pair.close();
  });

  it('is never answered as if it were not: the same answer, or PRUNED', async () => {
    const random = new Random(TEST_SEED + 1);
    const pair = await Pair.open(4);
    const target = new MemoryTarget();
    let [same, pruned] = [0, 0];
    for (let round = 0; round < 4; round++) {
      pair.forward(16);
      await pair.publish(target);
      pair.prune();
      const requests = new RandomRequests(random, pair.whole.devnet);
      for (const kind of RandomRequests.kinds) {
        for (let n = 0; n < 3; n++) {
          const request = requests.next(kind);
          const [ours, theirs] = [await pair.local.ask(request), await pair.whole.ask(request)];
          if (ours.status === 410 && ours.text.includes('PRUNED') && theirs.status !== 410) pruned++;
          else {
            assert.deepEqual([ours.status, ours.text], [theirs.status, theirs.text], request.url);
            same++;
          }
        }
      }
    }
    assert.ok(same > 100 && pruned > 20, `${same} the same, ${pruned} pruned`);
    await pair.close();
  });

  it('stays where it is: nobody begins the copy anew with less, or goes on with another', async () => {
    const pair = await Pair.open(5);
    const target = new MemoryTarget();
    pair.forward(30);
    await pair.publish(target);
    pair.prune();
    assert.ok(readElsewhere(pair.local.rig.engine) > 10);
    const refused = (body: Promise<unknown>): Promise<void> => assert.rejects(body, (error) => isUnspentError(error, 'STORE_SHAPE'));
    await refused(pair.publish(new MemoryTarget()));
    const other = new MemoryTarget();
    const whole = publishedStore(pair.whole.rig, 'devnet', pair.whole.devnet.ledger);
    await publishOnce(await startPublisher(whole, other));
    await refused(pair.publish(other));
    const less = await Served.open({
      seed: 5,
      blocks: 35,
      mirrored: false,
      store: { ...WINDOWS, keeps: KEEP_ALL.filter((name) => !name.startsWith('history')) },
    });
    await refused(publishOnce(await startPublisher(publishedStore(less.rig, 'devnet', less.devnet.ledger), target)));
    // A store that has everything may begin it anew, and the one that has not goes on with that.
    const publisher = new Publisher(whole, target, await target.claim());
    await publisher.sendSnapshot();
    pair.forward(3);
    assert.equal(await pair.publish(target), true);
    pair.prune();
    await pair.publish(target);
    pair.assertCopy(target, 'after the other');
    await Promise.all([pair.close(), less.close()]);
  });

  it('is left from the first block on, or not at all', async () => {
    const served = await Served.open({ blocks: 40, mirrored: false, store: WINDOWS });
    served.prune();
    const leaving = await Served.open({ blocks: 1, mirrored: false, store: { ...WINDOWS, readSetting: leaves } });
    const { engine, options, fold } = served.rig;
    assertCode(() => pruneStep(engine, leaving.rig.projections, fold.head?.height ?? 0, options, 5), 'STORE_SHAPE');
    await leaving.close();
    await served.close();
  });
});
