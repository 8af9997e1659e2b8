/**
 * The Blockfrost provider of Lucid Evolution, as it comes from npm, against a
 * server that listens. Not among our packages (`heavy-clients.ts`).
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { blake2b256 } from '../../../src/crypto/hash.ts';
import { readAddress } from '../../../src/ledgers/cardano/index.ts';
import { fromHex, toHex } from '../../../src/util/bytes.ts';
import { type ClientStage, setClientStage } from '../../support/client-stage.ts';
import { loadClient, skipWithout } from '../../support/heavy-clients.ts';
import { LiveStage } from '../../support/live-stage.ts';

interface LucidOutput {
  readonly txHash: string;
  readonly outputIndex: number;
  readonly address: string;
  readonly assets: Readonly<Record<string, bigint>>;
  readonly datum?: string;
  readonly scriptRef?: { readonly type: string; readonly script: string };
}

interface LucidBlockfrost {
  getProtocolParameters(): Promise<Record<string, unknown>>;
  getUtxos(of: string | { readonly type: 'Key' | 'Script'; readonly hash: string }): Promise<LucidOutput[]>;
  getUtxoByUnit(unit: string): Promise<LucidOutput>;
  getUtxosByOutRef(refs: readonly { readonly txHash: string; readonly outputIndex: number }[]): Promise<LucidOutput[]>;
  getDatum(hash: string): Promise<string>;
  awaitTx(txHash: string, checkIntervalMs: number): Promise<boolean>;
  submitTx(hex: string): Promise<string>;
}

const PACKAGE = '@lucid-evolution/provider';

describe(`Blockfrost of ${PACKAGE}`, { skip: skipWithout(PACKAGE) }, () => {
  let stage: ClientStage;
  let live: LiveStage;
  const providerAt = (origin: string): LucidBlockfrost => {
    const { Blockfrost } = loadClient<{ Blockfrost: new (url: string, projectId?: string) => LucidBlockfrost }>(PACKAGE);
    return new Blockfrost(`${origin}/blockfrost`);
  };

  before(async () => {
    stage = await setClientStage();
    live = await LiveStage.start(6, [9_000_000n]);
  });
  after(async () => {
    await stage.close();
    await live.close();
  });

  test('outputs by asset and by reference, with datum and script', async () => {
    const provider = providerAt(stage.origin);
    const { unit, quantity } = stage.largest;
    const utxo = await provider.getUtxoByUnit(unit);
    assert.equal(utxo.assets[unit], quantity);
    const { txId, datum } = stage.script;
    const [carrier] = await provider.getUtxosByOutRef([{ txHash: txId, outputIndex: 1 }]);
    assert.deepEqual([carrier.datum, carrier.scriptRef?.type], [datum, 'PlutusV3']);
    assert.equal(await provider.getDatum(toHex(blake2b256(fromHex(datum)))), datum);
    const { payment } = readAddress(fromHex(`60${'ee'.repeat(28)}`));
    for (const type of ['Key', 'Script'] as const) {
      const held = await provider.getUtxos({ type, hash: toHex(payment!.hash) });
      assert.deepEqual(
        held.map(({ outputIndex }) => outputIndex),
        [0, 1],
      );
    }
    assert.deepEqual(await provider.getUtxos({ type: 'Key', hash: '01'.repeat(28) }), []);
  });

  test('parameters, and a transaction that lands', async () => {
    const provider = providerAt(live.origin);
    const parameters = await provider.getProtocolParameters();
    assert.deepEqual([parameters['minFeeA'], parameters['coinsPerUtxoByte'], parameters['drepDeposit']], [44, 4310n, 500_000_000n]);
    const [coin] = await provider.getUtxos(live.address);
    const { id, hex } = live.payment({ txId: coin.txHash, index: coin.outputIndex, lovelace: coin.assets['lovelace'] });
    assert.equal(await provider.submitTx(hex), id);
    await live.mine();
    assert.equal(await provider.awaitTx(id, 10), true);
    assert.equal((await provider.getUtxosByOutRef([{ txHash: id, outputIndex: 0 }])).length, 1);
    await assert.rejects(provider.submitTx(hex), /./);
  });
});
