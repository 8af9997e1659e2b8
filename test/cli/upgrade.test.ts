/**
 * `upgrade`, as people use it, on a store that the last commit of schema 1 wrote:
 * what it would do, what it did, stopped and killed on the way; and why a backup
 * of another format is not restored.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { SCHEMA_VERSION } from '../../src/engine/directory.ts';
import { BACKUP_MANIFEST_FILE } from '../../src/store/backup/manifest.ts';
import { checkedText } from '../../src/util/checked-text.ts';
import { readFrozen, thaw } from '../support/frozen.ts';
import { signalAt } from '../support/signal-at.ts';
import { digestOf, document, ended, failure, start, temporary, unspentHere } from './run.ts';

const CHILD = join(import.meta.dirname, '../support/upgrade-child.ts');
const FROZEN = readFrozen('schema-1-cardano-rocks');
const { digest, height } = FROZEN.marks.head;
const MARKED = /^renameSync .*unspent\.json/;

function thawed(): string {
  const data = join(temporary(), 'data');
  thaw(FROZEN, data);
  return data;
}

interface Report {
  readonly from: number;
  readonly to: number;
  readonly steps: readonly string[];
  readonly resumed: boolean;
  readonly done: boolean;
}

describe('unspent upgrade', () => {
  test('says what it would do, does it when asked, and then there is nothing to do', async () => {
    const data = thawed();
    const identity = readFileSync(join(data, 'unspent.json'), 'utf8');
    const { message, advice } = await failure(['status', '--data', data], 'STORE_SCHEMA', 3);
    assert.match(
      `${message} ${advice}`,
      /has schema 1; this version reads \d; `unspent upgrade --dry-run` says .* Make a backup with the version/,
    );

    const asked = await unspentHere(['upgrade', '--dry-run', '--data', data]);
    assert.deepEqual([asked.code, asked.stderr], [0, '']);
    const [first, ...steps] = asked.stdout.trimEnd().split('\n');
    assert.equal(first, `from format 1 to ${SCHEMA_VERSION}, if asked to:`);
    assert.equal(steps.length, SCHEMA_VERSION - 1);
    assert.match(steps[0], /^ {2}output indexes become 32 bits wide, .*; nothing is lost$/);
    const would = await document<Report>(['upgrade', '--dry-run', '--data', data]);
    assert.deepEqual([would.from, would.to, would.done, would.resumed], [1, SCHEMA_VERSION, false, false]);
    assert.deepEqual(
      would.steps,
      steps.map((step) => step.trim()),
    );
    assert.equal(readFileSync(join(data, 'unspent.json'), 'utf8'), identity, 'and has changed nothing');

    const done = await unspentHere(['upgrade', '--data', data]);
    assert.deepEqual([done.code, done.stdout], [0, asked.stdout.replace(', if asked to', '')]);
    assert.deepEqual((await digestOf(data)).digest, digest);
    const again = await unspentHere(['upgrade', '--data', data]);
    assert.deepEqual(again, { code: 0, stdout: `the store has format ${SCHEMA_VERSION}: there is nothing to do\n`, stderr: '' });
    assert.deepEqual(await document<Report>(['upgrade', '--data', data]), {
      ...{ from: SCHEMA_VERSION, to: SCHEMA_VERSION, steps: [], resumed: false, done: true },
    });
  });

  test('stopped by SIGTERM it is not done; the same command goes on, and says so', async () => {
    const data = thawed();
    const { code, stderr } = await ended(start(['upgrade', '--data', data], { env: signalAt(MARKED) }));
    assert.equal(code, 143, stderr);
    assert.match(stderr, /^unspent: stopped; run `unspent upgrade` again, and it goes on/m);
    const { message } = await failure(['status', '--data', data], 'STORE_UNFINISHED', 1);
    assert.match(message, /is being upgraded, and that was not finished$/);
    const { resumed, done } = await document<Report>(['upgrade', '--data', data]);
    assert.deepEqual([resumed, done], [true, true]);
    assert.deepEqual(await digestOf(data).then((found) => [found.digest, found.height]), [digest, height]);
  });

  test('killed wherever it is, it goes on', async () => {
    const data = thawed();
    let kills = 0;
    for (const at of [1, 3, 2, 6, Number.MAX_SAFE_INTEGER]) {
      const { code, stdout, stderr } = await ended(start([CHILD, data, `${at}`], { bin: process.execPath }));
      if (code === null) kills++;
      else {
        assert.equal(code, 0, stderr);
        assert.equal((JSON.parse(stdout) as Report).resumed, true);
        break;
      }
    }
    assert.ok(kills >= 3, `${kills} kills`);
    assert.equal((await digestOf(data)).digest, digest);
    await document(['verify', '--data', data]);
  });
});

test('a backup of another format is restored by the version that made it, and this one leaves nothing', async () => {
  const [folder, data] = [join(temporary(), 'backups'), join(temporary(), 'data')];
  thaw(readFrozen('schema-2-cardano-all-backup'), folder);
  const [name] = readdirSync(folder).filter((each) => !each.endsWith('.json'));
  const path = join(folder, name, BACKUP_MANIFEST_FILE);
  const { checksum: _, ...manifest } = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
  const cases = [
    [1, 'restore it with unspent 0.0.9, then run `unspent upgrade` with this one'],
    [99, 'restore it with unspent 0.0.9'],
  ] as const;
  for (const [schema, what] of cases) {
    writeFileSync(path, checkedText({ ...manifest, schema, createdBy: 'unspent 0.0.9' }));
    const { message } = await failure(['restore', folder, '--data', data], 'STORE_SCHEMA', 3);
    assert.ok(
      message.endsWith(`of a store of schema ${schema}, made by unspent 0.0.9; this version reads ${SCHEMA_VERSION}: ${what}`),
      message,
    );
    assert.ok(!readdirSync(join(data, '..')).includes('data'));
  }
});
