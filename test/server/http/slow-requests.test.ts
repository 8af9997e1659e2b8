/**
 * Requests that take long are told in the log, by the template of their route
 * and with nothing of what was asked; those that wait because they were asked
 * to are not slow.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fastify from 'fastify';
import { admit } from '../../../src/server/http/admission.ts';
import { logSlowRequests } from '../../../src/server/http/slow-requests.ts';
import { Workload } from '../../../src/server/http/work/workload.ts';

import { LOG_TROUBLES_MAX } from '../../../src/util/limits.ts';
import { Log, type LogEntry } from '../../../src/util/log.ts';

const DAY_MS = 86_400_000;

interface Rig {
  readonly entries: readonly LogEntry[];
  get(path: string): Promise<number>;
  flush(): void;
  close(): Promise<void>;
}

/** Each route says itself how long its client asked it to wait, so that nothing here is about a clock. */
function slowRig(slowMs: number): Rig {
  const entries: LogEntry[] = [];
  const log = new Log({ level: 'info' }, (entry) => entries.push(entry));
  const app = fastify();
  admit(app, new Workload(), 100);
  logSlowRequests(app, slowMs, log.lines('server'));
  app.get('/owners/:owner', (request, reply) => {
    request.task.waitedMs = -DAY_MS;
    return reply.send('rows');
  });
  app.get('/patient', (request, reply) => {
    request.task.waitedMs = DAY_MS;
    return reply.send('a block');
  });
  return {
    entries,
    get: async (path) => (await app.inject({ url: path })).statusCode,
    flush: () => log.flush(),
    close: () => app.close(),
  };
}

test('a slow request is a warning with its route, status and time, and nothing that was asked', async () => {
  const rig = slowRig(DAY_MS);
  assert.equal(await rig.get('/owners/addr_private?token=hunter2'), 200);
  assert.equal(rig.entries.length, 1);
  const [{ level, room, event, text }] = rig.entries;
  assert.deepEqual([level, room, event], ['warn', 'server', 'slow']);
  assert.match(text, /^slow: GET \/owners\/:owner was answered with 200 after 8640\d\.\d s, 0\.\d s of it work of its own$/);
  assert.doesNotMatch(text, /private|hunter2/);
  await rig.close();
});

test('repeats are counted', async () => {
  const rig = slowRig(DAY_MS);
  for (let request = 0; request < LOG_TROUBLES_MAX + 4; request++) await rig.get(`/owners/${request}`);
  assert.equal(rig.entries.length, LOG_TROUBLES_MAX);
  rig.flush();
  assert.match(rig.entries.at(-1)!.text, /^4 more like this in \d+ s, the last: slow: GET \/owners\/:owner /);
  await rig.close();
});

test('whoever waits because it was asked to is not slow, and 0 calls nothing slow', async () => {
  const [strict, off] = [slowRig(1), slowRig(0)];
  assert.equal(await strict.get('/patient'), 200);
  assert.equal(await off.get('/owners/a'), 200);
  assert.deepEqual([strict.entries, off.entries], [[], []]);
  await strict.close();
  await off.close();
});
