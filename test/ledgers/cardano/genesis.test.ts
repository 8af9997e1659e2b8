/**
 * Genesis as outputs, against what others computed from the same files: tx ids
 * and balances of mainnet and preprod, the sums of preview, and the hashes that
 * the chains and the nodes' own configurations name.
 */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import { formatAddress } from '../../../src/ledgers/cardano/address.ts';
import { builtinGenesis, builtinGenesisUtxos } from '../../../src/ledgers/cardano/builtin-genesis.ts';
import { describeOutput } from '../../../src/ledgers/cardano/describe.ts';
import { byronGenesisHash, genesisUtxos, isRedeemOutput, isZeroOutput, shelleyGenesisHash } from '../../../src/ledgers/cardano/genesis.ts';
import { parseGenesis } from '../../../src/ledgers/cardano/genesis-json.ts';
import type { GenesisOutput } from '../../../src/ledgers/ledger.ts';
import { concatBytes, toHex } from '../../../src/util/bytes.ts';
import { Cursor } from '../../../src/util/cbor.ts';
import { fixtures, needsFixtures, readFixture, readFixtureText } from '../../support/fixtures.ts';

const read = (network: string, era: string) => readFixtureText('cardano', 'genesis', `${network}-${era}-genesis.json`);
const utxosOf = (network: string) => genesisUtxos(read(network, 'byron'), read(network, 'shelley'));
const amount = ({ create }: GenesisOutput) => (BigInt(create.valueHi) << 32n) | BigInt(create.valueLo);
const sum = (grants: readonly GenesisOutput[]) => grants.reduce((total, grant) => total + amount(grant), 0n);
const expected = (network: string, what: 'txs' | 'address') =>
  new Map(
    Object.entries(parseGenesis(readFixtureText('cardano', 'genesis', `expected-${network}-genesis-${what}-balance.json`), 'byron')).map(
      ([key, value]) => [key, BigInt(value as number | bigint)],
    ),
  );

/** The bytes of a grant say the same as its fields. */
function assertSound(grant: GenesisOutput): void {
  const { raw, create } = grant;
  assert.equal(create.index, 0);
  assert.equal(create.start, 0);
  assert.equal(create.end, raw.length);
  const output = describeOutput(raw);
  assert.equal(output.lovelace, amount(grant));
  assert.deepEqual(output.address, raw.subarray(create.addressStart, create.addressEnd));
}

describe('outputs', () => {
  for (const [network, count] of [
    ['mainnet', 14505],
    ['preprod', 8],
  ] as const) {
    test(`${network}: every tx id, address and balance is the expected one`, needsFixtures, () => {
      const { byron, shelley } = utxosOf(network);
      assert.equal(byron.length, count);
      assert.equal(shelley.length, 0);
      byron.forEach(assertSound);
      const address = ({ raw, create }: GenesisOutput) => formatAddress(raw.subarray(create.addressStart, create.addressEnd));
      assert.deepEqual(new Map(byron.map((grant) => [toHex(grant.txId), amount(grant)])), expected(network, 'txs'));
      assert.deepEqual(new Map(byron.map((grant) => [address(grant), amount(grant)])), expected(network, 'address'));
    });
  }

  test('mainnet: all of it at redeem addresses, none of it zero', needsFixtures, () => {
    const { byron } = utxosOf('mainnet');
    assert.equal(sum(byron), 31112484745000000n);
    assert.ok(byron.every(({ raw }) => isRedeemOutput(raw, 0, raw.length) && !isZeroOutput(raw, 0, raw.length)));
  });

  for (const network of ['preprod', 'preview']) {
    test(`${network}: seven of eight are worth nothing, and what is built in equals the files`, needsFixtures, () => {
      const utxos = utxosOf(network);
      assert.equal(sum(utxos.byron), 30000000000000000n);
      assert.equal(utxos.byron.filter(({ raw }) => isZeroOutput(raw, 0, raw.length)).length, 7);
      assert.ok(utxos.byron.every(({ raw }) => !isRedeemOutput(raw, 0, raw.length)));
      assert.deepEqual(builtinGenesisUtxos(network), utxos);
      assert.equal(builtinGenesis(network)?.byronHash, toHex(byronGenesisHash(read(network, 'byron'))));
      assert.equal(builtinGenesis(network)?.shelleyHash, toHex(shelleyGenesisHash(read(network, 'shelley'))));
    });
  }

  test('devnet: initialFunds', needsFixtures, () => {
    const { byron, shelley } = utxosOf('dingo-devnet');
    assert.equal(byron.length, 0);
    assert.equal(shelley.length, 2);
    assert.equal(sum(shelley), 1_800_000_000_000n);
    shelley.forEach(assertSound);
    for (const { raw } of shelley) assert.equal(isZeroOutput(raw, 0, raw.length) || isRedeemOutput(raw, 0, raw.length), false);
  });
});

describe('hashes', () => {
  test('Byron: mainnet is what its first block names', needsFixtures, () => {
    const file = readdirSync(fixtures('cardano', 'blocks')).find((name) => name.startsWith('mainnet-byron-ebb-000000000-'));
    const cursor = new Cursor(readFixture('cardano', 'blocks', file!));
    // [0, [[magic, previous hash, ...
    cursor.array();
    cursor.uint();
    cursor.array();
    cursor.array();
    cursor.uint();
    const previous = toHex(cursor.byteString());
    assert.equal(previous, '5f20df933584822601f9e3f8c024eb5eb252fe8cefb24d1317dc3d432e940ebb');
    assert.equal(toHex(byronGenesisHash(read('mainnet', 'byron'))), previous);
  });
  test('Byron: preprod and preview are what their configurations name', needsFixtures, () => {
    const hash = (network: string) => toHex(byronGenesisHash(read(network, 'byron')));
    assert.equal(hash('preprod'), 'd4b8de7a11d929a323373cbab6c1a9bdc931beffff11db111cf9d57356ee1937');
    assert.equal(hash('preview'), '83de1d7302569ad56cf9139a41e2e11346d4cb4a31c00142557b6ab3fa550761');
  });
  test('Shelley: of the file as it is', needsFixtures, () => {
    const hash = (network: string) => toHex(shelleyGenesisHash(read(network, 'shelley')));
    assert.equal(hash('mainnet'), '1a3be38bcbb7911969283716ad7aa550250226b76a61fc51cc9a9a35d9276d81');
    assert.equal(hash('preprod'), '162d29c4e1cf6b8a84f2d692e67a3ac6bc7851bc3e6e4afe64d15778bed8bd86');
    assert.equal(hash('preview'), '363498d1024f84bb39d3fa9593ce391483cb40d479b87233f868d6e57c3a400d');
  });
});

const BYRON = { protocolConsts: { protocolMagic: 1 }, nonAvvmBalances: {}, avvmDistr: {} };
const ADDRESS = '609783be7d3c54f11377966dfabc9284cd6c32fca1cd42ef0a4f1cc45b';
const withFunds = (entry: string) => genesisUtxos(JSON.stringify(BYRON), `{"initialFunds": {${entry}}}`);

describe('exact numbers', () => {
  test('amounts above 2^53 are not rounded, in numbers and in strings', () => {
    for (const text of ['9007199254740993', '44999999999999999', '18446744073709551615', '1']) {
      assert.equal(sum(withFunds(`"${ADDRESS}": ${text}`).shelley), BigInt(text));
      assert.equal(sum(withFunds(`"${ADDRESS}":"${text}"`).shelley), BigInt(text));
    }
  });
  test('digits inside strings are left alone', () => {
    assert.deepEqual(parseGenesis('{"a\\"12345678901234567890": "x 12345678901234567890", "b": 12345678901234567890}', 'byron'), {
      'a"12345678901234567890': 'x 12345678901234567890',
      b: 12345678901234567890n,
    });
  });
});

describe('wrong files say what is wrong', () => {
  const cases: [string, () => unknown, RegExp][] = [
    ['not JSON', () => genesisUtxos('nope', '{}'), /byron genesis is not JSON/],
    ['not an object', () => genesisUtxos('[]', '{}'), /byron genesis is not an object/],
    ['files swapped', () => genesisUtxos('{"initialFunds": {}}', JSON.stringify(BYRON)), /protocolConsts/],
    ['an amount that is a fraction', () => withFunds(`"${ADDRESS}": 1.5`), /amount/],
    ['a negative amount', () => withFunds(`"${ADDRESS}": -1`), /amount/],
    ['an amount of more than 64 bits', () => withFunds(`"${ADDRESS}": 18446744073709551616`), /amount/],
    ['an address that is not one', () => withFunds('"6097": 1'), /initialFunds: '6097'/],
    [
      'a bad Byron address',
      () => genesisUtxos(JSON.stringify({ ...BYRON, nonAvvmBalances: { FHnt4: '1' } }), '{}'),
      /nonAvvmBalances: 'FHnt4'/,
    ],
    ['a bad redeem key', () => genesisUtxos(JSON.stringify({ ...BYRON, avvmDistr: { AAAA: '1' } }), '{}'), /avvmDistr.*3 bytes/],
  ];
  for (const [name, run, message] of cases) test(name, () => assert.throws(run, { code: 'GENESIS_WRONG', message }));
});

test('what drops outputs finds them inside a larger buffer', needsFixtures, () => {
  const { raw } = utxosOf('mainnet').byron[0];
  const inside = concatBytes(new Uint8Array(5), raw, new Uint8Array(5));
  assert.equal(isRedeemOutput(inside, 5, 5 + raw.length), true);
  assert.equal(isZeroOutput(inside, 5, 5 + raw.length), false);
});
