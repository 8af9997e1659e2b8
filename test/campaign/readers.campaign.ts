/**
 * The suites of the server, once more with a reader of a published copy beside
 * it: whatever they ask, the reader is asked too, and must answer the same bytes.
 * Suites that change the server they ask behind its back are left out.
 *
 * UNSPENT_CAMPAIGN_FILES is a pattern for which files.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { withoutPostgres } from '../support/sql/postgres-server.ts';

const ONLY = new RegExp(process.env['UNSPENT_CAMPAIGN_FILES'] ?? '');
const ROOT = join(import.meta.dirname, '../..');
const OURS = /^(NODE_TEST_CONTEXT|UNSPENT_CAMPAIGN_.*)$/;

const SUITES = [
  ...['routes', 'paging', 'history', 'changes', 'point', 'forms', 'without-outputs', 'proofs'].map((name) => `native/${name}`),
  ...['blockfrost', 'blockfrost-txs', 'blockfrost-answers', 'kupo', 'kupo-answers', 'kupo-history'].map((name) => `cardano/${name}`),
  ...['mpfs-routes', 'mpfs-facts'].map((name) => `cardano/${name}`),
  ...['esplora', 'render', 'stream'].map((name) => `bitcoin/esplora/${name}`),
].map((name) => `test/server/${name}.test.ts`);

for (const file of SUITES.filter((name) => ONLY.test(name))) {
  test(`${file}, from a copy as well`, { skip: withoutPostgres }, async () => {
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !OURS.test(name)));
    const child = spawn(process.execPath, ['--test', '--test-timeout=600000', file], {
      cwd: ROOT,
      env: { ...env, UNSPENT_TEST_MIRROR: '1' },
    });
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const [code] = (await once(child, 'close')) as [number | null];
    assert.equal(code, 0, said.slice(said.indexOf('failing tests:')));
  });
}
