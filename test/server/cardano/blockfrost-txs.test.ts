/**
 * Transactions of the Blockfrost API, with a history: held against the blocks
 * themselves, against our own API, and against each other, on a chain that loses
 * blocks and gains others.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { blake2b256 } from '../../../src/crypto/hash.ts';
import { formatAddress, splitTx } from '../../../src/ledgers/cardano/index.ts';
import type { UtxoJson } from '../../../src/query/json.ts';
import { fromHex, toHex } from '../../../src/util/bytes.ts';
import { ask, type BlockfrostOutput, fromNative, read } from '../../support/blockfrost-output.ts';
import { Served } from '../../support/served.ts';

interface TxOutputs {
  readonly inputs: readonly (BlockfrostOutput & { readonly collateral: boolean; readonly reference: boolean })[];
  readonly outputs: readonly (BlockfrostOutput & { readonly consumed_by_tx: string | null })[];
}

interface TxSummary {
  readonly hash: string;
  readonly block_height: number;
  readonly index: number;
  readonly valid_contract: boolean;
  readonly fees: string;
  readonly deposit: string;
  readonly redeemer_count: number;
  readonly utxo_count: number;
}

const lovelaceIn = (outputs: readonly BlockfrostOutput[]): bigint =>
  outputs.reduce((sum, { amount }) => sum + BigInt(amount[0].quantity), 0n);

/** By the ids of the chain's transactions, oldest first. */
async function everyTx(served: Served): Promise<Map<string, TxSummary & TxOutputs>> {
  const found = new Map<string, TxSummary & TxOutputs>();
  for (const { height, txs } of served.devnet.blocks()) {
    const ids = await read<string[]>(served, `/blocks/${height}/txs`);
    assert.deepEqual(
      ids,
      txs.map(({ id }) => toHex(id)),
    );
    for (const [index, tx] of txs.entries()) {
      const id = toHex(tx.id);
      const summary = await read<TxSummary>(served, `/txs/${id}`);
      assert.deepEqual([summary.hash, summary.block_height, summary.index, summary.valid_contract], [id, height, index, tx.valid]);
      found.set(id, { ...summary, ...(await read<TxOutputs>(served, `/txs/${id}/utxos`)) });
    }
  }
  return found;
}

async function checkTx(served: Served, id: string, tx: TxSummary & TxOutputs): Promise<void> {
  const { cbor } = await read<{ cbor: string }>(served, `/txs/${id}/cbor`);
  const { start, end } = splitTx(fromHex(cbor)).tx;
  assert.equal(toHex(blake2b256(fromHex(cbor), start, end)), id);
  const native = (await served.get(`/txs/${id}/utxos`)).json<(UtxoJson & { spent_tx_hash?: string })[]>();
  assert.deepEqual(
    tx.outputs.map(({ output_index, amount, consumed_by_tx }) => ({ output_index, amount, consumed_by_tx })),
    native.map((utxo) => ({
      output_index: utxo.output_index,
      amount: fromNative(utxo).amount,
      consumed_by_tx: utxo.spent_tx_hash ?? null,
    })),
  );
  const spent = tx.inputs.filter(({ collateral, reference }) => !reference && collateral !== tx.valid_contract);
  for (const input of spent) {
    const [utxo] = (await served.post('/utxos', [`${input.tx_hash}#${input.output_index}`])).json<
      (UtxoJson & { spent_tx_hash: string })[]
    >();
    const { address, amount, data_hash, inline_datum } = fromNative(utxo);
    assert.deepEqual([input.address, input.amount, input.data_hash, input.inline_datum], [address, amount, data_hash, inline_datum]);
    assert.equal(utxo.spent_tx_hash, id);
  }
  assert.equal(tx.utxo_count, spent.length + tx.outputs.length);
  // The devnet neither withdraws nor registers.
  assert.equal(lovelaceIn(spent), lovelaceIn(tx.outputs) + BigInt(tx.fees) + BigInt(tx.deposit));
  assert.equal((await read<object[]>(served, `/txs/${id}/redeemers`)).length, tx.redeemer_count);
  for (const { label } of await read<{ label: string }[]>(served, `/txs/${id}/metadata`)) assert.match(label, /^\d+$/);
  assert.equal((await ask(served, `/txs/${id}/metadata/cbor`)).status, 200);
}

/** What an address did, from the transactions themselves, in both orders and in pages. */
async function checkOwners(served: Served, txs: ReadonlyMap<string, TxSummary & TxOutputs>): Promise<void> {
  const owners = new Map<string, string[]>();
  for (const [id, { inputs, outputs, valid_contract }] of txs) {
    const touched = [...inputs.filter(({ collateral, reference }) => !reference && collateral !== valid_contract), ...outputs];
    for (const address of new Set(touched.map((output) => output.address))) owners.set(address, [...(owners.get(address) ?? []), id]);
  }
  const busiest = [...owners].toSorted(([, a], [, b]) => b.length - a.length).slice(0, 5);
  for (const [address, wanted] of busiest) {
    const list = async (query: string): Promise<string[]> =>
      (await read<{ tx_hash: string }[]>(served, `/addresses/${address}/transactions?${query}`)).map(({ tx_hash }) => tx_hash);
    const pages: string[] = [];
    for (let page = 1; ; page++) {
      const found = await list(`count=3&page=${page}`);
      if (found.length === 0) break;
      pages.push(...found);
    }
    assert.deepEqual(pages, wanted);
    assert.deepEqual(await list('order=desc&count=4'), wanted.toReversed().slice(0, 4));
    const [from, to] = [wanted[1] ?? wanted[0], wanted.at(-1)!].map((id) => txs.get(id)!);
    assert.deepEqual(
      await list(`from=${from.block_height}:${from.index}&to=${to.block_height}:${to.index}`),
      wanted.slice(wanted.indexOf(from.hash), 100 + wanted.indexOf(from.hash)),
    );
  }
}

describe('transactions', () => {
  test('are what the blocks say, across a fork', async () => {
    const served = await Served.open({ blocks: 16, seed: 5 });
    await everyTx(served);
    served.back(6);
    served.forward(9);
    const txs = await everyTx(served);
    assert.ok(
      [...txs.values()].some(({ valid_contract }) => !valid_contract),
      'one whose scripts failed is among them',
    );
    for (const [id, tx] of txs) await checkTx(served, id, tx);
    await checkOwners(served, txs);
    const nobody = formatAddress(fromHex(`60${'00'.repeat(28)}`));
    assert.deepEqual(await read(served, `/addresses/${nobody}/transactions`), []);
    assert.equal((await ask(served, `/addresses/${nobody}/transactions?from=x`)).status, 400);
    assert.equal((await ask(served, `/txs/${'00'.repeat(32)}`)).status, 404);
    await served.close();
  });
});
