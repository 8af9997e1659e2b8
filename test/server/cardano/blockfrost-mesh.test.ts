/**
 * The Blockfrost and Yaci providers of Mesh, as they come from npm, against a
 * server that listens. Not among our packages (`heavy-clients.ts`).
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { describeOutput } from '../../../src/ledgers/cardano/describe.ts';
import { formatAddress } from '../../../src/ledgers/cardano/index.ts';
import { fromHex } from '../../../src/util/bytes.ts';
import { type ClientStage, setClientStage } from '../../support/client-stage.ts';
import { loadClient, skipWithout } from '../../support/heavy-clients.ts';
import { LiveStage } from '../../support/live-stage.ts';

interface MeshUtxo {
  readonly input: { readonly txHash: string; readonly outputIndex: number };
  readonly output: {
    readonly amount: readonly { readonly unit: string; readonly quantity: string }[];
    readonly plutusData?: string;
    readonly scriptRef?: string;
    readonly scriptHash?: string;
  };
}

interface MeshProvider {
  fetchAddressUTxOs(address: string, asset?: string): Promise<MeshUtxo[]>;
  fetchTxInfo(hash: string): Promise<{ readonly block: string; readonly size: number }>;
  fetchUTxOs(hash: string, index?: number): Promise<MeshUtxo[]>;
  fetchAssetAddresses(asset: string): Promise<{ address: string; quantity: string }[]>;
  fetchAssetMetadata(asset: string): Promise<object>;
  fetchBlockInfo(hash: string): Promise<{ readonly hash: string }>;
  fetchCollectionAssets(policy: string): Promise<{ assets: { unit: string; quantity: string }[]; next: number | null }>;
  fetchProtocolParameters(): Promise<Record<string, unknown>>;
  submitTx(hex: string): Promise<string>;
}

const PACKAGE = '@meshsdk/provider';

type Providers = Readonly<Record<'BlockfrostProvider' | 'YaciProvider', new (url: string) => MeshProvider>>;

const MOUNTS = { BlockfrostProvider: '/blockfrost', YaciProvider: '/blockfrost/api/v1' } as const;

for (const name of ['BlockfrostProvider', 'YaciProvider'] as const) {
  describe(`${name} of ${PACKAGE}`, { skip: skipWithout(PACKAGE) }, () => {
    let stage: ClientStage;
    let live: LiveStage;
    const providerAt = (origin: string): MeshProvider => new (loadClient<Providers>(PACKAGE)[name])(`${origin}${MOUNTS[name]}/`);

    before(async () => {
      stage = await setClientStage();
      live = await LiveStage.start(5, [9_000_000n]);
    });
    after(async () => {
      await stage.close();
      await live.close();
    });

    test('outputs of addresses, with every quantity', async () => {
      const provider = providerAt(stage.origin);
      for (const [hex, wanted] of stage.byAddress()) {
        // The devnet's scripts are not well-formed enough for this client.
        if (wanted.some(({ output }) => describeOutput(output).scriptRef !== null)) continue;
        const found = await provider.fetchAddressUTxOs(formatAddress(fromHex(hex)));
        assert.deepEqual(
          found.map(({ input }) => `${input.txHash}#${input.outputIndex}`).toSorted(),
          wanted.map(({ key }) => key).toSorted(),
        );
      }
      const { unit, quantity } = stage.largest;
      const [{ address }] = await provider.fetchAssetAddresses(unit);
      const [utxo] = await provider.fetchAddressUTxOs(address, unit);
      assert.equal(utxo.output.amount.find((each) => each.unit === unit)?.quantity, `${quantity}`);
      assert.deepEqual(await provider.fetchCollectionAssets(unit), { assets: [{ unit, quantity: `${quantity}` }], next: null });
      await provider.fetchAssetMetadata(unit);
    });

    test('outputs of a transaction, with script and datum', async () => {
      const { txId, hash, code, datum } = stage.script;
      const [utxo] = await providerAt(stage.origin).fetchUTxOs(txId, 1);
      assert.deepEqual([utxo.output.plutusData, utxo.output.scriptHash], [datum, hash]);
      assert.equal(utxo.output.scriptRef, `8203${'46'}${code}`);
    });

    test('parameters, blocks, and a transaction that lands', async () => {
      const provider = providerAt(live.origin);
      const parameters = await provider.fetchProtocolParameters();
      assert.deepEqual([parameters['minFeeA'], parameters['coinsPerUtxoSize'], parameters['priceMem']], [44, 4310, 0.0577]);
      const [utxo] = await provider.fetchAddressUTxOs(live.address);
      const { txHash, outputIndex } = utxo.input;
      const { id, hex } = live.payment({ txId: txHash, index: outputIndex, lovelace: BigInt(utxo.output.amount[0].quantity) });
      assert.equal(await provider.submitTx(hex), id);
      await live.mine();
      assert.equal((await provider.fetchUTxOs(id)).length, 1);
      const { block, size } = await provider.fetchTxInfo(id);
      assert.equal(size, fromHex(hex).length - 1);
      assert.equal((await provider.fetchBlockInfo(block)).hash, block);
      const hash = Buffer.from(live.chain.tip.point!.hash).toString('hex');
      assert.equal((await provider.fetchBlockInfo(hash)).hash, hash);
    });
  });
}
