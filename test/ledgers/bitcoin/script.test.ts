/**
 * Kinds of script and their text: as Bitcoin Core prints them and as Esplora
 * servers do, with the odd ones that real chains hold.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { coreAsm, coreType, esploraAsm, esploraType, readScript } from '../../../src/ledgers/bitcoin/index.ts';
import { fromHex, toHex } from '../../../src/util/bytes.ts';

const KEY = `02${'ab'.repeat(32)}`;
const LONG_KEY = `04${'cd'.repeat(64)}`;
const HASH20 = '62e907b15cbf27d5425399ebf6f0fb50ebb88f18';
const HASH32 = '79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';

describe('kinds', () => {
  const rows: readonly (readonly [script: string, kind: string, core: string, esplora: string])[] = [
    [`41${LONG_KEY}ac`, 'p2pk', 'pubkey', 'p2pk'],
    [`21${KEY}ac`, 'p2pk', 'pubkey', 'p2pk'],
    [`21${'05'.repeat(33)}ac`, 'unknown', 'nonstandard', 'p2pk'],
    [`76a914${HASH20}88ac`, 'p2pkh', 'pubkeyhash', 'p2pkh'],
    [`a914${HASH20}87`, 'p2sh', 'scripthash', 'p2sh'],
    [`0014${HASH20}`, 'witness', 'witness_v0_keyhash', 'v0_p2wpkh'],
    [`0020${HASH32}`, 'witness', 'witness_v0_scripthash', 'v0_p2wsh'],
    [`5120${HASH32}`, 'witness', 'witness_v1_taproot', 'v1_p2tr'],
    ['51024e73', 'witness', 'anchor', 'unknown'],
    [`5220${HASH32}`, 'witness', 'witness_unknown', 'unknown'],
    [`5114${HASH20}`, 'witness', 'witness_unknown', 'unknown'],
    ['0003abcdef', 'unknown', 'nonstandard', 'unknown'],
    [`5121${KEY}51ae`, 'multisig', 'multisig', 'unknown'],
    [`5221${KEY}41${LONG_KEY}52ae`, 'multisig', 'multisig', 'unknown'],
    [`5221${KEY}51ae`, 'unknown', 'nonstandard', 'unknown'],
    [`0121${KEY}51ae`, 'unknown', 'nonstandard', 'unknown'],
    [`51${`21${KEY}`.repeat(20)}0114ae`, 'multisig', 'multisig', 'unknown'],
    [`51${`21${KEY}`.repeat(21)}0115ae`, 'unknown', 'nonstandard', 'unknown'],
    [`51${`21${KEY}`.repeat(2)}0102ae`, 'unknown', 'nonstandard', 'unknown'],
    [`5121${KEY}51ae51`, 'unknown', 'nonstandard', 'unknown'],
    ['51ae', 'unknown', 'nonstandard', 'unknown'],
    ['ae', 'unknown', 'nonstandard', 'unknown'],
    ['6a', 'data', 'nulldata', 'op_return'],
    ['6a0b68656c6c6f20776f726c64', 'data', 'nulldata', 'op_return'],
    ['6a5152', 'data', 'nulldata', 'op_return'],
    ['6aac', 'unknown', 'nonstandard', 'op_return'],
    ['6a05ab', 'unknown', 'nonstandard', 'op_return'],
    ['', 'unknown', 'nonstandard', 'empty'],
    ['51', 'unknown', 'nonstandard', 'unknown'],
  ];

  test('as a node and an Esplora server name them', () => {
    for (const [hex, kind, core, esplora] of rows) {
      const script = fromHex(hex);
      assert.deepEqual([readScript(script).kind, coreType(script), esploraType(script)], [kind, core, esplora], hex);
    }
  });

  test('what is inside', () => {
    const multisig = readScript(fromHex(`5221${KEY}41${LONG_KEY}52ae`));
    assert.ok(multisig.kind === 'multisig');
    assert.deepEqual([multisig.required, multisig.keys.map((key) => toHex(key))], [2, [KEY, LONG_KEY]]);
    const taproot = readScript(fromHex(`5120${HASH32}`));
    assert.ok(taproot.kind === 'witness');
    assert.deepEqual([taproot.version, toHex(taproot.program)], [1, HASH32]);
  });

  test('Litecoin has two kinds of its own, and no anchor', () => {
    assert.equal(coreType(fromHex(`5920${HASH32}`), true), 'witness_mweb_pegin');
    assert.equal(coreType(fromHex(`5820${HASH32}`), true), 'witness_mweb_hogaddr');
    assert.equal(coreType(fromHex(`5820${HASH32}`)), 'witness_unknown');
    assert.equal(coreType(fromHex('51024e73'), true), 'witness_unknown');
  });
});

describe('text', () => {
  test('as Core prints scripts of outputs', () => {
    const rows: readonly (readonly [script: string, asm: string])[] = [
      [`76a914${HASH20}88ac`, `OP_DUP OP_HASH160 ${HASH20} OP_EQUALVERIFY OP_CHECKSIG`],
      [`0014${HASH20}`, `0 ${HASH20}`],
      [`5120${HASH32}`, `1 ${HASH32}`],
      [`5121${KEY}51ae`, `1 ${KEY} 1 OP_CHECKMULTISIG`],
      ['6a0b68656c6c6f20776f726c64', 'OP_RETURN 68656c6c6f20776f726c64'],
      ['04ffff001d0104', '486604799 4'],
      ['4f00016001810180020080', '-1 0 96 -1 0 0'],
      ['03ffffff', '-8388607'],
      ['04ffffffff', '-2147483647'],
      ['04ffffff7f', '2147483647'],
      ['4c', '[error]'],
      ['5105ab', '1 [error]'],
      ['b1b2babbff50', 'OP_CHECKLOCKTIMEVERIFY OP_CHECKSEQUENCEVERIFY OP_CHECKSIGADD OP_UNKNOWN OP_INVALIDOPCODE OP_RESERVED'],
      ['61b9', 'OP_NOP OP_NOP10'],
      ['4c05aabbccddee4d0500aabbccddee', 'aabbccddee aabbccddee'],
      ['', ''],
    ];
    for (const [script, asm] of rows) assert.equal(coreAsm(fromHex(script)), asm, script);
  });

  test('signatures of an input are named by what they sign', () => {
    const signature = `30440220${'11'.repeat(32)}0220${'22'.repeat(32)}`;
    assert.equal(signature.length / 2, 70);
    const script = (sighash: string): Uint8Array => fromHex(`47${signature}${sighash}21${KEY}`);
    for (const [sighash, name] of [
      ['01', 'ALL'],
      ['02', 'NONE'],
      ['03', 'SINGLE'],
      ['81', 'ALL|ANYONECANPAY'],
      ['82', 'NONE|ANYONECANPAY'],
      ['83', 'SINGLE|ANYONECANPAY'],
    ]) {
      assert.equal(coreAsm(script(sighash), true), `${signature}[${name}] ${KEY}`);
      assert.equal(coreAsm(script(sighash)), `${signature}${sighash} ${KEY}`);
    }
    assert.equal(coreAsm(script('04'), true), `${signature}04 ${KEY}`);
    // A negative number, and zeros in front: not as BIP66 wants it.
    for (const wrong of [signature.replace(/11/, '91'), signature.replace(/1111/, '0011')]) {
      assert.equal(coreAsm(fromHex(`47${wrong}01`), true), `${wrong}01`);
    }
    assert.equal(coreAsm(fromHex(`6a47${signature}01`), true), `OP_RETURN ${signature}01`);
  });

  test('as Esplora servers print them', () => {
    const rows: readonly (readonly [script: string, asm: string])[] = [
      [`76a914${HASH20}88ac`, `OP_DUP OP_HASH160 OP_PUSHBYTES_20 ${HASH20} OP_EQUALVERIFY OP_CHECKSIG`],
      [`0014${HASH20}`, `OP_0 OP_PUSHBYTES_20 ${HASH20}`],
      [`5120${HASH32}`, `OP_PUSHNUM_1 OP_PUSHBYTES_32 ${HASH32}`],
      [`41${LONG_KEY}ac`, `OP_PUSHBYTES_65 ${LONG_KEY} OP_CHECKSIG`],
      ['4f50b1b2ba', 'OP_PUSHNUM_NEG1 OP_RESERVED OP_CLTV OP_CSV OP_CHECKSIGADD'],
      ['fabeff', 'OP_RETURN_250 OP_RETURN_190 OP_INVALIDOPCODE'],
      ['01', 'OP_PUSHBYTES_1 <push past end>'],
      ['0201', 'OP_PUSHBYTES_2 <push past end>'],
      ['4c', '<unexpected end>'],
      ['4d00', '<unexpected end>'],
      ['4c0201', 'OP_PUSHDATA1 <push past end>'],
      ['4dffff01', 'OP_PUSHDATA2 <push past end>'],
      ['4effffffff01', 'OP_PUSHDATA4 <push past end>'],
      ['4c0051', 'OP_PUSHDATA1 OP_PUSHNUM_1'],
      ['4c02abcd', 'OP_PUSHDATA1 abcd'],
      // The script of a real coinbase.
      [
        '03cf760b1b4d696e656420627920416e74506f6f6c383738be00010045bd3903fabe6d6d8dee9c6ded1bbc251c0bdf56784cd8e32dc6c6448186a124ffdda854c54ff1eb02000000000000009b4c0000abc8000000000000',
        'OP_PUSHBYTES_3 cf760b OP_PUSHBYTES_27 4d696e656420627920416e74506f6f6c383738be00010045bd3903 OP_RETURN_250 OP_RETURN_190 OP_2DROP OP_2DROP OP_2MUL OP_RETURN_238 OP_NUMEQUAL OP_2DROP OP_RETURN_237 OP_PUSHBYTES_27 bc251c0bdf56784cd8e32dc6c6448186a124ffdda854c54ff1eb02 OP_0 OP_0 OP_0 OP_0 OP_0 OP_0 OP_0 OP_BOOLOR OP_PUSHDATA1 OP_0 OP_CODESEPARATOR OP_RETURN_200 OP_0 OP_0 OP_0 OP_0 OP_0 OP_0',
      ],
    ];
    for (const [script, asm] of rows) assert.equal(esploraAsm(fromHex(script)), asm, script);
  });

  test('any bytes are printed', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (script) => {
        for (const text of [coreAsm(script), coreAsm(script, true), esploraAsm(script)]) assert.ok(!/undefined|NaN/.test(text));
        assert.ok(coreType(script).length > 0 && esploraType(script).length > 0);
      }),
      { numRuns: 500 },
    );
  });
});
