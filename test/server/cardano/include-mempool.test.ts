/**
 * A wallet that submits and reads again, on a devnet that takes transactions:
 * with `include_mempool=true` it sees its own change at once, a chain of its
 * transactions, and all of it across a block and a rollback.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createInteractionContext, createMempoolMonitoringClient } from '@cardano-ogmios/client';
import type { BalanceJson, PendingUtxoJson, UtxoJson } from '../../../src/query/json.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { LiveStage, type SignedTx, type WalletCoin } from '../../support/live-stage.ts';
import { OpenApiCheck } from '../../support/openapi-check.ts';
import { until } from '../../support/patience.ts';

const ADA = 1_000_000n;
const FEE = 200_000n;

type Row = UtxoJson | PendingUtxoJson;

let stage: LiveStage;
let openApi: OpenApiCheck;

before(async () => {
  stage = await LiveStage.start(21, [50n * ADA, 60n * ADA]);
  const document = await fetch(`${stage.origin}/api/v1/openapi.json`);
  openApi = new OpenApiCheck((await document.json()) as ConstructorParameters<typeof OpenApiCheck>[0]);
});
after(() => stage.close());

/** Held against the OpenAPI document, as every answer. */
async function ask(path: string, init?: RequestInit): Promise<{ status: number; headers: Headers; text: string }> {
  const answer = await fetch(`${stage.origin}/api/v1${path}`, init);
  const [status, headers, text] = [answer.status, answer.headers, await answer.text()];
  openApi.answer(init?.method ?? 'GET', `/api/v1${path}`, { status, headers: Object.fromEntries(headers), text });
  return { status, headers, text };
}

async function read<T>(path: string): Promise<T> {
  const { status, text } = await ask(path);
  assert.equal(status, 200, text);
  return JSON.parse(text) as T;
}

const own = (mempool: boolean): Promise<Row[]> =>
  read(`/addresses/${stage.address}/utxos?limit=1000${mempool ? '&include_mempool=true' : ''}`);
const balance = async (mempool: boolean): Promise<bigint> => {
  const { lovelace_amount } = await read<BalanceJson>(`/addresses/${stage.address}/balance${mempool ? '?include_mempool=true' : ''}`);
  return BigInt(lovelace_amount!);
};
const names = (rows: readonly Row[]): string[] => rows.map(({ tx_hash, output_index }) => `${tx_hash}#${output_index}`).sort();
const coinOf = ({ tx_hash, output_index, lovelace_amount }: Row): WalletCoin => ({
  txId: tx_hash,
  index: output_index,
  lovelace: BigInt(lovelace_amount!),
});

async function submit({ hex, id }: SignedTx): Promise<void> {
  const answer = await fetch(`${stage.origin}/blockfrost/tx/submit`, { method: 'POST', body: hex });
  assert.deepEqual([answer.status, await answer.json()], [200, id]);
}

describe('a wallet that submits and reads again', () => {
  test('sees its change at once, and that of a second transaction on top of it', async () => {
    const [coin, other] = (await own(false)).map(coinOf);
    const before = await balance(false);
    assert.equal((await read<{ readonly mempool: number }>('/status')).mempool, 0);
    const first = stage.payment(coin);
    await submit(first);
    assert.equal((await read<{ readonly mempool: number }>('/status')).mempool, 1, 'at once, with no block between');
    assert.deepEqual(names(await own(true)), [`${first.id}#0`, `${other.txId}#${other.index}`].sort());
    assert.equal(await balance(true), before - FEE);
    const change = (await own(true)).find(({ tx_hash }) => tx_hash === first.id)!;
    assert.deepEqual(
      ['pending' in change && change.pending, 'slot' in change, 'block' in change, change.lovelace_amount],
      [true, false, false, `${coin.lovelace - FEE}`],
    );
    const second = stage.payment(coinOf(change));
    await submit(second);
    assert.deepEqual(names(await own(true)), [`${second.id}#0`, `${other.txId}#${other.index}`].sort());
    const [made] = await read<PendingUtxoJson[]>(`/txs/${first.id}/utxos?include_mempool=true`);
    assert.deepEqual([made.pending, made.spent_pending, made.spent_tx_hash, made.spent_at_slot], [true, true, second.id, undefined]);
    const spent = await read<UtxoJson>(`/utxos/${coin.txId}/${coin.index}?include_mempool=true`);
    assert.deepEqual([spent.spent_pending, spent.spent_tx_hash, typeof spent.slot], [true, first.id, 'number']);
    const body = JSON.stringify([`${second.id}#0`, `${'00'.repeat(32)}#0`]);
    const batch = await ask('/utxos?include_mempool=true', { method: 'POST', body, headers: { 'content-type': 'application/json' } });
    assert.deepEqual(
      (JSON.parse(batch.text) as (Row | null)[]).map((row) => row?.tx_hash ?? null),
      [second.id, null],
    );

    assert.deepEqual(
      names(await own(false)),
      names([
        { tx_hash: coin.txId, output_index: coin.index },
        { tx_hash: other.txId, output_index: other.index },
      ] as Row[]),
    );
    assert.equal(await balance(false), before, 'those who do not ask for it see blocks only');
    assert.equal((await ask(`/txs/${first.id}/utxos`)).status, 404);
    assert.equal((await read<{ readonly mempool: number }>('/status')).mempool, 2);
    assert.match(await (await fetch(`${stage.origin}/metrics`)).text(), /^unspent_mempool_transactions 2$/m);
  });

  test('sees the same in a block, after a rollback, and in a block again', async () => {
    const waiting = names(await own(true));
    await stage.mine();
    const mined = await own(true);
    assert.deepEqual(names(mined), waiting);
    assert.deepEqual(mined, await own(false));
    assert.ok(mined.every((row) => !('pending' in row)));

    stage.chain.rollback(1);
    await stage.settled();
    assert.deepEqual(names(await own(true)), waiting, 'they wait again');
    assert.notDeepEqual(names(await own(false)), waiting);
    await until(async () => (await read<{ readonly mempool: number }>('/status')).mempool === 2, 'the mempool has them again');

    await stage.mine();
    assert.deepEqual(await own(true), await own(false));
    assert.deepEqual(names(await own(false)), waiting);
  });

  test('sees what others have handed to the node, and what is left when its time is over', async () => {
    const id = toHex(stage.chain.fund(stage.wallet.address, 7n * ADA));
    await until(async () => names(await own(true)).includes(`${id}#0`), 'the monitor of the node has told of it');
    assert.ok(!names(await own(false)).includes(`${id}#0`));
    await stage.mine();
    const before = await own(true);
    assert.deepEqual(before, await own(false));

    const slot = stage.chain.tip.point!.slot;
    const short = stage.payment(coinOf(before[0]), undefined, slot + 2);
    await submit(short);
    assert.ok(names(await own(true)).includes(`${short.id}#0`));
    await stage.mine();
    assert.ok(stage.chain.tip.point!.slot > slot + 1, 'the block came too late for it');
    assert.deepEqual(await own(true), before);
  });

  test('watches what waits for a block with the client of Ogmios', async () => {
    const address = { http: `${stage.origin}/ogmios`, webSocket: `${stage.origin}/ogmios`.replace('http:', 'ws:') };
    const context = await createInteractionContext(
      (error) => assert.fail(error),
      () => undefined,
      { connection: { address } },
    );
    const client = await createMempoolMonitoringClient(context);
    assert.equal(await client.acquireMempool(), stage.chain.tip.point!.slot + 1);
    assert.equal(await client.nextTransaction(), null);
    const changed = client.acquireMempool();
    const [row] = await own(false);
    const { id, hex, ...tx } = stage.payment(coinOf(row));
    await submit({ id, hex, ...tx });
    await changed;
    assert.equal(await client.hasTransaction(id), true);
    assert.equal(await client.hasTransaction('00'.repeat(32)), false);
    const whole = await client.nextTransaction({ fields: 'all' });
    assert.deepEqual([whole?.id, whole?.cbor, whole?.inputs], [id, hex, [{ transaction: { id: row.tx_hash }, index: row.output_index }]]);
    assert.equal(await client.nextTransaction(), null);
    const { currentSize, transactions } = await client.sizeOfMempool();
    assert.deepEqual([currentSize.bytes, transactions.count], [hex.length / 2, 1]);
    const mined = client.acquireMempool();
    await stage.mine();
    await mined;
    assert.equal(await client.hasTransaction(id), false);
    await client.releaseMempool();
    await assert.rejects(client.hasTransaction(id), ({ code }: { readonly code: number }) => code === 4000);
    await client.shutdown();
  });

  test('is told what does not go together, and never from a cache', async () => {
    const path = `/addresses/${stage.address}/utxos?include_mempool=true`;
    for (const more of ['at=height:1', 'format=cbor']) {
      const { status, text } = await ask(`${path}&${more}`);
      assert.deepEqual([status, JSON.parse(text).field], [400, 'include_mempool'], more);
    }
    const { headers } = await ask(path);
    assert.deepEqual([headers.get('cache-control'), headers.get('etag')], ['no-store', null]);
  });
});
