/**
 * UTxO RPC with the SDK that speaks it, as it comes from npm, against a server
 * that listens: what it answers is what the devnet's model and our own API say,
 * through forks.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import type { CardanoUtxo } from '@utxorpc/sdk';
import { blake2b256 } from '../../../src/crypto/hash.ts';
import { readAddress } from '../../../src/ledgers/cardano/index.ts';
import type { UtxoJson } from '../../../src/query/json.ts';
import { loadGrpc } from '../../../src/server/cardano/utxorpc/load-grpc.ts';
import { fromHex, toHex } from '../../../src/util/bytes.ts';
import { blockRunBy, HAS_CURL } from '../../docs/page-blocks.ts';
import { CLIENT_KEEPS } from '../../support/client-stage.ts';
import { makeOutputs, QUANTITY_MAX } from '../../support/kupo-match.ts';
import { UtxoRpcStage, utxoRpcClients } from '../../support/utxorpc-stage.ts';

type Bytes = Uint8Array<ArrayBuffer>;
const bytes = (hex: string): Bytes => Uint8Array.from(fromHex(hex));

/** An output, whichever API it came from. */
interface PlainUtxo {
  readonly name: string;
  readonly address: string;
  readonly lovelace: bigint;
  readonly assets: Readonly<Record<string, bigint>>;
  readonly datumHash: string | null;
  readonly inlineDatum: string | null;
  readonly hasScript: boolean;
}

function plainOf({ txoRef, parsedValued: output }: CardanoUtxo): PlainUtxo {
  const hex = (given: Uint8Array | undefined): string | null => (given === undefined || given.length === 0 ? null : toHex(given));
  const assets = output!.assets.flatMap(({ policyId, assets: own }) =>
    own.map(({ name, outputCoin }) => [`${toHex(policyId)}.${toHex(name)}`, outputCoin] as const),
  );
  return {
    name: `${toHex(txoRef.hash)}#${txoRef.index}`,
    address: toHex(output!.address),
    lovelace: output!.coin,
    assets: Object.fromEntries(assets),
    datumHash: hex(output!.datum?.hash),
    inlineDatum: hex(output!.datum?.originalCbor),
    hasScript: output!.script !== undefined,
  };
}

/** What it should be for a document of our own API. */
function plainOfOwn(utxo: UtxoJson, address: string): PlainUtxo {
  const held = (utxo.amounts ?? []).slice(1).filter(({ quantity }) => quantity !== '0');
  const inlineDatum = utxo.inline_datum ?? null;
  return {
    name: `${utxo.tx_hash}#${utxo.output_index}`,
    address,
    lovelace: BigInt(utxo.lovelace_amount ?? ''),
    assets: Object.fromEntries(held.map(({ policy_id, asset_name = '', quantity }) => [`${policy_id}.${asset_name}`, BigInt(quantity)])),
    datumHash: inlineDatum === null ? (utxo.data_hash ?? null) : toHex(blake2b256(fromHex(inlineDatum))),
    inlineDatum,
    hasScript: utxo.reference_script_hash !== undefined,
  };
}

describe('outputs', () => {
  for (const flavour of ['conway', 'ancient'] as const) {
    test(`are those of our own API, through forks (${flavour})`, async () => {
      const stage = await UtxoRpcStage.open({ flavour, blocks: flavour === 'conway' ? 25 : 60, seed: 5, store: { keeps: CLIENT_KEEPS } });
      const { served, clients } = stage;
      let rows = 0;
      for (const [back, forward] of [
        [0, 0],
        [9, 11],
      ]) {
        served.back(back);
        served.forward(forward);
        rows += await compareAll(stage);
        const { height, slot, hash } = served.devnet.chain.tip!;
        assert.deepEqual(await clients.sync.readTip(), { slot: `${slot}`, hash: toHex(hash) });
        assert.equal((await clients.sync.inner.readTip({})).tip?.height, BigInt(height));
      }
      assert.ok(rows > 200, `${rows} rows`);
      if (flavour === 'conway' && HAS_CURL) await askAsThePageDoes(stage);
      await stage.close();
    });
  }
});

/** The command of docs/reference/utxorpc.md, with the port of this server. */
async function askAsThePageDoes({ port, served }: UtxoRpcStage): Promise<void> {
  const command = blockRunBy('test/server/cardano/utxorpc.test.ts', 'docs/reference/utxorpc.md').replace('50051', `${port}`);
  const { stdout } = await promisify(execFile)('bash', ['-c', `${command.trim()} -s --fail`]);
  const { tip } = JSON.parse(stdout) as { tip: { slot: string } };
  assert.equal(tip.slot, `${served.devnet.chain.tip?.slot}`);
}

/** Everything by which outputs of the devnet can be asked for, of the SDK and of our own API; how many rows that were. */
async function compareAll({ served, clients: { query } }: UtxoRpcStage): Promise<number> {
  const asked = new Map<string, () => Promise<CardanoUtxo[]>>();
  for (const { addressHex, assets } of served.devnet.chain.utxos.values()) {
    const { payment, stake } = readAddress(fromHex(addressHex));
    asked.set(`/addresses/${addressHex}`, () => query.searchUtxosByAddress(bytes(addressHex)));
    if (payment !== null)
      asked.set(`/credentials/${toHex(payment.hash)}`, () => query.searchUtxosByPaymentPart(Uint8Array.from(payment.hash)));
    if (stake !== null) asked.set(`/stake/${toHex(stake.hash)}`, () => query.searchUtxosByDelegationPart(Uint8Array.from(stake.hash)));
    for (const unit of assets.keys()) {
      const [policy, name] = unit.split('.');
      asked.set(`/policies/${policy}`, () => query.searchUtxosByAsset(bytes(policy)));
      if (name !== '') asked.set(`/assets/${policy}${name}`, () => query.searchUtxosByAsset(bytes(policy), bytes(name)));
    }
  }
  const addresses = new Map([...served.devnet.chain.utxos].map(([name, { addressHex }]) => [name, addressHex]));
  let rows = 0;
  for (const [path, ask] of asked) {
    const own = (await served.get(`${path}/utxos?limit=all`)).json<UtxoJson[]>();
    const wanted = own.map((utxo) => plainOfOwn(utxo, addresses.get(`${utxo.tx_hash}#${utxo.output_index}`) ?? ''));
    assert.deepEqual((await ask()).map(plainOf), wanted, path);
    rows += wanted.length;
  }
  return rows;
}

describe('questions', () => {
  let stage: UtxoRpcStage;
  let inner: UtxoRpcStage['clients']['query']['inner'];
  before(async () => {
    stage = await UtxoRpcStage.open({ blocks: 40, seed: 3, store: { keeps: CLIENT_KEEPS } });
    inner = stage.clients.query.inner;
  });
  after(() => stage.close());

  const policyMatch = (policyId: Bytes) => ({ match: { utxoPattern: { case: 'cardano' as const, value: { asset: { policyId } } } } });
  const addressMatch = (exactAddress: Bytes) => ({
    match: { utxoPattern: { case: 'cardano' as const, value: { address: { exactAddress } } } },
  });
  const namesOf = (items: readonly { readonly txoRef?: { readonly hash: Uint8Array; readonly index: number } }[]): string[] =>
    items.map(({ txoRef }) => `${toHex(txoRef!.hash)}#${txoRef!.index}`);
  const model = () => [...stage.served.devnet.chain.utxos.values()];
  /** The addresses with the most outputs. */
  const richest = (): string[] => {
    const counts = Map.groupBy(model(), ({ addressHex }) => addressHex);
    return [...counts].toSorted(([, a], [, b]) => b.length - a.length).map(([address]) => address);
  };

  test('the largest quantity, an asset without a name, an inline datum and a script', async () => {
    const [policy, address] = ['77'.repeat(28), `60${'ee'.repeat(28)}`];
    const txId = makeOutputs(stage.served, [
      { address, lovelace: 2n ** 63n, assets: { [`${policy}.`]: QUANTITY_MAX } },
      {
        address,
        lovelace: 1n,
        assets: {},
        inlineDatum: 'd8799f1bffffffffffffffff3bffffffffffffffffff',
        scriptRef: '820346450101002499',
      },
    ]);
    const { query } = stage.clients;
    const [largest] = (await query.searchUtxosByAsset(bytes(policy), new Uint8Array(0))).map(plainOf);
    assert.deepEqual([largest.lovelace, largest.assets], [2n ** 63n, { [`${policy}.`]: QUANTITY_MAX }]);
    const [carrier] = await query.readUtxosByOutputRef([{ txHash: bytes(txId), outputIndex: 1 }]);
    assert.equal(plainOf(carrier).inlineDatum, 'd8799f1bffffffffffffffff3bffffffffffffffffff');
    const { plutusData } = carrier.parsedValued!.datum!.payload!;
    assert.ok(plutusData.case === 'constr');
    assert.equal(plutusData.value.tag, 121);
    const big = plutusData.value.fields.map(
      ({ plutusData: { value } }) => (value as { bigInt: { case: string; value: Uint8Array } }).bigInt,
    );
    assert.deepEqual(
      big.map(({ case: kind, value }) => [kind, toHex(value)]),
      [
        ['bigUInt', 'ffffffffffffffff'],
        ['bigNInt', 'ffffffffffffffff'],
      ],
    );
    assert.deepEqual(carrier.parsedValued!.script!.script, { case: 'plutusV3', value: bytes('450101002499') });
    assert.ok(carrier.nativeBytes!.length > 0);
  });

  test('pages hold every output once, whatever leads to it', async () => {
    const [first, second] = richest();
    const [policy] = model().flatMap(({ assets }) => [...assets.keys()].map((unit) => unit.split('.')[0]));
    const predicate = { anyOf: [addressMatch(bytes(first)), addressMatch(bytes(second)), policyMatch(bytes(policy))] };
    const wanted = model().filter(
      ({ addressHex, assets }) =>
        addressHex === first || addressHex === second || [...assets.keys()].some((unit) => unit.startsWith(policy)),
    );
    const found: string[] = [];
    let startToken = '';
    do {
      const page = await inner.searchUtxos({ predicate, maxItems: 3, startToken });
      assert.ok(page.items.length === 3 || page.nextToken === '');
      found.push(...namesOf(page.items));
      startToken = page.nextToken;
    } while (startToken !== '');
    assert.deepEqual(found.toSorted(), wanted.map(({ key }) => key).toSorted());
    const whole = await inner.searchUtxos({ predicate });
    assert.deepEqual(namesOf(whole.items), found);
    const rest = await inner.searchUtxos({ predicate: { allOf: [predicate], not: [addressMatch(bytes(first))] } });
    assert.deepEqual(
      namesOf(rest.items).toSorted(),
      wanted
        .filter(({ addressHex }) => addressHex !== first)
        .map(({ key }) => key)
        .toSorted(),
    );
  });

  test('a name alone narrows an address down, and one with its policy in front is an asset', async () => {
    const holder = model().find(({ assets }) => [...assets.keys()].some((unit) => unit.split('.')[1] !== ''))!;
    const [policy, name] = [...holder.assets.keys()].find((unit) => unit.split('.')[1] !== '')!.split('.');
    const { query } = stage.clients;
    const here = await query.searchUtxosByAddressWithAsset(bytes(holder.addressHex), undefined, bytes(name));
    const wanted = model().filter(
      ({ addressHex, assets }) => addressHex === holder.addressHex && [...assets.keys()].some((unit) => unit.endsWith(`.${name}`)),
    );
    assert.deepEqual(namesOf(here).toSorted(), wanted.map(({ key }) => key).toSorted());
    const byUnit = await query.searchUtxosByAsset(undefined, bytes(policy + name));
    assert.deepEqual(namesOf(byUnit), namesOf(await query.searchUtxosByAsset(bytes(policy), bytes(name))));
  });

  test('a field mask leaves out what it does not name', async () => {
    const [address] = richest();
    const predicate = addressMatch(bytes(address));
    const { items, ledgerTip } = await inner.searchUtxos({ predicate, fieldMask: { paths: ['items.txo_ref', 'items.cardano.coin'] } });
    assert.ok(items.length > 0 && ledgerTip === undefined);
    for (const { nativeBytes, txoRef, parsedState } of items) {
      assert.ok(txoRef !== undefined && nativeBytes.length === 0 && parsedState.case === 'cardano');
      assert.ok(parsedState.value.coin > 0n && parsedState.value.address.length === 0);
    }
    const { items: none, ledgerTip: tip } = await inner.searchUtxos({ predicate, fieldMask: { paths: ['ledger_tip'] } });
    assert.deepEqual([none.length, tip?.height], [0, BigInt(stage.served.rig.fold.head!.height)]);
    await assert.rejects(
      inner.searchUtxos({ predicate, fieldMask: { paths: ['items.nothing'] } }),
      /\[invalid_argument\] USAGE: the field mask names/,
    );
  });

  test('an address as the text of its hex, as Mesh sends it', async () => {
    const [address] = richest();
    const { query } = stage.clients;
    const found = await query.searchUtxosByAddress(Uint8Array.from(Buffer.from(address)));
    assert.ok(found.length > 0);
    assert.deepEqual(namesOf(found), namesOf(await query.searchUtxosByAddress(bytes(address))));
  });

  test('datums by their hash; what was never seen is left out', async () => {
    const datum = bytes('d87980');
    makeOutputs(stage.served, [{ address: `60${'ab'.repeat(28)}`, lovelace: 1n, assets: {}, inlineDatum: toHex(datum) }]);
    const key = Uint8Array.from(blake2b256(datum));
    const { values } = await inner.readData({ keys: [key, new Uint8Array(32)] });
    assert.deepEqual(
      values.map((value) => [value.key, value.nativeBytes, value.parsedState.case]),
      [[key, datum, 'cardano']],
    );
  });

  test('what cannot be answered is said, with a code', async () => {
    const broad = [undefined, {}, { anyOf: [policyMatch(bytes('11'.repeat(28))), {}] }, { not: [policyMatch(bytes('11'.repeat(28)))] }];
    for (const predicate of broad)
      await assert.rejects(
        inner.searchUtxos(predicate === undefined ? {} : { predicate }),
        /\[invalid_argument\] USAGE: the predicate may hold/,
      );
    const predicate = policyMatch(bytes('11'.repeat(28)));
    await assert.rejects(inner.searchUtxos({ predicate: policyMatch(bytes('11')) }), /policy_id has 28 bytes, not 1/);
    await assert.rejects(inner.searchUtxos({ predicate, startToken: 'x' }), /start_token/);
    await assert.rejects(inner.searchUtxos({ predicate, maxItems: -1 }), /max_items/);
    await assert.rejects(inner.readUtxos({ keys: [{ hash: bytes('aa'), index: 0 }] }), /32 bytes, not 1/);
    await assert.rejects(stage.clients.query.readGenesis(), /\[unimplemented\] UNSUPPORTED: the genesis files are not kept/);
    await assert.rejects(stage.clients.query.readParams(), /\[unimplemented\] UNSUPPORTED: nothing is followed/);
    await assert.rejects(stage.clients.submit.submitTx(bytes('80')), /\[unimplemented\]/);
  });
});

describe('the server', () => {
  test('asks for the token where there is one', async () => {
    const stage = await UtxoRpcStage.open({ blocks: 1, server: { token: 'secret' } });
    await assert.rejects(stage.clients.sync.readTip(), /\[unauthenticated\]/);
    const { sync } = utxoRpcClients(stage.port, { authorization: 'Bearer secret' });
    assert.equal((await sync.readTip()).slot, `${stage.served.devnet.chain.blocks.at(-1)!.slot}`);
    await stage.close();
  });

  test('says what to install where its packages are not there', async () => {
    const missing = Object.assign(new Error("Cannot find package '@utxorpc/spec' imported from here"), { code: 'ERR_MODULE_NOT_FOUND' });
    await assert.rejects(
      loadGrpc(() => Promise.reject(missing)),
      { code: 'UNSUPPORTED', message: /npm install .*@utxorpc\/spec@0\.17/ },
    );
    await assert.rejects(
      loadGrpc(() => Promise.reject(new Error('another'))),
      /another/,
    );
  });
});
