/**
 * A sync that is cut short, by a person or by a full disk: the store is at some
 * block, and the same command goes on to the same end.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fixtures, needsFixtures } from '../support/fixtures.ts';
import { digestOf, document, ended, failure, start, temporary } from './run.ts';

/** More blocks than any machine makes before the signal comes. */
const ENDLESS = 'devnet:?blocks=1000000&seed=5';
const STARTED_MS_MAX = 30_000;

async function startSync(data: string, source: string, ...more: string[]) {
  const child = start(['sync', '--source', source, '--data', data, '--sync-group-blocks', '20', ...more]);
  const result = ended(child);
  for (let waited = 0; !existsSync(join(data, 'db', 'CURRENT')) && waited < STARTED_MS_MAX; waited += 20) await sleep(20);
  return { child, result };
}

describe('interrupted', () => {
  test('Ctrl-C stops at a block, says where, and the same command goes on', async () => {
    const work = temporary();
    const data = join(work, 'data');
    const { child, result } = await startSync(data, ENDLESS, '--json');
    await sleep(1000);
    child.kill('SIGINT');
    const { code, stdout, stderr } = await result;
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

  test('a second Ctrl-C ends at once, and harms nothing', async () => {
    const data = join(temporary(), 'data');
    const { child, result } = await startSync(data, ENDLESS);
    await sleep(500);
    child.kill('SIGINT');
    child.kill('SIGINT');
    assert.equal((await result).code, 130);
    await document(['verify', '--data', data]);
  });

  test('while waiting at the tip too', async () => {
    const data = join(temporary(), 'data');
    const { child, result } = await startSync(data, 'devnet:?blocks=50&interval=1', '--follow', '--json', '--quiet');
    await sleep(2500);
    child.kill('SIGTERM');
    const { code, stdout } = await result;
    assert.equal(code, 130);
    assert.ok((JSON.parse(stdout) as { point: { height: number } }).point.height > 49, 'it had mined on');
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
