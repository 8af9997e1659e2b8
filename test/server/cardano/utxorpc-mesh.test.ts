/** The UTxO RPC provider of Mesh, as it comes from npm, against a server with a node behind it. Only where it is installed. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { outpointText } from '../../../src/ledgers/outpoint.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { loadClient, skipWithout } from '../../support/heavy-clients.ts';
import { datumOf, ScriptNetwork } from '../../support/script-network.ts';

/** What of the provider is called here. */
interface U5CProvider {
  fetchAddressUTxOs(address: string): Promise<
    {
      readonly input: { readonly txHash: string; readonly outputIndex: number };
      readonly output: { readonly address: string; readonly amount: readonly { readonly unit: string; readonly quantity: string }[] };
    }[]
  >;
  fetchProtocolParameters(): Promise<{ readonly minFeeA: number; readonly minFeeB: number; readonly coinsPerUtxoSize: number }>;
  submitTx(tx: string): Promise<string>;
  onTxConfirmed(txId: string, callback: () => void): void;
}

const NAME = '@meshsdk/provider';

describe('the UTxO RPC provider of Mesh', { skip: skipWithout(NAME) }, () => {
  let network: ScriptNetwork;
  let provider: U5CProvider;
  before(async () => {
    network = await ScriptNetwork.start(35, {}, { ports: { utxorpc: { grpc: 0 } } });
    const Provider = loadClient<{ U5CProvider: new (options: { url: string }) => U5CProvider }>(NAME).U5CProvider;
    provider = new Provider({ url: `http://127.0.0.1:${network.ports['utxorpc']['grpc']}` });
  });
  after(() => network.close());

  it('reads outputs and parameters', async () => {
    const found = await provider.fetchAddressUTxOs(network.address);
    assert.deepEqual(
      found.map(({ input, output }) => [`${input.txHash}#${input.outputIndex}`, output.address, output.amount[0].quantity]).sort(),
      network
        .coins()
        .map((coin) => [outpointText(coin), network.address, `${coin.lovelace}`])
        .sort(),
    );
    const { minFeeA, minFeeB, coinsPerUtxoSize } = await provider.fetchProtocolParameters();
    assert.deepEqual([minFeeA, minFeeB, coinsPerUtxoSize], [44, 155_381, 4310]);
  });

  it('submits a transaction, and waits until it is in a block', async () => {
    const { tx, id } = network.lock(datumOf(1));
    assert.equal(await provider.submitTx(toHex(tx)), toHex(id));
    const { log } = console;
    // Mesh prints each stage.
    console.log = () => undefined;
    const confirmed = new Promise<void>((resolve) => {
      provider.onTxConfirmed(toHex(id), resolve);
    });
    await network.mine();
    await confirmed;
    console.log = log;
    assert.ok(network.store.utxo(`${toHex(id)}#0`));
  });
});
