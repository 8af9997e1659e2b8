/** A publisher whose answers are lost on the way, commit after commit: the copy has each change once, and in the end it is the store. */
import assert from 'node:assert/strict';
import { openTarget } from '../../../src/publish/open.ts';
import type { CopyTarget } from '../../../src/publish/target.ts';
import { isUnspentError, UnspentError } from '../../../src/util/errors.ts';
import type { CuttingProxy } from '../cutting-proxy.ts';
import { Devnet, devnetOptions, memoryRig, type Rig } from '../harness.ts';
import { keep } from '../keep.ts';
import { publishedStore, publishOnce, startPublisher } from './rig.ts';

export interface LosingWay {
  readonly form: CopyTarget['form'];
  /** Through the proxy. */
  readonly url: string;
  /** Null: nothing is cut, and whoever waits for an answer is told that it was lost. */
  readonly proxy: CuttingProxy | null;
  /** Of these, each text has no answer the first time, the third, and so on. */
  readonly isCut: (text: string) => boolean;
  /** Throws where the copy, seen past the proxy, is not the store. Returns the number of its change. */
  check(rig: Rig, store: ReturnType<typeof publishedStore>): Promise<number>;
}

export async function publishThroughLosses({ form, url, proxy, isCut, check }: LosingWay): Promise<void> {
  const devnet = new Devnet(devnetOptions(51, 'conway'));
  const rig = memoryRig(devnet, { keeps: keep() });
  const store = publishedStore(rig, 'devnet', devnet.ledger);
  let [losses, seq, moves] = [0, 0, 0];
  const asked = new Map<string, number>();
  const isLost = (text: string): boolean => {
    if (!isCut(text)) return false;
    const times = asked.get(text) ?? 0;
    asked.set(text, times + 1);
    return times % 2 === 0;
  };
  const target = await openTarget(url, form, store, {
    publisher: 'the one of this test',
    beforeStatement: (text) => {
      if (proxy !== null && isLost(text)) proxy.arm();
    },
    afterCompareAndSet: (text) => {
      if (proxy === null && isLost(text)) throw new UnspentError('DATABASE_BUSY', 'the answer was lost');
    },
  });
  rig.forward(6);
  for (let i = 0; i < 6; i++) {
    for (let isDone = false; !isDone; ) {
      try {
        const publisher = await startPublisher(store, target);
        await publishOnce(publisher);
        publisher.close();
        isDone = true;
      } catch (error) {
        if (!isUnspentError(error, 'DATABASE_BUSY')) throw error;
        losses++;
      }
    }
    const now = await check(rig, store);
    assert.ok(i === 0 || now === seq + moves, `${moves} changes after ${seq}, not ${now - seq}`);
    seq = now;
    moves = 0;
    if (i % 3 === 2) {
      rig.fold.rollback(devnet.pointBelow(2));
      devnet.chain.rollback(2);
      moves += form === 'sql' ? 1 : 2;
    }
    rig.forward(1 + (i % 2));
    moves += 1 + (i % 2);
  }
  await target.close();
  assert.ok(losses >= 3 && (proxy === null || proxy.cuts >= losses), `${losses} failures, ${proxy?.cuts} answers cut`);
}
