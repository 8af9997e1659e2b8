/** The publishing thread, from within: attaches to the engine that the fold has open, and publishes until it is told to stop. */
import { parentPort, workerData } from 'node:worker_threads';
import { type SettingKey, settingValue } from '../../config/schema.ts';
import { attachEngine } from '../../engine/open.ts';
import { openNetwork } from '../../families/networks.ts';
import { storeProjections } from '../../store/projections.ts';
import { assert } from '../../util/errors.ts';
import { failureOf } from '../../util/failure.ts';
import { PUBLISH_NICE, PUBLISH_REPORT_MS } from '../../util/limits.ts';
import { openTarget } from '../open.ts';
import { PublishRunner } from '../runner.ts';
import { stepBehind } from './priority.ts';
import type { PublishNews, PublishOrder, PublishThreadData } from './thread.ts';

assert(parentPort !== null, 'this file is the entry of a thread');
const port = parentPort;
// The fold does not wait for what is published, and should not share its processors with it either.
stepBehind(PUBLISH_NICE);
const { handle, columns, network, config, projections, facts, to, form } = workerData as PublishThreadData;

function tell(news: PublishNews): void {
  port.postMessage(news);
}

async function run(): Promise<void> {
  const engine = await attachEngine(handle, columns);
  const stop = new AbortController();
  try {
    const store = {
      engine,
      network: openNetwork(network.name, null, network.parameters),
      projections,
      facts,
      table: storeProjections(),
      readSetting: (key: string) => settingValue(config, key as SettingKey),
    };
    const target = await openTarget(to, form, store);
    const runner = new PublishRunner(store, target, { follow: true });
    port.on('message', (order: PublishOrder) => (order === 'moved' ? runner.moved() : stop.abort()));
    const telling = setInterval(() => tell({ kind: 'report', report: runner.report }), PUBLISH_REPORT_MS);
    try {
      await runner.run(stop.signal);
    } finally {
      clearInterval(telling);
      tell({ kind: 'report', report: runner.report });
      await target.close();
    }
  } finally {
    await engine.close();
  }
}

try {
  await run();
} catch (error) {
  tell({ kind: 'failed', failure: failureOf(error) });
}
// With nothing left to listen to, the thread ends.
port.close();
