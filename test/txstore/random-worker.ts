/** Random lives on the embedded transaction store, in a thread of their own. The answer is how often what happened. */
import { parentPort, workerData } from 'node:worker_threads';
import type { DatabaseKind } from '../../src/engine/directory.ts';
import { type LifeKind, runRandomTxLives } from './random.ts';
import { AMPLE_CACHE_BYTES, diskOpener, emptiedEngine, SMALL_CACHE_BYTES, withEngine } from './support/embedded.ts';
import type { OpenTxStore } from './support/world.ts';

export interface EmbeddedTxWork {
  readonly kind: LifeKind;
  readonly calls: number;
  readonly seed: number;
  /** On disk; default: in memory. */
  readonly engine?: DatabaseKind;
  /** Each life has files of its own, which a restart opens again; default: one engine stays open. */
  readonly reopens?: boolean;
}

const { kind, calls, seed, engine = 'memory', reopens = false } = workerData as EmbeddedTxWork;
let lives = 0;
/** Every other life has room for few records at hand. */
const cacheBytes = (): number => (lives++ % 2 === 0 ? SMALL_CACHE_BYTES : AMPLE_CACHE_BYTES);
const live = (open: OpenTxStore): Promise<ReadonlyMap<string, number>> => runRandomTxLives(kind, open, calls, seed);
const isReopened = reopens && engine !== 'memory';
parentPort?.postMessage(
  await (isReopened ? live(diskOpener(engine)) : withEngine(engine, (opened) => live(emptiedEngine(opened, cacheBytes)))),
);
