/**
 * Addresses against the test vectors of CIP-19 (every kind, both networks), and
 * the rule that whatever we write we can read: parse(format(x)) is x.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  formatAddress,
  isRedeemAddress,
  parseAddress,
  parseCredential,
  readAddress,
  stakeAddressOf,
} from '../../../src/ledgers/cardano/address.ts';
import { redeemAddress } from '../../../src/ledgers/cardano/byron-address.ts';
import { crc32 } from '../../../src/ledgers/cardano/crc32.ts';
import { concatBytes, fromHex, toHex, utf8 } from '../../../src/util/bytes.ts';
import { CborWriter } from '../../../src/util/cbor-write.ts';
import { needsFixtures, readFixtureText } from '../../support/fixtures.ts';

const PAYMENT_KEY = '9493315cd92eb5d8c4304e67b7e16ae36d61d34502694657811a2c8e';
const STAKE_KEY = '337b62cfff6403a06a3acbc34f8c46003c69fe79a3628cefa9c47251';
const SCRIPT = 'c37b1b5dc0669f1d3c61a6fddb2e8fde96be87b881c60bce8e8d542f';

/** Type of CIP-19, expected view as text, mainnet, testnet. */
const CIP19 = [
  [
    0,
    `base key:${PAYMENT_KEY} key:${STAKE_KEY}`,
    'addr1qx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzer3n0d3vllmyqwsx5wktcd8cc3sq835lu7drv2xwl2wywfgse35a3x',
    'addr_test1qz2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzer3n0d3vllmyqwsx5wktcd8cc3sq835lu7drv2xwl2wywfgs68faae',
  ],
  [
    1,
    `base script:${SCRIPT} key:${STAKE_KEY}`,
    'addr1z8phkx6acpnf78fuvxn0mkew3l0fd058hzquvz7w36x4gten0d3vllmyqwsx5wktcd8cc3sq835lu7drv2xwl2wywfgs9yc0hh',
    'addr_test1zrphkx6acpnf78fuvxn0mkew3l0fd058hzquvz7w36x4gten0d3vllmyqwsx5wktcd8cc3sq835lu7drv2xwl2wywfgsxj90mg',
  ],
  [
    2,
    `base key:${PAYMENT_KEY} script:${SCRIPT}`,
    'addr1yx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzerkr0vd4msrxnuwnccdxlhdjar77j6lg0wypcc9uar5d2shs2z78ve',
    'addr_test1yz2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzerkr0vd4msrxnuwnccdxlhdjar77j6lg0wypcc9uar5d2shsf5r8qx',
  ],
  [
    3,
    `base script:${SCRIPT} script:${SCRIPT}`,
    'addr1x8phkx6acpnf78fuvxn0mkew3l0fd058hzquvz7w36x4gt7r0vd4msrxnuwnccdxlhdjar77j6lg0wypcc9uar5d2shskhj42g',
    'addr_test1xrphkx6acpnf78fuvxn0mkew3l0fd058hzquvz7w36x4gt7r0vd4msrxnuwnccdxlhdjar77j6lg0wypcc9uar5d2shs4p04xh',
  ],
  [
    4,
    `pointer key:${PAYMENT_KEY} none 2498243/27/3`,
    'addr1gx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzer5pnz75xxcrzqf96k',
    'addr_test1gz2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzer5pnz75xxcrdw5vky',
  ],
  [
    5,
    `pointer script:${SCRIPT} none 2498243/27/3`,
    'addr128phkx6acpnf78fuvxn0mkew3l0fd058hzquvz7w36x4gtupnz75xxcrtw79hu',
    'addr_test12rphkx6acpnf78fuvxn0mkew3l0fd058hzquvz7w36x4gtupnz75xxcryqrvmw',
  ],
  [
    6,
    `enterprise key:${PAYMENT_KEY} none`,
    'addr1vx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzers66hrl8',
    'addr_test1vz2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzerspjrlsz',
  ],
  [
    7,
    `enterprise script:${SCRIPT} none`,
    'addr1w8phkx6acpnf78fuvxn0mkew3l0fd058hzquvz7w36x4gtcyjy7wx',
    'addr_test1wrphkx6acpnf78fuvxn0mkew3l0fd058hzquvz7w36x4gtcl6szpr',
  ],
  [
    14,
    `reward none key:${STAKE_KEY}`,
    'stake1uyehkck0lajq8gr28t9uxnuvgcqrc6070x3k9r8048z8y5gh6ffgw',
    'stake_test1uqehkck0lajq8gr28t9uxnuvgcqrc6070x3k9r8048z8y5gssrtvn',
  ],
  [
    15,
    `reward none script:${SCRIPT}`,
    'stake178phkx6acpnf78fuvxn0mkew3l0fd058hzquvz7w36x4gtcccycj5',
    'stake_test17rphkx6acpnf78fuvxn0mkew3l0fd058hzquvz7w36x4gtcljw6kf',
  ],
] as const;

/** From CIP-19: a Byron address of the legacy testnet, with a derivation path. */
const BYRON_TESTNET = '37btjrVyb4KDXBNC4haBVPCrro8AQPHwvCMp3RFhhSVWwfFmZ6wwzSK6JK1hY6wHNmtrpTf1kdbva8TCneM2YsiXT7mrzT21EacHnPpz5YyUdj64na';
const BYRON_MAINNET = 'Ae2tdPwUPEZFRbyhz3cpfC2CumGzNkFBN2L42rcUc2yjQpEkxDbkPodpMAi';

function view(bytes: Uint8Array): string {
  const address = readAddress(bytes);
  const part = (credential: { kind: string; hash: Uint8Array } | null) =>
    credential === null ? 'none' : `${credential.kind}:${toHex(credential.hash)}`;
  const parts = [address.kind, part(address.payment), part(address.stake)];
  if (address.kind === 'pointer') parts.push(Object.values(address.pointer).join('/'));
  return parts.join(' ');
}

const usage = (message: RegExp) => ({ code: 'USAGE', message });

describe('CIP-19', () => {
  for (const [type, expected, ...texts] of CIP19) {
    test(`type ${type}`, () => {
      for (const [i, text] of texts.entries()) {
        const bytes = parseAddress(text);
        assert.equal(bytes[0], (type << 4) | (1 - i));
        assert.equal(view(bytes), expected);
        assert.equal(readAddress(bytes).network, 1 - i);
        assert.equal(formatAddress(bytes), text);
        assert.deepEqual(parseAddress(toHex(bytes)), bytes);
        assert.deepEqual(parseAddress(` ${text.toUpperCase()} `), bytes);
      }
    });
  }

  test('type 8: Byron, mainnet and testnet', () => {
    for (const [text, network, magic] of [
      [BYRON_MAINNET, 1, null],
      [BYRON_TESTNET, 0, 1097911063],
    ] as const) {
      const bytes = parseAddress(text);
      const address = readAddress(bytes);
      assert.equal(address.kind, 'byron');
      assert.equal(address.network, network);
      if (address.kind !== 'byron') continue;
      assert.equal(address.byron.magic, magic);
      assert.equal(address.byron.type, 0);
      assert.equal(address.byron.root.length, 28);
      assert.equal(isRedeemAddress(bytes, 0, bytes.length), false);
      assert.equal(formatAddress(bytes), text);
    }
  });
});

describe('addresses of any length', () => {
  /** A sound Byron address whose attributes take so many bytes. */
  function byronOf(attributeBytes: number): Uint8Array {
    const attribute = new CborWriter().map(1).uint(1).bytes(new Uint8Array(attributeBytes).fill(7)).take();
    const payload = new CborWriter().array(3).bytes(new Uint8Array(28).fill(9)).raw(attribute).uint(0).take();
    return new CborWriter().array(2).encoded(payload).uint(crc32(payload)).take();
  }

  test('are written, and read back: Byron ones in base58, beyond 2,048 bytes in hex', () => {
    for (const attributeBytes of [0, 40, 1900, 1990, 1995, 2000, 2100, 4096, 16_384, 70_000]) {
      const bytes = byronOf(attributeBytes);
      assert.equal(readAddress(bytes).kind, 'byron');
      const text = formatAddress(bytes);
      assert.equal(text === toHex(bytes), bytes.length > 2048, `${bytes.length} bytes`);
      assert.deepEqual(parseAddress(text), bytes);
    }
    // The edge itself.
    const edge = byronOf(2048 - (byronOf(1990).length - 1990));
    assert.equal(edge.length, 2048);
    assert.deepEqual(parseAddress(formatAddress(edge)), edge);
  });

  test('pointers with numbers of a thousand bytes', () => {
    const number = new Uint8Array(1024).fill(0x81).with(1023, 1);
    const bytes = concatBytes(Uint8Array.of(0x40), new Uint8Array(28), number, number, number);
    assert.equal(readAddress(bytes).kind, 'pointer');
    assert.deepEqual(parseAddress(formatAddress(bytes)), bytes);
  });
});

describe('redeem addresses', () => {
  test('are told from all others, anywhere in a buffer', () => {
    for (const magic of [764824073, 1097911063]) {
      const redeem = redeemAddress(new Uint8Array(32).fill(7), magic);
      const address = readAddress(redeem);
      assert.equal(address.kind === 'byron' && address.byron.type, 2);
      assert.equal(address.network, magic === 764824073 ? 1 : 0);
      const inside = concatBytes(Uint8Array.of(0xff, 0xff), redeem, Uint8Array.of(0xff));
      assert.equal(isRedeemAddress(inside, 2, 2 + redeem.length), true);
    }
    for (const [, , text] of CIP19) assert.equal(isRedeemAddress(parseAddress(text)), false);
    assert.equal(isRedeemAddress(fromHex('82d81858')), false);
  });

  test('all 14,505 of mainnet', needsFixtures, () => {
    const balances = JSON.parse(readFixtureText('cardano', 'genesis', 'expected-mainnet-genesis-address-balance.json'));
    const texts = Object.keys(balances);
    assert.equal(texts.length, 14505);
    for (const text of texts) assert.equal(isRedeemAddress(parseAddress(text)), true, text);
  });
});

describe('stake addresses', () => {
  test('come from base and reward addresses, and from no other kind', () => {
    const stakes = CIP19.map(([, , mainnet, testnet]) =>
      [mainnet, testnet].map((text) => {
        const stake = stakeAddressOf(parseAddress(text));
        return stake === null ? null : formatAddress(stake);
      }),
    );
    const [byKey, byScript] = [CIP19[8].slice(2), CIP19[9].slice(2)];
    const none = [null, null];
    assert.deepEqual(stakes, [byKey, byKey, byScript, byScript, none, none, none, none, byKey, byScript]);
    assert.equal(stakeAddressOf(parseAddress(BYRON_MAINNET)), null);
  });
});

describe('odd addresses of the chain', () => {
  const base = parseAddress(CIP19[0][2]);
  const pointer = parseAddress(CIP19[4][2]);
  const flipped = parseAddress(BYRON_MAINNET).slice();
  flipped[10] ^= 1;
  const odd: Record<string, Uint8Array> = {
    empty: new Uint8Array(),
    'one byte': base.subarray(0, 1),
    'too short for a payment part': base.subarray(0, 28),
    'base cut short': base.subarray(0, 56),
    'base too long': concatBytes(base, Uint8Array.of(0)),
    'pointer cut short': pointer.subarray(0, pointer.length - 1),
    'bytes behind the pointer': concatBytes(pointer, Uint8Array.of(1, 2)),
    'number of the pointer without end': concatBytes(pointer.subarray(0, 29), new Uint8Array(2000).fill(0xff), Uint8Array.of(1, 1, 1)),
    'unknown type': Uint8Array.from(base.subarray(0, 29), (byte, i) => (i === 0 ? 0x91 : byte)),
    'unknown network': Uint8Array.from(base, (byte, i) => (i === 0 ? 0x02 : byte)),
    'Byron with a wrong checksum': flipped,
    'Byron cut short': parseAddress(BYRON_MAINNET).subarray(0, 20),
  };
  for (const [name, bytes] of Object.entries(odd)) {
    test(name, () => {
      assert.equal(readAddress(bytes).kind, 'unknown');
      assert.equal(stakeAddressOf(bytes), null);
      assert.equal(formatAddress(bytes), toHex(bytes));
    });
  }
});

describe('what a person types', () => {
  const good = CIP19[0][2];
  test('bad text is a usage error that says what is wrong', () => {
    assert.throws(() => parseAddress(''), usage(/expected an address/));
    assert.throws(() => parseAddress('hello world'), usage(/expected an address/));
    assert.throws(() => parseAddress(`${good.slice(0, -1)}q`), usage(/bech32.*checksum/i));
    assert.throws(() => parseAddress(`${good.slice(0, 30)}Q${good.slice(31)}`), usage(/bech32/));
    assert.throws(() => parseAddress(`${BYRON_MAINNET.slice(0, -1)}j`), usage(/checksum/));
    assert.throws(() => parseAddress('z'.repeat(100_000)), usage(/expected an address/));
    // CIP-19 itself shows this one: a testnet address under the prefix of mainnet.
    assert.throws(() => parseAddress('addr1vpu5vlrf4xkxv2qpwngf6cjhtw542ayty80v8dyr49rf5eg0yu80w'), usage(/'addr_test'/));
  });

  test('credentials', () => {
    const hash = fromHex(SCRIPT);
    assert.deepEqual(parseCredential(SCRIPT), { hash, kind: null, part: null });
    assert.deepEqual(parseCredential('script1cda3khwqv60360rp5m7akt50m6ttapacs8rqhn5w342z7r35m37'), { hash, kind: 'script', part: null });
    assert.deepEqual(parseCredential(CIP19[9][3]), { hash, kind: 'script', part: 'stake' });
    assert.deepEqual(parseCredential('addr_vkh1jjfnzhxe966a33psfenm0ct2udkkr569qf55v4uprgkgu8zsvmg'), {
      hash: fromHex(PAYMENT_KEY),
      kind: 'key',
      part: 'payment',
    });
    assert.throws(() => parseCredential(SCRIPT.slice(2)), usage(/expected a credential/));
    assert.throws(() => parseCredential(good), usage(/'addr' is not the prefix of a credential/));
    // A key stands for its hash.
    const key = 'addr_vk1w0l2sr2zgfm26ztc6nl9xy8ghsk5sh6ldwemlpmp9xylzy4dtf7st80zhd';
    assert.deepEqual(parseCredential(key), { hash: fromHex(PAYMENT_KEY), kind: 'key', part: 'payment' });
    assert.throws(() => parseCredential('addr_xvk1w0l2sr2zgfm26ztc6nl9xy8ghsk5sh6ldwemlpmp9xylzy4dtf7st80zhd'), usage(/bech32|'addr_xvk'/));
  });
});

test('parse(format(x)) is x, for any bytes', () => {
  const shelley = fc
    .tuple(fc.constantFrom(0, 1, 2, 3, 4, 5, 6, 7, 14, 15), fc.integer({ min: 0, max: 1 }), fc.uint8Array({ minLength: 28, maxLength: 62 }))
    .map(([type, network, rest]) => concatBytes(Uint8Array.of((type << 4) | network), rest));
  const whole = fc.tuple(fc.constantFrom(0, 16, 32, 49, 1, 17), fc.uint8Array({ minLength: 56, maxLength: 56 }));
  const base = whole.map(([header, rest]) => concatBytes(Uint8Array.of(header), rest));
  const redeem = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((key) => redeemAddress(key, 1));
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ minLength: 1, maxLength: 80 }), shelley, base, redeem), (bytes) => {
      assert.deepEqual(parseAddress(formatAddress(bytes)), bytes);
    }),
    { numRuns: 2000 },
  );
});

test('crc32 of the check string', () => assert.equal(crc32(utf8('123456789')), 0xcbf43926));
