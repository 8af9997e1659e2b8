/** Written texts are those that another library writes and reads, and the published vectors. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bech32, bech32m } from '@scure/base';
import fc from 'fast-check';
import { encodeBech32 } from '../../src/util/bech32.ts';
import { fromHex } from '../../src/util/bytes.ts';

const LIBRARY = { bech32, bech32m };

test('the addresses of BIP173 and BIP350', () => {
  const key = fromHex('751e76e8199196d454941c45d1b3a323f1433bd6');
  assert.equal(encodeBech32('bc', key, { first: 0 }), 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4');
  const program = fromHex('751e76e8199196d454941c45d1b3a323f1433bd6751e76e8199196d454941c45d1b3a323f1433bd6');
  const text = 'bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y';
  assert.equal(encodeBech32('bc', program, { first: 1, form: 'bech32m' }), text);
  assert.equal(encodeBech32('bc', fromHex('751e'), { first: 16, form: 'bech32m' }), 'bc1sw50qgdz25j');
});

test('bytes of any length, with and without a version, as the other library writes them', () => {
  const prefix = fc.constantFrom('addr', 'addr_test', 'stake', 'pool', 'bc', 'tltc', 'drep_script', 'asset');
  const form = fc.constantFrom('bech32' as const, 'bech32m' as const);
  const version = fc.option(fc.integer({ min: 0, max: 31 }), { nil: undefined });
  fc.assert(
    fc.property(prefix, fc.uint8Array({ maxLength: 200 }), version, form, (name, bytes, first, as) => {
      const words = LIBRARY[as].toWords(bytes);
      const expected = LIBRARY[as].encode(name, first === undefined ? words : [first, ...words], false);
      assert.equal(encodeBech32(name, bytes, first === undefined ? { form: as } : { first, form: as }), expected);
    }),
    { numRuns: 2000 },
  );
});
