/**
 * Clients of Blockfrost, as they come from npm, that ask what scripts use: the
 * units they are told let a transaction land, and a script that fails is said to.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { HexBlob, Transaction, TxCBOR } from '@blaze-cardano/core';
import { Blockfrost } from '@blaze-cardano/query';
import { BlockFrostAPI } from '@blockfrost/blockfrost-js';
import { formatAddress } from '../../../src/ledgers/cardano/index.ts';
import { readWholeTx } from '../../../src/ledgers/cardano/transaction.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { datumOf, ScriptNetwork } from '../../support/script-network.ts';

interface Reply {
  readonly result: { readonly EvaluationResult?: Record<string, { memory: number; steps: number }>; readonly EvaluationFailure?: object };
}

describe('evaluation through the Blockfrost API', () => {
  let network: ScriptNetwork;
  let blaze: Blockfrost;
  let js: BlockFrostAPI;
  before(async () => {
    network = await ScriptNetwork.start(17);
    blaze = new Blockfrost({ network: 'cardano-preview', projectId: 'none' });
    blaze.url = new URL('blockfrost/', network.url).href;
    js = new BlockFrostAPI({ customBackend: new URL('blockfrost', network.url).href, rateLimiter: false });
  });
  after(() => network.close());

  const post = async (path: string, type: string, body: string): Promise<[number, Reply & Record<string, unknown>]> => {
    const answer = await fetch(new URL(`blockfrost${path}`, network.url), { method: 'POST', headers: { 'content-type': type }, body });
    return [answer.status, (await answer.json()) as Reply & Record<string, unknown>];
  };

  test('the units let the transaction land', async () => {
    const { tx, id } = network.lock(datumOf(7));
    assert.ok(network.chain.submit(tx).accepted);
    const locked = { txId: id, index: 0 };
    const hex = toHex(network.unlock(locked, datumOf(7)).tx);
    const [, unknown] = await post('/utils/txs/evaluate', 'application/cbor', hex);
    assert.match(JSON.stringify(unknown.result.EvaluationFailure), new RegExp(`CannotCreateEvaluationContext.*${toHex(id)}`));

    // As Lucid brings it along.
    const [{ address, lovelace, inlineDatum }] = readWholeTx(tx).outputs;
    const output = { address: formatAddress(address), value: { coins: Number(lovelace) }, datum: toHex(inlineDatum!) };
    const set = [[{ txId: toHex(id), index: 0 }, output]];
    for (const name of ['additionalUtxoSet', 'additionalUtxoset']) {
      const [status, early] = await post('/utils/txs/evaluate/utxos', 'application/json', JSON.stringify({ cbor: hex, [name]: set }));
      assert.equal(status, 200);
      assert.deepEqual(Object.keys(early.result.EvaluationResult ?? early), ['spend:0']);
    }

    await network.mine();
    const redeemers = await blaze.evaluateTransaction(Transaction.fromCbor(TxCBOR(HexBlob(hex))), []);
    const [redeemer] = redeemers.values();
    const units = { memory: redeemer.exUnits().mem(), steps: redeemer.exUnits().steps() };
    const told = (await js.utilsTxsEvaluate(hex)) as unknown as Reply;
    assert.deepEqual(told.result.EvaluationResult, { 'spend:0': { memory: Number(units.memory), steps: Number(units.steps) } });
    const [yaci, forYaci] = await post('/api/v1/utils/txs/evaluate', 'application/cbor', hex);
    assert.deepEqual([yaci, forYaci.result], [202, told.result]);

    const spend = network.unlock(locked, datumOf(7), units);
    assert.equal(await js.txSubmit(spend.tx), toHex(spend.id));
    await network.mine();
    assert.equal((await js.txsUtxos(toHex(id))).outputs[0].consumed_by_tx, toHex(spend.id));
  });

  test('a script that fails is named, and what is no transaction is refused', async () => {
    const { tx, id } = network.lock(datumOf(8));
    assert.ok(network.chain.submit(tx).accepted);
    await network.mine();
    const hex = toHex(network.unlock({ txId: id, index: 0 }, datumOf(9)).tx);
    const [status, failed] = await post('/utils/txs/evaluate', 'application/cbor', hex);
    assert.equal(status, 200);
    assert.match(JSON.stringify(failed.result.EvaluationFailure), /ScriptFailures.*spend:0.*validatorFailed/);
    await assert.rejects(blaze.evaluateTransaction(Transaction.fromCbor(TxCBOR(HexBlob(hex))), []), /evaluation failure/);
    for (const [path, body] of [
      ['/utils/txs/evaluate', '80'],
      ['/utils/txs/evaluate/utxos', 'no JSON'],
      ['/utils/txs/evaluate/utxos', JSON.stringify({ cbor: hex, additionalUtxoSet: [[{ txId: 'x', index: 0 }, {}]] })],
      ['/utils/txs/evaluate/utxos', JSON.stringify({ cbor: hex, additionalUtxoSet: {} })],
    ])
      assert.equal((await post(path, 'application/json', body))[0], 400, body);
  });
});
