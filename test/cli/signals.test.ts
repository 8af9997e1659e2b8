/**
 * SIGTERM in every phase of a command that goes on: it ends with 0, and what it
 * leaves behind is a store at some block. Work with an end of its own that was
 * cut short says so: 143.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { until } from '../support/patience.ts';
import { signalAt } from '../support/signal-at.ts';
import { digestOf, document, ended, start, temporary, withStore } from './run.ts';
import { Running } from './running.ts';

const CHAIN = 'devnet:?blocks=400&seed=7';
/** The store says that it is not one yet, or not any more. */
const MARKED = /^renameSync .*unspent\.json/;

describe('SIGTERM', () => {
  test('while a store is being made and opened', async (t) => {
    const work = temporary();
    const data = join(work, 'data');
    const start = new Running(t, ['start', '--port', '0', '--data', data], work);
    await until(() => existsSync(join(data, 'unspent.json')), 'a store being made');
    const { code, stderr } = await start.interrupt('SIGTERM');
    assert.equal(code, 0, stderr);
    // One without a block is removed again.
    if (existsSync(join(data, 'unspent.json'))) await document(['verify', '--data', data]);
  });

  test('while something that was switched on is filled', async (t) => {
    const work = temporary();
    const data = join(work, 'data');
    await document(['sync', '--source', CHAIN, '--data', data]);
    const before = await digestOf(data);
    const args = ['sync', '--source', CHAIN, '--data', data, '--utxo-index-asset', 'true', '--utxo-balances', 'true'];
    const filling = new Running(t, [...args, '--follow'], work);
    await filling.remarks(/filling .*balance|filling .*asset/);
    const { code, stderr } = await filling.interrupt('SIGTERM');
    assert.equal(code, 0, stderr);
    assert.match(stderr, /info +cli +stopped at height 399/);
    await document(args);
    assert.deepEqual((await document<{ fills: unknown[] }>(['status', '--data', data])).fills, []);
    await document(['verify', '--data', data]);
    assert.deepEqual(await digestOf(data), before);
  });

  test('while a snapshot is imported: it is not done, and the same command begins anew', async () => {
    const work = temporary();
    const [data, folder, made] = [join(work, 'data'), join(work, 'snapshot'), join(work, 'made')];
    await document(['sync', '--source', CHAIN, '--data', data]);
    await document(['snapshot', 'export', folder, '--data', data]);
    const { code, stderr } = await ended(start(['snapshot', 'import', folder, '--data', made], { env: signalAt(MARKED) }));
    assert.equal(code, 143, stderr);
    assert.match(stderr, /^unspent: .*Run the same command again: it begins anew\./m);
    await document(['snapshot', 'import', folder, '--data', made]);
    assert.deepEqual(await digestOf(made), await digestOf(data));
  });

  test('while a backup is made or restored, here or by the process that has the store open: nothing is left of it', async () => {
    const work = temporary();
    const [data, folder, again] = [join(work, 'data'), join(work, 'backups'), join(work, 'again')];
    await document(['sync', '--source', 'devnet:?blocks=20', '--data', data]);
    const terminated = async (args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> => {
      const { code, stderr } = await ended(start(args, { env }));
      assert.equal(code, 143, `${args.join(' ')}: ${stderr}`);
      assert.match(stderr, /^unspent: stopped|^unspent: nobody waits/m);
    };
    const backup = ['backup', folder, '--data', data];
    await terminated(backup, signalAt(/^mkdtemp .*partial-/));
    assert.deepEqual(readdirSync(folder), ['unspent-backups.json']);
    await withStore(data, () => terminated(backup, signalAt(/^write .*"args":\["backup"/)));
    assert.deepEqual(readdirSync(folder), ['unspent-backups.json']);
    await document(backup);
    const restore = ['restore', folder, '--data', again];
    await terminated(restore, signalAt(MARKED));
    assert.ok(!existsSync(join(again, 'unspent.json')));
    await document(restore);
    assert.deepEqual(await digestOf(again), await digestOf(data));
  });

  test('once more while it closes: at once, and harms nothing', async (t) => {
    const work = temporary();
    const data = join(work, 'data');
    const sync = new Running(t, ['sync', '--source', 'devnet:?blocks=1000000&seed=5', '--data', data, '--sync-group-blocks', '20'], work);
    await sync.remarks(/height [1-9]/);
    void sync.interrupt('SIGTERM');
    const { code } = await sync.interrupt('SIGTERM');
    assert.ok(code === 143 || code === 0, `${code}`);
    await document(['verify', '--data', data]);
  });

  test('while it waits for a node that was never reached, which the log tells from one that was lost', async (t) => {
    const work = temporary();
    const args = ['start', '--network', 'preview', '--source', 'n2n://127.0.0.1:1', '--no-server', '--log-format', 'json'];
    const start = new Running(t, [...args, '--data', join(work, 'data')], work);
    await start.remarks(/unreachable/);
    const { code, stdout, stderr } = await start.interrupt('SIGTERM');
    assert.equal(code, 0, stderr);
    assert.equal(stdout, '');
    const entries = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { time: string; level: string; room: string; event: string; text: string });
    for (const { time } of entries) assert.match(time, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    const unreachable = entries.find(({ event }) => event === 'unreachable');
    assert.match(unreachable?.text ?? '', /cannot connect to .*nobody listens there, never connected so far/);
    assert.deepEqual([unreachable?.level, unreachable?.room], ['warn', 'sources']);
    assert.ok(!entries.some(({ event }) => event === 'lost'));
    assert.match(entries.at(-1)?.text ?? '', /^stopped at the origin/);
  });
});
