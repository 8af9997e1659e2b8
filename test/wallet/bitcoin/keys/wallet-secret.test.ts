/** Secrets of wallets that sign: mnemonics and seeds, the keys below them (BIP32, BIP39), and that they are wiped. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bitcoinNetwork } from '../../../../src/ledgers/bitcoin/index.ts';
import { fromHex, toHex } from '../../../../src/util/bytes.ts';
import {
  accountDescriptor,
  decodeSecret,
  encodeSecret,
  formatPath,
  masterOf,
  openKeyRing,
  parseDescriptor,
  parseMnemonic,
  parsePath,
  secretText,
  type WalletSecret,
  wipeSecret,
} from '../../../../src/wallet/bitcoin/keys/index.ts';

const bitcoin = bitcoinNetwork('bitcoin');
const WORDS = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about';

describe('a secret', () => {
  const seed: WalletSecret = { kind: 'seed', seed: fromHex('000102030405060708090a0b0c0d0e0f') };

  test('is the same after a box', () => {
    const secrets: WalletSecret[] = [
      seed,
      parseMnemonic(WORDS),
      parseMnemonic(WORDS, 'TREZOR ü'),
      { kind: 'extended', key: 'xprv...' },
      { kind: 'descriptors', texts: ['wpkh(a)', 'tr(b)'] },
    ];
    for (const secret of secrets) assert.deepEqual(decodeSecret(encodeSecret(secret)), secret);
    for (const bytes of ['', '00', '05', '0110', '01ff00', '0103aabbcc'])
      assert.throws(() => decodeSecret(fromHex(bytes)), { code: 'SECRET_INVALID' });
  });

  test('of words (BIP39)', () => {
    const words = parseMnemonic(`  ${WORDS.toUpperCase().replace(' ', '\n')} `);
    assert.equal(secretText(words), WORDS);
    // The vector of BIP39 with this passphrase.
    assert.equal(
      masterOf(bitcoin, parseMnemonic(WORDS, 'TREZOR'))?.privateExtendedKey,
      'xprv9s21ZrQH143K3h3fDYiay8mocZ3afhfULfb5GX8kCBdno77K4HiA15Tg23wpbeF1pLfs1c5SPmYHrEpTuuRhxMwvKDwqdKiGJS9XFKzUsAF',
    );
    for (const bad of ['', 'abandon', WORDS.replace('about', 'above'), WORDS.replace('about', 'satoshis')]) {
      assert.throws(
        () => parseMnemonic(bad),
        (error: Error) =>
          'code' in error && error.code === 'SECRET_INVALID' && error.cause === undefined && !error.message.includes('abandon'),
      );
    }
    assert.equal(secretText(seed), '000102030405060708090a0b0c0d0e0f');
  });

  test('of a seed (BIP32, vector 1)', () => {
    const master = masterOf(bitcoin, seed);
    assert.equal(
      master?.privateExtendedKey,
      'xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi',
    );
    const key = parseDescriptor(bitcoin, `pk(${master?.privateExtendedKey}/0h/1/2h/2/1000000000)`);
    assert.match(
      key.toString(),
      /^pk\(\[3442193e\/0h\/1\/2h\]xpub6D4BDPcP2GT577Vvch3R8wDkScZWzQzMMUm3PWbmWvVJrZwQY4VUNgqFJPMM3No2dFDFGTsxxpG5uJh7n7epu4trkrX7x7DogT5Uv6fcLW5\/2\/1000000000\)#/,
    );
    assert.deepEqual(formatPath(key.derive(0, 0)[0].keys[0].origin.path), 'm/0h/1/2h/2/1000000000');
    for (const bytes of [0, 15, 65])
      assert.throws(() => masterOf(bitcoin, { kind: 'seed', seed: new Uint8Array(bytes) }), { code: 'SECRET_INVALID' });
  });

  test('of an extended key', () => {
    const key = 'xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8';
    assert.throws(() => openKeyRing(bitcoin, { kind: 'extended', key }), { code: 'SECRET_INVALID', message: /this one is public/ });
    assert.throws(() => openKeyRing(bitcoin, { kind: 'extended', key: 'xprv1' }), { code: 'SECRET_INVALID' });
    assert.throws(() => openKeyRing(bitcoin, { kind: 'descriptors', texts: [`wpkh(${key})`] }), { code: 'SECRET_INVALID' });
  });

  test('gives the accounts that wallets agree on', () => {
    const master = masterOf(bitcoin, parseMnemonic(WORDS));
    assert.ok(master);
    const key = (purpose: 44 | 49 | 84 | 86): string => accountDescriptor(bitcoin, master, { purpose, account: 0 });
    assert.match(
      key(44),
      /^pkh\(\[73c5da0a\/44h\/0h\/0h\]xpub6BosfCnifzxcFwrSzQiqu2DBVTshkCXacvNsWGYJVVhhawA7d4R5WSWGFNbi8Aw6ZRc1brxMyWMzG3DSSSSoekkudhUd9yLb6qx39T9nMdj\/<0;1>\/\*\)#.{8}$/,
    );
    assert.match(key(49), /^sh\(wpkh\(\[73c5da0a\/49h/);
    assert.match(
      key(84),
      /^wpkh\(\[73c5da0a\/84h\/0h\/0h\]xpub6CatWdiZiodmUeTDp8LT5or8nmbKNcuyvz7WyksVFkKB4RHwCD3XyuvPEbvqAQY3rAPshWcMLoP2fMFMKHPJ4ZeZXYVUhLv1VMrjPC7PW6V/,
    );
    assert.match(
      key(86),
      /^tr\(\[73c5da0a\/86h\/0h\/0h\]xpub6BgBgsespWvERF3LHQu6CnqdvfEvtMcQjYrcRzx53QJjSxarj2afYWcLteoGVky7D3UKDP9QyrLprQ3VCECoY49yfdDEHGCtMMj92pReUsQ/,
    );
    const litecoin = bitcoinNetwork('litecoin');
    assert.match(
      accountDescriptor(litecoin, masterOf(litecoin, parseMnemonic(WORDS)) ?? master, { purpose: 84, account: 1 }),
      /\[73c5da0a\/84h\/2h\/1h\]xpub/,
    );
    assert.throws(() => accountDescriptor(bitcoin, master, { purpose: 84, account: -1 }), { code: 'DERIVATION_FAILED' });
  });
});

test('what is wiped signs and derives no more', () => {
  const seed = { kind: 'seed', seed: fromHex('000102030405060708090a0b0c0d0e0f') } as const;
  const ring = openKeyRing(bitcoin, seed);
  const origin = { fingerprint: 0x3442193e, path: [0x80000000] };
  const publicKey = fromHex('035a784662a4a20a65bf6aab9ae98a6c068a81c52e4b032c0fb5400c706cfccc56');
  assert.equal(toHex(ring.find(origin, publicKey) ?? new Uint8Array()), 'edb2e14f9ee77d26dd93b4ecede8d16ed408ce149b6cd80b0715a2d911a0afea');
  assert.equal(ring.find({ ...origin, fingerprint: 1 }, publicKey), null);
  assert.equal(ring.find({ ...origin, path: [0x80000001] }, publicKey), null);
  ring.wipe();
  assert.throws(() => ring.find(origin, publicKey), { code: 'DERIVATION_FAILED' });
  const descriptor = parseDescriptor(bitcoin, `pk(${masterOf(bitcoin, seed)?.privateExtendedKey}/0h)`);
  assert.equal(descriptor.privateKeys.length, 1);
  descriptor.wipe();
  assert.equal(descriptor.privateKeys.length, 0);
  wipeSecret(seed);
  assert.deepEqual(seed.seed, new Uint8Array(16));
});

test('paths are read and written', () => {
  assert.deepEqual(parsePath("m/84h/0'/0H/1/5"), [0x80000054, 0x80000000, 0x80000000, 1, 5]);
  assert.equal(formatPath(parsePath("84'/1")), 'm/84h/1');
  assert.deepEqual([parsePath('m'), parsePath('')], [[], []]);
  for (const bad of ['m/', 'm//1', '1/', 'x', '2147483648', '-1', Array(256).fill('0').join('/')])
    assert.throws(() => parsePath(bad), { code: 'USAGE' });
});
