/** Root and the store of another user: refused, because files of root in it would be closed to that user. */
import assert from 'node:assert/strict';
import { chownSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { IDENTITY_FILE } from '../../src/engine/directory.ts';
import { document, failure, temporary, withStore } from '../cli/run.ts';

const SOMEBODY = 4711;
const skip = process.geteuid?.() === 0 ? false : 'only root may give files away';

test('root does not open the store of another user, and asks the process that has it open', { skip }, async () => {
  const data = join(temporary(), 'data');
  await document(['sync', '--source', 'devnet:?blocks=3', '--data', data]);
  const give = (user: number): void => chownSync(join(data, IDENTITY_FILE), user, user);
  give(SOMEBODY);
  for (const command of ['status', 'verify', 'compact']) {
    const { message } = await failure([command, '--data', data], 'STORE_OWNER', 1);
    assert.match(message, /belongs to user 4711, and files that root makes in it would be closed to that user$/);
  }
  assert.deepEqual(readdirSync(data).sort(), ['db', 'unspent.json'], 'and leaves nothing in it');
  give(0);
  await withStore(data, async () => {
    give(SOMEBODY);
    assert.equal((await document<{ tip: { height: number } }>(['status', '--data', data])).tip.height, 2);
    give(0);
  });
});
