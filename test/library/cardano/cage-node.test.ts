/** A cage context with a node behind it, over a real socket: parameters, outputs, submission. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openCage } from '../../../src/cage.ts';
import { encodeConwayParameters, PARAMETERS } from '../../../src/chains/cardano/devnet/parameters.ts';
import { isUnspentError } from '../../../src/index.ts';
import { decodeProtocolParameters } from '../../../src/ledgers/cardano/protocol-parameters.ts';
import { fromHex } from '../../../src/util/bytes.ts';
import { CborWriter } from '../../../src/util/cbor-write.ts';
import type { ErrorCode } from '../../../src/util/errors.ts';
import { CageNodeRig } from '../../support/cage-node.ts';
import { signTx } from '../../support/sign.ts';

const code =
  (wanted: ErrorCode) =>
  (error: unknown): boolean =>
    isUnspentError(error, wanted);
const ADA = 1_000_000n;

describe('a cage context with a node', () => {
  let rig: CageNodeRig;

  before(async () => {
    rig = await CageNodeRig.start(7, [50n * ADA]);
    await rig.settled();
  });
  after(() => rig.close());

  /** The first coin of the wallet paid back to it. */
  const payment = (): Uint8Array => {
    const [coin] = rig.cage.provider.utxos(rig.address);
    const w = new CborWriter().array(4).map(3);
    w.uint(0).array(1).array(2).bytes(fromHex(coin.tx_hash)).uint(coin.output_index);
    w.uint(1)
      .array(1)
      .array(2)
      .bytes(rig.wallet.address)
      .bigUint(BigInt(coin.lovelace_amount!) - 200_000n);
    return signTx(w.uint(2).uint(200_000).map(0).bool(true).null().take(), rig.wallet);
  };

  it('asks it for protocol parameters', async () => {
    const parameters = await rig.cage.provider.parameters();
    assert.deepEqual(parameters, decodeProtocolParameters(encodeConwayParameters()));
    assert.equal(parameters.feePerByte, BigInt(PARAMETERS.minFeeA));
    assert.equal(parameters.feeFixed, BigInt(PARAMETERS.minFeeB));
    assert.equal(parameters.txBytesMax, PARAMETERS.maxTxSize);
    assert.equal(parameters.lovelacePerUtxoByte, 4310n);
    assert.deepEqual(parameters.memoryPrice, { over: 577n, under: 10_000n });
    assert.deepEqual(parameters.txUnitsMax, { memory: 16_500_000n, steps: 10_000_000_000n });
    assert.deepEqual([parameters.collateralPercent, parameters.collateralInputsMax], [150n, 3]);
    assert.deepEqual(parameters.referenceScriptBytePrice, { over: 15n, under: 1n });
  });

  it('refuses parameters that are cut off or of another era', () => {
    const whole = encodeConwayParameters();
    for (let length = 0; length < whole.length; length += 7) {
      assert.throws(() => decodeProtocolParameters(whole.subarray(0, length)), code('PROTOCOL'), `${length} bytes`);
    }
  });

  it('submits a transaction, which then is in a block and cannot be submitted again', async () => {
    const tx = payment();
    const id = await rig.cage.submitter.submit(tx);
    const arrived = rig.cage.indexer.waitForTx(id, { confirmations: 1 });
    rig.chain.mine(2);
    assert.equal((await arrived).tx_hash, id);
    assert.equal(rig.cage.provider.utxos(rig.address)[0].tx_hash, id);
    await assert.rejects(rig.cage.submitter.submit(tx), code('TX_REFUSED'));
    await assert.rejects(rig.cage.submitter.submit(Uint8Array.of(1, 2, 3)), code('USAGE'));
  });

  it('says what it needs where there is no node', async () => {
    const alone = openCage(rig.store);
    await assert.rejects(alone.provider.parameters(), code('UNSUPPORTED'));
    await assert.rejects(alone.submitter.submit(payment()), code('UNSUPPORTED'));
    assert.throws(() => openCage(rig.store, { node: 'n2n://127.0.0.1:3001' }), code('USAGE'));
    await using nowhere = openCage(rig.store, { node: 'n2c:/nowhere/node.socket' });
    await assert.rejects(nowhere.provider.parameters(), code('SOURCE_UNREACHABLE'));
    await nowhere.close();
    await assert.rejects(nowhere.provider.parameters(), code('CLOSED'));
  });
});
