/**
 * Decoding is strict: one right form, or any well-formed Plutus data; nothing
 * cut, nothing behind, nothing unknown. Everything else is a typed error, also
 * for bytes and values that were never a proof.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encode as cborEncode } from 'cborg';
import fc from 'fast-check';
import { csmt, MemoryNodes, mmr, mpf } from '../../src/proofs/index.ts';
import { concatBytes, fromHex, toHex, utf8 } from '../../src/util/bytes.ts';
import { isUnspentError } from '../../src/util/errors.ts';
import { bits, Dice } from './support.ts';

const dice = new Dice();
const hash = dice.bytes(32);
const leaf = { key: bits('0110'), value: hash };

const inclusion: csmt.InclusionProof = {
  ...leaf,
  rootJump: bits('01'),
  steps: [{ consumed: 2, sibling: { jump: bits('0'.repeat(530)), value: hash } }],
};
const exclusion: csmt.ExclusionProof = { type: 'witness', target: bits('0111'), witness: inclusion };
const completeness: csmt.CompletenessProof = { type: 'witness', merges: [[0, 1]], steps: inclusion.steps };

const forest: mpf.Proof = [
  { type: 'branch', skip: 0, neighbors: dice.bytes(128) },
  { type: 'fork', skip: 3, neighbor: { nibble: 7, prefix: Uint8Array.of(1, 15), root: hash } },
  { type: 'leaf', skip: 1, neighbor: { key: dice.bytes(32), value: hash } },
];

const range: mmr.MmrProof = { mmrSize: 19, leafIndex: 3, path: [hash, hash, hash, hash] };

/** Every binary codec: how to read, and bytes that are right. */
const BINARY: readonly (readonly [name: string, decode: (bytes: Uint8Array) => unknown, bytes: Uint8Array])[] = [
  ['inclusion', csmt.decodeInclusion, csmt.encodeInclusion(inclusion)],
  ['inclusion with its root', csmt.decodeInclusion, csmt.encodeInclusion({ ...inclusion, statedRoot: hash })],
  ['compact inclusion', (bytes) => csmt.decodeCompact(bytes, leaf), csmt.encodeCompact(inclusion)],
  ['inclusion in Plutus data', (bytes) => csmt.decodePlutus(bytes, leaf), csmt.encodePlutus(inclusion)],
  ['exclusion', csmt.decodeExclusion, csmt.encodeExclusion(exclusion)],
  ['exclusion from nothing', csmt.decodeExclusion, csmt.encodeExclusion({ type: 'empty' })],
  ['completeness', csmt.decodeCompleteness, csmt.encodeCompleteness(completeness)],
  ['completeness of nothing', csmt.decodeCompleteness, csmt.encodeCompleteness({ type: 'empty', exclusion })],
  ['forestry', mpf.decode, mpf.encode(forest)],
  ['forestry, empty', mpf.decode, mpf.encode([])],
  ['range', (bytes) => mmr.decodeProof(bytes, 3), mmr.encodeProof(range)],
];

const JSON_CODECS: readonly (readonly [name: string, decode: (json: unknown) => unknown, json: unknown])[] = [
  ['inclusion', csmt.inclusionFromJson, csmt.inclusionToJson(inclusion)],
  ['exclusion', csmt.exclusionFromJson, csmt.exclusionToJson(exclusion)],
  ['exclusion from nothing', csmt.exclusionFromJson, { type: 'empty' }],
  ['completeness', csmt.completenessFromJson, csmt.completenessToJson(completeness)],
  ['completeness of nothing', csmt.completenessFromJson, csmt.completenessToJson({ type: 'empty', exclusion })],
  ['forestry', mpf.fromJson, mpf.toJson(forest)],
  ['range', mmr.proofFromJson, mmr.proofToJson(range)],
  ['output', mmr.utxoProofFromJson, mmr.utxoProofToJson({ leaf: range, bits: { chunk: new Uint8Array(128), proof: range } })],
  ['output of nothing', mmr.utxoProofFromJson, mmr.utxoProofToJson({ leaf: range, bits: null })],
];

const isUsage = (error: unknown): boolean => isUnspentError(error, 'USAGE') && /malformed proof/.test((error as Error).message);

describe('binary codecs', () => {
  for (const [name, decode, bytes] of BINARY) {
    test(`${name}: cut anywhere, or with a byte behind`, () => {
      decode(bytes);
      for (let length = 0; length < bytes.length; length++) assert.throws(() => decode(bytes.slice(0, length)), isUsage, `${length} bytes`);
      for (const extra of [0, 0x80, 0xff]) assert.throws(() => decode(Uint8Array.of(...bytes, extra)), isUsage);
    });
  }

  test('bytes that were never a proof', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        for (const [name, decode] of BINARY) {
          try {
            decode(bytes);
          } catch (error) {
            assert.ok(isUsage(error), `${name}: ${error}`);
          }
        }
      }),
      { numRuns: 3000, seed: dice.seed },
    );
  });

  test('a CSMT proof has one encoding', () => {
    const text = toHex(csmt.encodeInclusion(inclusion));
    // 4 elements, 4 bits of key.
    assert.ok(text.startsWith(`84${'84'}00010100`));
    const others = [
      text.replace(/^84/, '9804'),
      text.replace(/^8484/, '849804'),
      text.replace(/^848400010100/, '84840001011800'),
      text.replace(/^848400010100(.*)$/, '849f00010100ff$1'),
      text.replace(/^848400010100/, '848400010200'),
      `9f${text.slice(2)}ff`,
    ];
    for (const other of others) {
      assert.notEqual(other, text);
      assert.throws(() => csmt.decodeInclusion(fromHex(other)), isUsage, other.slice(0, 20));
    }
    assert.throws(() => csmt.decodeExclusion(fromHex('8102')), isUsage);
    assert.throws(() => csmt.decodeExclusion(fromHex('820000')), isUsage);
    assert.throws(() => csmt.decodeCompleteness(fromHex('83028080')), isUsage);
  });

  test('paths inside short encodings are packed in one way', () => {
    const packed = toHex(csmt.encodeCompact({ ...inclusion, steps: [] }));
    assert.equal(packed, '8143000240');
    for (const bad of ['8143000241', '81440002' + '4000', '8142' + '0002', '8141' + '00', '8143' + '0402ff', '80']) {
      assert.throws(() => csmt.decodeCompact(fromHex(bad), leaf), isUsage, bad);
    }
    const plutus = toHex(csmt.encodePlutus({ ...inclusion, steps: [] }));
    assert.equal(plutus, 'd8799f43000240ff');
    for (const bad of ['d8799f43000241ff', 'd87a9f43000240ff', 'd8799fff', 'd87980']) {
      assert.throws(() => csmt.decodePlutus(fromHex(bad), leaf), isUsage, bad);
    }
  });

  test('Plutus data is read in every encoding of the same data', () => {
    const value = toHex(hash);
    const forms = [
      `d8799f43000240d8799f0243${'000180'}5820${value}ffff`,
      `d8798243000240d8798302430001805820${value}`,
      `d8799f5f4100420240ffd8799f180243${'000180'}5f4a${value.slice(0, 20)}56${value.slice(20)}ffffff`,
      `d8669f009f43000240d8799f0243${'000180'}5820${value}ffffff`,
      `d866820082430002${'40'}d8799f0243${'000180'}5820${value}ff`,
    ];
    for (const form of forms) {
      const proof = csmt.decodePlutus(fromHex(form), leaf);
      assert.deepEqual(proof.steps, [{ consumed: 2, sibling: { jump: bits('1'), value: hash } }], form);
    }
    assert.deepEqual(mpf.decode(fromHex('80')), []);
    assert.deepEqual(mpf.decode(fromHex('9fff')), []);
    assert.equal(toHex(mpf.encode([], 'redeemer')), '80');
    const neighbors = dice.bytes(128);
    for (const skip of ['03', '1803', '1b0000000000000003', 'c24103']) {
      const definite = concatBytes(fromHex(`81d87982${skip}5880`), neighbors);
      assert.deepEqual(mpf.decode(definite), [{ type: 'branch', skip: 3, neighbors }]);
    }
  });

  test('long byte strings of Plutus data come in pieces of 64', () => {
    const bytes = csmt.encodePlutus(inclusion);
    assert.deepEqual(csmt.decodePlutus(bytes, leaf), inclusion);
    // 2 + 67 bytes of path: 64 and 5.
    assert.match(toHex(bytes), /5f5840[0-9a-f]{128}45[0-9a-f]{10}ff/);
  });

  test('forestry steps of the wrong form', () => {
    const bad = [
      'd87c9f00ff', // no such constructor
      'd8799f0041ffff'.replace('41ff', '4100'), // neighbors of one byte
      `d87b9f00581f${'00'.repeat(31)}5820${'00'.repeat(32)}ff`, // a key of 31 bytes
      `d87b9f205820${'00'.repeat(32)}5820${'00'.repeat(32)}ff`, // a negative skip
      `d87b9f005820${'00'.repeat(32)}ff`, // a field is missing
      `d87b9f005820${'00'.repeat(32)}5820${'00'.repeat(32)}00ff`, // a field too many
      `d87b84005820${'00'.repeat(32)}5820${'00'.repeat(32)}00`,
      `d87a9f00d87a9f00405820${'00'.repeat(32)}ffff`, // a neighbor of another constructor
      `d87b9f1b00000001000000005820${'00'.repeat(32)}5820${'00'.repeat(32)}ff`, // a skip beyond 32 bits
    ];
    for (const step of bad) assert.throws(() => mpf.decode(fromHex(`9f${step}ff`)), isUsage, step.slice(0, 24));
    assert.deepEqual(
      mpf.decode(concatBytes(Uint8Array.of(0x81), fromHex(`d87b83005820${'00'.repeat(32)}5820${'00'.repeat(32)}`))).length,
      1,
    );
  });

  test('a range proof that lies about its length, or is too large', () => {
    const bytes = mmr.encodeProof(range);
    for (const [at, byte] of [
      [15, 3],
      [15, 5],
      [8, 1],
      [0, 1],
    ] as const) {
      const changed = bytes.slice();
      changed[at] = byte;
      assert.throws(() => mmr.decodeProof(changed, 0), isUsage);
    }
    assert.deepEqual(mmr.decodeProof(mmr.encodeProof({ ...range, path: [] }), 3).path, []);
  });
});

describe('JSON codecs', () => {
  /** The same value with something wrong at every place of it. */
  function* spoiled(value: unknown): Iterable<unknown> {
    yield* [undefined, 1.5, -1, 'zz', '0G', {}, [{}], true];
    if (Array.isArray(value)) {
      for (let i = 0; i < value.length; i++) for (const part of spoiled(value[i])) yield value.with(i, part);
    } else if (typeof value === 'object' && value !== null) {
      yield { ...value, extra: 1 };
      for (const [name, part] of Object.entries(value)) {
        const { [name]: _, ...rest } = value as Record<string, unknown>;
        yield rest;
        for (const bad of spoiled(part)) yield { ...value, [name]: bad };
      }
    } else if (typeof value === 'string') {
      yield* [`${value}0z`, ` ${value}`];
    }
  }

  for (const [name, decode, json] of JSON_CODECS) {
    test(`${name}: anything wrong anywhere`, () => {
      decode(JSON.parse(JSON.stringify(json)));
      let count = 0;
      for (const bad of spoiled(json)) {
        assert.throws(() => decode(bad), isUsage, JSON.stringify(bad));
        count++;
      }
      assert.ok(count >= 8);
    });
  }

  test('numbers of ranges are exact', () => {
    const json = mmr.proofToJson(range);
    for (const mmrSize of ['019', '9007199254740993', '99999999999999999999', '-1', '1e3', 19]) {
      assert.throws(() => mmr.proofFromJson({ ...json, mmrSize }), isUsage);
    }
    assert.equal(mmr.proofFromJson({ ...json, mmrSize: '9007199254740991' }).mmrSize, Number.MAX_SAFE_INTEGER);
  });
});

describe('a second library', () => {
  test('agrees on the CBOR of CSMT proofs', () => {
    const nodes = new MemoryNodes();
    csmt.update(
      nodes,
      nodes,
      ['hello', 'foo', 'test'].map((text) => ({ key: { bytes: utf8(text), length: 8 * text.length }, value: dice.bytes(32) })),
    );
    for (const [key] of csmt.entries(nodes)) {
      const proof = csmt.proveInclusion(nodes, key)!;
      const list = (path: typeof key): number[] => Array.from({ length: path.length }, (_, i) => (path.bytes[i >> 3] >> (7 - (i % 8))) & 1);
      const steps = proof.steps.map(({ consumed, sibling }) => [consumed, [list(sibling.jump), sibling.value]]);
      assert.deepEqual(
        csmt.encodeInclusion(proof),
        Uint8Array.from(cborEncode([list(proof.key), proof.value, steps, list(proof.rootJump)])),
      );
    }
  });
});
