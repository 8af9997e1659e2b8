/**
 * `snapshot export|verify|import` as a user runs them: the documents they print,
 * what they refuse and with which exit code, and that the chain goes on from
 * there.
 */
import assert from 'node:assert/strict';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { digestOf, document, failure, temporary, unspent } from './run.ts';

const SOURCE = 'devnet:?blocks=500&seed=1';
const LONGER = 'devnet:?blocks=620&seed=1';

interface SnapshotJson {
  readonly id: string;
  readonly network: string;
  readonly point: { readonly height: number; readonly slot: number; readonly hash: string };
  readonly utxos: number;
  readonly value: string;
  readonly setHash: string;
  readonly digest: string;
  readonly chunks: number;
  readonly bytes: number;
  readonly seconds: number;
  readonly data?: string;
}

describe('snapshot', () => {
  const work = temporary();
  const [data, folder, fresh] = ['data', 'snapshot', 'fresh'].map((name) => join(work, name));
  let taken: SnapshotJson;

  before(async () => {
    await document(['sync', '--source', SOURCE, '--data', data]);
    taken = await document(['snapshot', 'export', folder, '--data', data]);
  });

  test('export says what it wrote, and the manifest says the same', async () => {
    const { digest, utxos, value, height } = await digestOf(data);
    assert.deepEqual([taken.digest, taken.utxos, taken.value, taken.point.height], [digest, utxos, value.toString(), height]);
    const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as { id: string; roots: { setHash: string } };
    assert.deepEqual([manifest.id, manifest.roots.setHash], [taken.id, taken.setHash]);
    assert.equal(taken.network, 'devnet');
    assert.ok(taken.chunks > 0 && taken.bytes > 0);
  });

  test('verify finds it good, and is the same document', async () => {
    const { seconds: _, ...found } = await document<SnapshotJson>(['snapshot', 'verify', folder, '--id', taken.id]);
    const { seconds: __, ...wrote } = taken;
    assert.deepEqual(found, wrote);
  });

  test('import makes a store that goes on with the chain', async () => {
    const made = await document<SnapshotJson>(['snapshot', 'import', folder, '--data', fresh, '--set-hash', taken.setHash]);
    assert.deepEqual([made.id, made.data], [taken.id, fresh]);
    const status = await document<{ snapshot: object; horizon: object }>(['status', '--data', fresh]);
    assert.deepEqual([status.snapshot, status.horizon], [taken.point, taken.point]);
    const { stdout } = await unspent(['status', '--data', fresh]);
    assert.match(stdout, /^began +with a snapshot at height 499, slot /m);
    await document(['sync', '--source', LONGER, '--data', fresh]);
    await document(['sync', '--source', LONGER, '--data', data]);
    assert.deepEqual(await digestOf(fresh), await digestOf(data));
    await document(['verify', '--data', fresh]);
    await failure(['rollback', '--to', 'origin', '--data', fresh], 'HORIZON', 1);
  });

  test('an earlier block, from a store that is past it', async () => {
    const again = join(work, 'again');
    const { id } = await document<SnapshotJson>(['snapshot', 'export', again, '--data', data, '--at', `height:${taken.point.height}`]);
    assert.equal(id, taken.id);
    await failure(['snapshot', 'export', join(work, 'none'), '--data', data, '--at', 'origin'], 'USAGE', 2);
    await failure(['snapshot', 'export', join(work, 'none'), '--data', data, '--at', 'soon'], 'USAGE', 2);
  });

  test('for people, what it did in a few lines', async () => {
    const { code, stdout } = await unspent(['snapshot', 'verify', folder]);
    assert.equal(code, 0);
    for (const name of ['good', 'at', 'network', 'set hash', 'digest', 'id', 'files'])
      assert.match(stdout, new RegExp(`^${name} +\\S`, 'm'));
  });

  test('what is wrong is said, with an exit code of its own', async () => {
    const none = join(work, 'none');
    await failure(['snapshot', 'export', none, '--data', join(work, 'nowhere')], 'STORE_MISSING', 1);
    await failure(['snapshot', 'export', folder, '--data', data], 'STORE_FOREIGN', 1);
    await failure(['snapshot', 'import', folder, '--data', data], 'STORE_EXISTS', 1);
    await failure(['snapshot', 'import', none, '--data', none], 'SNAPSHOT_INVALID', 5);
    await failure(['snapshot', 'import', folder, '--data', none, '--network', 'preview'], 'STORE_NETWORK', 3);
    await failure(['snapshot', 'import', folder, '--data', none, '--set-hash', 'abc'], 'USAGE', 2);
    await failure(['snapshot', 'import', folder, '--data', none, '--id', '00'.repeat(32)], 'SNAPSHOT_INVALID', 5);
    await failure(['snapshot', 'import', folder, '--data', none, '--set', 'utxo.store=mmr'], 'UNSUPPORTED', 1);
    appendFileSync(join(folder, '000000.chunk'), 'x');
    await failure(['snapshot', 'import', folder, '--data', none], 'SNAPSHOT_INVALID', 5);
    await failure(['snapshot', 'verify', folder], 'SNAPSHOT_INVALID', 5);
    assert.ok(!existsSync(none));
  });
});
