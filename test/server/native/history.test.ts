/**
 * Transactions over HTTP and through the library's documents, against the
 * devnet's own account: every transaction with what it names, the transactions of
 * owners in pages, now and at an earlier block, and what is said where the
 * history is off or began later.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { formatAddress } from '../../../src/ledgers/cardano/index.ts';
import { writeStartHeight } from '../../../src/projections/start-height.ts';
import type { OwnerTxJson, TransactionJson, UtxoJson } from '../../../src/query/json.ts';
import { fromHex, toHex } from '../../../src/util/bytes.ts';
import { keysOf } from '../../support/expected.ts';
import { KEEP_ALL } from '../../support/harness.ts';
import { type ModelTx, modelOwners, modelTxs } from '../../support/history-model.ts';
import { leaveOut } from '../../support/keep.ts';
import { Served } from '../../support/served.ts';

describe('transactions of a store with a history', () => {
  let served: Served;
  let txs: ModelTx[];
  before(async () => {
    served = await Served.open({ seed: 5, blocks: 50 });
    served.back(9);
    served.forward(15);
    txs = modelTxs(served.devnet);
  });
  after(() => served.close());

  test('each has what it spends and makes, and its bytes', async () => {
    for (const tx of txs.filter((_, i) => i % 3 === 0)) {
      const json = (await served.get(`/txs/${tx.id}`)).json<TransactionJson>();
      assert.deepEqual(
        [json.tx_hash, json.tx_index, json.block, json.block_hash, json.valid],
        [tx.id, tx.txIndex, tx.height, tx.blockHash, tx.valid],
      );
      const spent = (tx.valid ? json.inputs : json.collateral_inputs) as readonly UtxoJson[];
      assert.deepEqual(
        spent.map((input) => [`${input.tx_hash}#${input.output_index}`, input.lovelace_amount, input.spent_tx_hash]),
        tx.spends.map(({ key, lovelace }) => [key, `${lovelace}`, tx.id]),
      );
      assert.deepEqual(
        json.outputs.map((output) => [`${output.tx_hash}#${output.output_index}`, output.lovelace_amount, output.spent_tx_hash]),
        tx.creates.map(({ key, lovelace }) => [key, `${lovelace}`, served.devnet.chain.spentBy(key)?.txId]),
      );
      assert.equal(json.size, json.cbor.length / 2);
    }
    assert.equal((await served.get(`/txs/${'00'.repeat(32)}`)).status, 404);
  });

  test('those of an address or a credential come in order, in pages', async () => {
    const owners = modelOwners(served.devnet);
    const asked = new Set<string>();
    for (const { utxo } of served.devnet.genesis.map((each) => ({ utxo: each }))) {
      const { address, payment, stake } = keysOf(utxo);
      const names = [
        [`/addresses/${formatAddress(fromHex(utxo.addressHex))}`, owners.get('address')?.get(toHex(address))],
        ...(payment === undefined ? [] : [[`/credentials/${toHex(payment)}`, owners.get('payment')?.get(toHex(payment))]]),
        ...(stake === undefined ? [] : [[`/stake/${toHex(stake)}`, owners.get('stake')?.get(toHex(stake))]]),
      ] as [string, readonly string[] | undefined][];
      for (const [path, ids = []] of names.slice(0, 12)) {
        if (asked.size > 12 || asked.has(path)) continue;
        asked.add(path);
        const all = (await served.get(`${path}/txs?limit=1000`)).json<OwnerTxJson[]>();
        assert.deepEqual(
          all.map(({ tx_hash: id }) => id),
          ids,
          path,
        );
        const paged: string[] = [];
        for (let url: string | null = `${path}/txs?limit=2&order=desc`; url !== null; ) {
          const page = await served.get(url);
          paged.push(...page.json<OwnerTxJson[]>().map(({ tx_hash: id }) => id));
          const next: string | undefined = page.headers['x-next-after'];
          url = next === undefined ? null : `${path}/txs?limit=2&order=desc&after=${next}`;
        }
        assert.deepEqual(paged, ids.toReversed(), path);
        const sum = all.reduce((left, row) => left + BigInt(row.received_amount) - BigInt(row.spent_amount), 0n);
        // Genesis pays without a transaction.
        if (path.startsWith('/addresses')) {
          const granted = served.devnet.genesis.filter(({ addressHex }) => addressHex === utxo.addressHex);
          const balance = (await served.get(`${path}/balance`)).json<{ lovelace_amount: string }>();
          assert.equal(sum + granted.reduce((total, { lovelace }) => total + lovelace, 0n), BigInt(balance.lovelace_amount));
        }
      }
    }
    assert.ok(asked.size > 6);
  });

  test('are those of an earlier block where that is asked for', async () => {
    const height = txs[Math.floor(txs.length / 2)].height;
    const [owner, ids] = [...modelOwners(served.devnet).get('payment')!].find(([, list]) => list.length > 3)!;
    const known = new Map(txs.map((tx) => [tx.id, tx.height]));
    const rows = (await served.get(`/credentials/${owner}/txs?limit=1000&at=height:${height}`)).json<OwnerTxJson[]>();
    assert.deepEqual(
      rows.map(({ tx_hash: id }) => id),
      ids.filter((id) => known.get(id)! <= height),
    );
  });

  test('a cursor is of its own list', async () => {
    const [owner] = [...modelOwners(served.devnet).get('payment')!].find(([, list]) => list.length > 3)!;
    const { headers } = await served.get(`/credentials/${owner}/txs?limit=1`);
    assert.equal((await served.get(`/credentials/${owner}/utxos?after=${headers['x-next-after']}`)).status, 400);
    assert.equal((await served.get(`/credentials/${owner}/txs?order=desc&after=${headers['x-next-after']}`)).status, 400);
  });
});

test('without a history the setting is named', async () => {
  const served = await Served.open({ blocks: 5, store: { keeps: leaveOut(KEEP_ALL, 'history') } });
  try {
    const [tx] = modelTxs(served.devnet);
    for (const path of [`/txs/${tx.id}`, `/credentials/${'00'.repeat(28)}/txs`]) {
      const answer = await served.get(path);
      assert.equal(answer.status, 501, path);
      assert.match(answer.text, /utxo\.history/);
    }
  } finally {
    await served.close();
  }
});

test('a history that began later says where', async () => {
  const served = await Served.open({ blocks: 20 });
  try {
    const { engine } = served.rig;
    const batch = engine.batch();
    for (const name of ['history', 'history.payment', 'history.stake']) writeStartHeight(batch, name, 10);
    batch.commit();
    served.reads.moved();
    const old = modelTxs(served.devnet).find(({ height }) => height < 10)!;
    const answer = await served.get(`/txs/${old.id}`);
    assert.equal(answer.status, 410);
    assert.match(answer.text, /begins at height 10/);
    const list = await served.get(`/credentials/${'00'.repeat(28)}/txs`);
    assert.equal(list.headers['x-history-from'], '10');
  } finally {
    await served.close();
  }
});
