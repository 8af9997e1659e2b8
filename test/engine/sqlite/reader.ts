/** A thread that always holds a snapshot of a store: it takes the next before it lets go of the last. */
import { parentPort, workerData } from 'node:worker_threads';
import type { ColumnSpec } from '../../../src/engine/engine.ts';
import { attachEngine, type EngineHandle } from '../../../src/engine/open.ts';

const { handle, columns } = workerData as { handle: EngineHandle; columns: readonly ColumnSpec[] };
const names = columns.map(({ name }) => name);
const engine = await attachEngine(handle, columns);
let held = engine.snapshot(names);
parentPort!.postMessage('holding');
const turn = setInterval(() => {
  const next = engine.snapshot(names);
  held.release();
  held = next;
}, 1);
parentPort!.once('message', async () => {
  clearInterval(turn);
  held.release();
  await engine.close();
});
