/**
 * The local protocols against a small node: transactions in, questions to the
 * ledger, the mempool; and that the node's whole unspent set equals the model's.
 */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { DevnetChain } from '../../../../src/chains/cardano/devnet/index.ts';
import { Mux } from '../../../../src/sources/cardano/ouroboros/mux.ts';
import { N2cClient } from '../../../../src/sources/cardano/ouroboros/n2c-client.ts';
import { equalBytes, fromHex, toHex } from '../../../../src/util/bytes.ts';
import { isUnspentError } from '../../../../src/util/errors.ts';
import { TestNode } from './node.ts';

describe('a local node', () => {
  const chain = new DevnetChain({ seed: 5 });
  for (let i = 0; i < 60; i++) chain.mine();
  const node = new TestNode(chain);
  let client: N2cClient;

  before(async () => {
    const url = await node.listen('n2c');
    client = await N2cClient.over(new Mux(connect(url.slice('n2c:'.length))), { magic: 42, byronEpochSlots: 21_600 });
  });

  after(async () => {
    await client.close();
    await node.close();
  });

  it('answers about its tip, era, epoch and parameters', async () => {
    await client.ask({ at: 'volatileTip' }, async (ledger) => {
      const tip = await ledger.tip();
      assert.equal(tip.height, chain.tip?.height);
      assert.ok(tip.point !== null && equalBytes(tip.point.hash, chain.tip!.hash));
      assert.equal(await ledger.currentEra(), 6);
      assert.equal(await ledger.epoch(), Math.floor(chain.tip!.slot / 100));
      assert.deepEqual(await ledger.parameters(), Uint8Array.of(0x80));
    });
  });

  it('gives its whole unspent set, and parts of it by address and by input', async () => {
    await client.ask({ at: 'point', point: chain.tip! }, async (ledger) => {
      const whole = new Map<string, string>();
      for (const { input, output } of await ledger.utxoWhole()) whole.set(`${toHex(input.txId)}#${input.index}`, toHex(output));
      assert.equal(whole.size, chain.count);
      for (const [key, utxo] of chain.utxos) assert.equal(whole.get(key), toHex(utxo.output), key);
      const [one] = chain.utxos.values();
      const byAddress = await ledger.utxoByAddress([fromHex(one.addressHex)]);
      assert.equal(byAddress.length, [...chain.utxos.values()].filter(({ addressHex }) => addressHex === one.addressHex).length);
      const byInput = await ledger.utxoByInput([{ txId: one.txId, index: one.index }]);
      assert.equal(byInput.length, 1);
      assert.ok(equalBytes(byInput[0].output, one.output));
    });
  });

  it('says when it cannot go to a point, and can be asked again', async () => {
    const nowhere = { at: 'point', point: { slot: 1, hash: new Uint8Array(32) } } as const;
    const asking = client.ask(nowhere, async () => assert.fail('acquired'));
    await assert.rejects(asking, (error) => isUnspentError(error, 'POINT_UNKNOWN'));
    assert.equal(await client.ask({ at: 'immutableTip' }, (ledger) => ledger.currentEra()), 6);
  });

  it('takes and refuses transactions, several at a time, and shows its mempool', async () => {
    const good = Array.from({ length: 5 }, (_, i) => new Uint8Array(40).fill(i + 1));
    const answers = await Promise.all([...good, new Uint8Array(2000)].map((tx) => client.submit(tx, 6)));
    assert.deepEqual(
      answers.slice(0, 5),
      good.map(() => ({ accepted: true })),
    );
    assert.deepEqual(answers[5], { accepted: false, reason: Uint8Array.of(0x81, 0x07) });
    await client.mempool(async (mempool) => {
      assert.equal(mempool.slot, chain.tip?.slot);
      assert.deepEqual(
        await mempool.txs(),
        good.map((tx) => ({ eraIndex: 6, tx })),
      );
      assert.equal(await mempool.has({ eraIndex: 6, id: good[2].subarray(0, 32) }), true);
      assert.equal(await mempool.has({ eraIndex: 6, id: new Uint8Array(32) }), false);
      assert.deepEqual(await mempool.sizes(), { capacityBytes: 1000, sizeBytes: 1, txs: 5 });
    });
  });

  it('serves blocks beside all that', async () => {
    await client.findIntersect([null]);
    let blocks = 0;
    for (let atTip = false; !atTip; ) {
      const batch = await client.next();
      blocks += batch.events.length;
      atTip = batch.atTip;
    }
    assert.equal(blocks, 60);
  });
});
