/**
 * UTxO RPC with a node behind it, over real sockets and with the SDK as it comes
 * from npm: parameters, and transactions that are evaluated, submitted, seen in
 * the mempool, waited for and watched.
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
  network = await ScriptNetwork.start(34, { 'utxo.history': true }, { ports: { utxorpc: { grpc: 0 } } });
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

  it('fetches blocks with their bytes', async () => {
    const { blocks } = network.chain;
    for (const { slot, hash, raw } of blocks.slice(-4)) {
      const { parsedBlock, nativeBytes } = await clients.sync.fetchBlock({ slot, hash: toHex(hash) });
      assert.equal(toHex(nativeBytes), toHex(raw));
      assert.equal(parsedBlock.header?.height, BigInt(blocks.findIndex((block) => block.slot === slot)));
    }
  });

  it('is told why a transaction is refused', async () => {
    await assert.rejects(clients.submit.submitTx(Uint8Array.of(0x80)), /\[invalid_argument\]/);
  });

  it('evaluates a spend from a script, which lands with the units it says', async () => {
    const output = await locked(2);
    const { report } = await clients.submit.evalTx(Uint8Array.from(network.unlock(output, datumOf(2)).tx));
    const evaluated = report[0].chain.value!;
    const [redeemer] = evaluated.redeemers;
    assert.deepEqual(
      [evaluated.errors.length, redeemer.purpose, redeemer.index, toHex(redeemer.originalCbor)],
      [0, 1, 0, toHex(datumOf(2))],
    );
    const { memory, steps } = redeemer.exUnits!;
    assert.deepEqual([evaluated.exUnits?.memory, evaluated.exUnits?.steps], [memory, steps]);
    const { tx, id } = network.unlock(output, datumOf(2), { memory, steps });
    await clients.submit.submitTx(Uint8Array.from(tx));
    await network.mine();
    assert.equal(network.store.utxo(outpointText(output))?.spent_tx_hash, toHex(id));
    const { tx: read } = await clients.query.inner.readTx({ hash: Uint8Array.from(id) });
    assert.equal(toHex(read!.nativeBytes), toHex(tx));
    assert.ok(read!.chain.case === 'cardano');
    const { inputs, witnesses } = read!.chain.value;
    assert.equal(toHex(inputs[0].asOutput!.datum!.originalCbor), toHex(datumOf(2)));
    assert.equal(toHex(inputs[0].redeemer!.originalCbor), toHex(datumOf(2)));
    assert.equal(witnesses?.script.length, 1);
  });

  it('is told which script fails', async () => {
    const output = await locked(3);
    const { report } = await clients.submit.evalTx(Uint8Array.from(network.unlock(output, datumOf(4)).tx));
    assert.match(report[0].chain.value!.errors[0].msg, /the script of spend 0 fails/);
    const unknown = network.unlock({ txId: new Uint8Array(32), index: 0 }, datumOf(1)).tx;
    await assert.rejects(clients.submit.evalTx(Uint8Array.from(unknown)), /\[invalid_argument\] OUTPUT_UNKNOWN/);
  });

  it('sees a transaction in the mempool, waits for it, and watches it come and go', async () => {
    const { tx, id } = network.lock(datumOf(5));
    const name = toHex(id);
    const address = Uint8Array.from(network.wallet.address);
    const pending = clients.submit.watchMempoolForAddress(address)[Symbol.asyncIterator]();
    const none = clients.submit.watchMempoolForAsset(Uint8Array.from({ length: 28 }, () => 1))[Symbol.asyncIterator]();
    let isToldOfOthers = false;
    const watched = clients.watch.watchTxForAddress(address, [await clients.sync.readTip()])[Symbol.asyncIterator]();
    const stages = clients.submit.waitForTx(Uint8Array.from(id))[Symbol.asyncIterator]();
    const [seen, staged, applied] = [pending.next(), stages.next(), watched.next()];
    // It ends with the server.
    none.next().then(
      () => {
        isToldOfOthers = true;
      },
      () => undefined,
    );
    await clients.submit.submitTx(Uint8Array.from(tx));
    const first = (await seen).value;
    assert.deepEqual([toHex(first.txoRef), first.stage, toHex(first.nativeBytes)], [name, 2, toHex(tx)]);
    assert.equal(toHex(first.Tx.inputs[0].asOutput.address), toHex(address));
    assert.equal((await staged).value, 2);
    const { items } = await clients.submit.inner.readMempool({});
    assert.deepEqual(
      items.map(({ ref }) => toHex(ref)),
      [name],
    );
    await network.mine();
    assert.deepEqual([(await stages.next()).value, (await stages.next()).done], [4, true]);
    const landed = (await pending.next()).value;
    assert.deepEqual([toHex(landed.txoRef), landed.stage], [name, 4]);
    const apply = (await applied).value;
    assert.deepEqual([apply.action, toHex(apply.Tx.hash)], ['apply', name]);
    network.chain.fork(1);
    await network.settled();
    const undo = (await watched.next()).value;
    assert.deepEqual([undo.action, toHex(undo.Tx.hash)], ['undo', name]);
    for (const stream of [pending, watched]) await stream.return?.();
    assert.equal(isToldOfOthers, false);
  });
});

/** An output that takes its datum to be spent, in a block. */
async function locked(value: number): Promise<{ readonly txId: Uint8Array; readonly index: number }> {
  const { tx, id } = network.lock(datumOf(value));
  await clients.submit.submitTx(Uint8Array.from(tx));
  await network.mine();
  return { txId: id, index: 0 };
}
