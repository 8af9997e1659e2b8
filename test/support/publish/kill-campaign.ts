/**
 * Publishers in processes of their own, killed at every statement and at any
 * moment; servers of which every process is killed in the middle of a commit;
 * two publishers that fight for the lead. A reader looks all the time: count and
 * sum of the head are those of the rows, and the copy never goes back behind what
 * a publisher was told is published.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Random } from '../../../src/chains/random.ts';
import type { CopyTarget } from '../../../src/publish/target.ts';
import { pause } from '../../../src/util/pause.ts';
import { compiledEnvironment } from '../compile-cache.ts';
import { assertSameDump, dump } from '../harness.ts';
import { eventually } from '../patience.ts';
import type { PostgresServer } from '../sql/postgres-server.ts';
import { isToBeTriedAgain, KillChain, type KillJob, publishJob, TRY_AGAIN } from './kill-chain.ts';
import { CopyReader } from './postgres-copy.ts';
import { assertSameTables, freshTables, SqlCopy } from './sql-copy.ts';

const CHILD = fileURLToPath(new URL('./kill-child.ts', import.meta.url));
/** Commits wait so long before they are on the disk, so that there is a middle of them to be killed in. */
export const DURABLE = { fsync: 'on', full_page_writes: 'on', commit_delay: '20000', commit_siblings: '0' };

export interface KillPlan {
  readonly form: CopyTarget['form'];
  readonly seed: number;
  /** Where results of compiling are kept between processes. */
  readonly folder: string;
  /** Statements between two kills of those at every statement: 1 is each. */
  readonly stride: number;
  /** Kills of publishers at random moments, of servers in a commit, and fights. */
  readonly random: number;
  readonly servers: number;
  readonly fights: number;
}

export interface KillReport {
  readonly form: string;
  /** Publishers killed before a statement, and at a random moment. */
  atStatement: number;
  atRandom: number;
  /** Servers killed in a commit: of these, the commit had happened. */
  servers: number;
  committed: number;
  fights: number;
  /** Times that another took over from one that was killed, after its lease. */
  takeovers: number;
  moments: number;
  compared: number;
  steps: number;
  rollbacks: number;
}

/** Reads one moment after the other behind the back of everybody. */
class Watcher {
  moments = 0;
  private isStopped = false;
  private seq = 0;
  private readonly url: string;
  private readonly form: CopyTarget['form'];
  private readonly watching: Promise<void>;
  /** What a publisher was told is published: a moment that begins later shows no less. */
  told = 0;

  constructor(url: string, form: CopyTarget['form']) {
    this.url = url;
    this.form = form;
    this.watching = this.watch();
    this.watching.catch(() => undefined);
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.watching;
  }

  private async watch(): Promise<void> {
    while (!this.isStopped) {
      try {
        await this.look();
      } catch (error) {
        // The server is away, or the schema is not there yet. Anything else was read and is wrong.
        if (error instanceof assert.AssertionError) throw error;
        await pause(20, {});
      }
      await pause(5, {});
    }
  }

  private async look(): Promise<void> {
    const reader = this.form === 'columns' ? await CopyReader.open(this.url) : await SqlCopy.open(this.url);
    try {
      while (!this.isStopped) {
        await pause(20, {});
        const { told } = this;
        const found = await reader.check();
        const seq = typeof found === 'number' ? found : found.isComplete ? found.seq : 0;
        // Of a moment before tables were replaced nothing is told.
        if (seq === 0) continue;
        assert.ok(seq >= this.seq && seq >= told, `change ${seq} after ${this.seq}, and ${told} was acknowledged`);
        this.seq = seq;
        this.moments++;
      }
    } finally {
      await reader.close().catch(() => undefined);
    }
  }
}

/** One process that publishes. */
class Publishing {
  /** What it said last before it ended, and how: true, it was killed; false, it may be tried again; a number, it was done with so many snapshots. */
  readonly ended: Promise<boolean | number>;
  private readonly child: ChildProcess;
  private readonly listeners = new Set<(line: string) => void>();

  constructor(job: KillJob, folder: string, watcher: Watcher) {
    this.child = spawn(process.execPath, [CHILD], { stdio: ['pipe', 'pipe', 'pipe'], env: compiledEnvironment(folder) });
    const { stdin, stdout, stderr } = this.child;
    stdin?.on('error', () => undefined);
    stdin?.end(JSON.stringify(job));
    let [errors, snapshots] = ['', -1];
    stderr?.on('data', (text) => {
      errors += text;
    });
    createInterface({ input: stdout ?? assert.fail() }).on('line', (line) => {
      const [what, number] = line.split(' ');
      if (what === 'published') watcher.told = Math.max(watcher.told, Number(number));
      if (what === 'done') snapshots = Number(number);
      for (const listener of this.listeners) listener(line);
    });
    this.ended = new Promise((resolve, reject) => {
      this.child.once('error', reject);
      this.child.once('close', (code, signal) => {
        if (signal === 'SIGKILL') resolve(true);
        else if (code === 0) resolve(snapshots);
        else if (code === TRY_AGAIN) resolve(false);
        else reject(new Error(`a publisher failed by itself:\n${errors}`));
      });
    });
    this.ended.catch(() => undefined);
  }

  /** Resolves when it has said that so many times, or has ended. */
  async says(what: string, times: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    let count = 0;
    this.listeners.add((line) => {
      if (line.startsWith(what) && ++count >= times) resolve();
    });
    await Promise.race([promise, this.ended.catch(() => undefined)]);
  }

  kill(): void {
    this.child.kill('SIGKILL');
  }
}

export class KillCampaign {
  readonly report: KillReport;
  private readonly server: PostgresServer;
  private readonly plan: KillPlan;
  private readonly random: Random;
  private readonly chain: KillChain;
  private readonly url: string;
  private readonly watcher: Watcher;

  private constructor(server: PostgresServer, url: string, plan: KillPlan) {
    this.server = server;
    this.url = url;
    this.plan = plan;
    this.random = new Random(plan.seed);
    this.chain = new KillChain(plan.seed, 0);
    this.watcher = new Watcher(url, plan.form);
    const nothing = { atStatement: 0, atRandom: 0, servers: 0, committed: 0, fights: 0, takeovers: 0, moments: 0, compared: 0 };
    this.report = { form: plan.form, ...nothing, steps: 0, rollbacks: 0 };
  }

  static async run(server: PostgresServer, plan: KillPlan): Promise<KillReport> {
    const campaign = new KillCampaign(server, await server.unusedUrl(), plan);
    try {
      await campaign.all();
    } finally {
      await campaign.watcher.stop();
    }
    const { moments } = campaign.watcher;
    const { steps, rollbacks } = campaign.chain;
    return { ...campaign.report, moments, steps, rollbacks };
  }

  private async all(): Promise<void> {
    const { plan, report } = this;
    // The first snapshot, blocks, and a snapshot over a copy that is whole.
    await this.atEveryStatement(false);
    for (let i = 0; i < 2; i++) {
      this.chain.step();
      await this.atEveryStatement(false);
    }
    await this.atEveryStatement(true);
    for (let left = plan.random; left > 0; left--) await this.atRandom();
    for (let left = plan.servers; left > 0; left--) await this.serverInCommit();
    for (let left = plan.fights; left > 0; left--) await this.fight();
    await this.persist();
    await this.compare();
    assert.ok(report.compared > 2);
  }

  private start(job: Partial<KillJob> = {}): Publishing {
    const { form, seed, folder } = this.plan;
    const usual = { url: this.url, form, seed, steps: this.chain.steps, publisher: 'one', killAt: 0, anew: false };
    return new Publishing({ ...usual, ...job }, folder, this.watcher);
  }

  /** Until the copy is where the chain is. Nobody kills this one, so it is in our own process. Returns the snapshots that it took. */
  private async persist(publisher = 'one'): Promise<number> {
    const { chain, url, watcher } = this;
    const { form } = this.plan;
    const published = (seq: number): void => {
      watcher.told = Math.max(watcher.told, seq);
    };
    for (;;) {
      try {
        return await publishJob({ url, form, publisher, anew: false }, chain.store, { published });
      } catch (error) {
        if (!isToBeTriedAgain(error)) throw error;
      }
    }
  }

  private async atEveryStatement(anew: boolean): Promise<void> {
    for (let killAt = 1; ; killAt += this.plan.stride) {
      const ended = await this.start({ killAt, anew }).ended;
      if (ended === true) this.report.atStatement++;
      if (typeof ended === 'number') break;
    }
    await this.compare();
  }

  private async atRandom(): Promise<void> {
    const { random, report } = this;
    this.chain.step();
    const publishing = this.start({ anew: random.chance(0.3) });
    await publishing.says(random.pick(['statement', 'commit']), 1 + random.int(6));
    await pause(random.int(30), {});
    publishing.kill();
    if ((await publishing.ended) === true) report.atRandom++;
    if (report.atRandom % 10 === 3) {
      // Another, which has to wait for the lease of the dead one, and goes on at its head.
      report.takeovers++;
      assert.equal(await this.persist('another'), 0, 'it needs no snapshot');
    } else await this.persist();
    if (report.atRandom % 8 === 0) await this.compare();
  }

  /** A commit is either there when the server is, or is not; what the publisher was told of, is. */
  private async serverInCommit(): Promise<void> {
    const { random, report } = this;
    this.chain.step();
    const before = await this.seq();
    const publishing = this.start({ anew: random.chance(0.2) });
    await publishing.says('commit', 1);
    await pause(random.int(40), {});
    await this.server.killAll();
    await publishing.ended;
    await this.server.run();
    report.servers++;
    if ((await this.seq()) > before) report.committed++;
    await this.persist();
    if (report.servers % 4 === 0) await this.compare();
  }

  private async fight(): Promise<void> {
    const { random, report } = this;
    this.chain.step();
    const two = [this.start(), this.start({ anew: random.chance(0.3) })];
    if (random.chance(0.5)) {
      await two[0].says('statement', 2 + random.int(8));
      two[0].kill();
    }
    const ends = await Promise.all(two.map((one) => one.ended));
    report.atRandom += ends.filter((end) => end === true).length;
    report.fights++;
    await this.persist();
    if (report.fights % 4 === 0) await this.compare();
  }

  private seq(): Promise<number> {
    return eventually(async () => {
      const reader = await CopyReader.open(this.url);
      try {
        return await reader.read(async ({ seq }) => seq);
      } finally {
        await reader.close();
      }
    });
  }

  /** Byte for byte the store, or table for table what a copy is that begins now. */
  private async compare(): Promise<void> {
    const { rig, store } = this.chain;
    this.report.compared++;
    if (this.plan.form === 'sql') {
      const copy = await SqlCopy.open(this.url);
      assertSameTables(await copy.dump(), await freshTables(await this.server.unusedUrl(), store), 'the copy');
      await copy.close();
      return;
    }
    const reader = await CopyReader.open(this.url);
    await reader.read(async (head) => {
      const names = rig.engine.columns.map(({ name }) => name);
      assertSameDump(await reader.dump(head, names), dump(rig.engine), `the copy at change ${head.seq}`);
    });
    await reader.close();
  }
}

/** Of publishers and servers. */
export function killsOf({ atStatement, atRandom, servers }: KillReport): number {
  return atStatement + atRandom + servers;
}
