/**
 * A store that keeps no outputs (`utxo.enabled` off) says so wherever it is
 * asked about some: never an empty list, never a zero.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { toHex } from '../../../src/util/bytes.ts';
import { Served } from '../../support/served.ts';

let served: Served;
before(async () => {
  served = await Served.open({ blocks: 12, store: { utxo: false } });
});
after(() => served.close());

describe('a server without outputs', () => {
  it('refuses every question about them, and names the setting', async () => {
    const block = served.devnet.chain.blocks.find(({ txs }) => txs.length > 0)!;
    const tx = block.txs[0].id;
    const address = 'addr_test1vzpwq95z3xyum8vqndgdd9mdnmafh3djcxnc6jemlgdmswcve6tkw';
    const hash = '00'.repeat(28);
    const paths = [
      `/blocks/${toHex(block.hash)}/changes`,
      '/blocks/latest',
      `/txs/${tx}/utxos`,
      `/utxos/${tx}/0`,
      `/addresses/${address}/utxos`,
      `/addresses/${address}/balance`,
      `/policies/${hash}/utxos`,
      `/scripts/${hash}/utxos`,
    ];
    for (const path of paths) {
      const headers = path === '/blocks/latest' ? { accept: 'application/cbor' } : {};
      const answer = await served.get(path, headers);
      const { code, detail } = answer.json<{ code: string; detail: string }>();
      assert.equal(code, 'UNSUPPORTED', path);
      assert.match(detail, /utxo\.enabled/, path);
    }
    const batch = await served.post('/utxos', [`${tx}#0`]);
    assert.equal(batch.json<{ code: string }>().code, 'UNSUPPORTED');
  });

  it('still answers what it keeps', async () => {
    const { json, status } = await served.get('/blocks/latest');
    assert.equal(status, 200);
    assert.equal(json<{ height: number }>().height, 11);
  });

  it('has no totals in its status', async () => {
    const status = (await served.get('/status')).json<Record<string, unknown>>();
    assert.deepEqual([status['utxos'], status['value'], status['missing_inputs']], [null, null, null]);
    const following = status['following'] as Record<string, unknown>;
    assert.deepEqual([following['created'], following['spent'], following['pruned_keys']], [null, null, null]);
  });

  it('nor in its metrics', async () => {
    const { text } = await served.get('//metrics');
    const names = new Set([...text.matchAll(/^([a-z_]+)(?:\{.*\})? /gm)].map(([, name]) => name));
    for (const name of [
      'utxos',
      'value_lovelace',
      'missing_inputs',
      'outputs_created_total',
      'outputs_spent_total',
      'outputs_pruned_total',
    ])
      assert.ok(!names.has(`unspent_${name}`), name);
    assert.ok(names.has('unspent_tip_height'));
  });
});

describe('metrics', () => {
  it('tell no unit of another family, and nothing that is not known', async () => {
    const whole = await Served.open({ blocks: 5 });
    const { text } = await whole.get('//metrics');
    assert.match(text, /^unspent_value_lovelace \d/m);
    assert.doesNotMatch(text, /^unspent_value_satoshi /m);
    assert.doesNotMatch(text, /^unspent_mempool_transactions /m);
    assert.doesNotMatch(text, /^unspent_source_tip_height /m);
    await whole.close();
  });
});
