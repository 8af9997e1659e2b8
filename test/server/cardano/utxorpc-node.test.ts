/**
 * UTxO RPC with a node behind it, over real sockets and with the SDK as it comes
 * from npm: parameters, and a transaction that is submitted and lands.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { outpointText } from '../../../src/ledgers/outpoint.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { datumOf, ScriptNetwork } from '../../support/script-network.ts';
import { type UtxoRpcClients, utxoRpcClients } from '../../support/utxorpc-stage.ts';

let network: ScriptNetwork;
let clients: UtxoRpcClients;
before(async () => {
  network = await ScriptNetwork.start(34, {}, { ports: { utxorpc: { grpc: 0 } } });
  clients = utxoRpcClients(network.ports['utxorpc']['grpc']!);
});
after(() => network.close());

describe('@utxorpc/sdk', () => {
  it('reads the parameters of the node', async () => {
    const parameters = await clients.query.readParams();
    assert.deepEqual(
      [
        parameters.minFeeCoefficient,
        parameters.minFeeConstant,
        parameters.coinsPerUtxoByte,
        parameters.costModels?.plutusV3?.values.length,
      ],
      [44n, 155_381n, 4310n, 297],
    );
    const { memory, steps } = parameters.prices!;
    assert.deepEqual([memory!.numerator, memory!.denominator, steps!.numerator, steps!.denominator], [577, 10_000, 721, 10_000_000]);
    assert.equal(parameters.drepVotingThresholds?.thresholds.length, 10);
  });

  it('submits a transaction that lands, and reads it back', async () => {
    const { tx, id } = network.lock(datumOf(1));
    assert.deepEqual(await clients.submit.submitTx(Uint8Array.from(tx)), Uint8Array.from(id));
    await network.mine();
    const [found] = await clients.query.readUtxosByOutputRef([{ txHash: Uint8Array.from(id), outputIndex: 0 }]);
    assert.equal(found.parsedValued?.coin, 20_000_000n);
    assert.equal(toHex(found.parsedValued!.datum!.originalCbor), toHex(datumOf(1)));
    const mine = await clients.query.searchUtxosByAddress(Uint8Array.from(network.wallet.address));
    assert.deepEqual(
      mine.map(({ txoRef: { hash, index }, parsedValued }) => [`${toHex(hash)}#${index}`, parsedValued!.coin]).sort(),
      network
        .coins()
        .map((coin) => [outpointText(coin), coin.lovelace])
        .sort(),
    );
  });

  it('is told why a transaction is refused', async () => {
    await assert.rejects(clients.submit.submitTx(Uint8Array.of(0x80)), /\[invalid_argument\]/);
  });
});
