/**
 * Every command on a small devnet, as a user runs it: the documents they print,
 * and that each of them parses.
 */
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { toHex } from '../../src/util/bytes.ts';
import { VERSION } from '../../src/util/version.ts';
import { BIN, digestOf, document, ended, failure, start, temporary, unspent, withStore } from './run.ts';

const SOURCE = 'devnet:?blocks=500&seed=1&rollbacks=1';

interface PointJson {
  readonly height: number;
  readonly slot: number;
  readonly hash: string;
}

/** What the documents of the commands say, between them. */
interface Row {
  readonly reason?: string;
  readonly rollbacks?: number;
  readonly blocks?: number;
  readonly txs?: number;
  readonly bytes?: number;
  readonly seconds?: number;
  readonly blocksPerSecond?: number;
  readonly megabytesPerSecond?: number;
  readonly utxos?: number;
  readonly value?: unknown;
  readonly point?: PointJson | null;
  readonly network?: string;
  readonly partial?: boolean;
  readonly horizon?: PointJson | null;
  readonly pruned?: object;
  readonly time?: string;
  readonly spentOutputs?: number;
  readonly deltas?: number;
  readonly faultCount?: number;
  readonly faults?: readonly object[];
  readonly key?: string;
}

describe('the commands', () => {
  const work = temporary();
  const data = join(work, 'data');
  let synced: Row & { readonly point: PointJson };

  before(async () => {
    synced = await document(['sync', '--source', SOURCE, '--data', data]);
  });

  test('sync says what it did', () => {
    const { point, seconds, blocksPerSecond, megabytesPerSecond, bytes, txs, utxos, value, ...rest } = synced;
    assert.equal(point.height, 499);
    assert.match(point.hash, /^[0-9a-f]{64}$/);
    assert.ok([seconds, blocksPerSecond, megabytesPerSecond, bytes, txs, utxos].every((each) => typeof each === 'number' && each > 0));
    assert.match(String(value), /^\d+$/);
    assert.equal(rest.reason, 'end');
    assert.equal(rest.rollbacks, 1);
    assert.ok(Number(rest.blocks) > 500, 'blocks of the branch that lost count too');
  });

  test('sync again has nothing to do', async () => {
    const again = await document<Row>(['sync', '--source', SOURCE, '--data', data]);
    assert.deepEqual([again.blocks, again.reason, again.point], [0, 'end', synced.point]);
  });

  test('sync --until stops there, goes on, and says when it is beyond', async () => {
    const own = join(work, 'until');
    const first = await document<{ point: PointJson; reason: string }>([
      'sync',
      '--source',
      SOURCE,
      '--data',
      own,
      '--until',
      'height:120',
    ]);
    assert.deepEqual([first.point.height, first.reason], [120, 'until']);
    const slot = first.point.slot + 50;
    const second = await document<{ point: PointJson }>(['sync', '--source', SOURCE, '--data', own, '--until', String(slot)]);
    assert.ok(second.point.slot <= slot && second.point.height > 120);
    const beyond = await unspent(['sync', '--source', SOURCE, '--data', own, '--until', 'height:5']);
    assert.equal(beyond.code, 0);
    assert.match(beyond.stderr, /already, beyond 5; to go back: unspent rollback --to height:5/);
    await document(['sync', '--source', SOURCE, '--data', own]);
    assert.deepEqual(await digestOf(own), await digestOf(data));
  });

  test('status', async () => {
    const status = await document<Row & { tip: Row; engine: Row }>(['status', '--data', data]);
    assert.deepEqual({ ...status.tip, epoch: 0, time: '', era: '' }, { ...synced.point, epoch: 0, time: '', era: '' });
    assert.match(String(status.tip.time), /^\d{4}-\d\d-\d\dT/);
    assert.deepEqual([status.network, status.partial, status.utxos, status.value], ['devnet', false, synced.utxos, synced.value]);
    assert.equal(status.horizon, null);
    assert.deepEqual(status.pruned, { spentOutputs: -1, deltas: -1 });
    assert.ok(Number(status.engine.bytes) > 0);
    const { stdout } = await unspent(['status', '--data', data]);
    assert.match(stdout, /^tip +height 499, slot [\d,]+, epoch \d+ \(conway\)$/m);
  });

  test('digest equals the library', async () => {
    const digest = await document<Row>(['digest', '--data', data]);
    const { height, value, ...expected } = await digestOf(data);
    assert.deepEqual(digest, { point: synced.point, ...expected, value: value.toString() });
    assert.equal(height, 499);
  });

  test('rollback, and forward again', async () => {
    const own = join(work, 'back');
    cpSync(data, own, { recursive: true });
    const back = await document<{ point: PointJson; undone: number }>(['rollback', '--to', 'height:450', '--data', own]);
    assert.deepEqual([back.point.height, back.undone], [450, 49]);
    const bySlot = await document<{ point: PointJson }>(['rollback', '--to', String(back.point.slot - 1), '--data', own]);
    assert.equal(bySlot.point.height, 449);
    const byHash = await document<{ undone: number }>(['rollback', '--to', bySlot.point.hash, '--data', own]);
    assert.equal(byHash.undone, 0);
    const origin = await document<{ point: null }>(['rollback', '--to', 'origin', '--data', own]);
    assert.equal(origin.point, null);
    assert.deepEqual(await document(['digest', '--data', own]).then((each) => (each as Row).utxos), 0);
    await document(['sync', '--source', SOURCE, '--data', own]);
    assert.deepEqual(await digestOf(own), await digestOf(data));
    await failure(['rollback', '--to', 'height:9999', '--data', own], 'POINT_UNKNOWN', 1);
  });

  test('prune, with the window of a flag', async () => {
    const own = join(work, 'pruned');
    cpSync(data, own, { recursive: true });
    const flags = ['--utxo-prune-depth', '40', '--set', 'utxo.rollbackWindow=60', '--data', own];
    const pruned = await document<Row & { horizon: PointJson }>(['prune', ...flags]);
    assert.ok(Number(pruned.spentOutputs) > 0);
    assert.equal(pruned.blocks, 460);
    assert.equal(pruned.deltas, 440);
    assert.equal(pruned.horizon.height, 459);
    assert.equal((await document<Row>(['prune', ...flags])).blocks, 0);
    assert.deepEqual(await digestOf(own), await digestOf(data));
  });

  test('verify, and a fault it finds', async () => {
    const sound = await document<Row>(['verify', '--data', data]);
    assert.deepEqual([sound.blocks, sound.utxos, sound.faultCount, sound.faults], [500, synced.utxos, 0, []]);
    const own = join(work, 'faulty');
    cpSync(data, own, { recursive: true });
    const key = await withStore(own, ({ engine }) => {
      const [[row]] = engine.scan('utxo_unspent', { limit: 1 });
      const batch = engine.batch();
      batch.del('utxo_unspent', row);
      batch.commit();
      return row;
    });
    const found = await failure(['verify', '--data', own], 'VERIFY_FAILED', 5);
    assert.ok(Number(found.faultCount) > 0);
    const told = await unspent(['verify', '--data', own]);
    assert.equal(told.code, 5);
    assert.match(told.stdout, /^COLUMN +KEY +FAULT\n/);
    await failure(['query', 'outpoint', `${toHex(key, 0, 32)}#${key[33]}`, '--data', own], 'NOT_FOUND', 1);
  });

  test('config show', async () => {
    const file = join(work, 'other.toml');
    writeFileSync(file, '[utxo]\npruneDepth = 77\n');
    const env = { UNSPENT_SYNC_GROUP_BLOCKS: '9' };
    const shown = await document<{ file: string; settings: Row[] }>(['config', 'show', '--config', file, '--engine-compression', 'false'], {
      env,
    });
    const value = (key: string) => shown.settings.find((setting) => setting.key === key)?.value;
    assert.deepEqual([shown.file, value('utxo.pruneDepth'), value('sync.groupBlocks'), value('engine.compression')], [file, 77, 9, false]);
    const { stdout } = await unspent(['config', 'show']);
    assert.match(stdout, /^KEY +VALUE +FROM +MEANS\n/);
  });

  test('version, help, and a benchmark that is not there', async () => {
    assert.deepEqual(await unspent(['--version']), { code: 0, stdout: `${VERSION}\n`, stderr: '' });
    const help = await unspent(['sync', '--help']);
    assert.equal(help.code, 0);
    assert.match(help.stdout, /Global Options:.*--json.*Examples:/s);
    assert.doesNotMatch(help.stdout, /--utxo-prune-depth </, 'the long list stays away');
    await failure(['bench', 'nothing'], 'USAGE', 2);
  });

  test('a reader that leaves early is no failure', async () => {
    const child = start(['config', 'show', '--data', data]);
    child.stdout?.destroy();
    const { code, stderr } = await ended(child);
    assert.deepEqual([code, stderr], [0, '']);
  });
});

describe('the launcher', () => {
  test('runs through links, from anywhere', async () => {
    const work = temporary();
    mkdirSync(join(work, 'a'));
    symlinkSync(BIN, join(work, 'a', 'one'));
    symlinkSync(join('a', 'one'), join(work, 'two'));
    const { code, stdout } = await unspent(['--version'], { bin: join(work, 'two'), cwd: '/' });
    assert.deepEqual([code, stdout], [0, `${VERSION}\n`]);
  });

  test('says in one line when Node is too old', async () => {
    const work = temporary();
    mkdirSync(join(work, 'bin'));
    cpSync(BIN, join(work, 'bin', 'unspent'));
    writeFileSync(join(work, 'node'), '#!/bin/sh\necho v22.17.1\n', { mode: 0o755 });
    const bin = join(work, 'bin', 'unspent');
    const { code, stderr } = await unspent(['status'], { bin, env: { PATH: `${work}:/usr/bin:/bin` } });
    assert.equal(code, 1);
    assert.match(stderr, /^unspent: .* is Node v22\.17\.1; unspent needs Node 22\.18 or newer [^\n]*\n$/);
    assert.ok(existsSync(bin));
  });
});
