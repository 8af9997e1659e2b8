/**
 * Lucid Evolution builds, signs and submits through us, as it comes from npm: a
 * payment to a script and a spend from it, whose execution units are those of our
 * evaluation; and what its and Mesh's own `evaluateTx` are told. Neither is among
 * our packages (`heavy-clients.ts`).
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Ed25519KeyHash } from '@emurgo/cardano-serialization-lib-nodejs';
import { bech32 } from '@scure/base';
import { matches } from '../../../src/chains/cardano/devnet/programs.ts';
import { formatAddress, rewardAddress } from '../../../src/ledgers/cardano/index.ts';
import { readRedeemers } from '../../../src/ledgers/cardano/script-data.ts';
import { splitTx } from '../../../src/ledgers/cardano/whole-tx.ts';
import { fromHex, toHex } from '../../../src/util/bytes.ts';
import { Cursor } from '../../../src/util/cbor.ts';
import { loadClient, skipWithout } from '../../support/heavy-clients.ts';
import { datumOf, ScriptNetwork } from '../../support/script-network.ts';
import { scriptAddress } from '../../support/script-tx.ts';

interface LucidUtxo {
  readonly txHash: string;
  readonly outputIndex: number;
  readonly assets: { readonly lovelace: bigint };
}

interface LucidTx {
  toCBOR(): string;
  sign: { withWallet(): { complete(): Promise<{ submit(): Promise<string>; toCBOR(): string }> } };
}

interface LucidBuilder {
  pay: { ToContract(address: string, datum: { kind: 'inline'; value: string }, assets: object): LucidBuilder };
  attach: { SpendingValidator(script: object): LucidBuilder };
  collectFrom(utxos: readonly LucidUtxo[], redeemer: string): LucidBuilder;
  complete(options: { localUPLCEval: boolean }): Promise<LucidTx>;
}

interface LucidProvider {
  evaluateTx(cbor: string, additional?: readonly LucidUtxo[]): Promise<readonly { readonly ex_units: { mem: number; steps: number } }[]>;
  getDelegation(address: string): Promise<{ readonly poolId: string | null; readonly rewards: bigint }>;
}

interface LucidInstance {
  selectWallet: { fromPrivateKey(key: string): void };
  newTx(): LucidBuilder;
  utxosAt(address: string): Promise<LucidUtxo[]>;
}

interface LucidModule {
  Lucid(provider: LucidProvider, network: string): Promise<LucidInstance>;
  Kupmios: new (kupo: string, ogmios: string) => LucidProvider;
  Blockfrost: new (url: string) => LucidProvider;
}

const LUCID = '@lucid-evolution/lucid';
const PROVIDERS = '@lucid-evolution/provider';
const MESH = '@meshsdk/provider';
const NETWORK = 'Preview';
const script = { type: 'PlutusV3', script: toHex(matches(3).script) };
const contract = formatAddress(scriptAddress(matches(3)));

let network: ScriptNetwork;
before(async () => {
  if (skipWithout(PROVIDERS) === false)
    network = await ScriptNetwork.start(37, { 'utxo.history': true, 'utxo.datums': true, 'utxo.scripts': true });
});
after(() => network?.close());

type Maker = (clients: LucidModule) => LucidProvider;
const MAKERS: Readonly<Record<string, Maker>> = {
  Kupmios: ({ Kupmios }) => new Kupmios(`${network.url}kupo`, `${network.url}ogmios`),
  Blockfrost: ({ Blockfrost }) => new Blockfrost(`${network.url}blockfrost`),
};

for (const [name, make] of Object.entries(MAKERS)) {
  describe(`${LUCID} with ${name}`, { skip: skipWithout(LUCID) }, () => {
    test('locks an output, and spends it with the units that we say', async () => {
      const clients = loadClient<LucidModule>(LUCID);
      const lucid = await clients.Lucid(make(clients), NETWORK);
      lucid.selectWallet.fromPrivateKey(bech32.encode('ed25519_sk', bech32.toWords(network.wallet.signingKey), false));
      const datum = toHex(datumOf(name.length));
      const land = async (tx: LucidTx): Promise<string> => {
        const id = await (await tx.sign.withWallet().complete()).submit();
        await network.mine();
        return id;
      };
      const lock = lucid.newTx().pay.ToContract(contract, { kind: 'inline', value: datum }, { lovelace: 9_000_000n });
      const locked = await land(await lock.complete({ localUPLCEval: false }));
      const output = (await lucid.utxosAt(contract)).find(({ txHash }) => txHash === locked)!;
      assert.equal(output.assets.lovelace, 9_000_000n);
      const spend = lucid.newTx().collectFrom([output], datum).attach.SpendingValidator(script);
      const tx = await spend.complete({ localUPLCEval: false });
      const { witnesses } = splitTx(fromHex(tx.toCBOR()));
      const [{ memory }] = readRedeemers(new Cursor(fromHex(tx.toCBOR()), witnesses.start, witnesses.end));
      assert.ok(memory >= 7114n && memory < 10_000n, `${memory} units of memory`);
      const id = await land(tx);
      assert.equal(network.store.utxo(`${locked}#${output.outputIndex}`)?.spent_tx_hash, id);
    });
  });
}

describe(`evaluateTx and getDelegation of ${PROVIDERS}`, { skip: skipWithout(PROVIDERS) }, () => {
  for (const [name, make] of Object.entries(MAKERS)) {
    test(`${name} is told the units`, async () => {
      const { tx: lock, id } = network.lock(datumOf(8));
      assert.ok(network.chain.submit(lock).accepted);
      await network.mine();
      const { tx } = network.unlock({ txId: id, index: 0 }, datumOf(8));
      const [{ ex_units }] = await make(loadClient<LucidModule>(PROVIDERS)).evaluateTx(toHex(tx));
      assert.equal(ex_units.mem, 7114);
    });
  }

  test('Kupmios asks the node for delegation', async () => {
    const provider = MAKERS['Kupmios'](loadClient<LucidModule>(PROVIDERS));
    const account = formatAddress(rewardAddress({ kind: 'key', hash: new Uint8Array(28).fill(9) }, 0));
    assert.deepEqual(await provider.getDelegation(account), { poolId: null, rewards: 0n });
    const credential = `8200581c${'09'.repeat(28)}`;
    await network.certify([`8200${credential}`, `8302${credential}581c${'33'.repeat(28)}`]);
    const poolId = Ed25519KeyHash.from_hex('33'.repeat(28)).to_bech32('pool');
    assert.deepEqual(await provider.getDelegation(account), { poolId, rewards: 0n });
  });
});

describe(`evaluateTx of ${MESH}`, { skip: skipWithout(MESH) }, () => {
  for (const [name, mount] of [
    ['BlockfrostProvider', 'blockfrost/'],
    ['YaciProvider', 'blockfrost/api/v1/'],
  ] as const) {
    test(`${name} is told the units`, async () => {
      const { tx: lock, id } = network.lock(datumOf(9));
      assert.ok(network.chain.submit(lock).accepted);
      await network.mine();
      const { tx } = network.unlock({ txId: id, index: 0 }, datumOf(9));
      const clients =
        loadClient<Record<string, new (url: string) => { evaluateTx(hex: string): Promise<{ budget: { mem: number } }[]> }>>(MESH);
      const [{ budget }] = await new clients[name](`${network.url}${mount}`).evaluateTx(toHex(tx));
      assert.equal(budget.mem, 7114);
    });
  }
});
