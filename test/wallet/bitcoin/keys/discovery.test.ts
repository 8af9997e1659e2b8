/** How far accounts are used: gaps, branches, indexes without a key, and how much is asked for. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HDKey } from '@scure/bip32';
import { bitcoinNetwork } from '../../../../src/ledgers/bitcoin/index.ts';
import { toHex } from '../../../../src/util/bytes.ts';
import { GAP_LIMIT_MAX } from '../../../../src/util/limits.ts';
import {
  type Account,
  addressesOf,
  deriveIfAny,
  discover,
  type FindUsedScripts,
  firstIndex,
  parseAccount,
  splitCombo,
} from '../../../../src/wallet/bitcoin/keys/index.ts';
import { loadKeys } from '../../../../src/wallet/bitcoin/load-keys.ts';

const network = bitcoinNetwork('bitcoin');
const XPUB = 'xpub6CatWdiZiodmUeTDp8LT5or8nmbKNcuyvz7WyksVFkKB4RHwCD3XyuvPEbvqAQY3rAPshWcMLoP2fMFMKHPJ4ZeZXYVUhLv1VMrjPC7PW6V';
const account = parseAccount(network, `wpkh(${XPUB}/<0;1>/*)`);

/** An index in which these are used; `asked` counts the scripts of each question. */
function indexOf(of: Account, used: readonly (readonly [branch: 0 | 1, index: number])[]): { findUsed: FindUsedScripts; asked: number[] } {
  const scripts = new Set(used.map(([branch, index]) => toHex(of.derive(branch, index).at(-1)?.script ?? assert.fail())));
  const asked: number[] = [];
  return {
    asked,
    findUsed: async (questions) => {
      asked.push(questions.length);
      return questions.map((script) => scripts.has(toHex(script)));
    },
  };
}

describe('discovery', () => {
  test('of an account that nobody used', async () => {
    const { findUsed, asked } = indexOf(account, []);
    assert.deepEqual(await discover(account, findUsed), [
      { branch: 0, lastUsed: null, nextIndex: 0, watchIndex: 19 },
      { branch: 1, lastUsed: null, nextIndex: 0, watchIndex: 19 },
    ]);
    assert.deepEqual(asked, [20, 20]);
  });

  test('goes on as long as no gap is too long', async () => {
    const { findUsed, asked } = indexOf(account, [
      [0, 0],
      [0, 19],
      [0, 39],
      [1, 5],
      [1, 26],
    ]);
    assert.deepEqual(await discover(account, findUsed), [
      { branch: 0, lastUsed: 39, nextIndex: 40, watchIndex: 59 },
      // Twenty scripts after 5 were not used, so the one at 26 is not found: that is what a gap limit means.
      { branch: 1, lastUsed: 5, nextIndex: 6, watchIndex: 25 },
    ]);
    assert.deepEqual(asked, [20, 20, 20, 20, 6], 'each script once');
    const [, change] = await discover(account, findUsed, { gapLimit: 21 });
    assert.equal(change.lastUsed, 26);
  });

  test('begins where the wallet is already', async () => {
    const { findUsed, asked } = indexOf(account, [[0, 105]]);
    const [external, change] = await discover(account, findUsed, { gapLimit: 10, from: { 0: 100 } });
    assert.deepEqual(external, { branch: 0, lastUsed: 105, nextIndex: 106, watchIndex: 115 });
    assert.equal(change.lastUsed, null);
    assert.deepEqual(asked, [10, 6, 10]);
  });

  test('of a single script', async () => {
    const single = parseAccount(network, `wpkh(${XPUB}/0/0)`);
    const { findUsed } = indexOf(single, [[0, 0]]);
    assert.deepEqual(await discover(single, findUsed), [{ branch: 0, lastUsed: 0, nextIndex: 0, watchIndex: 0 }]);
  });

  test('of all scripts of combo', async () => {
    const combo = parseAccount(network, `combo(${XPUB}/0/*)`);
    const { findUsed, asked } = indexOf(combo, [[0, 3]]);
    const [{ lastUsed }] = await discover(combo, findUsed, { gapLimit: 5 });
    assert.deepEqual([lastUsed, asked], [3, [20, 16]]);
  });

  test('says what is wrong with it', async () => {
    for (const gapLimit of [0, -1, 1.5, GAP_LIMIT_MAX + 1])
      await assert.rejects(
        discover(account, async () => [], { gapLimit }),
        { code: 'USAGE' },
      );
    await assert.rejects(
      discover(account, async () => []),
      /assertion failed: 0 answers for 20 scripts/,
    );
    await assert.rejects(
      discover(account, () => Promise.reject(new Error('the index is away'))),
      /the index is away/,
    );
  });
});

test('an index without a key is passed over', async (t) => {
  const derive = HDKey.prototype.deriveChild;
  // As the library does where BIP32 has no key, about once in 2^127: it gives the next one.
  t.mock.method(HDKey.prototype, 'deriveChild', function (this: HDKey, index: number) {
    return derive.call(this, index === 2 || index === 3 ? 4 : index);
  });
  assert.throws(() => account.derive(0, 2), { code: 'DERIVATION_FAILED', meta: { reason: 'no-key', step: '2' } });
  assert.equal(deriveIfAny(account, 0, 3), null);
  assert.equal(firstIndex(account, 0, 2), 4);
  assert.equal(addressesOf(account)(0, 3), null);
  const { findUsed, asked } = indexOf(account, [[0, 1]]);
  const [external] = await discover(account, findUsed, { gapLimit: 5 });
  assert.deepEqual(external, { branch: 0, lastUsed: 1, nextIndex: 4, watchIndex: 6 });
  assert.deepEqual(asked.slice(0, 2), [3, 2]);
});

test('addresses are given as stores take them', () => {
  const [{ script, keys }] = account.derive(1, 7);
  assert.deepEqual(addressesOf(account)(1, 7), { script, kind: 'p2wpkh', publicKey: keys[0].publicKey });
  const shared = addressesOf(parseAccount(network, `wsh(multi(1,${XPUB}/0/*,${XPUB}/1/*))`));
  assert.deepEqual([shared(0, 0)?.kind, shared(0, 0)?.publicKey], ['p2wsh', undefined]);
  assert.equal(addressesOf(parseAccount(network, `multi(1,${XPUB}/0/*,${XPUB}/1/*)`))(0, 0)?.kind, 'multisig');
  assert.throws(() => addressesOf(parseAccount(network, `combo(${XPUB}/*)`))(0, 0), { code: 'DESCRIPTOR_INVALID' });
});

test('combo is an account for each kind of script', () => {
  const combo = parseAccount(network, `combo(${XPUB}/<0;1>/*)`);
  const parts = splitCombo(network, combo);
  assert.deepEqual(
    parts.map(({ kind }) => kind),
    ['', 'sh(wpkh)', 'pkh', 'pk'],
  );
  for (const branch of [0, 1] as const) {
    const together = parts.map(({ account: part }) => toHex(part.derive(branch, 5)[0].script)).sort();
    assert.deepEqual(
      together,
      combo
        .derive(branch, 5)
        .map(({ script }) => toHex(script))
        .sort(),
    );
  }
  // Of a key that is not compressed segwit has no scripts.
  const whole = parseAccount(
    network,
    `combo(04${'79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8'})`,
  );
  assert.deepEqual(
    splitCombo(network, whole).map(({ account: { external } }) => `${external}`.split('(')[0]),
    ['pkh', 'pk'],
  );
  assert.deepEqual(splitCombo(network, account), [{ kind: '', account }]);
  const half = parseAccount(network, `combo(${XPUB}/0/*)`, `wpkh(${XPUB}/1/*)`);
  assert.throws(() => splitCombo(network, half), { code: 'DESCRIPTOR_INVALID' });
});

test('what is not installed is named', async () => {
  assert.equal(typeof (await loadKeys()).parseDescriptor, 'function');
  const missing = (name: string): (() => Promise<never>) => {
    const error = Object.assign(new Error(`Cannot find package '${name}' imported from here`), { code: 'ERR_MODULE_NOT_FOUND' });
    return () => Promise.reject(error);
  };
  await assert.rejects(loadKeys(missing('@scure/bip32')), {
    code: 'UNSUPPORTED',
    message: /npm install @scure\/bip32 @scure\/bip39 @scure\/btc-signer/,
  });
  await assert.rejects(loadKeys(missing('./nothing.ts')), { code: 'ERR_MODULE_NOT_FOUND' });
});
