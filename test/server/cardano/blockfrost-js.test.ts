/** `@blockfrost/blockfrost-js`, as it comes from npm, against a server that listens. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { BlockFrostAPI, BlockfrostServerError } from '@blockfrost/blockfrost-js';
import { blake2b256 } from '../../../src/crypto/hash.ts';
import { formatAddress } from '../../../src/ledgers/cardano/index.ts';
import { fromHex, toHex } from '../../../src/util/bytes.ts';
import { type ClientStage, setClientStage } from '../../support/client-stage.ts';

let stage: ClientStage;
let api: BlockFrostAPI;

before(async () => {
  stage = await setClientStage();
  api = new BlockFrostAPI({ customBackend: `${stage.origin}/blockfrost`, rateLimiter: false });
});
after(() => stage.close());

describe('@blockfrost/blockfrost-js', () => {
  test('outputs of an address, all pages at once, with every quantity', async () => {
    for (const [addressHex, wanted] of stage.byAddress()) {
      const found = await api.addressesUtxosAll(formatAddress(fromHex(addressHex)));
      assert.deepEqual(
        found.map(({ tx_hash, output_index }) => `${tx_hash}#${output_index}`).toSorted(),
        wanted.map(({ key }) => key).toSorted(),
      );
      for (const { tx_hash, output_index, amount } of found) {
        const model = stage.utxos.get(`${tx_hash}#${output_index}`)!;
        const assets = [...model.assets].map(([unit, quantity]) => [unit.replace('.', ''), quantity] as const);
        assert.deepEqual(
          new Map(amount.map(({ unit, quantity }) => [unit, BigInt(quantity)])),
          new Map([['lovelace', model.lovelace], ...assets]),
        );
      }
    }
  });

  test('an asset and who holds it', async () => {
    const { unit, quantity } = stage.largest;
    const [{ address }] = await api.assetsAddresses(unit);
    assert.equal((await api.assetsById(unit)).quantity, `${quantity}`);
    const [utxo] = await api.addressesUtxosAsset(address, unit);
    assert.equal(utxo.amount.find((each) => each.unit === unit)?.quantity, `${quantity}`);
  });

  test('datums, scripts, outputs of a transaction, blocks', async () => {
    const { txId, hash, code, datum } = stage.script;
    assert.equal((await api.scriptsByHash(hash)).type, 'plutusV3');
    assert.equal((await api.scriptsCbor(hash)).cbor, code);
    const datumHash = toHex(blake2b256(fromHex(datum)));
    assert.equal((await api.scriptsDatumCbor(datumHash)).cbor, datum);
    assert.deepEqual((await api.scriptsDatum(datumHash)).json_value, { constructor: 0, fields: [] });
    const { outputs } = await api.txsUtxos(txId);
    assert.deepEqual(
      outputs.map((output) => [output.output_index, output.reference_script_hash, output.consumed_by_tx]),
      [
        [0, null, null],
        [1, hash, null],
      ],
    );
    const { height } = await api.blocksLatest();
    assert.equal((await api.blocks(height!)).confirmations, 0);
    assert.equal((await api.health()).is_healthy, true);
  });

  test('what is not there, and what is not known', async () => {
    const failure = (status: number) => (error: unknown) => error instanceof BlockfrostServerError && error.status_code === status;
    await assert.rejects(api.txsUtxos('00'.repeat(32)), failure(404));
    await assert.rejects(api.pools(), failure(501));
    await assert.rejects(api.addressesUtxos('nobody'), failure(400));
  });
});
