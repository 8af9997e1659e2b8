/**
 * What a process does to a transaction store until it is killed: one change of
 * each kind, then a prune pass of several chunks. Every commit has a number, and
 * what is stored after each is known from a run in memory that nobody kills.
 */
import type { Batch, Engine } from '../../../src/engine/engine.ts';
import { openMemory } from '../../../src/engine/memory.ts';
import { TX_STORE_COLUMNS } from '../../../src/txstore/embedded/columns.ts';
import { CHANGES, contentOf, fillIndexes } from './changes.ts';
import { openEmbedded } from './embedded.ts';
import { idOf, TxWorld } from './world.ts';

/** Of the pass: all that the story has due is stable then. */
export const PASS_HEIGHT = 900;
/** Candidates of the pass, each with a child and a shared one; G is parent of all. */
const FAMILY = 12;

export function openWorld(engine: Engine): Promise<TxWorld> {
  return TxWorld.open((settings, limit) => openEmbedded(engine, settings, limit));
}

export async function tellStory(world: TxWorld): Promise<void> {
  await world.add('G', { at: 90, mined: 90, outputs: FAMILY + 1 });
  for (let n = 0; n < FAMILY; n++) await world.add(`F${n}`, { at: 100, mined: 100, spends: [`G:${n}`], outputs: 2 });
  for (let n = 0; n < FAMILY; n++) await world.add(`K${n}`, { at: 100, mined: 100, spends: [`F${n}:0`] });
  for (let n = 0; n < FAMILY; n += 4) await world.add(`S${n}`, { at: 100, mined: 100, spends: [0, 1, 2, 3].map((k) => `F${n + k}:1`) });
  await fillIndexes(world);
  // Those that end what the others need come last; whatever the story makes impossible by then is refused, and changes nothing.
  for (const change of CHANGES) await change(world).catch(() => {});
  await world.store.preserve([idOf('G')], PASS_HEIGHT - 1, 300);
  await prune(world);
}

export async function prune(world: TxWorld): Promise<void> {
  await world.newPruner({ chunkParents: 3, parallelChunks: 2 }).prune(PASS_HEIGHT);
}

export interface CommitHooks {
  /** `nth`: from 1 on. */
  before?(nth: number, size: number): void;
  after?(nth: number): void;
}

/** The engine; whoever asks is told of its commits. */
export function withCommitHooks(engine: Engine, { before, after }: CommitHooks): Engine {
  let commits = 0;
  const hooked = (batch: Batch): Batch => ({
    put: (column, key, value) => batch.put(column, key, value),
    del: (column, key) => batch.del(column, key),
    get size() {
      return batch.size;
    },
    clear: () => batch.clear(),
    commit: (options) => {
      commits++;
      before?.(commits, batch.size);
      batch.commit(options);
      after?.(commits);
    },
  });
  return new Proxy(engine, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown;
      if (name === 'batch') return () => hooked(target.batch());
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

export interface ToldStory {
  /** What is stored after so many commits. */
  readonly states: readonly (readonly (readonly string[])[])[];
  /** The number of the last commit before the pass. */
  readonly beforePass: number;
}

export async function tellInMemory(): Promise<ToldStory> {
  const engine = openMemory(TX_STORE_COLUMNS);
  const states = [contentOf(engine)];
  let beforePass = 0;
  const world = await openWorld(withCommitHooks(engine, { after: () => void states.push(contentOf(engine)) }));
  const { store } = world;
  const expire = store.expirePreservations.bind(store);
  store.expirePreservations = (height) => {
    if (height === PASS_HEIGHT) beforePass = states.length - 1;
    return expire(height);
  };
  await tellStory(world);
  await world.opened.checkIndexes();
  return { states, beforePass };
}
