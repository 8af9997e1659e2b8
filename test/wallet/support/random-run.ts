/**
 * A random life is lived in a store and in the model at once: W83, and W74 with
 * its sums. After every call both must have answered alike, and in the model the
 * invariants must hold, sums must be those of the coins (I10), and the same call
 * again must change nothing (I13). Rows, events and sums of the store are compared
 * with the model's now and then, and at the end. A life that fails is shortened,
 * call by call, to one that still fails.
 */
import { mix32, Random } from '../../../src/chains/random.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { checkInvariants, type InputCounts } from './invariants.ts';
import { openMemoryWallets } from './open-memory.ts';
import { RANDOM_WALLETS, type RandomAction, RandomLife } from './random-actions.ts';
import { RandomStage } from './random-stage.ts';
import { NOW, nameOf, type OpenWalletStore } from './world.ts';

export interface RandomRun {
  /** Null: the model lives alone. */
  readonly open: OpenWalletStore | null;
  readonly seed: number;
  /** Calls of a life. Short ones keep the states small, and every call cheap. */
  readonly length: number;
  /** Rows, events and sums of the two stores are compared after this many calls, and at the end. */
  readonly compareEvery: number;
}

/** One that failed once. */
export type FailedLife = Pick<RandomRun, 'seed' | 'length'>;

/** Many lives, whatever the store. */
export interface RandomLives extends Omit<RandomRun, 'open' | 'seed'> {
  readonly firstSeed: number;
  /** Calls in all. */
  readonly events: number;
  readonly failedBefore: readonly FailedLife[];
}

/** How many events are kept, one after the other, when the stores were compared: as what they know of reorganisations shrinks, it is compared. */
const EVENTS_KEPT = [20, 5];

/** The model replays every call; the store after every so many, because a call costs it ten times as much, but where it is compared after each. */
const STORE_REPLAY_EVERY = 4;

/** How often each kind of call did something, and how often it was refused: a run in which one never happens shows nothing. */
export type RandomCounts = Map<string, number>;

/** Calls that a life of the seed has. */
function actionsOf(life: RandomLife, length: number): RandomAction[] {
  return Array.from({ length }, () => life.next());
}

export async function liveRandomly(run: RandomRun, counts: RandomCounts): Promise<void> {
  const life = new RandomLife(new Random(run.seed), run.length);
  const actions = actionsOf(life, run.length);
  const failure = await failureOf(run, life, actions, counts);
  if (failure === null) return;
  const kept = await shorten(actions, async (fewer) => (await failureOf(run, life, fewer, new Map())) !== null);
  const last = (await failureOf(run, life, kept, new Map())) ?? failure;
  const told = kept.map((action) => JSON.stringify(action, readable)).join('\n');
  const txs = life.txs.map(({ id, inputs, outputs }) => {
    const spends = inputs.map(({ txId, index }) => `${nameOf(txId)}:${index}`).join(' ') || 'coinbase';
    return `${nameOf(id)}: ${spends} -> ${outputs.map(({ script, amount }) => `${script[2]}/${script[4]} ${amount}`).join(', ')}`;
  });
  throw new Error(`the life of seed ${run.seed} fails: ${last.message}\n${told}\n${txs.join('\n')}`, { cause: last });
}

function readable(_: string, value: unknown): unknown {
  if (value instanceof Uint8Array) return nameOf(value);
  return value;
}

async function failureOf(run: RandomRun, life: RandomLife, actions: readonly RandomAction[], counts: RandomCounts): Promise<Error | null> {
  const watch = await RandomWatch.begin(run, life);
  try {
    for (const [n, action] of actions.entries()) await watch.step(action, n, counts);
    await watch.compare();
    return null;
  } catch (error) {
    return error as Error;
  } finally {
    await watch.end();
  }
}

/** Leaves out whatever is not needed to fail: halves first, then single calls. */
async function shorten(
  actions: readonly RandomAction[],
  fails: (fewer: readonly RandomAction[]) => Promise<boolean>,
): Promise<readonly RandomAction[]> {
  let kept = actions;
  for (let size = Math.ceil(kept.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = kept.length - size; at > -size; at -= size) {
      const fewer = kept.toSpliced(Math.max(0, at), size + Math.min(0, at));
      if (await fails(fewer)) kept = fewer;
    }
  }
  return kept;
}

class RandomWatch {
  readonly #run: RandomRun;
  readonly #model: RandomStage;
  readonly #store: RandomStage | null;
  readonly #inputCounts: InputCounts;
  /** Replacements that events told, by wallet: I8. */
  readonly #told: Set<string>[] = Array.from({ length: RANDOM_WALLETS }, () => new Set());
  /** Events of the model that the store has not been asked for yet. */
  #unseen: string[] = [];
  /** Of the model, after the last call, as text. */
  #rows = '';
  /** Whether the stores were compared after the last call. */
  #isCompared = false;

  private constructor(run: RandomRun, model: RandomStage, store: RandomStage | null, life: RandomLife) {
    this.#run = run;
    this.#model = model;
    this.#store = store;
    this.#inputCounts = new Map(life.txs.map(({ id, inputs }) => [toHex(id), inputs.length]));
  }

  static async begin(run: RandomRun, life: RandomLife): Promise<RandomWatch> {
    const model = await RandomStage.open(await openMemoryWallets(), life.txs);
    const store = run.open === null ? null : await RandomStage.open(await run.open(), life.txs);
    return new RandomWatch(run, model, store, life);
  }

  async end(): Promise<void> {
    await this.#store?.close();
    await this.#model.close();
  }

  async step(action: RandomAction, n: number, counts: RandomCounts): Promise<void> {
    const before = this.#rows;
    const answer = await this.#both(action);
    const isRefused = answer.startsWith('refused');
    const key = `${action.kind} ${isRefused ? answer : 'done'}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    await this.#check();
    if (isRefused && n > 0) sameText(this.#rows, before, `after ${action.kind}, which was ${answer}`);
    if (!isRefused && action.kind !== 'select') await this.#replay(action, this.#run.compareEvery === 1 || n % STORE_REPLAY_EVERY === 0);
    // Sums are those of the rows: they were checked when the rows became these.
    if (this.#rows !== before) await this.#model.checkSums(NOW);
    this.#isCompared = false;
    if ((n + 1) % this.#run.compareEvery === 0) await this.compare();
  }

  /** I13. */
  async #replay(action: RandomAction, alsoInStore: boolean): Promise<void> {
    if (alsoInStore) await this.#both(action);
    else await this.#model.perform(action);
    sameText(JSON.stringify(await this.#model.rows()), this.#rows, `after ${action.kind} once more`);
    same(await this.#model.newEvents(), [], `events of ${action.kind} once more`);
  }

  async #both(action: RandomAction): Promise<string> {
    const wanted = await this.#model.perform(action);
    const found = (await this.#store?.perform(action)) ?? wanted;
    if (found !== wanted) throw new Error(`${JSON.stringify(action, readable)}: answers '${found}', the model '${wanted}'`);
    return wanted;
  }

  /** The invariants, on the rows of the model, which are the rows of the store. */
  async #check(): Promise<void> {
    const rows = await this.#model.rows();
    const text = JSON.stringify(rows);
    const events = await this.#model.newEvents();
    for (const line of events) this.#tell(line);
    // The same rows, and nothing told of them since: the invariants were checked.
    if (text === this.#rows && events.length === 0) return;
    this.#rows = text;
    checkInvariants(rows, this.#inputCounts, this.#told);
  }

  #tell(line: string): void {
    this.#unseen.push(line);
    const [wallet, kind, name] = line.split(' ');
    const told = this.#told[Number(wallet)];
    const replaced = /-> replaced \(\w+ by (\w+)\)$/.exec(line);
    if (kind === 'tx.status' && replaced !== null) told.add(`${hexOf(name)}>${hexOf(replaced[1])}`);
    if (kind === 'tx.deleted') for (const edge of told) if (edge.split('>').includes(hexOf(name))) told.delete(edge);
  }

  /** Does nothing where no call was made since the last time. */
  async compare(): Promise<void> {
    if (this.#store === null || this.#isCompared) return;
    this.#isCompared = true;
    sameText(JSON.stringify(await this.#store.rows()), this.#rows, 'rows of the store and of the model');
    same(await this.#store.newEvents(), this.#unseen, 'events of the store and of the model');
    this.#unseen = [];
    same(await this.#store.checkSums(NOW), await this.#model.checkSums(NOW), 'sums and coins of the store and of the model');
    for (const keep of EVENTS_KEPT)
      same(await this.#store.trimEvents(keep), await this.#model.trimEvents(keep), 'what is known of the past');
  }
}

/** The id of a name, in hex. */
function hexOf(name: string): string {
  return Buffer.from(name).toString('hex').padEnd(64, '0');
}

/** Plain data is compared as text: the fields of both stand in the same order. */
function same(found: unknown, wanted: unknown, what: string): void {
  sameText(JSON.stringify(found), JSON.stringify(wanted), what);
}

function sameText(a: string, b: string, what: string): void {
  if (a === b) return;
  let at = 0;
  while (a[at] === b[at]) at++;
  const around = (text: string): string => text.slice(Math.max(0, at - 200), at + 200).replace(/[0-9a-f]{64}/g, (id) => nameOf(id));
  throw new Error(`${what} differ: ...${around(a)}... and ...${around(b)}...`);
}

/** Lives until so many calls were made; lives that failed once come first. */
export async function runRandomLives(run: RandomLives & Pick<RandomRun, 'open'>): Promise<RandomCounts> {
  const counts: RandomCounts = new Map();
  for (const life of run.failedBefore) await liveRandomly({ ...run, ...life }, counts);
  for (let life = 0; life * run.length < run.events; life++) await liveRandomly({ ...run, seed: mix32(run.firstSeed, life) }, counts);
  return counts;
}
