/** Switches turned on and off from the command line: `sync` fills and drops and says so, `status` tells how far it is, looking changes nothing. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { openStore } from '../../src/store/store.ts';
import { document, temporary, unspent } from './run.ts';

interface Status {
  readonly projections: readonly string[];
  readonly fills: readonly { readonly projection: string; readonly done: number; readonly rows: number }[];
}

const SOURCE = 'devnet:?blocks=120&seed=5';

describe('switches', () => {
  const data = join(temporary(), 'store');
  const status = (...more: string[]) => document<Status>(['status', '--data', data, ...more]);

  test('on: sync says that it fills, and ends when that is done', async () => {
    await document(['sync', '--source', SOURCE, '--data', data]);
    const { code, stderr } = await unspent([
      'sync',
      '--source',
      SOURCE,
      '--data',
      data,
      '--utxo-index-asset',
      'true',
      '--utxo-balances',
      'true',
    ]);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /filling index\.asset 0\.0%, balance\.address 0\.0%, balance\.stake 0\.0% from [\d,]+ unspent outputs/);
    const { projections, fills } = await status();
    assert.deepEqual(projections.slice(-3), ['index.asset', 'balance.address', 'balance.stake']);
    assert.deepEqual(fills, []);
    assert.equal((await unspent(['verify', '--data', data])).code, 0);
  });

  test('on: it is filled too where there is nothing to follow', async () => {
    const args = [
      'sync',
      '--source',
      SOURCE,
      '--until',
      'height:10',
      '--data',
      data,
      '--utxo-index-asset',
      'true',
      '--utxo-balances',
      'true',
    ];
    const { code, stderr } = await unspent([...args, '--utxo-index-policy', 'true']);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /filling index\.policy/);
    const { projections, fills } = await status();
    assert.ok(projections.includes('index.policy'));
    assert.deepEqual(fills, []);
  });

  test('in between: status tells how far it is', async () => {
    const set = ['utxo.index.asset=true', 'utxo.index.policy=true', 'utxo.balances=true', 'utxo.datums=true'];
    const store = await openStore({ data, config: loadConfig({ flags: { set } }).config });
    const stop = new AbortController();
    await store.fill({ signal: stop.signal, limits: { rows: 100, bytes: 1_000_000 }, onStep: () => stop.abort() });
    await store.close();
    const { fills } = await status('--utxo-datums', 'false');
    assert.deepEqual(
      fills.map(({ projection }) => projection),
      ['datums'],
    );
    assert.ok(fills[0].done > 0 && fills[0].done < 1);
    assert.match((await unspent(['status', '--data', data])).stdout, /^filling +datums \d+\.\d%$/m);
  });

  test('off: sync says what it drops, and looking drops nothing', async () => {
    const before = await status('--utxo-index-address-hash', 'false');
    assert.ok(before.projections.includes('index.address') && before.projections.includes('index.asset'));
    const { code, stderr } = await unspent([
      'sync',
      '--source',
      SOURCE,
      '--data',
      data,
      '--utxo-index-stake-credential',
      'false',
      '--utxo-balances',
      'false',
    ]);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /switched off, and dropped: index\.stake, balance\.address, balance\.stake\n/);
    const dropped = ['index.stake', 'balance.address', 'balance.stake'];
    assert.deepEqual(
      (await status()).projections,
      before.projections.filter((name) => !dropped.includes(name)),
      'the rest stays',
    );
  });
});
