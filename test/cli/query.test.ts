/**
 * `query` against the rows the library reads: every unspent output of a devnet,
 * by its outpoint, address, credentials and transaction; pages; spent outputs.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { cardanoNetwork } from '../../src/ledgers/cardano/index.ts';
import { outpointIndex } from '../../src/ledgers/outpoint.ts';
import type { ChainRow } from '../../src/projections/chain.ts';
import { cardanoDialect } from '../../src/query/cardano/dialect.ts';
import type { Query } from '../../src/query/query.ts';
import { Renderer, type TxJson, type UtxoJson } from '../../src/query/render.ts';
import { toHex } from '../../src/util/bytes.ts';
import { document, failure, temporary, unspent, withStore } from './run.ts';

interface PageJson {
  readonly point: { readonly height: number };
  readonly utxos: readonly UtxoJson[];
  readonly count: number;
  readonly next: string | null;
}

const FIELDS = [
  'tx_hash',
  'output_index',
  'owner_addr',
  'owner_stake_addr',
  'owner_payment_credential',
  'owner_stake_credential',
  'lovelace_amount',
  'amounts',
  'data_hash',
  'inline_datum',
  'script_ref',
  'reference_script_hash',
  'is_collateral_return',
  'slot',
  'block',
  'block_hash',
  'epoch',
  'block_time',
];
const SPENT_FIELDS = [...['spent_tx_hash', 'spent_at_slot', 'spent_at_block', 'spent_at_block_hash', 'spent_block_time', 'spent_epoch']];

describe('query', () => {
  const data = join(temporary(), 'data');
  let unspentRows: UtxoJson[] = [];
  let spentRows: UtxoJson[] = [];

  before(async () => {
    await document(['sync', '--source', 'devnet:?blocks=400&seed=3', '--data', data]);
    await withStore(data, (store) =>
      store.read((query) => {
        const renderer = new Renderer(query, store.network.dialect);
        const all = (column: string) =>
          [...store.engine.scan(column)].map(([key]) => renderer.utxo(query.outpoint(key.slice(0, 32), outpointIndex(key))!));
        unspentRows = all('utxo_unspent');
        spentRows = all('utxo_spent');
      }),
    );
  });

  test('rows have the documented fields, and between them all of them', () => {
    const seen = new Set([...unspentRows, ...spentRows].flatMap((row) => Object.keys(row)));
    assert.deepEqual([...seen].sort(), [...FIELDS, ...SPENT_FIELDS].sort());
    for (const row of [...unspentRows, ...spentRows]) {
      assert.equal(row.amounts[0].unit, 'lovelace');
      assert.equal(row.amounts[0].quantity, row.lovelace_amount);
      for (const { unit, policy_id, asset_name } of row.amounts.slice(1)) assert.equal(unit, `${policy_id}${asset_name}`);
      assert.ok(!Object.values(row).includes(null) && !Object.values(row).includes(undefined as never), 'absent fields are left out');
    }
  });

  test('outpoint, unspent and spent', async () => {
    for (const row of [unspentRows.find((each) => each.inline_datum), spentRows.find((each) => each.spent_tx_hash)]) {
      assert.ok(row);
      const { utxo } = await document<{ utxo: UtxoJson }>(['query', 'outpoint', `${row.tx_hash}#${row.output_index}`, '--data', data]);
      assert.deepEqual(utxo, row);
    }
    const spent = spentRows.find((each) => each.spent_tx_hash)!;
    const { stdout } = await unspent(['query', 'outpoint', `${spent.tx_hash}#${spent.output_index}`, '--data', data]);
    assert.match(stdout, new RegExp(`^spent by +${spent.spent_tx_hash}$`, 'm'));
    assert.match(stdout, /^read at +height 399, /m);
  });

  test('address: all of them, in chain order, and in pages both ways', async () => {
    const address = mostCommon(unspentRows.map((row) => row.owner_addr!));
    const expected = unspentRows.filter((row) => row.owner_addr === address);
    const all = await document<PageJson>(['query', 'address', address, '--data', data]);
    assert.deepEqual([all.count, all.next, all.point.height], [expected.length, null, 399]);
    assert.deepEqual(new Set(all.utxos.map(outpoint)), new Set(expected.map(outpoint)));
    assert.ok(all.utxos.every((row, i) => i === 0 || row.slot >= all.utxos[i - 1].slot));
    const limit = Math.ceil(expected.length / 2);
    for (const order of ['asc', 'desc']) {
      const args = ['query', 'address', address, '--data', data, '--limit', String(limit), '--order', order];
      const first = await document<PageJson>(args);
      assert.ok(first.next !== null && first.count === limit);
      const second = await document<PageJson>([...args, '--after', first.next]);
      assert.equal(second.next, null);
      const both = [...first.utxos, ...second.utxos];
      assert.deepEqual(both, order === 'asc' ? all.utxos : all.utxos.toReversed());
    }
    const { stdout } = await unspent(['query', 'address', address, '--data', data, '--limit', '1']);
    assert.match(
      stdout,
      /^OUTPUT +ADDRESS +ADA +SLOT +ASSETS\n.+1 unspent output worth [\d,.]+ ada, read at height 399, .+--after [0-9a-f]{88}\n$/s,
    );
    const other = unspentRows.find((row) => row.owner_addr !== address)!;
    const page = await document<PageJson>(['query', 'address', address, '--data', data, '--limit', '1']);
    await failure(['query', 'address', other.owner_addr!, '--data', data, '--after', page.next ?? ''], 'USAGE', 2);
  });

  test('credential, of the payment and of the stake part', async () => {
    const staked = unspentRows.find((row) => row.owner_stake_credential)!;
    const payment = staked.owner_payment_credential!;
    const stake = staked.owner_stake_credential!;
    const byPayment = await document<PageJson>(['query', 'credential', payment, '--data', data]);
    assert.deepEqual(outpoints(byPayment.utxos), outpoints(unspentRows.filter((row) => row.owner_payment_credential === payment)));
    const byStake = await document<PageJson>(['query', 'credential', stake, '--stake', '--data', data]);
    assert.deepEqual(outpoints(byStake.utxos), outpoints(unspentRows.filter((row) => row.owner_stake_credential === stake)));
    const byAddress = await document<PageJson>(['query', 'credential', staked.owner_stake_addr!, '--data', data]);
    assert.deepEqual(byAddress.utxos, byStake.utxos);
  });

  test('tx, of the chain and of the genesis', async () => {
    const row = unspentRows.find((each) => each.slot > 0 && each.output_index > 0)!;
    const found = await document<{ tx: TxJson; outputs: UtxoJson[] }>(['query', 'tx', row.tx_hash, '--data', data]);
    assert.deepEqual([found.tx.tx_hash, found.tx.slot, found.tx.block_hash], [row.tx_hash, row.slot, row.block_hash]);
    const expected = [...unspentRows, ...spentRows].filter((each) => each.tx_hash === row.tx_hash);
    assert.deepEqual(outpoints(found.outputs), outpoints(expected));
    const granted = [...unspentRows, ...spentRows].find((each) => each.block === 0);
    assert.ok(granted);
    const genesis = await document<{ tx: null; outputs: UtxoJson[] }>(['query', 'tx', granted.tx_hash, '--data', data]);
    assert.equal(genesis.tx, null);
    assert.deepEqual(outpoint(genesis.outputs[0]), outpoint(granted));
  });

  test('an output is of the block with transactions, not of the boundary block of the same height', () => {
    const block = (hash: number, prev: number, boundary: boolean): ChainRow => {
      const filled = (byte: number) => new Uint8Array(32).fill(byte);
      return { height: 9, slot: 180, hash: filled(hash), prevHash: filled(prev), boundary, era: 1, txCount: 0, size: 1, extra: filled(0) };
    };
    const rows = [block(1, 0, false), block(2, 1, true)];
    const query = { blockAtHeight: () => rows[1], blockByHash: (hash: Uint8Array) => rows.find((row) => row.hash[0] === hash[0]) ?? null };
    const renderer = new Renderer(query as unknown as Query, cardanoDialect(cardanoNetwork('mainnet')));
    assert.equal(renderer.tx(new Uint8Array(32), { height: 9, txIndex: 0, valid: true }).block_hash, '01'.repeat(32));
  });

  test('what is not there, and what is not a name of anything', async () => {
    const nobody = toHex(new Uint8Array(32).fill(0xee));
    const missing = await failure(['query', 'outpoint', `${nobody}#0`, '--data', data], 'NOT_FOUND', 1);
    assert.match(missing.message, /height 399/, 'also a no says at which point');
    await failure(['query', 'tx', nobody, '--data', data], 'NOT_FOUND', 1);
    assert.equal((await document<PageJson>(['query', 'credential', nobody.slice(0, 56), '--data', data])).count, 0);
    for (const args of [
      ['outpoint', `${nobody}#4294967296`],
      ['tx', 'abc'],
      ['address', 'addr_test1nonsense'],
      ['credential', 'abcd'],
      ['address', 'aa', '--limit', '0'],
      ['address', 'aa', '--order', 'up'],
    ]) {
      await failure(['query', ...args, '--data', data], 'USAGE', 2);
    }
  });
});

function outpoint({ tx_hash, output_index }: UtxoJson): string {
  return `${tx_hash}#${output_index}`;
}

function outpoints(rows: readonly UtxoJson[]): string[] {
  return rows.map(outpoint).sort();
}

function mostCommon(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0][0];
}
