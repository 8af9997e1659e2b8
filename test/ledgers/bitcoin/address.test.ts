/**
 * Addresses of every network and kind, there and back: the vectors of BIP173
 * and BIP350, addresses everybody knows, and made-up scripts of all kinds.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bech32, bech32m, createBase58check } from '@scure/base';
import fc from 'fast-check';
import { sha256 } from '../../../src/crypto/sha256.ts';
import {
  BITCOIN_NETWORKS,
  bitcoinNetwork,
  decodeBlock,
  describeTx,
  formatAddress,
  formatId,
  genesisBlock,
  p2pkhScript,
  p2shScript,
  parseAddress,
  scriptKey,
} from '../../../src/ledgers/bitcoin/index.ts';
import { concatBytes, fromHex, toHex } from '../../../src/util/bytes.ts';
import { bitcoin, regtest, testnet3 } from './samples.ts';

const litecoin = bitcoinNetwork('litecoin');
const litecoinRegtest = bitcoinNetwork('litecoin-regtest');

describe('BIP173 and BIP350', () => {
  const good: readonly (readonly [address: string, script: string])[] = [
    ['BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4', '0014751e76e8199196d454941c45d1b3a323f1433bd6'],
    [
      'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7',
      '00201863143c14c5166804bd19203356da136c985678cd4d27a1b8c6329604903262',
    ],
    [
      'bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y',
      '5128751e76e8199196d454941c45d1b3a323f1433bd6751e76e8199196d454941c45d1b3a323f1433bd6',
    ],
    ['BC1SW50QGDZ25J', '6002751e'],
    ['bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs', '5210751e76e8199196d454941c45d1b3a323'],
    [
      'tb1qqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesrxh6hy',
      '0020000000c4a5cad46221b2a187905e5266362b99d5e91c6ce24d165dab93e86433',
    ],
    [
      'tb1pqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesf3hn0c',
      '5120000000c4a5cad46221b2a187905e5266362b99d5e91c6ce24d165dab93e86433',
    ],
    [
      'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
      '512079be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798',
    ],
  ];

  test('valid ones', () => {
    for (const [address, script] of good) {
      const network = /^tb/i.test(address) ? testnet3 : bitcoin;
      assert.equal(toHex(parseAddress(network, address)), script);
      assert.equal(formatAddress(network, fromHex(script)), address.toLowerCase());
    }
  });

  const bad: readonly (readonly [address: string, why: RegExp])[] = [
    ['tc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq5zuyut', /expected an address/],
    ['bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd', /written in bech32m/],
    ['tb1z0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqglt7rf', /written in bech32m/],
    ['BC1S0XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ54WELL', /written in bech32m/],
    ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh', /written in bech32, not/],
    ['tb1q0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq24jc47', /written in bech32, not/],
    ['bc1p38j9r5y49hruaue7wxjce0updqjuyyx0kh56v8s25huc6995vvpql3jow4', /not sound/],
    ['BC130XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ7ZWS8R', /0 to 16/],
    ['bc1pw5dgrnzv', /2 to 40 bytes, this one 1/],
    ['bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v8n0nx0muaewav253zgeav', /2 to 40 bytes, this one 41/],
    ['BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P', /20 or 32 bytes, this one 16/],
    ['tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq47Zagq', /not sound/],
    ['bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v07qwwzcrf', /whole number of bytes/],
    ['tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vpggkg4j', /whole number of bytes/],
    ['bc1gmk9yu', /0 to 16/],
  ];

  test('invalid ones, each for its own reason', () => {
    for (const [address, message] of bad) {
      const network = /^tb/i.test(address) ? testnet3 : bitcoin;
      assert.throws(() => parseAddress(network, address), { code: 'USAGE', message });
    }
  });
});

describe('addresses everybody knows', () => {
  const hash = '62e907b15cbf27d5425399ebf6f0fb50ebb88f18';
  const known = [
    [bitcoin, '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', `76a914${hash}88ac`],
    [bitcoin, '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy', 'a914b472a266d0bd89c13706a4132ccfb16f7c3b9fcb87'],
    [bitcoin, '1111111111111111111114oLvT2', `76a914${'00'.repeat(20)}88ac`],
    [testnet3, 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn', '76a914243f1394f44554f4ce3fd68649c19adc483ce92488ac'],
    [testnet3, '2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc', 'a9144e9f39ca4688ff102128ea4ccda34105324305b087'],
    [bitcoin, 'bc1pfeessrawgf', '51024e73'],
  ] as const;

  test('there and back', () => {
    for (const [network, address, script] of known) {
      assert.equal(formatAddress(network, fromHex(script)), address);
      assert.equal(toHex(parseAddress(network, address)), script);
      assert.equal(toHex(parseAddress(network, `  ${address}\n`)), script);
    }
  });

  test('the script hash that Electrum uses, and the key of the index', () => {
    const script = parseAddress(bitcoin, '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa');
    assert.equal(formatId(sha256(script)), '8b01df4e368ea28f8dc0423bcf7a4923e3a12d307c875e47a0cfbf90b5c39161');
    assert.equal(toHex(scriptKey(script)), toHex(sha256(script)).slice(0, 56));
  });

  test('Litecoin writes one kind of P2SH and reads both', () => {
    const script = p2shScript(fromHex(hash));
    for (const [network, first, others] of [
      [litecoin, 'M', [bitcoin]],
      [litecoinRegtest, 'Q', [testnet3]],
    ] as const) {
      const written = formatAddress(network, script) ?? assert.fail();
      assert.equal(written[0], first);
      assert.equal(toHex(parseAddress(network, written)), toHex(script));
      for (const other of others) {
        assert.throws(() => parseAddress(other, written), { code: 'USAGE', message: /another network/ });
        assert.equal(toHex(parseAddress(network, formatAddress(other, script) ?? '')), toHex(script));
      }
    }
    assert.equal(formatAddress(litecoin, p2pkhScript(fromHex(hash)))?.[0], 'L');
    assert.equal(formatAddress(litecoin, fromHex(`0014${hash}`))?.slice(0, 5), 'ltc1q');
    assert.equal(formatAddress(litecoinRegtest, fromHex(`0014${hash}`))?.slice(0, 6), 'rltc1q');
    assert.equal(formatAddress(regtest, fromHex(`0014${hash}`))?.slice(0, 6), 'bcrt1q');
  });

  test('scripts without one', () => {
    for (const script of ['', '6a', '6a04deadbeef', `21${'02'.repeat(33)}ac`, '51', '00', '0002abcd', `5121${'02'.repeat(33)}51ae`]) {
      for (const network of BITCOIN_NETWORKS) assert.equal(formatAddress(network, fromHex(script)), null, script);
    }
    // Litecoin's peg-in and the balance of its extension block; on Bitcoin they are programs of the future.
    for (const version of ['58', '59']) {
      assert.equal(formatAddress(litecoin, fromHex(`${version}20${'ab'.repeat(32)}`)), null);
      assert.match(formatAddress(bitcoin, fromHex(`${version}20${'ab'.repeat(32)}`)) ?? '', /^bc1/);
    }
  });

  test('what people type wrongly', () => {
    const typed = [
      '',
      ' ',
      'x',
      '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb',
      '1A1zP1eP5QGefi2DMPTfTL5SLmv7Divf',
      '0x00',
      '1',
      'bc1',
      'bc1q',
      '1'.repeat(5000),
    ];
    for (const text of typed) assert.throws(() => parseAddress(bitcoin, text), { code: 'USAGE' }, text);
    // Sound base58 of a byte too few.
    const short = createBase58check((bytes: Uint8Array) => sha256(bytes)).encode(new Uint8Array(20));
    assert.throws(() => parseAddress(bitcoin, short), { code: 'USAGE', message: /20 bytes behind its first, this one 19/ });
  });
});

describe('made-up scripts', () => {
  const network = fc.constantFrom(...BITCOIN_NETWORKS);
  const hash20 = fc.uint8Array({ minLength: 20, maxLength: 20 });
  const witness = fc
    .tuple(fc.integer({ min: 1, max: 16 }), fc.uint8Array({ minLength: 2, maxLength: 40 }))
    .map(([version, program]) => concatBytes(Uint8Array.of(0x50 + version, program.length), program));
  const v0 = fc
    .oneof(hash20, fc.uint8Array({ minLength: 32, maxLength: 32 }))
    .map((program) => concatBytes(Uint8Array.of(0, program.length), program));
  const script = fc.oneof(hash20.map(p2pkhScript), hash20.map(p2shScript), witness, v0);

  test('script to address to script', () => {
    fc.assert(
      fc.property(network, script, (net, bytes) => {
        const address = formatAddress(net, bytes);
        if (address === null) {
          assert.ok(net.mweb && (bytes[0] === 0x58 || bytes[0] === 0x59) && bytes[1] === 32);
          return;
        }
        assert.equal(toHex(parseAddress(net, address)), toHex(bytes));
        if (address.startsWith(`${net.hrp}1`)) assert.equal(toHex(parseAddress(net, address.toUpperCase())), toHex(bytes));
      }),
      { numRuns: 500 },
    );
  });

  test('a letter changed is noticed', () => {
    fc.assert(
      fc.property(network, script, fc.nat(), fc.constantFrom(...'qpzry9x8gf2tvdw0s3jn54khce6mua7l'), (net, bytes, at, letter) => {
        const address = formatAddress(net, bytes);
        if (address === null) return;
        const place = at % address.length;
        const changed = address.slice(0, place) + letter + address.slice(place + 1);
        if (changed === address) return;
        assert.throws(() => parseAddress(net, changed), { code: 'USAGE' });
      }),
      { numRuns: 500 },
    );
  });

  test('bech32 with the wrong sum for its version', () => {
    const program = new Uint8Array(32).fill(7);
    assert.throws(() => parseAddress(bitcoin, bech32.encode('bc', [1, ...bech32.toWords(program)])), { code: 'USAGE' });
    assert.throws(() => parseAddress(bitcoin, bech32m.encode('bc', [0, ...bech32m.toWords(program)])), { code: 'USAGE' });
  });
});

describe('networks', () => {
  test('the first block of each hashes to its hash and pays to a key, not to an address', () => {
    for (const network of BITCOIN_NETWORKS) {
      const block = decodeBlock(genesisBlock(network), 0);
      assert.equal(formatId(block.hash), network.genesisHash, network.name);
      assert.equal(block.prevHash, null);
      const [output] = describeTx(block.txs[0]).outputs;
      assert.equal(output.value, 5_000_000_000n);
      assert.equal(formatAddress(network, output.script), null);
    }
  });

  test('names are unique, and an unknown one is an error', () => {
    assert.equal(new Set(BITCOIN_NETWORKS.map(({ name }) => name)).size, BITCOIN_NETWORKS.length);
    assert.throws(() => bitcoinNetwork('dogecoin'), { code: 'NETWORK_UNKNOWN', message: /litecoin-regtest/ });
  });
});
