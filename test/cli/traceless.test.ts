/**
 * A command that fails before the first block leaves no directory behind, and
 * the next one may try another network in the same place.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { document, failure, temporary, unspent } from './run.ts';

const work = temporary();

test('a source that is not there, or not of that network', async () => {
  const data = join(work, 'a', 'b');
  const nowhere = `immutable:${join(work, 'nowhere')}`;
  const missing = await unspent(['sync', '--network', 'preview', '--source', nowhere, '--data', data]);
  assert.notEqual(missing.code, 0);
  assert.ok(!existsSync(join(work, 'a')), 'not even the directory above');
  const unreachable = await unspent(['sync', '--network', 'mainnet', '--source', 'n2n://127.0.0.1:1', '--data', data]);
  assert.notEqual(unreachable.code, 0);
  assert.ok(!existsSync(join(work, 'a')));
  await document(['sync', '--source', 'devnet:?blocks=3', '--data', data]);
  assert.ok(existsSync(data));
});

test('a port that is taken', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  try {
    const data = join(work, 'taken');
    const error = await failure(['start', '--port', `${port}`, '--data', data], 'IO', 1);
    assert.match(error.message, /is taken/);
    assert.ok(!existsSync(data));
    const regtest = ['--network', 'bitcoin-regtest'];
    const shapes: Record<string, readonly string[]> = {
      'electrum.port': regtest,
      'electrum.tlsPort': regtest,
      'electrum.wsPort': regtest,
      'kupo.port': [],
      'blockfrost.port': ['--source', 'devnet:?blocks=3'],
      'ogmios.port': [],
      'utxorpc.port': [],
    };
    for (const [setting, args] of Object.entries(shapes)) {
      const { message } = await failure(['start', ...args, '--port', '0', '--set', `${setting}=${port}`, '--data', data], 'IO', 1);
      assert.ok(message.includes(`(${setting}): the port is taken`), message);
      assert.ok(!existsSync(data), setting);
    }
    // Of another family: nobody listens there.
    const other = await failure(['start', '--network', 'preview', '--set', `electrum.port=${port}`, '--data', data], 'USAGE', 2);
    assert.match(other.message, /say where its blocks come from/);
  } finally {
    server.close();
  }
});

test('a store is looked at without the flags it was made with', async () => {
  const data = join(work, 'plain');
  const made = ['--utxo-enabled', 'false', '--utxo-prune-depth', '7'];
  await document(['sync', '--source', 'devnet:?blocks=20', '--data', data, ...made]);
  const status = await document<{ tip: { height: number }; projections: string[] }>(['status', '--data', data]);
  assert.deepEqual([status.tip.height, status.projections], [19, ['chain', 'transactions']]);
  const told = await unspent(['status', '--data', data, '--utxo-enabled', 'true']);
  assert.equal(told.code, 0);
  assert.match(told.stderr, /left aside, because the store has its own: utxo\.enabled/);
});
