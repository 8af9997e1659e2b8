/**
 * The process that is killed while it changes the shape of a store. It reads a
 * job from its standard input, opens the store with the switches named there,
 * and fills in small steps while blocks come and go. After each step that was
 * committed it says how far each fill is.
 */
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { Random } from '../../src/chains/random.ts';
import type { OpenStore } from '../../src/store/store.ts';
import { toHex } from '../../src/util/bytes.ts';
import { keepCompiled } from './compile-cache.ts';
import { headOf } from './crash-check.ts';
import { openCrashStore } from './crash-store.ts';
import { pathTo, pointOf, sourceTo, Tree } from './crash-tree.ts';

/** A child that nobody kills ends by itself. */
const LIFE_MS = 20_000;

export interface FillJob {
  readonly data: string;
  readonly seed: number;
  readonly selfContained: boolean;
  /** Settings as `key=value`. */
  readonly set: readonly string[];
}

function say(line: string): void {
  writeSync(1, `${line}\n`);
}

async function work(tree: Tree, store: OpenStore, random: Random): Promise<void> {
  const head = tree.find(headOf(store)) ?? null;
  const horizon = store.horizon();
  const turn = random.int(4);
  if (turn === 0) {
    const tip = tree.descend(head, 1 + random.int(12), random);
    const fresh = pathTo(tip).slice(pathTo(head).length);
    // Following fills in steps of the usual size, which is all there is: only now and then.
    if (random.chance(0.9)) for (const { raw } of fresh) store.fold.apply([store.network.ledger.decode(raw)]);
    else if (tip !== null) await store.follow(sourceTo(tip, 1 + random.int(4)), { onFillStep: () => acknowledge(store) });
  } else if (turn === 1) {
    let to = head;
    for (let depth = random.int(9); depth > 0 && to !== null && to.parent !== null; depth--) {
      if (horizon !== null && toHex(horizon.hash) === to.hash) break;
      to = to.parent;
    }
    if (to !== null) store.rollback(pointOf(to));
  } else {
    const stop = new AbortController();
    const onStep = (): void => {
      acknowledge(store);
      if (random.chance(0.2)) stop.abort();
    };
    await store.fill({ signal: stop.signal, limits: { rows: 1 + random.int(6), bytes: 1_000_000 }, onStep });
  }
}

function acknowledge(store: OpenStore): void {
  say(`filled ${JSON.stringify(Object.fromEntries(store.fills().map(({ projection, done }) => [projection, done])))}`);
}

keepCompiled();
const tree = Tree.load(process.argv[2]);
const [text] = (await once(process.stdin, 'data')) as [Buffer];
const job = JSON.parse(text.toString()) as FillJob;
const born = Date.now();
say('opening');
const store = await openCrashStore(job.data, tree.genesis, { selfContained: job.selfContained, set: job.set });
say('opened');
acknowledge(store);
const random = new Random(job.seed, 13);
while (Date.now() - born < LIFE_MS && (store.fills().length > 0 || random.chance(0.99))) await work(tree, store, random);
say('closing');
await store.close();
process.exit(0);
