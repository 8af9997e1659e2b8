/**
 * `query asset|policy|balance|datum|script|block` and `--at`, against what a
 * second store of the same chain, stopped at the earlier block, says.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { outpointIndex } from '../../src/ledgers/outpoint.ts';
import { type BalanceJson, type BlockJson, Renderer, type SeenJson, type TxJson, type UtxoJson } from '../../src/query/render.ts';
import { document, failure, temporary, unspent, withStore } from './run.ts';

interface PageJson {
  readonly point: { readonly height: number };
  readonly utxos: readonly UtxoJson[];
  readonly count: number;
}

const SWITCHES = [
  'utxo.index.policy',
  'utxo.index.asset',
  'utxo.index.datumHash',
  'utxo.index.referenceScript',
  'utxo.balances',
  'utxo.datums',
  'utxo.scripts',
];
const AT = 'height:149';

describe('query', () => {
  const directory = temporary();
  const now = join(directory, 'now');
  const then = join(directory, 'then');
  const plain = join(directory, 'plain');
  let utxos: readonly UtxoJson[] = [];

  before(async () => {
    const all = SWITCHES.flatMap((key) => ['--set', `${key}=true`]);
    await document(['sync', '--source', 'devnet:?blocks=250&seed=3', '--data', now, ...all]);
    await document(['sync', '--source', 'devnet:?blocks=250&seed=3', '--data', then, '--until', AT, ...all]);
    await document(['sync', '--source', 'devnet:?blocks=20&seed=3', '--data', plain]);
    utxos = await withStore(now, (store) =>
      store.read((query) => {
        const renderer = new Renderer(query, store.network.dialect);
        return [...store.engine.scan('utxo_unspent')].map(([key]) => renderer.utxo(query.outpoint(key.slice(0, 32), outpointIndex(key))!));
      }),
    );
  });

  /** The same question to the store of today, about then, and to the store of then. */
  async function same(...question: string[]): Promise<void> {
    const past = await document(['query', ...question, '--data', now, '--at', AT]);
    assert.deepEqual(past, await document(['query', ...question, '--data', then]));
  }

  test('--at says what was said then', async () => {
    const old = utxos.find((utxo) => utxo.block > 100 && utxo.block < 149 && utxo.owner_payment_credential)!;
    await same('address', old.owner_addr!);
    await same('credential', old.owner_payment_credential!);
    await same('balance', old.owner_addr!);
    await same('tx', old.tx_hash);
    await same('outpoint', `${old.tx_hash}#${old.output_index}`);
    const { outputs } = await document<{ outputs: UtxoJson[] }>(['query', 'tx', old.tx_hash, '--data', now, '--at', AT]);
    assert.ok(outputs.every((utxo) => (utxo.spent_at_block ?? 0) <= 149));
    const later = utxos.find((utxo) => utxo.block > 149)!;
    await failure(['query', 'outpoint', `${later.tx_hash}#${later.output_index}`, '--data', now, '--at', AT], 'NOT_FOUND', 1);
    await failure(['query', 'tx', later.tx_hash, '--data', now, '--at', AT], 'NOT_FOUND', 1);
    await failure(['query', 'tx', later.tx_hash, '--data', now, '--at', 'height:999'], 'POINT_UNKNOWN', 1);
    await failure(['query', 'tx', later.tx_hash, '--data', now, '--at', 'yesterday'], 'USAGE', 2);
    const nothing = await document<PageJson>(['query', 'address', old.owner_addr!, '--data', now, '--at', 'origin']);
    assert.deepEqual([nothing.point, nothing.count], [null, 0]);
  });

  test('asset and policy', async () => {
    const holder = utxos.find((utxo) => utxo.amounts.length > 1)!;
    const { unit, policy_id: policy = '', asset_name: name = '' } = holder.amounts[1];
    const byAsset = await document<PageJson>(['query', 'asset', unit, '--data', now]);
    assert.ok(byAsset.utxos.some((utxo) => utxo.tx_hash === holder.tx_hash && utxo.output_index === holder.output_index));
    assert.ok(byAsset.utxos.every((utxo) => utxo.amounts.some((amount) => amount.unit === unit)));
    assert.deepEqual(await document(['query', 'asset', `${policy}.${name}`, '--data', now]), byAsset);
    const byPolicy = await document<PageJson>(['query', 'policy', policy, '--data', now]);
    assert.ok(byPolicy.count >= byAsset.count);
    assert.ok(byPolicy.utxos.every((utxo) => utxo.amounts.some((amount) => amount.policy_id === policy)));
    await same('asset', unit);
    await same('policy', policy);
  });

  test('balance of an address and of a stake address', async () => {
    const { owner_addr: address, owner_stake_addr: stake } = utxos.find((utxo) => utxo.owner_stake_addr)!;
    for (const [holder, list] of [
      [address!, ['address', address!]],
      [stake!, ['credential', stake!]],
    ] as const) {
      const { balance } = await document<{ balance: BalanceJson }>(['query', 'balance', holder, '--data', now]);
      const page = await document<PageJson>(['query', ...list, '--data', now]);
      const sums = new Map<string, bigint>();
      for (const { amounts } of page.utxos) {
        for (const { unit, quantity } of amounts) sums.set(unit, (sums.get(unit) ?? 0n) + BigInt(quantity));
      }
      assert.equal(balance.utxo_count, page.count);
      assert.equal(balance.lovelace_amount, sums.get('lovelace')!.toString());
      assert.deepEqual(new Map(balance.amounts.map(({ unit, quantity }) => [unit, BigInt(quantity)])), sums);
    }
    await same('balance', stake!);
    const { stdout } = await unspent(['query', 'balance', address!, '--data', now]);
    assert.match(stdout, /^unspent outputs +\d+\nada +[\d,]+\.\d{6}\n/);
    assert.match(stdout, /^read at +height 249, /m);
  });

  test('datum and script', async () => {
    const scripted = utxos.find((utxo) => utxo.script_ref)!;
    const { script } = await document<{ script: SeenJson }>(['query', 'script', scripted.reference_script_hash!, '--data', now]);
    assert.deepEqual([script.hash, script.cbor], [scripted.reference_script_hash, scripted.script_ref]);
    assert.match(script.type!, /^(native|plutusV[123])$/);
    const { stdout } = await unspent(['query', 'script', scripted.reference_script_hash!, '--data', now]);
    assert.match(stdout, new RegExp(`^script +${script.hash}\ntype +${script.type}\nscript +${script.script}\n`));
    await failure(['query', 'datum', '00'.repeat(32), '--data', now], 'NOT_FOUND', 1);
    await failure(['query', 'script', '00'.repeat(28), '--data', now], 'NOT_FOUND', 1);
  });

  test('block, by hash, height and slot', async () => {
    const { block, txs, created } = await document<{ block: BlockJson; txs: TxJson[]; created: number }>([
      'query',
      'block',
      AT,
      '--data',
      now,
    ]);
    assert.deepEqual([block.height, block.tx_count], [149, txs.length]);
    for (const id of [block.hash, `slot:${block.slot}`, String(block.slot)]) {
      const again = await document<{ block: BlockJson }>(['query', 'block', id, '--data', now]);
      assert.deepEqual(again.block, block);
    }
    const { tx, outputs } = await document<{ tx: TxJson; outputs: UtxoJson[] }>(['query', 'tx', txs[0].tx_hash, '--data', now]);
    assert.deepEqual([tx.block, tx.block_hash], [149, block.hash]);
    assert.ok(created >= outputs.length);
    const { stdout } = await unspent(['query', 'block', AT, '--data', now]);
    assert.match(stdout, new RegExp(`^block +${block.hash}\nplace +height 149, slot `));
    await failure(['query', 'block', 'height:999', '--data', now], 'POINT_UNKNOWN', 1);
    await failure(['query', 'block', 'origin', '--data', now], 'NOT_FOUND', 1);
    await failure(['query', 'block', 'abc', '--data', now], 'USAGE', 2);
  });

  test('what is not kept, and what is not a name of anything', async () => {
    const unit = 'ab'.repeat(30);
    for (const [question, setting] of [
      [['asset', unit], 'utxo.index.asset'],
      [['policy', unit.slice(0, 56)], 'utxo.index.policy'],
      [['datum', '00'.repeat(32)], 'utxo.datums'],
      [['script', '00'.repeat(28)], 'utxo.scripts'],
    ] as const) {
      const { message } = await failure(['query', ...question, '--data', plain], 'UNSUPPORTED', 1);
      assert.ok(message.includes(setting), message);
    }
    for (const question of [
      ['asset', 'ab'],
      ['asset', 'ab'.repeat(61)],
      ['asset', `${'ab'.repeat(27)}.cdef`],
      ['policy', 'ab'],
      ['balance', 'nobody'],
      ['datum', 'ab'],
      ['script', 'addr_vkh1nothing'],
    ]) {
      await failure(['query', ...question, '--data', plain], 'USAGE', 2);
    }
  });
});
