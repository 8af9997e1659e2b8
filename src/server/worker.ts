/**
 * The server's thread, from within: attaches to the engine that the fold has
 * open, serves, and lets go of everything when it is told to.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { attachRocks } from '../engine/rocks.ts';
import { openNetwork } from '../networks.ts';
import { assert, isUnspentError } from '../util/errors.ts';
import { Host } from './host.ts';
import type { Order, Report, ThreadData } from './thread.ts';

assert(parentPort !== null, 'this file is the entry of a thread');
const port = parentPort;
const { handle, columns, network, ...parts } = workerData as ThreadData;

function report(message: Report): void {
  port.postMessage(message);
}

async function run(): Promise<void> {
  const engine = attachRocks(handle, columns);
  try {
    const host = await Host.open({ ...parts, engine, network: openNetwork(network.name, null, network.parameters) });
    const closed = new Promise<void>((resolve) => {
      port.on('message', (order: Order) => {
        if (order.kind === 'update') host.take(order.update);
        else resolve();
      });
    });
    report({ kind: 'listening', url: host.url });
    await closed;
    await host.close();
  } finally {
    await engine.close();
  }
}

try {
  await run();
} catch (error) {
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  if (isUnspentError(error)) report({ kind: 'failed', code: error.code, message: error.message, meta: error.meta });
  else report({ kind: 'failed', code: null, message, meta: {} });
}
// With nothing left to listen to, the thread ends.
port.close();
