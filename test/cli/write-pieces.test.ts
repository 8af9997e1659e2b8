/** A file that is written while it is made: it is whole, or nothing is left of it, and what was there before stays. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { writePieces } from '../../src/cli/write-pieces.ts';
import { UnspentError } from '../../src/util/errors.ts';

const folder = mkdtempSync(join(tmpdir(), 'unspent-pieces-'));
after(() => rmSync(folder, { recursive: true }));
const never = new AbortController().signal;

test('it is whole', async () => {
  const path = join(folder, 'whole');
  await writePieces(path, ['one\n', 'two\n'], never);
  assert.equal(readFileSync(path, 'utf8'), 'one\ntwo\n');
  await assert.rejects(writePieces(path, ['three\n'], never), { code: 'IO' });
  assert.equal(readFileSync(path, 'utf8'), 'one\ntwo\n');
});

test('nothing is left where making it fails, or is stopped', async () => {
  const path = join(folder, 'part');
  function* failing(): Generator<string, void, void> {
    yield 'x'.repeat(1_000_000);
    throw new UnspentError('STORE_DAMAGED', 'a row cannot be read');
  }
  await assert.rejects(writePieces(path, failing(), never), { code: 'STORE_DAMAGED' });
  assert.ok(!existsSync(path));
  const stop = new AbortController();
  function* endless(): Generator<string, void, void> {
    for (let i = 0; ; i++) {
      if (i === 100) stop.abort();
      yield 'x'.repeat(10_000);
    }
  }
  await assert.rejects(writePieces(path, endless(), stop.signal), { code: 'INTERRUPTED' });
  assert.ok(!existsSync(path));
  await assert.rejects(writePieces(path, ['late'], AbortSignal.abort()), { code: 'INTERRUPTED' });
  assert.ok(!existsSync(path));
});

test('where it cannot be written, the system says why', async () => {
  writeFileSync(join(folder, 'file'), '');
  await assert.rejects(writePieces(join(folder, 'nowhere', 'file'), ['x'], never), { code: 'IO', message: /cannot be written: ENOENT/ });
  await assert.rejects(writePieces(join(folder, 'file', 'below'), ['x'], never), { code: 'IO' });
});
