/**
 * What a block did, against the devnet's own account of it: every block of a
 * chain, through rollbacks, until it was pruned. `Served` holds each answer
 * against the OpenAPI document.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { DevnetBlock } from '../../../src/chains/cardano/devnet/index.ts';
import type { UtxoJson } from '../../../src/query/json.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { Served } from '../../support/served.ts';

interface Changes {
  readonly transactions: readonly { readonly tx_hash: string; readonly valid: boolean }[];
  readonly created: readonly UtxoJson[];
  readonly spent: readonly UtxoJson[];
}

const names = (rows: readonly UtxoJson[]): string[] => rows.map(({ tx_hash, output_index }) => `${tx_hash}#${output_index}`);

async function check(served: Served, block: DevnetBlock): Promise<void> {
  const answer = await served.get(`/blocks/${toHex(block.hash)}/changes`);
  assert.equal(answer.status, 200, answer.text);
  const { transactions, created, spent } = answer.json<Changes>();
  assert.deepEqual(
    transactions.map(({ tx_hash, valid }) => [tx_hash, valid]),
    block.txs.map(({ id, valid }) => [id, valid]),
  );
  // Genesis is granted with the first block; its outputs are no transaction's.
  const ofTxs = new Set(transactions.map(({ tx_hash }) => tx_hash));
  assert.deepEqual(
    names(created.filter(({ tx_hash }) => ofTxs.has(tx_hash))).sort(),
    block.txs.flatMap(({ creates }) => creates.map(({ key }) => key)).sort(),
  );
  assert.deepEqual(names(spent).sort(), block.txs.flatMap(({ spends }) => spends.map(({ key }) => key)).sort());
  const spenders = new Map(block.txs.flatMap(({ id, spends }) => spends.map(({ key }) => [key, id] as const)));
  for (const row of spent) {
    assert.equal(row.spent_tx_hash, spenders.get(`${row.tx_hash}#${row.output_index}`));
    assert.equal(row.spent_at_block, block.height);
  }
}

describe('GET /blocks/{block}/changes', () => {
  test('is what each block did, after a rollback too', async () => {
    const served = await Served.open({ seed: 11, blocks: 60 });
    for (const block of served.devnet.chain.blocks) await check(served, block);
    const [gone] = served.devnet.chain.blocks.slice(-1);
    served.back(4);
    served.forward(6);
    for (const block of served.devnet.chain.blocks.slice(-8)) await check(served, block);
    assert.equal((await served.get(`/blocks/${toHex(gone.hash)}/changes`)).status, 404);
    await served.close();
  });

  test('says when it was forgotten, and what is no block', async () => {
    const served = await Served.open({ seed: 12, blocks: 60, store: { pruneDepth: 10, rollbackWindow: 20 } });
    served.prune();
    const answer = await served.get('/blocks/height:30/changes');
    assert.deepEqual([answer.status, answer.json<{ code: string }>().code], [410, 'PRUNED']);
    await check(served, served.devnet.chain.blocks.at(-1)!);
    for (const [place, status] of [
      ['height:9999', 404],
      ['origin', 404],
      ['nonsense', 400],
    ] as const) {
      assert.equal((await served.get(`/blocks/${place}/changes`)).status, status, place);
    }
    await served.close();
  });
});
