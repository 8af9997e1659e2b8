/**
 * The server's thread, from within: attaches to the engine that the fold has
 * open, serves, and lets go of everything when it is told to.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { attachEngine } from '../../engine/open.ts';
import { openNetwork } from '../../families/networks.ts';
import { assert } from '../../util/errors.ts';
import { failureOf } from '../../util/failure.ts';
import { unpackChanges } from '../mempool/pack.ts';
import { FigureExchange } from './figures.ts';
import { Host } from './host.ts';
import type { Order, Report, ThreadData } from './thread.ts';
import { ThreadNode } from './thread-node.ts';

assert(parentPort !== null, 'this file is the entry of a thread');
const port = parentPort;
const { handle, columns, network, place, ...parts } = workerData as ThreadData;

function report(message: Report): void {
  port.postMessage(message);
}

async function tellFigures(number: number, exchange: FigureExchange): Promise<void> {
  report({ kind: 'figures', number, figures: await exchange.own() });
}

/** Resolves when it is told to close. */
function obey(host: Host, node: ThreadNode, exchange: FigureExchange): Promise<void> {
  return new Promise((resolve) => {
    port.on('message', (order: Order) => {
      if (order.kind === 'update') host.take(order.update);
      else if (order.kind === 'mempool') {
        host.takeMempool(unpackChanges(order.packed));
        report({ kind: 'taken' });
      } else if (order.kind === 'answered') node.answered(order.number, order.answer);
      else if (order.kind === 'tellFigures') void tellFigures(order.number, exchange);
      else if (order.kind === 'othersFigures') exchange.answered(order.number, order.figures);
      else resolve();
    });
  });
}

async function run(): Promise<void> {
  const engine = await attachEngine(handle, columns);
  const exchange = new FigureExchange((number) => report({ kind: 'askFigures', number }));
  const node = new ThreadNode((number, question) => report({ kind: 'ask', number, question }));
  try {
    const host = await Host.open({
      ...parts,
      engine,
      node,
      ...(place === undefined ? {} : { threads: place.count, figures: exchange }),
      log: (text, level, event) => report({ kind: 'log', text, level, event }),
      network: openNetwork(network.name, null, network.parameters),
    });
    const closed = obey(host, node, exchange);
    report({ kind: 'listening', listening: host.listening });
    await closed;
    node.close();
    await host.close();
  } finally {
    await engine.close();
  }
}

try {
  await run();
} catch (error) {
  report({ kind: 'failed', failure: failureOf(error) });
}
// With nothing left to listen to, the thread ends.
port.close();
