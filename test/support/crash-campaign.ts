/**
 * Kills children one after the other and looks at what each leaves behind. A
 * store lives through several kills; half of the time what a kill left is
 * checked in a copy, so that the next child recovers the wreck itself. Kills
 * are aimed at each phase in turn; what counts is where they landed.
 */
import { equal, ok } from 'node:assert/strict';
import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../../src/chains/random.ts';
import { readPruned } from '../../src/state/pruned.ts';
import type { OpenStore } from '../../src/store/store.ts';
import { BitcoinStory } from './bitcoin-story.ts';
import { checkCages, KEEP_CAGES } from './crash-cages.ts';
import { checkStore, headOf } from './crash-check.ts';
import { Child, pause } from './crash-process.ts';
import { checkRoots, KEEP_PROOFS, type SetOf, setOfStory } from './crash-roots.ts';
import { openCrashStore, PRUNE_DEPTH, temporaryFolder } from './crash-store.ts';
import { Story } from './crash-story.ts';
import { pathTo, pointOf, sourceTo, type Tree, type TreeBlock } from './crash-tree.ts';
import { type Job, type Operation, PHASES, type Phase, Witness } from './crash-witness.ts';

/** Of the main chain: every row of a store is compared after every kill, so what a kill costs grows with it. Campaigns have longer ones. */
const BLOCKS = 500;
/** A new store is taken this far, so that there is something to prune. */
const GROWN_BLOCKS = 150;
/** One new store in so many becomes the one the next kills hit. */
const STORE_CHANGE = 4;
/** With fewer blocks to come there is too little story left: the store has served. */
const BLOCKS_LEFT_MIN = 150;
/** For kills at any moment. */
const DELAY_MS_MAX = 160;
const NEVER = 1_000_000;

/** The window is that of the spent outputs, so that the store goes back as far as it would without. */
const KEEP_TXS = ['txs.store=embedded', `txs.retention=${PRUNE_DEPTH}`, 'txs.unminedBlocks=30', 'txs.skipCatchUp=false'];

type Aim = Exclude<Phase, 'between'> | 'any';
/** Pruning is short and hard to hit. */
const AIMS: readonly Aim[] = ['any', 'create', 'open', 'sync', 'reorg', 'rollback', 'prune', 'prune', 'close'];
const OPERATIONS: readonly Aim[] = ['sync', 'reorg', 'rollback', 'prune'] satisfies Operation[];

export type Family = 'cardano' | 'bitcoin';

/** A tree of blocks and whoever knows what each adds up to. */
interface Told {
  readonly tree: Tree;
  readonly end: TreeBlock;
  digestAt(block: TreeBlock): string;
  /** Holds a store against it; returns the block the store is at. */
  check(store: OpenStore): TreeBlock | null;
  setAt(block: TreeBlock | null): SetOf;
}

function tell(seed: number, family: Family, blocks: number, cages: boolean): Told {
  if (family === 'bitcoin') return new BitcoinStory(seed, blocks);
  const story = new Story(seed, blocks, cages);
  const { tree, end } = story;
  return {
    tree,
    end,
    digestAt: (block) => story.stateAt(block).digest,
    check(store) {
      const block = checkStore(store, story);
      if (cages) checkCages(store, story.cagesAt(block));
      return block;
    },
    setAt: (block) => setOfStory(story.stateAt(block)),
  };
}

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
  /** Whether its groups are written in a thread of their own. */
  readonly ahead: boolean;
  block: TreeBlock | null;
  forgotten: { readonly spent: number; readonly deltas: number };
}

/** Groups so small that most of a step is still on its way when the next is planned. */
const AHEAD = ['engine.writerThread=on', 'sync.groupBlocks=3'];

export interface CampaignOptions {
  readonly proofs?: boolean;
  /** The chain has cages, and stores follow them. Cardano. */
  readonly cages?: boolean;
  /** Stores keep records of transactions, which are pruned while they follow. Bitcoin family. */
  readonly txs?: boolean;
  readonly engine?: 'rocks' | 'sqlite';
  /** Of the main chain. */
  readonly blocks?: number;
}

export class CrashCampaign {
  readonly seed: number;
  /** Whether stores keep the Merkle structures and the set hash, too. */
  private readonly proofs: boolean;
  /** Settings of every store, as `key=value`. */
  private readonly set: readonly string[];
  private readonly story: Told;
  private readonly heightMax: number;
  private readonly random: Random;
  /** Where new stores are taken. */
  private readonly grown: TreeBlock;
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

  constructor(
    seed: number,
    family: Family = 'cardano',
    { proofs = false, cages = false, txs = false, engine = 'rocks', blocks = BLOCKS }: CampaignOptions = {},
  ) {
    this.seed = seed;
    this.proofs = proofs;
    this.set = [`engine.kind=${engine}`, ...(proofs ? KEEP_PROOFS : []), ...(cages ? KEEP_CAGES : []), ...(txs ? KEEP_TXS : [])];
    this.random = new Random(seed, 3);
    this.story = tell(seed, family, blocks, cages);
    this.heightMax = blocks - BLOCKS_LEFT_MIN;
    this.grown = pathTo(this.story.end)[GROWN_BLOCKS];
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
  async round(aim: Aim = this.nextAim()): Promise<void> {
    if (this.subject !== null && (this.subject.block?.height ?? 0) > this.heightMax) await this.finish();
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

  private nextAim(): Aim {
    if (this.aims.length === 0) {
      this.aims = [...AIMS];
      this.random.shuffle(this.aims);
    }
    return this.aims.pop()!;
  }

  /** A child makes a new store, which sometimes takes the place of the one we have. */
  private async create(aim: Aim): Promise<void> {
    const data = join(this.folder, `store-${this.stores++}`);
    const made: Subject = {
      data,
      selfContained: this.stores % 4 === 0,
      ahead: this.stores % 3 === 1,
      block: null,
      forgotten: { spent: -1, deltas: -1 },
    };
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
      set: [...this.set, ...(subject.ahead ? AHEAD : [])],
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
      await pause(((this.durations.get(phase) ?? 1) * random.int(1000)) / 1000);
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
    if (copied && existsSync(subject.data)) cpSync(subject.data, data, { recursive: true });
    const store = await this.open(data, subject.selfContained);
    try {
      const possible = witness.possible();
      const found = headOf(store);
      ok(possible.has(found), `killed in ${witness.phase}: found block ${found}, possible were ${[...possible].join(', ')}`);
      if ([...possible][0] !== found) this.ahead++;
      const block = this.check(store);
      const pruned = readPruned(store.engine);
      ok(pruned.deltas >= witness.forgotten.deltas, `the cursor of deltas went back to ${pruned.deltas}`);
      if (!subject.selfContained) ok(pruned.spent >= witness.forgotten.spent, `the cursor of spent outputs went back to ${pruned.spent}`);
      subject.block = block;
      subject.forgotten = pruned;
      const young = creates && (block?.height ?? 0) < this.grown.height / 2;
      const tip = young ? this.grown : this.story.tree.descend(block, 1 + this.random.int(10), this.random);
      await this.resume(store, tip);
      if (!copied) subject.block = tip;
    } finally {
      await store.close();
      if (copied) rmSync(data, { recursive: true });
    }
  }

  private open(data: string, selfContained: boolean): Promise<OpenStore> {
    return openCrashStore(data, this.story.tree.genesis, { selfContained, set: this.set });
  }

  private check(store: OpenStore): TreeBlock | null {
    const block = this.story.check(store);
    if (this.proofs) checkRoots(store, block, this.story.setAt(block));
    return block;
  }

  /** Following goes on by itself. */
  private async resume(store: OpenStore, tip: TreeBlock | null): Promise<void> {
    if (tip === null) return;
    await store.follow(sourceTo(tip, 1000));
    equal(headOf(store), tip.hash, 'following resumes');
    equal(store.digest().digest, this.story.digestAt(tip), 'and arrives');
  }

  /** To the horizon, and from there to the end of the main chain; then the store is done with. */
  private async finish(): Promise<void> {
    const { story } = this;
    const { data, selfContained } = this.subject!;
    this.subject = null;
    const store = await this.open(data, selfContained);
    try {
      const horizon = store.horizon();
      store.rollback(horizon);
      this.check(store);
      while (!store.prune().done);
      await store.follow(sourceTo(story.end, 1000));
      while (!store.prune().done);
      equal(headOf(store), story.end.hash, 'the store comes to the end of the story');
      this.check(store);
      equal(store.rollback(pointOf(story.end)), 0);
    } finally {
      await store.close();
    }
    this.finished++;
    rmSync(data, { recursive: true });
  }
}

export interface Goal {
  readonly kills: number;
  /** In each phase at least; where chance did not give that many, we go on aiming. */
  readonly perPhase: number;
  /** Rounds that may be spent on that. */
  readonly aimedMax: number;
}

/** Kills until the goal is reached, brings what is left to its end, and clears up. */
export async function runCampaign(t: TestContext, campaign: CrashCampaign, { kills, perPhase, aimedMax }: Goal): Promise<void> {
  const aims = PHASES.filter((phase) => phase !== 'between');
  try {
    while (campaign.kills < kills) await campaign.round();
    const lacking = () => aims.find((phase) => campaign.summary().byPhase[phase] < perPhase);
    let aim = lacking();
    for (let more = 0; aim !== undefined && more < aimedMax; more++, aim = lacking()) await campaign.round(aim);
    await campaign.end();
    ok(aim === undefined, `hardly a kill landed in ${aim}: ${JSON.stringify(campaign.summary())}`);
  } catch (error) {
    throw new Error(`seed ${campaign.summary().seed}, after ${campaign.kills} kills: ${(error as Error).message}`, { cause: error });
  } finally {
    t.diagnostic(JSON.stringify(campaign.summary()));
    await campaign.dispose();
  }
}
