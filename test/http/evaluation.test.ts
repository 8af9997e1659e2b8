/**
 * Evaluation over HTTP, with a node behind the store: a transaction that spends
 * from a script is evaluated, gets the units, and lands; one that fails is
 * refused with the script that does; outputs of a transaction that is in no
 * block can be brought along.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { readWholeTx } from '../../src/ledgers/cardano/transaction.ts';
import { outpointText } from '../../src/ledgers/outpoint.ts';
import { toHex } from '../../src/util/bytes.ts';
import { datumOf, ScriptNetwork } from '../support/script-network.ts';
import { assertProblem, Served } from '../support/served.ts';

interface Evaluated {
  readonly scripts: readonly { readonly purpose: string; readonly index: number; readonly memory: string; readonly steps: string }[];
}

describe('evaluation', () => {
  let network: ScriptNetwork;
  before(async () => {
    network = await ScriptNetwork.start(31);
  });
  after(() => network.close());

  async function evaluate(
    tx: Uint8Array,
    additional?: object,
  ): Promise<{ readonly status: number; readonly body: Evaluated & Record<string, unknown> }> {
    const response = await fetch(new URL('api/v1/txs/evaluate', network.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ tx: toHex(tx), ...(additional === undefined ? {} : { additional }) }),
    });
    return { status: response.status, body: (await response.json()) as Evaluated & Record<string, unknown> };
  }

  it('gives the units by which a transaction then lands', async () => {
    const { tx, id } = network.lock(datumOf(7));
    assert.ok(network.chain.submit(tx).accepted);
    const locked = { txId: id, index: 0 };

    const unknown = await evaluate(network.unlock(locked, datumOf(7)).tx);
    assert.equal(unknown.body['code'], 'OUTPUT_UNKNOWN');
    assert.match(String(unknown.body['detail']), new RegExp(toHex(id)));
    const [output] = readWholeTx(tx).outputs;
    const brought = [{ outpoint: outpointText(locked), output: toHex(tx.subarray(output.start, output.end)) }];
    const early = await evaluate(network.unlock(locked, datumOf(7)).tx, brought);
    assert.equal(early.status, 200, JSON.stringify(early.body));

    await network.mine();
    const { status, body } = await evaluate(network.unlock(locked, datumOf(7)).tx);
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(body, early.body);
    const [{ purpose, index, memory, steps }] = body.scripts;
    assert.deepEqual([body.scripts.length, purpose, index], [1, 'spend', 0]);

    const spend = network.unlock(locked, datumOf(7), { memory: BigInt(memory), steps: BigInt(steps) });
    assert.deepEqual(network.chain.submit(spend.tx), { accepted: true, id: spend.id });
    await network.mine();
    assert.equal(network.store.utxo(outpointText(locked))?.spent_tx_hash, toHex(spend.id));
  });

  it('names the script that fails, and says why', async () => {
    const { tx, id } = network.lock(datumOf(8));
    assert.ok(network.chain.submit(tx).accepted);
    await network.mine();
    const { status, body } = await evaluate(network.unlock({ txId: id, index: 0 }, datumOf(9)).tx);
    assert.deepEqual([status, body['code']], [400, 'SCRIPT_FAILED']);
    assert.match(String(body['detail']), /^the script of spend 0 fails: the validator crashed/);
  });

  it('refuses what is no transaction', async () => {
    assert.equal((await evaluate(Uint8Array.of(0x80))).body['code'], 'USAGE');
  });
});

describe('evaluation without a node', () => {
  it('is told that parameters come from one', async () => {
    const served = await Served.open({ blocks: 1 });
    const answer = await served.post('/txs/evaluate', { tx: '80' });
    assertProblem(answer, 'UNSUPPORTED', 501);
    await served.close();
  });
});
