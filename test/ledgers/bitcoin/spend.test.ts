/** What inputs bring along, told apart by the kind of the output that they spend. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type SpendPart, spendParts } from '../../../src/ledgers/bitcoin/spend.ts';
import { readOutputScript, readSpend } from '../../../src/server/bitcoin/script-reader.ts';
import { concatBytes, fromHex, toHex } from '../../../src/util/bytes.ts';

const filled = (length: number, value: number): Uint8Array => new Uint8Array(length).fill(value);
const push = (bytes: Uint8Array): Uint8Array => concatBytes(Uint8Array.of(bytes.length), bytes);
const script = (...parts: (number | Uint8Array)[]): Uint8Array =>
  concatBytes(...parts.map((part) => (typeof part === 'number' ? Uint8Array.of(part) : push(part))));

const KEY = filled(33, 2);
const SIGNATURE = filled(71, 0x30);
const NOTHING = new Uint8Array();
const P2PKH = script(0x76, 0xa9, filled(20, 1), 0x88, 0xac);
const P2SH = script(0xa9, filled(20, 1), 0x87);
const P2WPKH = script(0, filled(20, 1));
const P2WSH = script(0, filled(32, 1));
const P2TR = script(0x51, filled(32, 1));
const MULTISIG = script(0x51, KEY, 0x51, 0xae);

const told = (spent: Uint8Array | null, scriptSig: Uint8Array, witness: readonly Uint8Array[] = []): string =>
  spendParts({ scriptSig, witness }, spent)
    .map(({ what, bytes }: SpendPart) => `${what} ${bytes.length}`)
    .join(', ');

describe('what an input brings along', () => {
  test('is told apart by the kind of the output', () => {
    assert.equal(told(P2PKH, script(SIGNATURE, KEY)), 'signature 71, public key 33');
    assert.equal(told(script(KEY, 0xac), script(SIGNATURE)), 'signature 71');
    assert.equal(told(MULTISIG, script(0, SIGNATURE)), 'data 0, signature 71');
    assert.equal(told(P2SH, script(0, SIGNATURE, MULTISIG)), 'data 0, data 71, redeem script 37');
    assert.equal(told(P2WPKH, NOTHING, [SIGNATURE, KEY]), 'signature 71, public key 33');
    assert.equal(told(P2SH, script(P2WPKH), [SIGNATURE, KEY]), 'redeem script 22, signature 71, public key 33');
    assert.equal(told(P2WSH, NOTHING, [NOTHING, SIGNATURE, MULTISIG]), 'data 0, data 71, witness script 37');
    assert.equal(told(P2SH, script(P2WSH), [SIGNATURE, MULTISIG]), 'redeem script 34, data 71, witness script 37');
    assert.equal(told(P2TR, NOTHING, [filled(64, 7)]), 'signature 64');
    const leaf = [filled(64, 7), script(KEY, 0xac), filled(33, 0xc0)];
    assert.equal(told(P2TR, NOTHING, leaf), 'data 64, tapscript 35, control block 33');
    assert.equal(told(P2TR, NOTHING, [...leaf, Uint8Array.of(0x50, 1)]), 'data 64, tapscript 35, control block 33, annex 2');
    assert.equal(told(P2TR, NOTHING, [filled(64, 7), Uint8Array.of(0x50)]), 'signature 64, annex 1');
  });

  test('is left as it is where it does not fit, or where the output is not known', () => {
    assert.equal(told(Uint8Array.of(0x51), NOTHING), '');
    assert.equal(told(P2PKH, script(SIGNATURE)), 'input script 72');
    assert.equal(told(P2SH, script(0x76)), 'input script 1');
    assert.equal(told(P2WSH, NOTHING), '');
    assert.equal(told(P2TR, NOTHING), '');
    assert.equal(told(null, script(SIGNATURE), [KEY]), 'input script 72, data 33');
    // Nothing throws, whatever the bytes.
    for (let length = 0; length < 60; length++)
      for (const spent of [P2PKH, P2SH, P2WSH, P2TR, MULTISIG]) told(spent, filled(length, length), [filled(length, 0x4c)]);
  });
});

describe('the reader of the page', () => {
  test('names operations, and numbers among what they push', () => {
    assert.deepEqual(readOutputScript(toHex(P2PKH)), {
      type: 'pubkeyhash',
      operations: [
        { name: 'OP_DUP' },
        { name: 'OP_HASH160' },
        { push: '01'.repeat(20), number: null },
        { name: 'OP_EQUALVERIFY' },
        { name: 'OP_CHECKSIG' },
      ],
    });
    const locked = fromHex('03c0d401b175');
    const [, , inner] = readSpend('', ['', toHex(SIGNATURE), toHex(locked)], toHex(P2WSH));
    assert.deepEqual(inner, {
      what: 'witness script',
      bytes: toHex(locked),
      operations: [{ push: 'c0d401', number: '120000' }, { name: 'OP_CHECKLOCKTIMEVERIFY' }, { name: 'OP_DROP' }],
    });
  });

  test('shows what ends in the middle of a push', () => {
    assert.deepEqual(readOutputScript('6a0548').operations, [{ name: 'OP_RETURN' }, { rest: '0548' }]);
  });
});
