/** Random lives on the embedded transaction store, in a thread of their own. The answer is how often what happened. */
import { parentPort, workerData } from 'node:worker_threads';
import type { DatabaseKind } from '../../src/engine/directory.ts';
import { openMemory } from '../../src/engine/memory.ts';
import { TX_STORE_COLUMNS } from '../../src/txstore/embedded/columns.ts';
import { type LifeKind, runRandomTxLives } from './random.ts';
import { AMPLE_CACHE_BYTES, diskOpener, openEmbedded, SMALL_CACHE_BYTES } from './support/embedded.ts';
import type { OpenTxStore } from './support/world.ts';

export interface EmbeddedTxWork {
  readonly kind: LifeKind;
  readonly calls: number;
  readonly seed: number;
  /** On disk; default: in memory. */
  readonly engine?: DatabaseKind;
}

const { kind, calls, seed, engine } = workerData as EmbeddedTxWork;
let lives = 0;
/** Every other life has room for few records at hand. */
const open: OpenTxStore = (settings, limit) =>
  openEmbedded(openMemory(TX_STORE_COLUMNS), settings, limit, lives++ % 2 === 0 ? SMALL_CACHE_BYTES : AMPLE_CACHE_BYTES);
parentPort?.postMessage(await runRandomTxLives(kind, engine === undefined ? open : diskOpener(engine), calls, seed));
