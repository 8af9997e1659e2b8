/**
 * How requests share the thread: a new one waits for one slice of long work
 * however many long ones there are, each of those gets its turn, one whose
 * client is gone is given up, and beyond the bounds the answer is BUSY.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Task } from '../../../src/server/http/work/task.ts';
import { Workload } from '../../../src/server/http/work/workload.ts';
import { isUnspentError } from '../../../src/util/errors.ts';
import { SLICE_MS } from '../../../src/util/limits.ts';

/** Rows that take a slice each, until told to end. */
class LongRows {
  made = 0;
  closed = false;
  ended = false;

  *[Symbol.iterator](): Generator<number, void, void> {
    try {
      while (!this.ended) {
        for (const end = performance.now() + SLICE_MS; performance.now() <= end; );
        yield this.made++;
      }
    } finally {
      this.closed = true;
    }
  }
}

function work(task: Task, rows: Iterable<unknown>): Promise<string> {
  const take = (): boolean => true;
  return Promise.resolve(task.inSlices(rows, take, () => 'done'));
}

const rounds = async (workload: Workload, count: number): Promise<void> => {
  for (const end = workload.rounds + count; workload.rounds < end; ) await new Promise((resolve) => setImmediate(resolve));
};

const isBusy = (error: unknown): boolean => isUnspentError(error, 'BUSY');

describe('the workload', () => {
  test('what is short is done at once, without a promise', () => {
    const task = new Workload().task(() => false);
    const seen: number[] = [];
    const made = task.inSlices(
      [1, 2, 3],
      (row) => seen.push(row) < 2,
      () => seen,
    );
    assert.deepEqual(made, [1, 2]);
    assert.equal(
      task.run(() => 7),
      7,
    );
  });

  test('long ones take turns, and a short one does not wait for all of them', async () => {
    const workload = new Workload({ longTasksMax: 30, answerBytesMax: 1 });
    const many = Array.from({ length: 30 }, () => new LongRows());
    const working = many.map((rows) =>
      work(
        workload.task(() => false),
        rows,
      ),
    );
    while (many.some(({ made }) => made === 0)) await rounds(workload, 1);
    const before = many.map(({ made }) => made);
    await rounds(workload, 60);
    // From when all have begun, each gets one slice in thirty rounds.
    const made = many.map((rows, i) => rows.made - before[i]);
    assert.ok(Math.max(...made) - Math.min(...made) <= 1 && Math.min(...made) >= 1, `all get their turns: ${made}`);
    for (let i = 0; i < 10; i++) {
      const [before, steps] = [workload.rounds, workload.steps];
      await workload.task(() => false).run(() => undefined);
      // The slice of one long task and itself; with all 30 in the way it would be 31.
      assert.ok(workload.steps - steps <= 3, `${workload.steps - steps} steps before it was answered`);
      assert.ok(workload.rounds - before <= 1);
      await rounds(workload, 1);
    }
    for (const rows of many) rows.ended = true;
    assert.deepEqual(await Promise.all(working), Array(30).fill('done'));
    assert.equal(workload.waiting, 0);
  });

  test('one more than there may be is refused, until another is done', async () => {
    const workload = new Workload({ longTasksMax: 2, answerBytesMax: 1 });
    const rows = [new LongRows(), new LongRows(), new LongRows()];
    const tasks = rows.map(() => workload.task(() => false));
    const [first, second] = [work(tasks[0], rows[0]), work(tasks[1], rows[1])];
    await rounds(workload, 4);
    await assert.rejects(async () => work(tasks[2], rows[2]), isBusy);
    assert.ok(rows[2].closed, 'what it read from is closed');
    assert.equal(await workload.task(() => false).run(() => 'short'), 'short');
    const own = new LongRows();
    const ownWork = work(
      workload.ownTask(() => false),
      own,
    );
    rows[0].ended = true;
    await first;
    tasks[0].done(0);
    const fourth = new LongRows();
    const next = work(
      workload.task(() => false),
      fourth,
    );
    await rounds(workload, 8);
    for (const each of [rows[1], fourth, own]) each.ended = true;
    assert.deepEqual(await Promise.all([second, next, ownWork]), ['done', 'done', 'done']);
  });

  test('what nobody waits for any more is given up, and closes what it read from', async () => {
    const workload = new Workload();
    let gone = false;
    const rows = new LongRows();
    const working = work(
      workload.task(() => gone),
      rows,
    );
    const refused = assert.rejects(working, isBusy);
    await rounds(workload, 3);
    gone = true;
    await refused;
    const { made } = rows;
    assert.ok(rows.closed);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual([rows.made, workload.waiting], [made, 0]);
  });

  test('a failure is that of its task, also in a later slice', async () => {
    const workload = new Workload();
    let left = 3;
    const failing = async (): Promise<string> =>
      work(
        workload.task(() => false),
        (function* () {
          const rows = new LongRows();
          for (const row of rows) {
            if (left-- === 0) throw new Error('damaged');
            yield row;
          }
        })(),
      );
    await assert.rejects(failing(), /damaged/);
    assert.equal(workload.waiting, 0);
  });

  test('answers in memory are counted, and beyond the bound there are no more', () => {
    const workload = new Workload({ longTasksMax: 1, answerBytesMax: 1000 });
    const [one, two] = [workload.task(() => false), workload.task(() => false)];
    for (let i = 0; i < 5; i++) one.hold(100);
    two.hold(600);
    assert.throws(() => one.hold(1), isBusy);
    assert.ok(isBusy(workload.refusal));
    one.done(480);
    assert.equal(workload.bytes, 1080);
    two.done(0);
    assert.equal(workload.refusal, null);
    one.done(0);
    one.done(0);
    assert.equal(workload.bytes, 0);
  });
});
