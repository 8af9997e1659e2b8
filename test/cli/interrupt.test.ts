/**
 * A sync that is cut short, by a person or by a full disk: the store is at some
 * block, and the same command goes on to the same end.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { fixtures, needsFixtures } from '../support/fixtures.ts';
import { until } from '../support/patience.ts';
import { digestOf, document, failure, temporary } from './run.ts';
import { Running } from './running.ts';

/** More blocks than any machine makes before the signal comes. */
const ENDLESS = 'devnet:?blocks=1000000&seed=5';

/** Starts a sync and waits for its first line of progress, by which it has committed blocks. */
async function startSync(t: TestContext, data: string, source: string, ...more: string[]): Promise<Running> {
  const args = ['sync', '--source', source, '--data', data, '--sync-group-blocks', '20', ...more];
  const sync = new Running(t, args, dirname(data));
  await sync.remarks(/height [1-9]/);
  return sync;
}

describe('interrupted', () => {
  test('Ctrl-C stops at a block, says where, and the same command goes on', async (t) => {
    const work = temporary();
    const data = join(work, 'data');
    const { code, stdout, stderr } = await (await startSync(t, data, ENDLESS, '--json')).interrupt();
    assert.equal(code, 130, stderr);
    const { point, reason } = JSON.parse(stdout) as { point: { height: number }; reason: string };
    assert.equal(reason, 'interrupted');
    assert.match(
      stderr,
      /^unspent: stopped at height [\d,]+, slot [\d,]+, block [0-9a-f]{64}\. Run the same command again: it resumes\.$/m,
    );
    assert.equal((await digestOf(data)).height, point.height);
    const source = `devnet:?blocks=${point.height + 100}&seed=5`;
    await document(['sync', '--source', source, '--data', data]);
    await document(['sync', '--source', source, '--data', join(work, 'other')]);
    assert.deepEqual(await digestOf(data), await digestOf(join(work, 'other')));
  });

  test('a second Ctrl-C ends at once, and harms nothing', async (t) => {
    const data = join(temporary(), 'data');
    const sync = await startSync(t, data, ENDLESS);
    sync.interrupt();
    assert.equal((await sync.interrupt()).code, 130);
    await document(['verify', '--data', data]);
  });

  test('while waiting at the tip too', async (t) => {
    const data = join(temporary(), 'data');
    const sync = await startSync(t, data, 'devnet:?blocks=50&interval=1', '--follow', '--json');
    await sync.remarks(/block [5-9]\d|up to [5-9]\d/);
    const { code, stdout } = await sync.interrupt();
    assert.equal(code, 130);
    assert.ok((JSON.parse(stdout) as { point: { height: number } }).point.height > 49, 'it had mined on');
  });
});

describe('ended by a service manager (SIGTERM): it stops at a block, and that is no failure', () => {
  test('a sync', async (t) => {
    const data = join(temporary(), 'data');
    const { code, stdout, stderr } = await (await startSync(t, data, ENDLESS, '--json')).interrupt('SIGTERM');
    assert.equal(code, 0, stderr);
    const { point, reason } = JSON.parse(stdout) as { point: { height: number }; reason: string };
    assert.equal(reason, 'interrupted');
    assert.match(stderr, /^\S+Z info {2}cli {5}stopped at height [\d,]+, slot/m);
    assert.equal((await digestOf(data)).height, point.height);
  });

  for (const args of [
    ['start', '--port', '0'],
    ['start', '--network', 'preview', '--source', 'n2n://127.0.0.1:1', '--no-server'],
    ['devnet', '--port', '0', '--genesis-out', 'genesis'],
  ])
    test(args.join(' '), async (t) => {
      const work = temporary();
      const running = new Running(t, [...args, '--data', join(work, 'data')], work);
      await until(() => running.out + running.err !== '', 'a word of it');
      const { code, stderr } = await running.interrupt('SIGTERM');
      assert.equal(code, 0, stderr);
      assert.match(stderr, / info {2}cli {5}stopped/);
      assert.doesNotMatch(stderr, /^unspent:/m);
    });
});

test('a full disk: one line, a store at some block, and on it goes when there is room', needsFixtures, async (t) => {
  const disk = join(temporary(), 'disk');
  mkdirSync(disk);
  const system = (program: string, ...args: string[]) => spawnSync(program, args).status === 0;
  const mount = (...args: string[]) => system('mount', ...args);
  if (process.platform !== 'linux' || !mount('-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', disk))
    return t.skip('mounting a small disk is not permitted');
  try {
    const data = join(disk, 'data');
    const sync = [
      'sync',
      '--network',
      'preview',
      '--source',
      `immutable:${fixtures('cardano', 'immutable', 'preview-from-genesis')}`,
      '--data',
      data,
    ];
    const { message } = await failure(sync, 'DISK_FULL', 1);
    assert.match(message, /no space/i);
    assert.ok(mount('-o', 'remount,size=64m', disk));
    const { height } = await digestOf(data);
    assert.ok(height > 0);
    await document(['verify', '--data', data]);
    const { point } = await document<{ point: { height: number } }>([...sync, '--until', `height:${height + 100}`]);
    assert.equal(point.height, height + 100);
  } finally {
    system('umount', disk);
  }
});
