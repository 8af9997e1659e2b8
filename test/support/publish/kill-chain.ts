/** The chain of a campaign of kills, the same steps in every process that makes it; what a process is told, and does. */
import { openTarget } from '../../../src/publish/open.ts';
import type { PublishedStore } from '../../../src/publish/published-store.ts';
import type { CopyTarget } from '../../../src/publish/target.ts';
import { isUnspentError } from '../../../src/util/errors.ts';
import { Devnet, devnetOptions, memoryRig, type Rig } from '../harness.ts';
import { keep } from '../keep.ts';
import { publishedStore, publishOnce, startPublisher } from './rig.ts';

export interface KillJob {
  readonly url: string;
  readonly form: CopyTarget['form'];
  readonly seed: number;
  readonly steps: number;
  readonly publisher: string;
  /** It ends itself before that statement; 0: before none. */
  readonly killAt: number;
  /** A snapshot, whether one is needed or not. */
  readonly anew: boolean;
}

/** What it ends with where another publisher, or nobody, answers: it may be tried again. */
export const TRY_AGAIN = 3;

export function isToBeTriedAgain(error: unknown): boolean {
  return isUnspentError(error, 'DATABASE_BUSY') || isUnspentError(error, 'FENCED');
}

/** Returns the snapshots that it took. */
export async function publishJob(
  { url, form, publisher: name, anew }: Pick<KillJob, 'url' | 'form' | 'publisher' | 'anew'>,
  store: PublishedStore,
  told: { beforeStatement?(text: string): void; published(seq: number): void },
): Promise<number> {
  const target = await openTarget(url, form, store, { publisher: name, beforeStatement: told.beforeStatement });
  try {
    const publisher = await startPublisher(store, target, { onPublished: ({ seq }) => told.published(seq) });
    const beat = setInterval(() => void target.renew().catch(() => undefined), 1000);
    try {
      if (anew) await publisher.sendSnapshot();
      else await publishOnce(publisher);
      told.published(publisher.published.seq);
      return publisher.counts.snapshots;
    } finally {
      clearInterval(beat);
      publisher.close();
    }
  } finally {
    await target.close();
  }
}

export class KillChain {
  readonly rig: Rig;
  readonly store: PublishedStore;
  steps = 0;
  rollbacks = 0;
  private readonly devnet: Devnet;

  constructor(seed: number, steps: number) {
    this.devnet = new Devnet(devnetOptions(seed, 'conway'));
    this.rig = memoryRig(this.devnet, { keeps: keep(), ahead: false });
    this.store = publishedStore(this.rig, 'devnet', this.devnet.ledger);
    this.rig.forward(6);
    while (this.steps < steps) this.step();
  }

  step(): void {
    this.steps++;
    if (this.steps % 3 === 0) {
      const back = 1 + (this.steps % 4);
      this.rig.fold.rollback(this.devnet.pointBelow(back));
      this.devnet.chain.rollback(back);
      this.rollbacks++;
    }
    this.rig.forward(1 + (this.steps % 4));
  }
}
