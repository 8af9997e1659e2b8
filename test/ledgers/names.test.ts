/** Outpoints and assets as text, as the command line and the HTTP API take them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseUnit } from '../../src/ledgers/asset.ts';
import { OUTPUT_INDEX_MAX, parseOutpoint } from '../../src/ledgers/outpoint.ts';
import { fromHex, toHex } from '../../src/util/bytes.ts';

const ID = `${'ab'.repeat(31)}01`;
const POLICY = 'cd'.repeat(28);
const refused = (read: () => unknown): void => assert.throws(read, { code: 'USAGE' });

describe('an outpoint', () => {
  it('is the id and the index, in the byte order of the family', () => {
    assert.deepEqual(parseOutpoint(`${ID}#7`), { txId: fromHex(ID), index: 7 });
    assert.equal(parseOutpoint(`${ID.toUpperCase()}#${OUTPUT_INDEX_MAX}`).index, OUTPUT_INDEX_MAX);
    const reversed = parseOutpoint(`${ID}#0`, (id) => fromHex(id).reverse());
    assert.equal(toHex(reversed.txId), `01${'ab'.repeat(31)}`);
  });

  it('is nothing else', () => {
    const wrong = [
      '',
      ID,
      `${ID}#`,
      `#0`,
      `${ID}#-1`,
      `${ID}#1.5`,
      `${ID}#0#0`,
      `${ID.slice(2)}#0`,
      `${ID}00#0`,
      `z${ID.slice(1)}#0`,
      ` ${ID}#0`,
    ];
    for (const text of [...wrong, `${ID}#${OUTPUT_INDEX_MAX + 1}`, `${ID}#${'0'.repeat(11)}`]) refused(() => parseOutpoint(text));
  });
});

describe('a unit', () => {
  it('is policy and name, joined or with a dot', () => {
    const wanted = { policy: fromHex(POLICY), name: fromHex('0102') };
    assert.deepEqual(parseUnit(`${POLICY}0102`), wanted);
    assert.deepEqual(parseUnit(`${POLICY}.0102`), wanted);
    assert.equal(parseUnit(POLICY).name.length, 0);
    assert.equal(parseUnit(`${POLICY}.`).name.length, 0);
    assert.equal(parseUnit(POLICY + 'ef'.repeat(32)).name.length, 32);
  });

  it('is nothing else', () => {
    const wrong = [
      '',
      POLICY.slice(2),
      `${POLICY}0`,
      `${POLICY}..01`,
      `${POLICY}.01.02`,
      `.${POLICY}`,
      `${POLICY}zz`,
      POLICY + 'ef'.repeat(33),
    ];
    for (const text of wrong) refused(() => parseUnit(text));
  });
});
