/**
 * The Kupo half of Lucid Evolution's Kupmios, as it comes from npm, against a
 * server that listens. It is not among our packages (`heavy-clients.ts`).
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { blake2b256 } from '../../../src/crypto/hash.ts';
import { describeOutput } from '../../../src/ledgers/cardano/describe.ts';
import { formatAddress, readAddress } from '../../../src/ledgers/cardano/index.ts';
import { fromHex, toHex } from '../../../src/util/bytes.ts';
import { type ClientStage, setClientStage } from '../../support/client-stage.ts';
import { loadClient, skipWithout } from '../../support/heavy-clients.ts';

interface LucidUtxo {
  readonly txHash: string;
  readonly outputIndex: number;
  readonly assets: Readonly<Record<string, bigint>>;
  readonly datum?: string;
  readonly scriptRef?: { readonly type: string; readonly script: string };
}

interface LucidKupmios {
  getUtxos(of: string | { readonly type: 'Key' | 'Script'; readonly hash: string }): Promise<LucidUtxo[]>;
  getUtxosWithUnit(address: string, unit: string): Promise<LucidUtxo[]>;
  getUtxoByUnit(unit: string): Promise<LucidUtxo>;
  getUtxosByOutRef(refs: readonly { readonly txHash: string; readonly outputIndex: number }[]): Promise<LucidUtxo[]>;
  getDatum(hash: string): Promise<string>;
  awaitTx(txHash: string): Promise<boolean>;
}

const PACKAGE = '@lucid-evolution/provider';

describe(PACKAGE, { skip: skipWithout(PACKAGE) }, () => {
  let stage: ClientStage;
  let provider: LucidKupmios;

  before(async () => {
    stage = await setClientStage();
    const { Kupmios } = loadClient<{ Kupmios: new (kupo: string, ogmios: string) => LucidKupmios }>(PACKAGE);
    provider = new Kupmios(`${stage.origin}/kupo`, 'http://127.0.0.1:1');
  });
  after(() => stage.close());

  const nameOf = ({ txHash, outputIndex }: LucidUtxo): string => `${txHash}#${outputIndex}`;
  const names = (utxos: readonly LucidUtxo[]): string[] => utxos.map(nameOf).toSorted();

  /** Without those that hold one of the devnet's scripts, which are not well-formed enough for this client. */
  const addresses = (): string[] => {
    const hasScript = ({ output }: { output: Uint8Array }): boolean => describeOutput(output).scriptRef !== null;
    return [...stage.byAddress()].filter(([, utxos]) => !utxos.some(hasScript)).map(([address]) => address);
  };

  test('outputs of an address and of a credential, with every quantity', async () => {
    assert.ok(addresses().length > 0);
    for (const address of addresses()) {
      const wanted = stage.byAddress().get(address) ?? [];
      const found = await provider.getUtxos(formatAddress(fromHex(address)));
      assert.deepEqual(names(found), wanted.map(({ key }) => key).toSorted());
      for (const utxo of found) {
        const model = stage.utxos.get(nameOf(utxo))!;
        const assets = [...model.assets].map(([unit, quantity]) => [unit.replace('.', ''), quantity]);
        assert.deepEqual(utxo.assets, { lovelace: model.lovelace, ...Object.fromEntries(assets) });
      }
      const { payment } = readAddress(fromHex(address));
      const both = await provider.getUtxos({ type: 'Key', hash: toHex(payment!.hash) });
      assert.ok(names(found).every((name) => names(both).includes(name)));
    }
  });

  test('outputs with an asset, and the largest quantity of one without a name', async () => {
    for (const unit of stage.units()) {
      const holders = [...stage.utxos.values()].filter(({ assets }) => assets.has(unit));
      const [{ addressHex }] = holders;
      // For an asset without a name this client asks for all of its policy.
      if (unit.endsWith('.') || !addresses().includes(addressHex)) continue;
      const wanted = holders.filter((utxo) => utxo.addressHex === addressHex).map(({ key }) => key);
      assert.deepEqual(
        names(await provider.getUtxosWithUnit(formatAddress(fromHex(addressHex)), unit.replace('.', ''))),
        wanted.toSorted(),
      );
    }
    const { unit, quantity } = stage.largest;
    assert.equal((await provider.getUtxoByUnit(unit)).assets[unit], quantity);
  });

  test('outputs by reference, datums and scripts', async () => {
    const { txId, datum } = stage.script;
    const [utxo] = await provider.getUtxosByOutRef([{ txHash: txId, outputIndex: 1 }]);
    assert.deepEqual([utxo.datum, utxo.scriptRef?.type], [datum, 'PlutusV3']);
    assert.equal(await provider.getDatum(toHex(blake2b256(fromHex(datum)))), datum);
    assert.equal(await provider.awaitTx(txId), true);
  });
});
