/**
 * `backup` and `restore` as people use them: from another terminal while a chain
 * is followed and served, over HTTP, and what they say.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { offersBackups } from '../../src/server/backups/index.ts';
import { until } from '../support/patience.ts';
import { digestOf, document, failure, temporary, unspent } from './run.ts';
import { Running } from './running.ts';

const URL_LINE = /(http:\/\/127\.0\.0\.1:\d+\/)/;
/** How commands to a devnet that change its chain are answered. */
const TIP = /the tip is height (\d+).*block ([0-9a-f]{64})/;

interface Made {
  readonly name: string;
  readonly digest: string;
  readonly point: { readonly height: number; readonly hash: string };
  readonly besides: readonly string[];
}

interface Listed {
  readonly backups: readonly { readonly name: string; readonly digest: string }[];
  readonly running_since: string | null;
  readonly last: { readonly name: string | null; readonly failure: string | null } | null;
}

describe('a store that is followed and served', () => {
  const folder = temporary();
  const [data, backups, again] = [join(folder, 'data'), join(folder, 'backups'), join(folder, 'again')];
  const token = 'operators-only';
  const settings = ['--server-token', token, '--backup-directory', join(folder, 'http'), '--backup-keep', '1'];

  test('is backed up meanwhile from another terminal and over HTTP, and goes on from the copy', async (t) => {
    const running = new Running(t, ['start', '--port', '0', '--data', data, ...settings], folder);
    const [, url] = await running.says(URL_LINE);
    await running.ask('mine 40', TIP);
    const inFolder = (name: string): Promise<Made> =>
      document<Made>(['backup', backups, '--data', data, ...(name === '' ? [] : ['--keep', name])]);
    // Blocks and rollbacks on the way.
    const mining = (async () => {
      for (let i = 0; i < 6; i++) await running.ask(i % 2 === 0 ? 'mine 15' : 'fork 3', TIP);
    })();
    const made = [await inFolder(''), await inFolder('')];
    await mining;
    const [, , rests] = await running.ask('pause', TIP);
    await until(async () => (await askedDigest(data)).hash === rests, 'the store has followed to where the chain rests');
    made.push(await inFolder('2'));
    const { digest, height } = await askedDigest(data);
    assert.deepEqual([made[2].digest, made[2].point.height], [digest, height], 'of a chain that rests: what the store says');
    assert.deepEqual(made[2].besides.includes('devnet.journal'), true);
    const listed = await document<{ backups: readonly Made[] }>(['backup', backups, '--list']);
    assert.deepEqual(
      listed.backups.map(({ name }) => name),
      made.slice(1).map(({ name }) => name),
    );

    const http = (method: string, with_ = token): Promise<Response> =>
      fetch(new URL('/api/v1/backups', url), { method, headers: { authorization: `Bearer ${with_}` } });
    assert.equal((await http('POST', 'another')).status, 401);
    assert.deepEqual(((await (await http('GET')).json()) as Listed).backups, []);
    assert.equal((await http('POST')).status, 202);
    const after = async (): Promise<Listed> => (await (await http('GET')).json()) as Listed;
    await until(async () => (await after()).last !== null, 'the backup over HTTP ends');
    const { last, backups: served, running_since } = await after();
    assert.deepEqual([last?.failure, running_since, served.map((each) => each.digest)], [null, null, [digest]]);
    assert.equal(last?.name, served[0].name);

    assert.equal((await running.interrupt('SIGTERM')).code, 0);
    assert.deepEqual(
      readdirSync(data).filter((name) => name.startsWith('backup')),
      [],
    );
    for (const { name, digest: wanted, point } of made.slice(1)) {
      const to = `${again}-${name}`;
      const { code, stdout, stderr } = await unspent(['restore', backups, '--name', name, '--data', to]);
      assert.equal(code, 0, stderr);
      assert.match(stdout, new RegExp(`^restored +${name} to ${to} in `));
      const { digest: found, height: at } = await digestOf(to);
      assert.deepEqual([found, at], [wanted, point.height]);
    }
    const restarted = new Running(t, ['start', '--port', '0', '--data', `${again}-${made[2].name}`], folder);
    await restarted.says(URL_LINE);
    const [, tip] = await restarted.ask('mine 5', TIP);
    assert.ok(Number(tip) >= height + 5, `${tip} after ${height}`);
    await restarted.kill();
  });

  test('has no such route without a token, or without a folder', () => {
    const offered = (...set: string[]): boolean => offersBackups(loadConfig({ flags: { set }, env: {} }).config);
    assert.deepEqual(
      [offered(), offered('server.token=x'), offered('backup.directory=x'), offered('server.token=x', 'backup.directory=x')],
      [false, false, false, true],
    );
  });

  test('says what is wrong with a command line, a folder, a name', async () => {
    await failure(['backup', backups, '--list', '--verify'], 'USAGE', 2);
    await failure(['backup', backups, '--name', 'x', '--data', data], 'USAGE', 2);
    await failure(['backup', backups, '--keep', '0', '--data', data], 'USAGE', 2);
    await failure(['backup', folder, '--data', data], 'STORE_FOREIGN', 1);
    await failure(['backup', join(folder, 'none'), '--list'], 'BACKUP_MISSING', 1);
    await failure(['backup', join(folder, 'new'), '--data', join(folder, 'none')], 'STORE_MISSING', 1);
    assert.ok(!existsSync(join(folder, 'new')));
    await failure(['restore', backups, '--name', '20200101T000000Z-1', '--data', join(folder, 'none')], 'BACKUP_MISSING', 1);
    await failure(['restore', backups, '--data', data], 'STORE_EXISTS', 1);
    const { stdout } = await unspent(['backup', backups, '--verify']);
    assert.match(stdout, /^good +\d{8}T\d{6}Z-\d+(\.\d+)?\nmade /);
  });
});

async function askedDigest(data: string): Promise<{ digest: string; height: number; hash: string }> {
  const { digest, point } = await document<Made>(['digest', '--data', data]);
  return { digest, height: point.height, hash: point.hash };
}
