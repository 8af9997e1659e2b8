/**
 * The process that is killed. It reads a job from its standard input, opens the
 * store and works on it without a pause: forward in groups and one by one,
 * over to other forks, back, pruning, in a seeded random order. Before each
 * operation it says what it begins, after each commit that has returned it
 * acknowledges the block (crash-witness.ts reads these lines).
 */
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { Random } from '../../src/chains/random.ts';
import { readPruned } from '../../src/state/pruned.ts';
import type { OpenStore } from '../../src/store/store.ts';
import { toHex } from '../../src/util/bytes.ts';
import { keepCompiled } from './compile-cache.ts';
import { headOf } from './crash-check.ts';
import { openCrashStore, PRUNE_DEPTH } from './crash-store.ts';
import { ORIGIN, pointOf, sourceTo, Tree, type TreeBlock } from './crash-tree.ts';
import type { Job, Operation } from './crash-witness.ts';

/** A child that nobody kills ends by itself. */
const LIFE_MS = 20_000;
const ROLLBACK_BLOCKS_MAX = 50;
/** How often each operation comes, by the one we want to be killed in. Pruning needs a chain that grows. */
const WEIGHTS: Readonly<Record<Operation | 'none', Readonly<Record<Operation, number>>>> = {
  none: { sync: 40, reorg: 12, rollback: 20, prune: 20 },
  sync: { sync: 60, reorg: 5, rollback: 20, prune: 5 },
  reorg: { sync: 20, reorg: 60, rollback: 10, prune: 5 },
  rollback: { sync: 40, reorg: 5, rollback: 60, prune: 5 },
  prune: { sync: 50, reorg: 4, rollback: 4, prune: 40 },
};

function say(line: string): void {
  writeSync(1, `${line}\n`);
}

class Worker {
  private readonly tree: Tree;
  private readonly store: OpenStore;
  private readonly random: Random;

  constructor(tree: Tree, store: OpenStore, random: Random) {
    this.tree = tree;
    this.store = store;
    this.random = random;
  }

  acknowledge(): void {
    say(`ack ${headOf(this.store)}`);
  }

  async step(focus: Operation | null): Promise<void> {
    await this[this.random.weighted(Object.entries(WEIGHTS[focus ?? 'none']) as [Operation, number][])]();
  }

  private async sync(): Promise<void> {
    const { random, head } = this;
    const tip = this.tree.descend(head, 1 + random.int(random.chance(0.2) ? 60 : 20), random);
    if (tip === null || tip === head) return;
    say(`begin sync ${tip.hash}`);
    await this.follow(tip);
    say('end');
  }

  /** To a branch that left ours not too long ago. */
  private async reorg(): Promise<void> {
    const { random } = this;
    const forks: TreeBlock[] = [];
    let left: TreeBlock | null = this.head;
    for (const ancestor of this.behind()) {
      const taken = left;
      forks.push(...this.tree.after(ancestor).filter((block) => block !== taken));
      left = ancestor;
    }
    if (forks.length === 0) return;
    const tip = this.tree.descend(random.pick(forks), random.int(30), random)!;
    say(`begin reorg ${tip.hash}`);
    await this.follow(tip);
    say('end');
  }

  private async follow(tip: TreeBlock): Promise<void> {
    const { random } = this;
    const size = random.chance(0.5) ? 1 : random.chance(0.5) ? 7 : 1000;
    const source = sourceTo(tip, size, (to) => say(`turn ${to?.hash ?? ORIGIN}`));
    await this.store.follow(source, { onProgress: () => this.acknowledge(), onRollback: () => this.acknowledge() });
    // Groups that were on their way have landed since.
    this.acknowledge();
  }

  private rollback(): void {
    const behind = this.behind();
    if (behind.length === 0) return;
    const to = behind[Math.min(this.random.int(behind.length), this.random.int(behind.length))];
    say(`begin rollback ${to?.hash ?? ORIGIN}`);
    this.store.rollback(to === null ? null : pointOf(to));
    this.acknowledge();
    say('end');
  }

  /** In batches down to a single block, until nothing is left to forget. */
  private prune(): void {
    const size = this.random.chance(0.5) ? 1 : 1 + this.random.int(10);
    const { head } = this.store.fold;
    if (head === null || readPruned(this.store.engine).spent >= head.height - PRUNE_DEPTH) return;
    say('begin prune');
    for (let done = false; !done; ) {
      done = this.store.prune(size).done;
      const { spent, deltas } = readPruned(this.store.engine);
      say(`pruned ${spent} ${deltas}`);
    }
    say('end');
  }

  private get head(): TreeBlock | null {
    return this.tree.find(headOf(this.store)) ?? null;
  }

  /** The blocks we may go back to, newest first; null among them: the origin. */
  private behind(): (TreeBlock | null)[] {
    const horizon = this.store.horizon();
    const blocks: (TreeBlock | null)[] = [];
    for (let block = this.head; block !== null && blocks.length < ROLLBACK_BLOCKS_MAX; block = block.parent) {
      if (horizon !== null && block.hash === toHex(horizon.hash)) break;
      blocks.push(block.parent);
    }
    return blocks;
  }
}

keepCompiled();
const tree = Tree.load(process.argv[2]);
const [text] = (await once(process.stdin, 'data')) as [Buffer];
const job = JSON.parse(text.toString()) as Job;
const born = Date.now();

say(`begin ${job.creates ? 'create' : 'open'}`);
const store = await openCrashStore(job.data, tree.genesis, job);
const worker = new Worker(tree, store, new Random(job.seed, 11));
worker.acknowledge();
say('end');

for (let steps = 0; steps < job.steps && Date.now() - born < LIFE_MS; steps++) await worker.step(job.focus);

say('begin close');
await store.close();
say('end');
process.exit(0);
