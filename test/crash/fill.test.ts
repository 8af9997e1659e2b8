/**
 * `kill -9` while projections are switched on and off and filled: what is left
 * is a store whose ready projections are right, whose filling ones are those of
 * the outputs up to their cursor, and no step that was acknowledged is lost.
 * Opened again it goes on, and ends as if nothing had happened.
 */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Random } from '../../src/chains/random.ts';
import { selectProjections } from '../../src/projections/registry.ts';
import type { OpenStore } from '../../src/store/store.ts';
import { compiledEnvironment } from '../support/compile-cache.ts';
import { headOf } from '../support/crash-check.ts';
import { openCrashStore, temporaryFolder } from '../support/crash-store.ts';
import { Story } from '../support/crash-story.ts';
import { pathTo, pointOf, sourceTo } from '../support/crash-tree.ts';
import type { FillJob } from '../support/fill-child.ts';
import { assertAsCursorsSay } from '../support/fill-rig.ts';
import { KEEP_ALL } from '../support/harness.ts';

const { UNSPENT_TEST_SEED = '1' } = process.env;
const SEED = Number(UNSPENT_TEST_SEED);
const KILLS = 40;
/** Kills that must have landed in changing the shape, and between the steps of a fill. */
const KILLS_EACH = 5;
const ROUNDS_MAX = 90;
/** After the child says what it begins. Opening takes some ten milliseconds, all the rest some hundred. */
const OPENING_MS_MAX = 60;
const FILLING_MS_MAX = 80;
const SWITCHES = [
  'index.addressHash',
  'index.paymentCredential',
  'index.stakeCredential',
  'index.policy',
  'index.asset',
  'index.datumHash',
  'index.referenceScript',
  'balances',
  'datums',
  'scripts',
];
const CHILD = fileURLToPath(new URL('../support/fill-child.ts', import.meta.url));

type Done = Readonly<Record<string, number>>;

interface Report {
  readonly phase: 'starting' | 'opening' | 'opened' | 'closing';
  /** What the last acknowledged step said. */
  readonly filled: Done | null;
  readonly killed: boolean;
}

/** Starts a child and kills it some time after it has come to `aim`. */
async function killed(folder: string, job: FillJob, aim: string, ms: number): Promise<Report> {
  const child = spawn(process.execPath, [CHILD, folder], { stdio: ['pipe', 'pipe', 'pipe'], env: compiledEnvironment(folder) });
  let [text, errors] = ['', ''];
  const arrived = Promise.withResolvers<void>();
  child.stdin.on('error', () => {});
  child.stdin.end(`${JSON.stringify(job)}\n`);
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  child.stdout.on('data', (chunk) => {
    text += chunk;
    if (text.includes(`${aim}\n`)) arrived.resolve();
  });
  const gone = once(child, 'close') as Promise<[number | null, string | null]>;
  await Promise.race([arrived.promise, gone]);
  await Promise.race([sleep(ms), gone]);
  child.kill('SIGKILL');
  const [code, signal] = await gone;
  ok(signal === 'SIGKILL' || code === 0, `a child failed by itself:\n${errors}`);
  // A line that was cut off by the kill was not said.
  const lines = text.split('\n').slice(0, -1);
  const filled = lines.findLast((line) => line.startsWith('filled '));
  const phase = lines.findLast((line) => !line.startsWith('filled ')) ?? 'starting';
  return {
    phase: phase as Report['phase'],
    filled: filled === undefined ? null : (JSON.parse(filled.slice(7)) as Done),
    killed: signal === 'SIGKILL',
  };
}

class Campaign {
  readonly landed = { opening: 0, filling: 0, idle: 0, closing: 0 };
  private readonly random = new Random(SEED, 5);
  private readonly story = new Story(SEED, 400);
  private readonly folder = temporaryFolder();
  private readonly data = join(this.folder, 'store');
  private on: readonly string[] = [];
  kills = 0;

  async begin(): Promise<void> {
    this.story.tree.save(this.folder);
    await this.open(async (store) => {
      await store.follow(sourceTo(pathTo(this.story.end)[250], 1000));
    });
  }

  async round(): Promise<void> {
    const { random } = this;
    const before = this.on;
    // Two or three switches at a time; now and then the settings stay, and the next child goes on.
    if (random.chance(0.8)) {
      const turned = new Set(Array.from({ length: 2 + random.int(2) }, () => random.pick(SWITCHES)));
      this.on = SWITCHES.filter((name) => before.includes(name) !== turned.has(name));
    }
    const aim = random.chance(0.4) ? 'opening' : 'opened';
    const job = { data: this.data, seed: random.next(), selfContained: false, set: this.settings() };
    const report = await killed(this.folder, job, aim, random.int(aim === 'opening' ? OPENING_MS_MAX : FILLING_MS_MAX));
    if (report.killed) {
      this.kills++;
      if (report.phase === 'opening' || report.phase === 'closing') this.landed[report.phase]++;
      else this.landed[Object.keys(report.filled ?? {}).length > 0 ? 'filling' : 'idle']++;
    }
    await this.inspect(report, random.chance(0.3));
  }

  /** First as it is, then with the settings of the one that died. */
  private async inspect({ phase, filled }: Report, finish: boolean): Promise<void> {
    const when = `killed in ${phase} with ${this.on}`;
    await this.open((store) => this.check(store, when), false);
    await this.open(async (store) => {
      this.check(store, `${when}, opened again`);
      const found = new Map(store.fills().map(({ projection, done }) => [projection, done]));
      for (const [name, done] of Object.entries(filled ?? {}))
        ok((found.get(name) ?? 1) >= done, `${when}: ${name} was at ${done} already`);
      if (filled !== null)
        deepEqual(
          [...found.keys()].filter((name) => !(name in filled)),
          [],
          `${when}: what was ready is ready`,
        );
      if (!finish) return;
      const tip = this.story.tree.descend(this.story.tree.find(headOf(store)) ?? null, 5, this.random);
      if (tip !== null) await store.follow(sourceTo(tip, 2));
      deepEqual(store.fills(), [], `${when}: the fill comes to its end`);
      this.check(store, `${when}, filled`);
      const path = pathTo(tip);
      const [target, horizon] = [pointOf(path[Math.max(0, path.length - 20)]), store.horizon()];
      // Going back again and again comes to the horizon, which does not follow.
      store.rollback(horizon !== null && horizon.height > target.height ? horizon : target);
      this.check(store, `${when}, rolled back`);
    });
  }

  private check(store: OpenStore, when: string): void {
    const block = this.story.tree.find(headOf(store));
    ok(block, `${when}: the head is a block of the story`);
    equal(store.digest().digest, this.story.stateAt(block).digest, `${when}: the unspent set`);
    deepEqual(store.verify().faults, [], `${when}: verify finds nothing`);
    const { projections } = store.status();
    const kept = selectProjections(KEEP_ALL, store.network.ledger).filter(({ name }) => projections.includes(name));
    assertAsCursorsSay(store.engine, kept, store.network.ledger, when);
  }

  private settings(): string[] {
    return SWITCHES.map((name) => `utxo.${name}=${this.on.includes(name)}`);
  }

  private async open<T>(body: (store: OpenStore) => T | Promise<T>, reshape = true): Promise<T> {
    const store = await openCrashStore(this.data, this.story.tree.genesis, {
      selfContained: false,
      set: this.settings(),
      reshape,
    });
    try {
      return await body(store);
    } finally {
      await store.close();
    }
  }

  dispose(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

describe('kill -9 while switching and filling', () => {
  it(`leaves a good store, ${KILLS} times (seed ${SEED})`, async (t) => {
    const campaign = new Campaign();
    const lacks = () => campaign.kills < KILLS || campaign.landed.opening < KILLS_EACH || campaign.landed.filling < KILLS_EACH;
    try {
      await campaign.begin();
      for (let round = 0; lacks() && round < ROUNDS_MAX; round++) await campaign.round();
      ok(!lacks(), `hardly a kill landed where it should: ${JSON.stringify(campaign.landed)}`);
    } catch (error) {
      throw new Error(`seed ${SEED}, after ${campaign.kills} kills: ${(error as Error).message}`, { cause: error });
    } finally {
      t.diagnostic(JSON.stringify({ kills: campaign.kills, ...campaign.landed }));
      campaign.dispose();
    }
  });
});
