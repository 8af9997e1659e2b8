/**
 * Compiled Plutus programs as text: each construct as the specification writes
 * it, terms at random there and back, and every script of the sample blocks held
 * against its own bytes and against another program's reading of it.
 */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { applyParameters } from '../../../src/ledgers/cardano/cage/flat.ts';
import { decodeBlock } from '../../../src/ledgers/cardano/decode.ts';
import { builtinName } from '../../../src/ledgers/cardano/uplc/builtins.ts';
import { printProgram } from '../../../src/ledgers/cardano/uplc/print.ts';
import { type ConstantType, type ConstantValue, readProgram, type Term } from '../../../src/ledgers/cardano/uplc/program.ts';
import { readWitnesses } from '../../../src/ledgers/cardano/witnesses.ts';
import { readUplc } from '../../../src/server/cardano/uplc-reader.ts';
import { fromHex, toHex } from '../../../src/util/bytes.ts';
import { Cursor } from '../../../src/util/cbor.ts';
import { CborWriter } from '../../../src/util/cbor-write.ts';
import { isUnspentError } from '../../../src/util/errors.ts';
import { UPLC_DEPTH_MAX } from '../../../src/util/limits.ts';
import { fixtures, hasFixtures, needsFixtures, readFixture } from '../../support/fixtures.ts';
import { writeProgram } from './uplc-write.ts';

const { Scalus } = createRequire(import.meta.url)('scalus') as typeof import('scalus');
const BYRON_EPOCH_SLOTS = 21_600;
const VERSION = [1n, 1n, 0n] as const;

const constant = (type: ConstantType, value: ConstantValue): Term => ({ kind: 'constant', type, value });
const variable = (index: bigint): Term => ({ kind: 'variable', index });
const lambda = (body: Term): Term => ({ kind: 'lambda', body });
const apply = (fn: Term, argument: Term): Term => ({ kind: 'apply', fn, argument });
const builtin = (tag: number): Term => ({ kind: 'builtin', tag });
const textOf = (term: Term): string => printProgram(readProgram(writeProgram({ version: VERSION, term })));

describe('the text of a program', () => {
  test('one that is known from elsewhere', () => {
    assert.equal(readUplc('820346450101002499'), '(program 1.1.0 (lam a (con unit ())))');
  });

  test('every construct, as the specification writes it', () => {
    const forms: readonly [Term, string][] = [
      [constant('integer', -42n), '(con integer -42)'],
      [constant('integer', 1n << 70n), '(con integer 1180591620717411303424)'],
      [constant('bytestring', Uint8Array.of(0xca, 0xfe)), '(con bytestring #cafe)'],
      [constant('bytestring', new Uint8Array(300)), `(con bytestring #${'00'.repeat(300)})`],
      [constant('string', 'a "word"'), '(con string "a \\"word\\"")'],
      [constant('bool', true), '(con bool True)'],
      [constant({ list: 'integer' }, [1n, 2n]), '(con (list integer) [1, 2])'],
      [constant({ pair: ['bool', { list: 'unit' }] }, [false, [null]]), '(con (pair bool (list unit)) (False, [()]))'],
      [constant('data', { kind: 'int', value: 7n }), '(con data (I 7))'],
      [lambda(lambda(apply(apply(variable(2n), variable(1n)), variable(3n)))), '(lam a (lam b [a b free3]))'],
      [{ kind: 'force', body: builtin(26) }, '(force (builtin ifThenElse))'],
      [{ kind: 'delay', body: { kind: 'error' } }, '(delay (error))'],
      [{ kind: 'constr', tag: 1n, fields: [builtin(0)] }, '(constr 1 (builtin addInteger))'],
      [{ kind: 'case', of: builtin(86), branches: [builtin(127)] }, '(case (builtin ripemd_160) (builtin builtin#127))'],
    ];
    for (const [term, text] of forms)
      assert.equal(textOf(term), textOf(term).includes('\n') ? textOf(term) : `(program 1.1.0 ${text})`, text);
    for (const [term, text] of forms) assert.equal(textOf(term).replace(/\n\s*/g, ' '), `(program 1.1.0 ${text})`);
  });

  test('what does not fit on a line is on several, each bracket closed', () => {
    const word = constant('bytestring', new Uint8Array(28));
    const text = textOf(lambda(apply(apply(builtin(15), word), apply(builtin(18), word))));
    assert.equal(
      text,
      `(program 1.1.0
  (lam a
    [(builtin equalsByteString)
      (con bytestring #${'00'.repeat(28)})
      [(builtin sha2_256)
        (con bytestring #${'00'.repeat(28)})]]))`,
    );
  });

  test('names of builtins are in their places', () => {
    // From the specification: the first and the last of each batch.
    const placed = {
      0: 'addInteger',
      50: 'mkNilPairData',
      51: 'serialiseData',
      53: 'verifySchnorrSecp256k1Signature',
      54: 'bls12_381_G1_add',
    };
    const later = { 70: 'bls12_381_finalVerify', 74: 'byteStringToInteger', 75: 'andByteString', 86: 'ripemd_160' };
    for (const [tag, name] of Object.entries({ ...placed, ...later })) assert.equal(builtinName(Number(tag)), name);
  });

  test('as deep as may be, and no deeper', () => {
    // Four bits a level: so many times delay, and an error.
    const deep = (levels: number): Uint8Array => fromHex(`010100${'1'.repeat(levels)}6${levels % 2 === 0 ? '1' : '01'}`);
    assert.ok(printProgram(readProgram(deep(UPLC_DEPTH_MAX))).length > UPLC_DEPTH_MAX);
    assert.throws(
      () => readProgram(deep(UPLC_DEPTH_MAX + 1)),
      (error) => isUnspentError(error, 'USAGE'),
    );
  });
});

const typeArbitrary = fc.letrec<{ type: ConstantType }>((tie) => ({
  type: fc.oneof(
    { maxDepth: 2 },
    fc.constantFrom<ConstantType>('integer', 'bytestring', 'string', 'unit', 'bool', 'data'),
    tie('type').map((list) => ({ list })),
    fc.tuple(tie('type'), tie('type')).map((pair) => ({ pair })),
  ),
})).type;

function valueArbitrary(type: ConstantType): fc.Arbitrary<ConstantValue> {
  if (typeof type === 'object') {
    return 'list' in type ? fc.array(valueArbitrary(type.list), { maxLength: 3 }) : fc.tuple(...type.pair.map(valueArbitrary));
  }
  const bytes = fc.uint8Array({ maxLength: 600 });
  switch (type) {
    case 'integer':
      return fc.bigInt();
    case 'bytestring':
      return bytes;
    case 'string':
      return fc.string({ unit: 'grapheme' });
    case 'unit':
      return fc.constant(null);
    case 'bool':
      return fc.boolean();
    case 'data':
      return bytes.map((value) => ({ kind: 'bytes', value: value.subarray(0, 60) }) as const);
  }
}

const PLAIN = { noNullPrototype: true } as const;

const termArbitrary = fc.letrec<{ term: Term }>((tie) => ({
  term: fc.oneof(
    { maxDepth: 6 },
    fc.bigInt({ min: 0n, max: 1n << 40n }).map(variable),
    typeArbitrary.chain((type) => valueArbitrary(type).map((value) => constant(type, value))),
    fc.constant<Term>({ kind: 'error' }),
    fc.integer({ min: 0, max: 127 }).map(builtin),
    fc.record({ kind: fc.constantFrom('delay' as const, 'lambda' as const, 'force' as const), body: tie('term') }, PLAIN),
    fc.tuple(tie('term'), tie('term')).map(([fn, argument]) => apply(fn, argument)),
    fc.record(
      {
        kind: fc.constant('constr' as const),
        tag: fc.bigInt({ min: 0n, max: 300n }),
        fields: fc.array(tie('term'), { maxLength: 3 }),
      },
      PLAIN,
    ),
    fc.record({ kind: fc.constant('case' as const), of: tie('term'), branches: fc.array(tie('term'), { maxLength: 3 }) }, PLAIN),
  ),
})).term;

describe('programs at random', () => {
  test('are read as they were written, and their text closes what it opens', () => {
    fc.assert(
      fc.property(termArbitrary, (term) => {
        const flat = writeProgram({ version: VERSION, term });
        assert.deepEqual(readProgram(flat), { version: VERSION, term });
        const text = printProgram({ version: VERSION, term }).replaceAll(/"(?:[^"\\]|\\.)*"/g, '');
        for (const [open, close] of ['()', '[]']) assert.equal(text.split(open).length, text.split(close).length, text);
      }),
    );
  });

  test('damaged, they are refused or read, and nothing else', () => {
    fc.assert(
      fc.property(termArbitrary, fc.nat(), fc.nat(), (term, at, bit) => {
        const flat = writeProgram({ version: VERSION, term });
        flat[at % flat.length] ^= 1 << (bit % 8);
        for (const bytes of [flat, flat.subarray(0, at % flat.length)]) {
          try {
            printProgram(readProgram(bytes));
          } catch (error) {
            assert.ok(isUnspentError(error, 'USAGE') || isUnspentError(error, 'BLOCK_INVALID'), String(error));
          }
        }
      }),
    );
  });
});

/** Each Plutus script once, as `[kind, script]`. */
function sampleScripts(): Map<string, Uint8Array> {
  const found = new Map<string, Uint8Array>();
  for (const name of readdirSync(fixtures('cardano', 'blocks')).filter((each) => each.endsWith('.cbor'))) {
    const block = decodeBlock(new Uint8Array(readFixture('cardano', 'blocks', name)), BYRON_EPOCH_SLOTS);
    for (const { kind, item } of readWitnesses(block, 'script'))
      if (kind === 'script' && item.bytes[1] !== 0) found.set(toHex(item.hash), item.bytes);
  }
  return found;
}

describe('scripts of real blocks', () => {
  const scripts = hasFixtures ? sampleScripts() : new Map<string, Uint8Array>();
  const flatOf = (script: Uint8Array): Uint8Array => {
    const cursor = new Cursor(script);
    cursor.tuple(2, 'script');
    cursor.uint();
    return new Cursor(cursor.byteString()).byteString();
  };

  test('each is written back to its own bytes, and has a text', needsFixtures, () => {
    assert.ok(scripts.size > 20, `${scripts.size} scripts`);
    for (const [hash, script] of scripts) {
      const flat = flatOf(script);
      const program = readProgram(flat);
      // Constants of data may have been written in other ways; all other bits follow from the term.
      if (!printProgram(program).includes('(con data')) assert.equal(toHex(writeProgram(program)), toHex(flat), hash);
      assert.ok(printProgram(program).startsWith(`(program ${program.version.join('.')}`), hash);
    }
  });

  test('with an argument, they are read alike by us and by another program', needsFixtures, () => {
    for (const [hash, script] of scripts) {
      const flat = flatOf(script);
      const wrapped = new CborWriter().bytes(new CborWriter().bytes(flat).take()).take();
      const theirs = new Cursor(new Cursor(fromHex(Scalus.applyDataArgToScript(toHex(wrapped), '{"int":42}'))).byteString()).byteString();
      const argument = constant('data', { kind: 'int', value: 42n });
      const { version, term } = readProgram(flat);
      assert.deepEqual(readProgram(theirs), { version, term: apply(term, argument) }, hash);
      assert.deepEqual(readProgram(applyParameters(flat, [Uint8Array.of(0x18, 42)])), { version, term: apply(term, argument) }, hash);
    }
  });
});
