/** The Kupo half of Blaze's Kupmios, as it comes from npm, against a server that listens. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Address, AssetId, DatumHash, TransactionId, TransactionInput, type TransactionUnspentOutput } from '@blaze-cardano/core';
import { Kupmios } from '@blaze-cardano/query';
import { blake2b256 } from '../../../src/crypto/hash.ts';
import { formatAddress } from '../../../src/ledgers/cardano/index.ts';
import { fromHex, toHex } from '../../../src/util/bytes.ts';
import { type ClientStage, setClientStage } from '../../support/client-stage.ts';

let stage: ClientStage;
let provider: Kupmios;

before(async () => {
  stage = await setClientStage();
  provider = new Kupmios(`${stage.origin}/kupo`, { url: 'ws://127.0.0.1:1' } as ConstructorParameters<typeof Kupmios>[1]);
});
after(() => stage.close());

const nameOf = (utxo: TransactionUnspentOutput): string => `${utxo.input().transactionId()}#${utxo.input().index()}`;
const names = (utxos: readonly TransactionUnspentOutput[]): string[] => utxos.map(nameOf).toSorted();

describe('@blaze-cardano/query', () => {
  test('outputs of an address, with every quantity', async () => {
    for (const [addressHex, wanted] of stage.byAddress()) {
      const found = await provider.getUnspentOutputs(Address.fromBech32(formatAddress(fromHex(addressHex))));
      assert.deepEqual(names(found), wanted.map(({ key }) => key).toSorted());
      for (const utxo of found) {
        const model = stage.utxos.get(nameOf(utxo))!;
        const { coins, assets } = utxo.output().amount().toCore();
        assert.equal(coins, model.lovelace);
        assert.deepEqual(
          new Map([...(assets ?? [])].map(([unit, quantity]) => [unit, quantity])),
          new Map([...model.assets].map(([unit, q]) => [unit.replace('.', ''), q])),
        );
      }
    }
  });

  test('outputs with an asset: at an address, anywhere, and one without a name', async () => {
    for (const unit of stage.units()) {
      const wanted = [...stage.utxos.values()].filter(({ assets }) => assets.has(unit));
      const id = AssetId(unit.replace('.', ''));
      assert.deepEqual(
        names(await provider.getUnspentOutputsWithAsset(null as unknown as Address, id)),
        wanted.map(({ key }) => key).toSorted(),
      );
      const [{ addressHex }] = wanted;
      const here = await provider.getUnspentOutputsWithAsset(Address.fromBech32(formatAddress(fromHex(addressHex))), id);
      assert.deepEqual(
        names(here),
        wanted
          .filter((utxo) => utxo.addressHex === addressHex)
          .map(({ key }) => key)
          .toSorted(),
      );
    }
    const nft = await provider.getUnspentOutputByNFT(AssetId(stage.largest.unit));
    assert.equal(nft.output().amount().multiasset()?.get(AssetId(stage.largest.unit)), stage.largest.quantity);
  });

  test('outputs by reference, and one that is spent is missed', async () => {
    const wanted = [...stage.utxos.keys()].slice(0, 20);
    const inputs = wanted.map((key) => new TransactionInput(TransactionId(key.split('#')[0]), BigInt(key.split('#')[1])));
    assert.deepEqual(names(await provider.resolveUnspentOutputs(inputs)), wanted.toSorted());
    await assert.rejects(provider.resolveUnspentOutputs([new TransactionInput(TransactionId('ab'.repeat(32)), 0n)]));
  });

  test('datums and reference scripts', async () => {
    const [utxo] = await provider.resolveUnspentOutputs([new TransactionInput(TransactionId(stage.script.txId), 1n)]);
    assert.equal(utxo.output().datum()?.asInlineData()?.toCbor(), stage.script.datum);
    assert.equal(utxo.output().scriptRef()?.hash(), stage.script.hash);
    assert.equal(utxo.output().scriptRef()?.asPlutusV3()?.rawBytes(), stage.script.code);
    assert.equal((await provider.resolveDatum(DatumHash(toHex(blake2b256(fromHex(stage.script.datum)))))).toCbor(), stage.script.datum);
  });

  test('waiting for a transaction that is there', async () => {
    assert.equal(await provider.awaitTransactionConfirmation(TransactionId(stage.script.txId), 1), true);
  });
});
