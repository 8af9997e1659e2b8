/** Bytes that strangers chose, as text: nothing is lost, and nothing is shown that a terminal would obey. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { utf8 } from '../../src/util/bytes.ts';
import { isUnspentError } from '../../src/util/errors.ts';
import { losslessBytes, losslessText, printableText, shownText } from '../../src/util/text.ts';

describe('bytes as text', () => {
  test('no byte is lost on the way there and back', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => assert.deepEqual(losslessBytes(losslessText(bytes)), bytes)));
    for (const text of ['', 'plain', '0x', '0xff', 'é 🐝', '\uFEFFmark', '\0'])
      assert.deepEqual(losslessBytes(losslessText(utf8(text))), utf8(text));
    assert.equal(losslessText(utf8('plain')), 'plain');
    assert.equal(losslessText(utf8('0xff')), '0x30786666');
    assert.equal(losslessText(Uint8Array.of(0xff)), '0xff');
    assert.throws(
      () => losslessBytes('0xabc'),
      (error) => isUnspentError(error, 'USAGE'),
    );
  });

  test('what moves the cursor, hides or turns the direction is not shown', () => {
    for (const text of ['a b', 'é', '東京', '100%']) assert.equal(printableText(utf8(text)), text);
    for (const text of ['', ' ', ' a', '\x1b[2J', 'a\nb', 'a\u202eb', 'a\u200bb', '\uFEFFa', 'a\u2028b', '\u0085'])
      assert.equal(printableText(utf8(text)), null, JSON.stringify(text));
    assert.equal(printableText(Uint8Array.of(0xc0, 0x80)), null);
    assert.equal(shownText(utf8('name')), 'name');
    assert.equal(shownText(utf8('0xff')), '0x30786666');
    assert.equal(shownText(utf8('\x1b')), '0x1b');
  });
});
