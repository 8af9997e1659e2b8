/** Dust and the fee of a replacement, as a real node sees them: outputs at our threshold are relayed, and one satoshi less is dust. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { bitcoinNetwork, parseAddress } from '../../../../src/ledgers/bitcoin/index.ts';
import { relayPolicyOf } from '../../../../src/wallet/bitcoin/operations/relay-policy.ts';
import { dustThreshold } from '../../../../src/wallet/selection/bitcoin/output-size.ts';
import { selectCoins } from '../../../../src/wallet/selection/bitcoin/select.ts';
import { type CoreNode, startNode } from '../../../support/core-node.ts';
import { LITECOIND, nodeMissing } from '../../../support/node-kinds.ts';
import { coinOf } from '../../selection/bitcoin/made-coins.ts';

const COIN = 1e8;
const network = bitcoinNetwork('litecoin-regtest');

describe('what a node relays', { skip: nodeMissing() }, () => {
  let node: CoreNode;
  before(async () => {
    // On a chain of its own it relays everything unless it is told otherwise.
    node = await startNode({ kind: LITECOIND, args: ['-acceptnonstdtxn=0', '-fallbackfee=0.0001'] });
    await node.rpc('createwallet', 'miner').catch(() => undefined);
    await node.rpc('generatetoaddress', 101, await node.rpc('getnewaddress'));
  });
  after(() => node?.stop());

  /** Null: it would take a transaction with an output of that value. */
  async function refusal(address: string, satoshi: number): Promise<string | null> {
    const funded = await node.rpc('fundrawtransaction', await node.rpc('createrawtransaction', [], { [address]: 1 }));
    const { vin, vout } = await node.rpc('decoderawtransaction', funded.hex);
    const total = vout.reduce((sum: number, { value }: { value: number }) => sum + Math.round(value * COIN), 0);
    const back = await node.rpc('getrawchangeaddress');
    const inputs = vin.map(({ txid, vout: index }: { txid: string; vout: number }) => ({ txid, vout: index }));
    const outputs = { [address]: satoshi / COIN, [back]: (total - satoshi) / COIN };
    const raw = await node.rpc('createrawtransaction', inputs, outputs);
    const { hex } = await node.rpc('signrawtransactionwithwallet', raw);
    const [{ allowed, 'reject-reason': reason }] = await node.rpc('testmempoolaccept', [hex]);
    return allowed ? null : reason;
  }

  for (const kind of ['legacy', 'p2sh-segwit', 'bech32']) {
    test(`an output of the kind ${kind}`, async () => {
      const address: string = await node.rpc('getnewaddress', '', kind);
      const least = dustThreshold(parseAddress(network, address), relayPolicyOf(network).rates.dustRelay);
      assert.equal(await refusal(address, least), null, `${least}`);
      assert.equal(await refusal(address, least - 1), 'dust');
    });
  }

  test('what a replacement pays above what it evicts', async () => {
    const { incrementalfee } = await node.rpc('getnetworkinfo');
    assert.equal(Math.round(incrementalfee * COIN), relayPolicyOf(network).replacement.incrementalRate);
  });

  test('a payment that would leave less than that as change leaves none', async () => {
    const address: string = await node.rpc('getnewaddress', '', 'bech32');
    const script = parseAddress(network, address);
    const least = dustThreshold(script, relayPolicyOf(network).rates.dustRelay);
    const changes = [400, 900, 1500, 2900, 3100, 5000].map((left) => {
      const rates = { ...relayPolicyOf(network).rates, target: 1000 };
      const request = { outputs: [{ script, value: 1_000_000n - 200n - BigInt(left) }], change: { script, spendWeight: 272 }, rates };
      return selectCoins([], { ...request, preset: [coinOf(1_000_000)], presetOnly: true }).change;
    });
    assert.deepEqual(
      changes.filter((change) => change > 0n && change < BigInt(least)),
      [],
    );
    assert.ok(changes.some((change) => change > 0n));
    assert.ok(changes.filter((change) => change === 0n).length >= 3);
  });
});
