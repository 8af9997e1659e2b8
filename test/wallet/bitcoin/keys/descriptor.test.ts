/**
 * Output descriptors: the vectors of BIP380 to 387 and 389, the addresses of
 * BIP44, 49, 84 and 86, and what is refused. `descriptor-node.test.ts` asks a node.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import { BITCOIN_NETWORKS, bitcoinNetwork, formatAddress } from '../../../../src/ledgers/bitcoin/index.ts';
import { toHex } from '../../../../src/util/bytes.ts';
import { isUnspentError } from '../../../../src/util/errors.ts';
import { DESCRIPTOR_CHARS_MAX } from '../../../../src/util/limits.ts';
import { type Descriptor, openKeyRing, parseAccount, parseDescriptor } from '../../../../src/wallet/bitcoin/keys/index.ts';
import { INVALID, MULTIPATH, SCRIPTS, UNCHECKED } from './descriptor-vectors.ts';

const bitcoin = bitcoinNetwork('bitcoin');
const scriptsOf = (descriptor: Descriptor, index = 0): string[] => descriptor.derive(0, index).map(({ script }) => toHex(script));
const isInvalid = (error: unknown): boolean => isUnspentError(error, 'DESCRIPTOR_INVALID');

describe('scripts of BIP381 to 387', () => {
  for (const [text, ...scripts] of SCRIPTS) {
    test(text.slice(0, 100), () => {
      const descriptor = parseDescriptor(bitcoin, text);
      assert.equal(descriptor.isRanged, /\*/.test(text));
      for (const [index, script] of scripts.entries()) assert.deepEqual(scriptsOf(descriptor, index), [script]);
      const printed = descriptor.toString();
      assert.doesNotMatch(printed, /prv|L4rK|5KYZ|Kzo/, 'a private key is printed');
      const again = parseDescriptor(bitcoin, printed, { needsChecksum: true });
      assert.equal(again.toString(), printed, 'printing is one form');
      // A hardened index needs the private key for ever; all else is derived without.
      if (/\*['h]/.test(text)) {
        assert.throws(() => again.derive(0, 0), { code: 'DERIVATION_FAILED', meta: { reason: 'hardened', step: '0h' } });
        return;
      }
      for (const [index, script] of scripts.entries()) assert.deepEqual(scriptsOf(again, index), [script]);
    });
  }
});

describe('what is not a descriptor', () => {
  for (const [why, text] of INVALID) {
    test(why, () => assert.throws(() => parseDescriptor(bitcoin, text), isInvalid));
  }

  test('a text that is too long', () => {
    assert.throws(() => parseDescriptor(bitcoin, `raw(${'00'.repeat(DESCRIPTOR_CHARS_MAX)})`), isInvalid);
  });

  test('a tree of scripts with more levels than BIP341 allows', () => {
    const key = 'a34b99f22c790c4e36b2b3c2c35a36db06226e41c692fc82b8b56ac1c540c5bd';
    const tree = (levels: number): string => `tr(${key},${`{pk(${key}),`.repeat(levels)}pk(${key})${'}'.repeat(levels)})`;
    assert.equal(scriptsOf(parseDescriptor(bitcoin, tree(128))).length, 1);
    assert.throws(() => parseDescriptor(bitcoin, tree(129)), isInvalid);
  });

  test('one whose message would tell a private key', () => {
    const secret = 'xprvA1RpRA33e1JQ7ifknakTFpgNXPmW2YvmhqLQYMmrj4xJXXWYpDPS3xz7iAxn8L39njGVyuoseXzU6rcxFLJ8HFsTjSyQbLYnMpCqE2VbFWd';
    for (const text of [`pk(${secret})`, `pk(${secret}/x)`, 'pk(L4rK1yDtCWekvXuE6oXD9jCYfFNV2cWRpVuPLBcCU2z8TrisoyY2)']) {
      assert.throws(
        () => parseDescriptor(bitcoin, text),
        (error: Error) => isInvalid(error) && !/1RpRA33e|L4rK/.test(JSON.stringify([error.message, error.cause])),
      );
    }
  });
});

test('a checksum can be asked for', () => {
  assert.equal(parseDescriptor(bitcoin, 'raw(deadbeef)').toString(), 'raw(deadbeef)#89f8spxm');
  assert.throws(() => parseDescriptor(bitcoin, 'raw(deadbeef)', { needsChecksum: true }), isInvalid);
  for (const text of UNCHECKED) assert.throws(() => parseDescriptor(bitcoin, text), isInvalid, text);
});

describe('branches of BIP389', () => {
  for (const [text, ...branches] of MULTIPATH) {
    test(text.slice(0, 100), () => {
      const descriptor = parseDescriptor(bitcoin, text);
      assert.equal(descriptor.branchCount, branches.length);
      branches.forEach((branch, i) => {
        const alone = parseDescriptor(bitcoin, branch);
        assert.equal(descriptor.branch(i).toString(), alone.toString());
        const [mine, theirs] = [descriptor.derive(i, 0), alone.derive(0, 0)];
        assert.deepEqual(
          mine.map(({ script, keys }) => ({ script, keys })),
          theirs.map(({ script, keys }) => ({ script, keys })),
        );
      });
      assert.throws(() => descriptor.derive(branches.length, 0), { code: 'DERIVATION_FAILED' });
    });
  }

  test('where hardened steps differ by branch, only the branches can be printed', () => {
    const [, [text]] = MULTIPATH;
    assert.throws(() => parseDescriptor(bitcoin, text).toString(), { code: 'DERIVATION_FAILED' });
  });
});

/** "abandon ... about", as the BIPs have it. */
const ACCOUNTS: readonly (readonly [string, string, string])[] = [
  // BIP84
  [
    'wpkh([73c5da0a/84h/0h/0h]xpub6CatWdiZiodmUeTDp8LT5or8nmbKNcuyvz7WyksVFkKB4RHwCD3XyuvPEbvqAQY3rAPshWcMLoP2fMFMKHPJ4ZeZXYVUhLv1VMrjPC7PW6V/<0;1>/*)',
    'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g',
    'bc1q8c6fshw2dlwun7ekn9qwf37cu2rn755upcp6el',
  ],
  // BIP86
  [
    'tr([73c5da0a/86h/0h/0h]xpub6BgBgsespWvERF3LHQu6CnqdvfEvtMcQjYrcRzx53QJjSxarj2afYWcLteoGVky7D3UKDP9QyrLprQ3VCECoY49yfdDEHGCtMMj92pReUsQ/<0;1>/*)',
    'bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr bc1p4qhjn9zdvkux4e44uhx8tc55attvtyu358kutcqkudyccelu0was9fqzwh',
    'bc1p3qkhfews2uk44qtvauqyr2ttdsw7svhkl9nkm9s9c3x4ax5h60wqwruhk7',
  ],
];

describe('accounts as others derive them', () => {
  for (const [text, external, change] of ACCOUNTS) {
    test(text.slice(0, 24), () => {
      const account = parseAccount(bitcoin, text);
      const addresses = external.split(' ').map((_, index) => formatAddress(bitcoin, account.derive(0, index)[0].script));
      assert.deepEqual(addresses, external.split(' '));
      assert.equal(formatAddress(bitcoin, account.derive(1, 0)[0].script), change);
      assert.equal(account.derive(1, 0)[0].branch, 1);
    });
  }

  test('BIP49, on testnet', () => {
    const testnet = bitcoinNetwork('bitcoin-testnet3');
    // Its vector: the public key of m/49h/1h/0h/0/0, and its address.
    const key = '03a1af804ac108a8a51782198c2d034b28bf90c8803f5a53f76276fa69a4eae77f';
    const [script] = parseDescriptor(testnet, `sh(wpkh(${key}))`).derive(0, 0);
    assert.equal(formatAddress(testnet, script.script), '2Mww8dCYPUpKHofjgcXcBCEGmniw9CoaiD2');
    assert.equal(toHex(script.redeemScript ?? new Uint8Array()), '001438971f73930f6c141d977ac4fd4a727c854935b3');
    assert.equal(script.kind, 'p2sh-p2wpkh');
  });

  test('an account is one descriptor of two branches, or two of one', () => {
    const [[text]] = ACCOUNTS;
    const pair = parseAccount(bitcoin, text.replace('<0;1>', '0'), text.replace('<0;1>', '1'));
    const one = parseAccount(bitcoin, text);
    for (const branch of [0, 1] as const) assert.deepEqual(pair.derive(branch, 3), one.derive(branch, 3));
    assert.throws(() => parseAccount(bitcoin, text.replace('<0;1>', '<0;1;2>')), isInvalid);
    assert.throws(() => parseAccount(bitcoin, text, text), isInvalid);
    const single = parseAccount(bitcoin, text.replace('<0;1>', '0'));
    assert.throws(() => single.derive(1, 0), { code: 'DERIVATION_FAILED' });
  });
});

describe('what a derived script says', () => {
  const xpub = 'xpub6CatWdiZiodmUeTDp8LT5or8nmbKNcuyvz7WyksVFkKB4RHwCD3XyuvPEbvqAQY3rAPshWcMLoP2fMFMKHPJ4ZeZXYVUhLv1VMrjPC7PW6V';

  test('as many keys as each place allows', () => {
    const scriptOf = (before: string, count: number): number =>
      parseDescriptor(
        bitcoin,
        `${before}${Array.from({ length: count }, (_, i) => `,${xpub}/${i % 7}/*`).join('')}${')'.repeat(before.split('(').length - 1)}`,
      ).derive(0, 1).length;
    const most = {
      'multi(1': 3,
      'sh(multi(1': 15,
      'wsh(multi(1': 20,
      'sh(wsh(sortedmulti(1': 20,
      'tr(50929b74c1a04954b78b4b6035e97a5e078a5a0f28ec96d547bfee9ace803ac0,multi_a(1': 100,
    };
    for (const [before, count] of Object.entries(most)) {
      for (const keys of [1, Math.ceil(count / 2), count]) assert.equal(scriptOf(before, keys), 1, `${before} ${keys}`);
      if (count < 100) assert.throws(() => scriptOf(before, count + 1), isInvalid, before);
    }
  });

  test('where its keys come from', () => {
    const [{ keys }] = parseDescriptor(bitcoin, `wpkh([73c5da0a/84h/0h/0h]${xpub}/<0;1>/*)`).derive(1, 7);
    assert.deepEqual(
      keys.map(({ origin }) => origin),
      [{ fingerprint: 0x73c5da0a, path: [0x80000054, 0x80000000, 0x80000000, 1, 7] }],
    );
  });

  test('a key without origin is its own master', () => {
    const [{ keys }] = parseDescriptor(bitcoin, `wpkh(${xpub}/0/*)`).derive(0, 5);
    assert.deepEqual(keys[0].origin.path, [0, 5]);
    assert.equal(keys[0].origin.fingerprint, 0xfd13aac9);
  });

  test('its kind', () => {
    const key = '03a34b99f22c790c4e36b2b3c2c35a36db06226e41c692fc82b8b56ac1c540c5bd';
    const kinds: Readonly<Record<string, string>> = {
      [`pk(${key})`]: 'p2pk',
      [`pkh(${key})`]: 'p2pkh',
      [`wpkh(${key})`]: 'p2wpkh',
      [`sh(wpkh(${key}))`]: 'p2sh-p2wpkh',
      [`sh(wsh(pk(${key})))`]: 'p2sh',
      [`wsh(pk(${key}))`]: 'p2wsh',
      [`tr(${key})`]: 'p2tr',
      [`rawtr(${key.slice(2)})`]: 'p2tr',
      [`multi(1,${key})`]: 'multisig',
      'raw(51024e73)': 'p2a',
      'raw(6a)': 'other',
      'addr(3PUNyaW7M55oKWJ3kDukwk9bsKvryra15j)': 'p2sh',
    };
    for (const [text, kind] of Object.entries(kinds)) assert.equal(parseDescriptor(bitcoin, text).derive(0, 0)[0].kind, kind, text);
    const combo = (text: string): string[] =>
      parseDescriptor(bitcoin, `combo(${text})`)
        .derive(0, 0)
        .map(({ kind }) => kind);
    assert.deepEqual(combo(key), ['p2pk', 'p2pkh', 'p2wpkh', 'p2sh-p2wpkh']);
    const whole =
      '04a34b99f22c790c4e36b2b3c2c35a36db06226e41c692fc82b8b56ac1c540c5bd5b8dec5235a0fa8722476c7709c02559e3aa73aa03918ba2d492eea75abea235';
    assert.deepEqual(combo(whole), ['p2pk', 'p2pkh']);
  });

  test('there are indexes below 2^31, and one where there is no *', () => {
    const ranged = parseDescriptor(bitcoin, `wpkh(${xpub}/*)`);
    assert.equal(ranged.derive(0, 2 ** 31 - 1).length, 1);
    for (const index of [-1, 0.5, 2 ** 31, Number.NaN]) assert.throws(() => ranged.derive(0, index), { code: 'DERIVATION_FAILED' });
    assert.throws(() => parseDescriptor(bitcoin, `wpkh(${xpub}/0)`).derive(0, 1), { code: 'DERIVATION_FAILED' });
  });

  test('a private key that looks like the beginning of an extended one', () => {
    assert.equal(parseDescriptor(bitcoin, 'pk(L3ubsHVppUKbbTT3hYVK817PM8zYeauezGTNRahXVmUEURLtKKZu)').privateKeys.length, 1);
  });

  test('an address is printed in one form', () => {
    const text = 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu';
    assert.ok(parseDescriptor(bitcoin, `addr(${text.toUpperCase()})`).toString().startsWith(`addr(${text})#`));
  });

  test('nobody prints a private key by mistake', () => {
    const secret = 'xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi';
    const descriptor = parseDescriptor(bitcoin, `pk(${secret})`);
    const ring = openKeyRing(bitcoin, { kind: 'extended', key: secret });
    // The first bytes of the private key of that seed (BIP32, vector 1), as loggers write bytes.
    for (const shown of [
      inspect(descriptor, { depth: 9 }),
      JSON.stringify(descriptor),
      inspect(ring, { depth: 9 }),
      JSON.stringify(ring),
    ]) {
      assert.doesNotMatch(shown, /xprv|232, ?243, ?46, ?114/);
    }
  });

  test('each network reads its own keys only', () => {
    for (const network of BITCOIN_NETWORKS) {
      const isMain = network.keys.extendedPublic === 0x0488b21e;
      const read = (): unknown => parseDescriptor(network, `wpkh(${xpub}/*)`);
      if (isMain) read();
      else assert.throws(read, /begins with tpub or tprv, this one with 'xpub'/);
    }
    assert.throws(() => parseDescriptor(bitcoin, 'pk(cVpF924EspNh8KjYsfhgY96mmxvT6DgdWiTYMtMjuM74hJaU5psW)'), /not one of bitcoin/);
    const zpub = 'zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs';
    assert.throws(() => parseDescriptor(bitcoin, `wpkh(${zpub}/*)`), /write 'zpub...' as xpub or xprv/);
  });
});
