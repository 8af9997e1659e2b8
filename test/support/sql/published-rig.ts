/** A chain that is published into a cluster while its primary dies: blocks and rollbacks, one after the other, each waited for. */
import { openTarget } from '../../../src/publish/open.ts';
import { PublishRunner } from '../../../src/publish/runner.ts';
import { assertSameDump, Devnet, devnetOptions, dump, memoryRig } from '../harness.ts';
import { keep } from '../keep.ts';
import { until } from '../patience.ts';
import { CopyReader } from '../publish/postgres-copy.ts';
import { publishedStore } from '../publish/rig.ts';

export class PublishedRig {
  /** Moves of the chain of which the publisher was told that the copy has them. */
  published = 0;
  private readonly devnet = new Devnet(devnetOptions(31, 'conway'));
  private readonly rig = memoryRig(this.devnet, { keeps: keep() });

  /** Until it is told to stop. Returns the calls of wallets that were made again: none. */
  async run(url: string, running: { readonly stop: boolean }): Promise<number> {
    this.rig.forward(5);
    const store = publishedStore(this.rig, 'devnet', this.devnet.ledger);
    const target = await openTarget(url, 'columns', store);
    const runner = new PublishRunner(store, target, { follow: true });
    const stop = new AbortController();
    const publishing = runner.run(stop.signal);
    let failure: unknown = null;
    publishing.catch((error: unknown) => {
      failure = error;
    });
    for (let n = 0; !running.stop; n++) {
      this.move(n);
      runner.moved();
      await until(() => {
        if (failure !== null) throw failure;
        const { state, height, lag } = runner.report;
        return state === 'publishing' && lag === 0 && height === this.rig.fold.head?.height;
      }, 'the copy has what the chain did');
      this.published++;
    }
    stop.abort();
    await publishing;
    await target.close();
    return 0;
  }

  /** The copy, at the server that is left, is the chain. */
  async check(url: string): Promise<void> {
    const reader = await CopyReader.open(url);
    try {
      await reader.check();
      await reader.read(async (head) => {
        const columns = this.rig.engine.columns.map(({ name }) => name);
        assertSameDump(await reader.dump(head, columns), dump(this.rig.engine), 'the copy behind the failover');
      });
    } finally {
      await reader.close();
    }
  }

  /** To another height each time: what the publisher reports of the one before must not look like the answer. */
  private move(n: number): void {
    if (n % 4 !== 3) {
      this.rig.forward(1 + (n % 3));
      return;
    }
    this.rig.fold.rollback(this.devnet.pointBelow(2));
    this.devnet.chain.rollback(2);
    this.rig.forward(3);
  }
}
