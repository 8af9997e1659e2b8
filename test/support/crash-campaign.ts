/**
 * Kills children one after the other and looks at what each leaves behind. A
 * store lives through several kills; half of the time what a kill left is
 * checked in a copy, so that the next child recovers the wreck itself. Kills
 * are aimed at each phase in turn; what counts is where they landed.
 */
import { equal, ok } from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Random } from '../../src/sources/devnet/random.ts';
import { readPruned } from '../../src/state/pruned.ts';
import type { Store } from '../../src/store.ts';
import { checkStore, headOf } from './crash-check.ts';
import { openStore, temporaryFolder } from './crash-store.ts';
import { Story } from './crash-story.ts';
import { pointOf, sourceTo, type TreeBlock } from './crash-tree.ts';
import { type Job, type Operation, PHASES, type Phase, Witness } from './crash-witness.ts';

const CHILD = fileURLToPath(new URL('./crash-child.ts', import.meta.url));
const BLOCKS = 900;
/** A new store is taken this far, so that there is something to prune. */
const GROWN_BLOCKS = 150;
/** One new store in so many becomes the one the next kills hit. */
const STORE_CHANGE = 4;
/** Above this height there is too little story left: the store has served. */
const HEIGHT_MAX = BLOCKS - 150;
/** A child that does not come to the phase aimed at is killed anyway. */
const PATIENCE_MS = 1000;
/** For kills at any moment. */
const DELAY_MS_MAX = 160;
const NEVER = 1_000_000;

type Aim = Exclude<Phase, 'between'> | 'any';
const AIMS: readonly Aim[] = ['any', 'create', 'open', 'sync', 'reorg', 'rollback', 'prune', 'close'];
const OPERATIONS: readonly Aim[] = ['sync', 'reorg', 'rollback', 'prune'] satisfies Operation[];

export interface CampaignSummary {
  readonly seed: number;
  readonly kills: number;
  readonly byPhase: Readonly<Record<Phase, number>>;
  readonly stores: number;
  /** Stores brought to the end of the story, to their horizon and back. */
  readonly finished: number;
  readonly acknowledged: number;
  /** Kills after which the state was later than the last acknowledged one. */
  readonly ahead: number;
  readonly heightAtDeath: { readonly min: number; readonly median: number; readonly max: number };
  readonly seconds: number;
}

interface Subject {
  readonly data: string;
  readonly selfContained: boolean;
  block: TreeBlock | null;
  forgotten: { readonly spent: number; readonly deltas: number };
}

export class CrashCampaign {
  readonly seed: number;
  private readonly story: Story;
  private readonly random: Random;
  private readonly folder = temporaryFolder();
  private readonly durations = new Map<Phase, number>();
  private readonly byPhase = Object.fromEntries(PHASES.map((phase) => [phase, 0])) as Record<Phase, number>;
  private readonly heights: number[] = [];
  private readonly started = performance.now();
  private subject: Subject | null = null;
  private waiting: Child;
  private aims: Aim[] = [];
  private stores = 0;
  private finished = 0;
  private acknowledged = 0;
  private ahead = 0;

  constructor(seed: number) {
    this.seed = seed;
    this.random = new Random(seed, 3);
    this.story = new Story(seed, BLOCKS);
    this.story.tree.save(this.folder);
    this.waiting = new Child(this.folder);
  }

  get kills(): number {
    return this.heights.length;
  }

  summary(): CampaignSummary {
    const { seed, kills, byPhase, stores, finished, acknowledged, ahead } = this;
    const sorted = [...this.heights].sort((a, b) => a - b);
    const heightAtDeath = { min: sorted[0] ?? -1, median: sorted[sorted.length >> 1] ?? -1, max: sorted.at(-1) ?? -1 };
    const seconds = Math.round((performance.now() - this.started) / 100) / 10;
    return { seed, kills, byPhase: { ...byPhase }, stores, finished, acknowledged, ahead, heightAtDeath, seconds };
  }

  /** One child more; it counts as a kill when it did not end by itself before. */
  async round(): Promise<void> {
    if (this.aims.length === 0) {
      this.aims = [...AIMS];
      this.random.shuffle(this.aims);
    }
    const aim = this.aims.pop()!;
    if (this.subject !== null && (this.subject.block?.height ?? 0) > HEIGHT_MAX) await this.finish();
    if (this.subject === null || aim === 'create') await this.create(aim);
    else await this.work(this.subject, aim, false);
  }

  /** Takes the last store to the end of the story. */
  async end(): Promise<void> {
    if (this.subject !== null) await this.finish();
  }

  async dispose(): Promise<void> {
    await this.waiting.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** A child makes a new store, which sometimes takes the place of the one we have. */
  private async create(aim: Aim): Promise<void> {
    const data = join(this.folder, `store-${this.stores++}`);
    const made: Subject = { data, selfContained: this.stores % 4 === 0, block: null, forgotten: { spent: -1, deltas: -1 } };
    await this.work(made, aim, true);
    if (this.subject !== null && this.stores % STORE_CHANGE !== 0) {
      rmSync(data, { recursive: true });
      return;
    }
    if (this.subject !== null) await this.finish();
    this.subject = made;
  }

  private async work(subject: Subject, aim: Aim, creates: boolean): Promise<void> {
    const { random } = this;
    const job: Job = {
      data: subject.data,
      seed: random.next(),
      creates,
      selfContained: subject.selfContained,
      applyAsync: random.chance(0.3),
      focus: OPERATIONS.includes(aim) ? (aim as Operation) : null,
      steps: aim === 'close' ? random.int(12) : NEVER,
    };
    const witness = new Witness(this.story.tree, subject.block);
    witness.forgotten = subject.forgotten;
    const child = this.waiting;
    child.start(job, witness, (phase, ms) => this.measure(phase, ms));
    // The next one starts up while this one is at work.
    this.waiting = new Child(this.folder);
    await this.strike(child, aim, creates);
    const killed = await child.gone;
    this.acknowledged += witness.acknowledged;
    await this.inspect(subject, witness, creates);
    if (!killed) return;
    this.byPhase[witness.phase]++;
    this.heights.push(subject.block?.height ?? -1);
  }

  /** Waits for the moment and kills. */
  private async strike(child: Child, aim: Aim, creates: boolean): Promise<void> {
    const { random } = this;
    const phase = aim === 'create' || aim === 'open' ? (creates ? 'create' : 'open') : aim;
    if (phase === 'any') {
      await child.reached(creates ? 'create' : 'open', 1);
      await sleep(random.int(DELAY_MS_MAX));
    } else {
      await child.reached(phase, OPERATIONS.includes(phase) ? 1 + random.int(6) : 1);
      const delayMs = ((this.durations.get(phase) ?? 1) * random.int(1000)) / 1000;
      if (delayMs > 4) await sleep(delayMs);
      else for (const start = performance.now(); performance.now() - start < delayMs; );
    }
    await child.kill();
  }

  /** A running mean of how long each phase takes, so that a blow can land inside it. */
  private measure(phase: Phase, ms: number): void {
    const before = this.durations.get(phase) ?? ms;
    this.durations.set(phase, before + (ms - before) / 8);
  }

  private async inspect(subject: Subject, witness: Witness, creates: boolean): Promise<void> {
    const copied = !creates && this.random.chance(0.5);
    const data = copied ? `${subject.data}-copy` : subject.data;
    if (copied) cpSync(subject.data, data, { recursive: true });
    const store = await openStore(data, this.story.tree.genesis, { selfContained: subject.selfContained, applyAsync: false });
    try {
      const possible = witness.possible();
      const found = headOf(store);
      ok(possible.has(found), `killed in ${witness.phase}: found block ${found}, possible were ${[...possible].join(', ')}`);
      if ([...possible][0] !== found) this.ahead++;
      const block = checkStore(store, this.story);
      const pruned = readPruned(store.engine);
      ok(pruned.deltas >= witness.forgotten.deltas, `the cursor of deltas went back to ${pruned.deltas}`);
      if (!subject.selfContained) ok(pruned.spent >= witness.forgotten.spent, `the cursor of spent outputs went back to ${pruned.spent}`);
      subject.block = block;
      subject.forgotten = pruned;
      const resumed = await this.resume(store, block, creates ? GROWN_BLOCKS : 1 + this.random.int(10));
      if (!copied) subject.block = resumed;
    } finally {
      await store.close();
      if (copied) rmSync(data, { recursive: true });
    }
  }

  /** Following goes on by itself, a few blocks by any branch. */
  private async resume(store: Store, from: TreeBlock | null, blocks: number): Promise<TreeBlock | null> {
    const tip = this.story.tree.descend(from, blocks, this.random);
    if (tip === null || tip === from) return from;
    await store.follow(sourceTo(tip, 1000));
    equal(headOf(store), tip.hash, 'following resumes');
    equal(store.digest().digest, this.story.stateAt(tip).digest, 'and arrives');
    return tip;
  }

  /** To the horizon, and from there to the end of the main chain; then the store is done with. */
  private async finish(): Promise<void> {
    const { story } = this;
    const { data, selfContained } = this.subject!;
    this.subject = null;
    const store = await openStore(data, story.tree.genesis, { selfContained, applyAsync: false });
    try {
      const horizon = store.horizon();
      store.rollback(horizon);
      checkStore(store, story);
      while (!store.prune().done);
      await store.follow(sourceTo(story.end, 1000));
      while (!store.prune().done);
      equal(headOf(store), story.end.hash, 'the store comes to the end of the story');
      checkStore(store, story);
      equal(store.rollback(pointOf(story.end)), 0);
    } finally {
      await store.close();
    }
    this.finished++;
    rmSync(data, { recursive: true });
  }
}

/** A process that is ready to work, works, and is killed. */
class Child {
  private readonly process: ChildProcessByStdio<Writable, Readable, Readable>;
  private readonly begun = new Map<string, number>();
  private readonly waiters: { readonly phase: Phase; readonly count: number; readonly arrived: () => void }[] = [];
  private errors = '';
  private failure: unknown;
  /** True: by our hand. */
  readonly gone: Promise<boolean>;

  constructor(folder: string) {
    this.process = spawn(process.execPath, [CHILD, folder], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compiled') },
    });
    // A pipe to a process that has just been killed.
    this.process.stdin.on('error', () => {});
    this.process.stderr.on('data', (chunk) => {
      this.errors += chunk;
    });
    this.gone = new Promise((resolve, reject) => {
      this.process.on('error', reject);
      this.process.on('close', (code, signal) => {
        for (const waiter of this.waiters) waiter.arrived();
        if (this.failure !== undefined) reject(this.failure);
        else if (signal === null && code !== 0) reject(new Error(`a child failed by itself:\n${this.errors}`));
        else resolve(signal === 'SIGKILL');
      });
    });
    // Looked at when its turn comes.
    this.gone.catch(() => {});
  }

  start(job: Job, witness: Witness, measure: (phase: Phase, ms: number) => void): void {
    let rest = '';
    let since = 0;
    this.process.stdout.on('data', (chunk) => {
      // A line that was cut off by the kill was not said.
      const lines = (rest + chunk).split('\n');
      rest = lines.pop()!;
      try {
        for (const line of lines) {
          const before = witness.phase;
          witness.hear(line);
          if (line.startsWith('begin ')) {
            since = performance.now();
            this.count(witness.phase);
          } else if (line === 'end') measure(before, performance.now() - since);
        }
      } catch (error) {
        this.failure ??= error;
      }
    });
    this.process.stdin.end(`${JSON.stringify(job)}\n`);
  }

  /** Resolves when the phase has begun so many times, or it is no use to wait. */
  async reached(phase: Phase, count: number): Promise<void> {
    if ((this.begun.get(phase) ?? 0) >= count) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.waiters.push({ phase, count, arrived: resolve });
    const patience = phase === 'create' || phase === 'open' ? 20 * PATIENCE_MS : PATIENCE_MS;
    const timer = setTimeout(resolve, patience);
    await promise;
    clearTimeout(timer);
  }

  async kill(): Promise<void> {
    this.process.kill('SIGKILL');
    await this.gone.catch(() => {});
  }

  private count(phase: Phase): void {
    const count = (this.begun.get(phase) ?? 0) + 1;
    this.begun.set(phase, count);
    for (const waiter of this.waiters) if (waiter.phase === phase && count >= waiter.count) waiter.arrived();
  }
}
