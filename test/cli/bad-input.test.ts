/**
 * Everything a person or a disk can get wrong: one line that says what to do,
 * the documented exit code, and a store that is what it was before.
 */
import assert from 'node:assert/strict';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { Digest } from '../../src/query/digest.ts';
import { fixtures, needsFixtures, readFixture } from '../support/fixtures.ts';
import { digestOf, document, failure, temporary, unspent, withStore } from './run.ts';

/** A user who may read nothing of ours. */
const NOBODY = 65534;
const isRoot = process.getuid?.() === 0;

describe('bad input', () => {
  const work = temporary();
  const data = join(work, 'data');
  let sound: Digest;
  const fresh = (name: string): string => join(work, name);
  const copy = (name: string): string => {
    cpSync(data, fresh(name), { recursive: true });
    return fresh(name);
  };

  before(async () => {
    await document(['sync', '--source', 'devnet:?blocks=300&rollbacks=0', '--data', data]);
    await document(['prune', '--utxo-prune-depth', '100', '--utxo-rollback-window', '200', '--data', data]);
    sound = await digestOf(data);
  });

  afterEach(async () => assert.deepEqual(await digestOf(data), sound, 'the store is intact'));

  test('unknown network', async () => {
    const { message } = await failure(['sync', '--source', 'devnet:', '--network', 'nowhere', '--data', fresh('a')], 'NETWORK_UNKNOWN', 3);
    assert.match(message, /nowhere.*mainnet, preprod, preview, devnet/);
    assert.ok(!existsSync(fresh('a')), 'nothing was made');
    await failure(['sync', '--source', 'immutable:/x', '--data', fresh('a')], 'NETWORK_NEEDED', 3);
  });

  test('the store of another network', async () => {
    await failure(['status', '--network', 'preview', '--data', data], 'STORE_NETWORK', 3);
    await failure(['sync', '--source', 'devnet:', '--network', 'preview', '--data', data], 'STORE_NETWORK', 3);
  });

  test('missing folder, file instead of a folder, folder without chunks', async () => {
    const { message } = await failure(['sync', '--source', 'immutable:/no/such/folder', '--data', data], 'SOURCE_UNREACHABLE', 4);
    assert.match(message, /\/no\/such\/folder/);
    await failure(['sync', '--source', `immutable:${import.meta.filename}`, '--data', data], 'SOURCE_UNREACHABLE', 4);
    await failure(['sync', '--source', `immutable:${work}`, '--data', data], 'SOURCE_UNREACHABLE', 4);
  });

  test('unreadable folder', { skip: isRoot ? false : 'needs to become another user' }, async (t) => {
    const folder = fresh('unreadable');
    mkdirSync(folder, { mode: 0o700 });
    chmodSync(work, 0o755);
    const own = fresh('of-nobody');
    mkdirSync(own);
    chownSync(own, NOBODY, NOBODY);
    const user = { uid: NOBODY, gid: NOBODY };
    const probe = await unspent(['--version'], user).catch(() => null);
    if (probe?.code !== 0) return t.skip('another user cannot run the command here');
    const args = ['sync', '--network', 'preview', '--source', `immutable:${folder}`, '--data', own];
    const { message } = await failure(args, 'SOURCE_UNREACHABLE', 4, user);
    assert.match(message, /permission denied/);
    await failure(['status', '--data', folder], 'STORE_MISSING', 1);
    await failure(['status', '--data', folder], 'IO', 1, user);
  });

  test('wrong genesis, missing genesis', needsFixtures, async () => {
    const folder = fresh('genesis');
    mkdirSync(folder);
    const args = ['sync', '--network', 'mainnet', '--source', 'immutable:/x', '--data', fresh('b')];
    await failure(args, 'GENESIS_NEEDED', 3);
    await failure([...args, '--genesis', folder], 'GENESIS_NEEDED', 3);
    for (const era of ['byron', 'shelley']) {
      copyFileSync(fixtures('cardano', 'genesis', `preview-${era}-genesis.json`), join(folder, `${era}-genesis.json`));
    }
    const { message } = await failure([...args, '--genesis', folder], 'GENESIS_WRONG', 3);
    assert.match(message, /magic 2; 'mainnet' has network magic 764824073/);
    assert.ok(!existsSync(fresh('b')), 'nothing was made');
    await failure(['sync', '--source', 'devnet:', '--genesis', folder, '--data', data], 'GENESIS_WRONG', 3);
  });

  test('corrupt chunk: what came before it is kept', needsFixtures, async () => {
    const folder = fresh('chunks');
    mkdirSync(folder);
    for (const name of ['00000', '00001']) {
      for (const kind of ['chunk', 'primary', 'secondary']) {
        writeFileSync(join(folder, `${name}.${kind}`), readFixture('cardano', 'immutable', 'preview-from-genesis', `${name}.${kind}.gz`));
      }
    }
    const path = join(folder, '00001.chunk');
    const bytes = readFileSync(path);
    bytes[bytes.length >> 1] ^= 0x40;
    writeFileSync(path, bytes);
    const own = fresh('c');
    const args = ['sync', '--network', 'preview', '--source', `immutable:${folder}`, '--data', own];
    const broken = await unspent([...args, '--json', '--quiet']);
    assert.equal(broken.code, 5, broken.stderr);
    assert.match(broken.stderr, /^unspent: [^\n]+\n$/);
    const at = await digestOf(own);
    const whole = fixtures('cardano', 'immutable', 'preview-from-genesis');
    assert.ok(at.height > gunzipSync(readFileSync(join(whole, '00000.secondary.gz'))).length / 56 - 1, 'the first chunk is there');
    await document(['verify', '--data', own]);
    // The same command goes on once the file is whole again, and ends where a sound folder would have.
    bytes[bytes.length >> 1] ^= 0x40;
    writeFileSync(path, bytes);
    await document(args);
    const other = fresh('d');
    await document(['sync', '--network', 'preview', '--source', `immutable:${folder}`, '--data', other]);
    assert.deepEqual(await digestOf(own), await digestOf(other));
  });

  test('wrong command line', async () => {
    const unknown = await failure(['snyc'], 'USAGE', 2);
    assert.match(unknown.message, /did you mean 'sync'/);
    const flag = await failure(['status', '--utxo-prune-deth', '3'], 'USAGE', 2);
    assert.match(flag.message, /did you mean '--utxo-prune-depth'/);
    for (const wrong of ['--sorce', '--netwrok']) {
      const mistyped = await failure(['sync', wrong, 'devnet:'], 'USAGE', 2);
      assert.match(mistyped.message, /did you mean '--(source|network)'/);
    }
    const missing = await failure(['sync', '--data', data], 'USAGE', 2);
    assert.match(missing.message, /--source <url>/);
    await failure(['status', 'more', '--data', data], 'USAGE', 2);
    await failure(['rollback', '--to', 'yesterday', '--data', data], 'USAGE', 2);
    await failure(['sync', '--source', 'devnet:', '--until', 'origin', '--data', data], 'USAGE', 2);
    await failure(['sync', '--source', 'devnet:?blcks=3', '--data', data], 'USAGE', 2);
    await failure(['sync', '--source', 'ftp://x', '--data', data], 'SOURCE_UNKNOWN', 2);
    const bare = await unspent(['query']);
    assert.equal(bare.code, 2);
    assert.match(bare.stderr, /^Usage: unspent query/);
  });

  test('unknown setting, bad value, missing file', async () => {
    const file = fresh('bad.toml');
    writeFileSync(file, '[utxo]\n\nprunDepth = 3\n');
    const { message } = await failure(['status', '--config', file, '--data', data], 'CONFIG', 3);
    assert.match(message, /bad\.toml:3.*prunDepth.*did you mean/);
    await failure(['status', '--set', 'utxo.prunDepth=3', '--data', data], 'CONFIG', 3);
    await failure(['status', '--utxo-prune-depth', 'many', '--data', data], 'CONFIG', 3);
    await failure(['status', '--config', fresh('none.toml'), '--data', data], 'CONFIG', 3);
    await failure(['status', '--data', data], 'CONFIG', 3, { env: { UNSPENT_UTXO_PRUN_DEPTH: '3' } });
    await failure(['sync', '--source', 'devnet:', '--data', data, '--utxo-enabled', 'false'], 'STORE_SHAPE', 3);
  });

  test('directory in use', () =>
    withStore(data, async () => {
      const { message } = await failure(['sync', '--source', 'devnet:', '--data', data], 'STORE_LOCKED', 1);
      assert.match(message, new RegExp(`^process ${process.pid} \\(a program, since .*\\) has the store open; this command needs it`));
    }));

  test('rollback below the horizon', async () => {
    const { message } = await failure(['rollback', '--to', 'height:50', '--data', data], 'HORIZON', 1);
    assert.match(message, /height 50: the horizon is at height 199 \(tip 299\)/);
    await failure(['rollback', '--to', 'origin', '--data', data], 'HORIZON', 1);
  });

  test('no store, not a store, a newer store, a damaged store', async () => {
    await failure(['status', '--data', fresh('nothing')], 'STORE_MISSING', 1);
    assert.ok(!existsSync(fresh('nothing')), 'looking makes nothing');
    const foreign = fresh('foreign');
    mkdirSync(foreign);
    writeFileSync(join(foreign, 'letters.txt'), 'dear');
    await failure(['sync', '--source', 'devnet:', '--data', foreign], 'STORE_FOREIGN', 1);
    assert.deepEqual(readdirSync(foreign), ['letters.txt']);
    await failure(['status', '--data', join(foreign, 'letters.txt')], 'IO', 1);
    const newer = copy('newer');
    const identity = readFileSync(join(newer, 'unspent.json'), 'utf8');
    writeFileSync(join(newer, 'unspent.json'), JSON.stringify({ ...JSON.parse(identity), schema: 99 }));
    await failure(['sync', '--source', 'devnet:', '--data', newer], 'STORE_SCHEMA', 3);
    writeFileSync(join(newer, 'unspent.json'), identity);
    assert.deepEqual(await digestOf(newer), sound);
    const damaged = copy('damaged');
    rmSync(join(damaged, 'db', 'CURRENT'));
    await failure(['status', '--data', damaged], 'STORE_DAMAGED', 5);
  });

  test('a store that has blocks cannot become partial; an empty one can', needsFixtures, async () => {
    await failure(['sync', '--source', 'devnet:', '--partial', '--data', data], 'STORE_SHAPE', 3);
    const folder = fresh('middle');
    mkdirSync(folder);
    copyFileSync(fixtures('cardano', 'immutable', 'preprod', '01285.chunk.gz'), join(folder, '01285.chunk.gz'));
    const args = ['sync', '--network', 'preprod', '--source', `immutable:${folder}`, '--data', fresh('e')];
    await failure(args, 'NOT_FROM_GENESIS', 1);
    const { blocks } = await document<{ blocks: number }>([...args, '--partial']);
    assert.equal(blocks, 864);
    const { partial, missingInputs } = await document<{ partial: boolean; missingInputs: number }>(['status', '--data', fresh('e')]);
    assert.ok(partial && missingInputs > 0);
  });

  after(() => chmodSync(work, 0o700));
});
