/**
 * RocksDB aborts the process where the kernel refuses to tell it what the disk
 * can do. That cannot be avoided; the store is whole, and the next command says
 * what happened. And a full disk is called that by commands that only look.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { straceSkip } from '../support/fault-rig.ts';
import { BIN, digestOf, temporary, unspent } from './run.ts';

const SOURCE = 'devnet:?blocks=300&seed=5';
const SKIP = { skip: straceSkip() };

function failing(call: string, args: readonly string[]) {
  const how = ['-f', '-qq', '-o', '/dev/null', '-e', `trace=${call.split(':')[0]}`, '-e', `inject=${call}`];
  return spawnSync('strace', [...how, BIN, ...args], { encoding: 'utf8' });
}

describe('a process that ends inside RocksDB', () => {
  test('leaves the store as it was, and the next command says so once', SKIP, async () => {
    const data = join(temporary(), 'data');
    const sync = ['sync', '--source', SOURCE, '--data', data];
    assert.equal((await unspent([...sync, '--until', 'height:100'])).code, 0);
    const before = await digestOf(data);
    const died = failing('sync_file_range:error=EIO:when=2', sync);
    assert.ok(died.signal === 'SIGABRT' || died.status === 134, `${died.signal} ${died.status} ${died.stderr}`);
    assert.match(died.stderr, /Assertion/);
    const next = await unspent(['digest', '--data', data, '--json']);
    assert.match(next.stderr, /ended without closing the store; it was recovered from its logs and is whole$/m);
    assert.equal(JSON.parse(next.stdout).digest, before.digest);
    const later = await unspent(['status', '--data', data]);
    assert.equal(later.stderr, '');
    assert.equal((await unspent(sync)).code, 0);
  });

  test('is named where it had the store open', async () => {
    const data = join(temporary(), 'data');
    const kill = `import { open } from ${JSON.stringify(new URL('../../src/index.ts', import.meta.url).href)};
      const store = await open({ data: ${JSON.stringify(data)}, network: 'devnet', genesis: undefined });
      process.kill(process.pid, 'SIGABRT');`;
    assert.equal((await unspent(['sync', '--source', SOURCE, '--data', data])).code, 0);
    const child = spawnSync(process.execPath, ['--input-type=module', '-e', kill], { encoding: 'utf8' });
    assert.equal(child.signal, 'SIGABRT', child.stderr);
    const { code, stderr } = await unspent(['status', '--data', data]);
    assert.equal(code, 0);
    assert.match(stderr, new RegExp(`^process ${child.pid} \\(since \\d{4}-.*\\) ended without closing the store`));
  });
});

test('a full disk is called that by a command that only looks, and leaves the store as it was', SKIP, async () => {
  const data = join(temporary(), 'data');
  assert.equal((await unspent(['sync', '--source', SOURCE, '--data', data])).code, 0);
  const before = await digestOf(data);
  for (const call of ['fdatasync', 'fsync']) {
    const { stdout, status } = failing(`${call}:error=ENOSPC:when=1+`, ['status', '--data', data, '--json']);
    assert.equal(status, 1, call);
    assert.equal(JSON.parse(stdout).error.code, 'DISK_FULL', stdout);
    assert.deepEqual(await digestOf(data), before, call);
  }
});
