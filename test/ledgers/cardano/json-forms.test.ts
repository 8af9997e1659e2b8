/** Plutus data, native scripts and metadata as JSON: every form that their bytes can have. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { metadataJson, readMetadata } from '../../../src/ledgers/cardano/metadata.ts';
import { nativeScriptJson } from '../../../src/ledgers/cardano/native-script.ts';
import { plutusJson } from '../../../src/ledgers/cardano/plutus-json.ts';
import { fromHex, toHex } from '../../../src/util/bytes.ts';
import { isUnspentError } from '../../../src/util/errors.ts';

const isRefusal = (error: unknown): boolean => isUnspentError(error, 'BLOCK_INVALID');

describe('Plutus data', () => {
  const forms: readonly [hex: string, json: object][] = [
    ['d87980', { constructor: 0, fields: [] }],
    ['d87f9f01ff', { constructor: 6, fields: [{ int: 1 }] }],
    ['d9050080', { constructor: 7, fields: [] }],
    ['d9057880', { constructor: 127, fields: [] }],
    ['d8668218c88101', { constructor: 200, fields: [{ int: 1 }] }],
    ['1b001fffffffffffff', { int: Number.MAX_SAFE_INTEGER }],
    ['1b0020000000000000', { int: '9007199254740992' }],
    ['c249010000000000000000', { int: '18446744073709551616' }],
    ['c349010000000000000000', { int: '-18446744073709551617' }],
    ['20', { int: -1 }],
    ['5f41aa41bbff', { bytes: 'aabb' }],
    ['a1419f9f0102ff', { map: [{ k: { bytes: '9f' }, v: { list: [{ int: 1 }, { int: 2 }] } }] }],
  ];
  for (const [hex, json] of forms) test(hex, () => assert.deepEqual(plutusJson(fromHex(hex)), json));

  test('is told from what is none', () => {
    for (const hex of ['', 'f5', 'd87980ff', 'd80180', '6161', `${'81'.repeat(600)}01`])
      assert.throws(() => plutusJson(fromHex(hex)), isRefusal, hex);
  });
});

describe('native scripts', () => {
  test('in every form', () => {
    const key = `8200581c${'22'.repeat(28)}`;
    const sig = { type: 'sig', keyHash: '22'.repeat(28) };
    assert.deepEqual(nativeScriptJson(fromHex(`83030182${key}820281${key}`)), {
      type: 'atLeast',
      required: 1,
      scripts: [sig, { type: 'any', scripts: [sig] }],
    });
    assert.deepEqual(nativeScriptJson(fromHex('9f019f82040582051903e8ffff')), {
      type: 'all',
      scripts: [
        { type: 'after', slot: 5 },
        { type: 'before', slot: 1000 },
      ],
    });
    for (const hex of ['820600', '80', `8200581b${'22'.repeat(27)}`, `${'820181'.repeat(600)}820401`])
      assert.throws(() => nativeScriptJson(fromHex(hex)), isRefusal, hex);
  });
});

describe('metadata', () => {
  test('of every era, with its labels', () => {
    const labels = 'a201616119ffff8102';
    for (const auxiliary of [labels, `82${labels}80`, `d90103a100${labels}`, `d90103a2018000${labels}`])
      assert.deepEqual(
        readMetadata(fromHex(auxiliary)).map(({ label, value }) => [label, toHex(value)]),
        [
          [1n, '6161'],
          [65_535n, '8102'],
        ],
        auxiliary,
      );
    assert.deepEqual(readMetadata(fromHex('d90103a10180')), [], 'scripts only');
  });

  test('as JSON', () => {
    assert.deepEqual(metadataJson(fromHex('a36161010241ff81017f61626163ff')), {
      a: 1,
      2: '0xff',
      '[1]': 'bc',
    });
    assert.equal(metadataJson(fromHex('1bffffffffffffffff')), '18446744073709551615');
    assert.equal(metadataJson(fromHex('20')), -1);
    for (const hex of ['f6', '6161ff', `${'81'.repeat(600)}01`]) assert.throws(() => metadataJson(fromHex(hex)), isRefusal, hex);
  });
});
