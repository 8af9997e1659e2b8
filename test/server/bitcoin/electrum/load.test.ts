/**
 * Clients that keep the server busy: their batches take turns with everybody
 * else, end when they hang up, and are refused where too many are long. Counted
 * are the steps of the shared workload, never how long something takes.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type TaskStep, Workload } from '../../../../src/server/http/work/workload.ts';
import { SLICE_MS } from '../../../../src/util/limits.ts';
import { until } from '../../../support/patience.ts';
import { LineClient } from './client.ts';
import { ElectrumRig, type RigOptions, SCRIPTS } from './rig.ts';

/** Counts the steps until each new request is worked on, its own one among them. */
class CountingWorkload extends Workload {
  waits: number[] = [];

  override begin(step: TaskStep): void {
    if (step.task.isLong) {
      super.begin(step);
      return;
    }
    const before = this.steps;
    const { task, bounded } = step;
    let isBegun = false;
    const run = (end: number): boolean => {
      if (!isBegun) this.waits.push(this.steps - before);
      isBegun = true;
      return step.run(end);
    };
    super.begin({ task, bounded, run, drop: (error) => step.drop(error) });
  }
}

async function withRig(options: RigOptions, body: (rig: ElectrumRig) => Promise<void>): Promise<void> {
  const rig = await ElectrumRig.open(options);
  for (let i = 0; i < 20; i++) rig.mine([], SCRIPTS[0]);
  try {
    await body(rig);
  } finally {
    await rig.close();
  }
}

/** Whatever a script has been through takes a slice for each row. */
function makeHeavy(rig: ElectrumRig): void {
  const lease = rig.reads.lease.bind(rig.reads);
  rig.reads.lease = () => {
    const held = lease();
    const { query } = held;
    const history = Object.getPrototypeOf(query).history.bind(query) as typeof query.history;
    query.history = () => {
      const made = history();
      const idsOfKey = Object.getPrototypeOf(made).idsOfKey.bind(made) as typeof made.idsOfKey;
      made.idsOfKey = function* (kind, key) {
        for (const row of idsOfKey(kind, key)) {
          for (const end = performance.now() + SLICE_MS; performance.now() <= end; );
          yield row;
        }
      };
      return made;
    };
    return held;
  };
}

function batch(rig: ElectrumRig, size: number): string {
  const call = { method: 'blockchain.scripthash.get_history', params: [rig.model.scriptHash(SCRIPTS[0])] };
  return JSON.stringify(Array.from({ length: size }, (_, id) => ({ ...call, id })));
}

test('20 heavy batches do not stand before the request of another', async () => {
  const workload = new CountingWorkload();
  await withRig({ workload }, async (rig) => {
    const modest = await LineClient.open(rig.ports.tcp);
    const greedy = await Promise.all(Array.from({ length: 20 }, () => LineClient.open(rig.ports.tcp)));
    makeHeavy(rig);
    for (const client of greedy) client.sendLine(batch(rig, 100));
    // Each has had its first slice, which counts as a new request.
    await until(() => workload.waiting >= 20 && workload.steps >= 80, 'all of them are long in work');
    workload.waits = [];
    for (let i = 0; i < 10; i++) assert.equal(await modest.ask('server.ping'), null);
    // From when it has come: how many slices go by while its bytes travel is the machine's affair. Behind all batches it would be twenty each time.
    assert.deepEqual(workload.waits, new Array(10).fill(1));
    assert.ok(!greedy.some(({ received }) => received.some(Array.isArray)), 'no batch is done');
    // Who hangs up is not worked for any more.
    for (const client of greedy) client.socket.destroy();
    await until(() => workload.waiting === 0, 'the batches are given up');
    const { steps } = workload;
    assert.equal(await modest.ask('server.ping'), null);
    assert.equal(workload.steps, steps + 1);
    assert.equal(rig.reads.snapshots, 1);
    await modest.close();
  });
});

test('one long request more than there may be is told so; a short one is answered', async () => {
  const workload = new Workload({ longTasksMax: 2, answerBytesMax: 1_000_000 });
  await withRig({ workload }, async (rig) => {
    const clients = await Promise.all(Array.from({ length: 3 }, () => LineClient.open(rig.ports.tcp)));
    makeHeavy(rig);
    for (const client of clients.slice(0, 2)) client.sendLine(batch(rig, 1000));
    await until(() => workload.waiting === 2, 'two are in work');
    const { error } = await clients[2].reply('blockchain.scripthash.get_history', [rig.model.scriptHash(SCRIPTS[0])]);
    assert.equal(error?.code, 2);
    assert.match(error?.message ?? '', /2 long requests/);
    assert.equal(await clients[2].ask('server.ping'), null);
    await Promise.all(clients.map((client) => client.close()));
  });
});

test('answers that are held in memory are counted over all sessions', async () => {
  const workload = new Workload({ longTasksMax: 10, answerBytesMax: 10_000 });
  await withRig({ workload }, async (rig) => {
    const client = await LineClient.open(rig.ports.tcp);
    client.sendLine(batch(rig, 100));
    const answers = (await client.until(Array.isArray)) as { error?: { code: number } }[];
    assert.equal(answers.length, 100);
    assert.ok(answers[0].error === undefined);
    assert.equal(answers.at(-1)?.error?.code, 2, 'the last ones had no room');
    await until(() => workload.bytes === 0, 'nothing is held');
    assert.equal(await client.ask('server.ping'), null);
    await client.close();
  });
});
