/** The Blockfrost provider of Blaze, as it comes from npm, against a server that listens. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Address, AssetId, DatumHash, TransactionId, TransactionInput, type TransactionUnspentOutput } from '@blaze-cardano/core';
import { Blockfrost } from '@blaze-cardano/query';
import { blake2b256 } from '../../../src/crypto/hash.ts';
import { describeOutput } from '../../../src/ledgers/cardano/describe.ts';
import { formatAddress } from '../../../src/ledgers/cardano/index.ts';
import { fromHex, toHex } from '../../../src/util/bytes.ts';
import { type ClientStage, setClientStage } from '../../support/client-stage.ts';

let stage: ClientStage;
let provider: Blockfrost;

before(async () => {
  stage = await setClientStage();
  provider = new Blockfrost({ network: 'cardano-preview', projectId: 'none' });
  // It has no other way to be told; it ends in a slash, and paths begin with one.
  provider.url = `${stage.origin}/blockfrost/`;
});
after(() => stage.close());

const nameOf = (utxo: TransactionUnspentOutput): string => `${utxo.input().transactionId()}#${utxo.input().index()}`;
const names = (utxos: readonly TransactionUnspentOutput[]): string[] => utxos.map(nameOf).toSorted();

/** It knows no native scripts, and the devnet makes Plutus scripts that are not well-formed. */
const plain = (): ReadonlyMap<string, readonly string[]> => {
  const withScript = new Set(
    [...stage.served.devnet.chain.utxos.values()]
      .filter(({ output }) => describeOutput(output).scriptRef !== null)
      .map(({ addressHex }) => addressHex),
  );
  return new Map([...stage.byAddress()].filter(([hex]) => !withScript.has(hex)).map(([hex, utxos]) => [hex, utxos.map(({ key }) => key)]));
};

describe('@blaze-cardano/query', () => {
  test('outputs of an address, with every quantity', async () => {
    for (const [addressHex, wanted] of plain()) {
      const found = await provider.getUnspentOutputs(Address.fromBech32(formatAddress(fromHex(addressHex))));
      assert.deepEqual(names(found), wanted.toSorted());
      for (const utxo of found) {
        const model = stage.utxos.get(nameOf(utxo))!;
        const { coins, assets } = utxo.output().amount().toCore();
        assert.equal(coins, model.lovelace);
        assert.deepEqual(new Map(assets ?? []), new Map([...model.assets].map(([unit, quantity]) => [unit.replace('.', ''), quantity])));
      }
    }
  });

  test('outputs with an asset, and the one of an asset without a name', async () => {
    const { unit, quantity } = stage.largest;
    const nft = await provider.getUnspentOutputByNFT(AssetId(unit));
    assert.equal(nft.output().amount().multiasset()?.get(AssetId(unit)), quantity);
    assert.deepEqual(names(await provider.getUnspentOutputsWithAsset(nft.output().address(), AssetId(unit))), [nameOf(nft)]);
  });

  test('outputs by reference, datums and reference scripts', async () => {
    const { txId, hash, code, datum } = stage.script;
    const [utxo] = await provider.resolveUnspentOutputs([new TransactionInput(TransactionId(txId), 1n)]);
    assert.equal(utxo.output().datum()?.asInlineData()?.toCbor(), datum);
    assert.equal(utxo.output().scriptRef()?.hash(), hash);
    assert.equal(utxo.output().scriptRef()?.asPlutusV3()?.rawBytes(), code);
    assert.equal((await provider.resolveDatum(DatumHash(toHex(blake2b256(fromHex(datum)))))).toCbor(), datum);
    await assert.rejects(provider.resolveDatum(DatumHash('00'.repeat(32))), /has not been found/);
  });

  test('waiting for a transaction that is there, and one that is not', async () => {
    assert.equal(await provider.awaitTransactionConfirmation(TransactionId(stage.script.txId)), true);
    assert.equal(await provider.awaitTransactionConfirmation(TransactionId('00'.repeat(32))), false);
  });
});
