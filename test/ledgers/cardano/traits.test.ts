/**
 * What outputs carry and what transactions bring along, as the projections ask
 * for it: against `describeOutput`, which reads the same bytes another way, and
 * against what the chain itself names (policies of a mint, hashes of datums).
 */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { blake2b224, blake2b256 } from '../../../src/crypto/hash.ts';
import { type CardanoBlock, decodeBlock } from '../../../src/ledgers/cardano/decode.ts';
import { describeOutput } from '../../../src/ledgers/cardano/describe.ts';
import { cardanoTraits as traits } from '../../../src/ledgers/cardano/traits.ts';
import { describeTx } from '../../../src/ledgers/cardano/transaction.ts';
import type { Witness, WitnessKind } from '../../../src/ledgers/ledger.ts';
import { concatBytes, fromHex, toHex } from '../../../src/util/bytes.ts';
import { CborWriter } from '../../../src/util/cbor-write.ts';
import { isUnspentError } from '../../../src/util/errors.ts';
import { Dice, damage } from '../../fuzz/mutate.ts';
import { dress } from '../../support/dressed.ts';
import { fixtures, hasFixtures, needsFixtures, readFixture } from '../../support/fixtures.ts';
import { Devnet, devnetOptions, TEST_SEED } from '../../support/harness.ts';

const EPOCH_SLOTS = 21_600;
const ERA_SHELLEY = 2;
const names = hasFixtures ? readdirSync(fixtures('cardano', 'blocks')).filter((name) => name.endsWith('.cbor')) : [];
const realBlocks = names.map((name) => decodeBlock(readFixture('cardano', 'blocks', name), EPOCH_SLOTS));

const hexOrNull = (bytes: Uint8Array | null | undefined) => (bytes ? toHex(bytes) : null);

/** Everything the traits say of an output. */
function told(raw: Uint8Array, start = 0, end = raw.length) {
  const assets: unknown[] = [];
  traits.assets(raw, start, end, (policy, name, quantity) => assets.push([toHex(policy), toHex(name), quantity]));
  const inline = traits.inlineDatum(raw, start, end);
  const script = traits.referenceScript(raw, start, end);
  return {
    assets,
    datumHash: hexOrNull(traits.datumHash(raw, start, end)),
    inline: inline && [toHex(inline.hash), toHex(inline.bytes)],
    script: script && [toHex(script.hash), toHex(script.bytes)],
  };
}

/** The same from the description. Encodings of scripts on chain are the shortest there are, so bytes are the same too. */
function described(raw: Uint8Array, start = 0, end = raw.length) {
  const { assets, datumHash, inlineDatum, scriptRef, scriptHash } = describeOutput(raw, start, end);
  return {
    assets: assets.filter(({ quantity }) => quantity > 0n).map(({ policy, name, quantity }) => [toHex(policy), toHex(name), quantity]),
    datumHash: hexOrNull(inlineDatum === null ? datumHash : blake2b256(inlineDatum)),
    inline: inlineDatum && [toHex(blake2b256(inlineDatum)), toHex(inlineDatum)],
    script: scriptRef && [toHex(scriptHash!), toHex(scriptRef)],
  };
}

type Seen = Record<'plain' | 'notPlain' | 'assets' | 'datumHash' | 'inline' | 'script' | 'bareButNotPlain', number>;

function compareOutputs(block: Pick<CardanoBlock, 'raw' | 'txs'>, seen: Seen): void {
  for (const { creates } of block.txs) {
    for (const { start, end } of creates) {
      const wanted = described(block.raw, start, end);
      assert.deepEqual(told(block.raw, start, end), wanted);
      const bare = wanted.assets.length === 0 && wanted.datumHash === null && wanted.script === null;
      const plain = traits.isPlain(block.raw, start, end);
      assert.ok(bare || !plain, 'what carries something is not plain');
      seen[plain ? 'plain' : 'notPlain']++;
      if (bare && !plain) seen.bareButNotPlain++;
      if (wanted.assets.length > 0) seen.assets++;
      for (const field of ['datumHash', 'inline', 'script'] as const) if (wanted[field] !== null) seen[field]++;
    }
  }
}

const nothingSeen = (): Seen => ({ plain: 0, notPlain: 0, assets: 0, datumHash: 0, inline: 0, script: 0, bareButNotPlain: 0 });

describe('outputs', () => {
  test('of real blocks carry what their description says', needsFixtures, (t) => {
    const seen = nothingSeen();
    for (const block of realBlocks) compareOutputs(block, seen);
    t.diagnostic(JSON.stringify(seen));
    assert.ok(Object.values({ ...seen, bareButNotPlain: 1 }).every((count) => count > 0));
    assert.ok(seen.bareButNotPlain < seen.plain / 20, 'nearly every output that carries nothing is known to be plain at once');
  });

  test('of devnets of all eras too', (t) => {
    const seen = nothingSeen();
    for (let seed = 0; seed < 6; seed++) {
      const devnet = new Devnet(devnetOptions(TEST_SEED + seed, seed % 2 === 0 ? 'ancient' : 'conway'));
      for (const block of devnet.mine(70)) compareOutputs(block as CardanoBlock, seen);
    }
    t.diagnostic(JSON.stringify(seen));
    assert.ok(Object.values(seen).every((count) => count > 0));
  });

  const w = new CborWriter();
  const address = fromHex(`61${'11'.repeat(28)}`);
  const policy = new Uint8Array(28).fill(7);
  const assetsOf = (name: Uint8Array, quantity: bigint) => w.map(1).bytes(policy).map(1).bytes(name).int(quantity).take();

  test('an asset of which there is none is not there', () => {
    const raw = w
      .array(2)
      .bytes(address)
      .array(2)
      .uint(5)
      .raw(assetsOf(new Uint8Array(0), 0n))
      .take();
    assert.deepEqual(told(raw).assets, []);
  });

  test('quantities above 64 bits are exact', () => {
    const raw = w
      .array(2)
      .bytes(address)
      .array(2)
      .uint(5)
      .raw(assetsOf(Uint8Array.of(1), 1n << 80n))
      .take();
    assert.deepEqual(told(raw).assets, [[toHex(policy), '01', 1n << 80n]]);
  });

  test('what no ledger lets into an output is refused', () => {
    const wrong = [
      assetsOf(Uint8Array.of(1), -1n),
      assetsOf(new Uint8Array(33), 1n),
      w.map(1).bytes(new Uint8Array(27)).map(1).bytes(Uint8Array.of(1)).uint(1).take(),
    ];
    for (const assets of wrong) {
      const raw = w.array(2).bytes(address).array(2).uint(5).raw(assets).take();
      assert.throws(() => told(raw), { code: 'BLOCK_INVALID' });
    }
  });

  test('fields in any order and of indefinite length are found, and none is taken for plain that is not', () => {
    const value = w
      .startArray()
      .uint(7)
      .raw(assetsOf(Uint8Array.of(1), 3n))
      .end()
      .take();
    const datum = w.array(2).uint(1).encoded(Uint8Array.of(0x18, 0x2a)).take();
    const script = w.encoded(w.startArray().uint(2).startBytes().bytes(Uint8Array.of(1)).bytes(Uint8Array.of(2)).end().end().take()).take();
    const raw = w.startMap().uint(3).raw(script).uint(2).raw(datum).uint(1).raw(value).uint(0).bytes(address).end().take();
    assert.equal(traits.isPlain(raw, 0, raw.length), false);
    assert.deepEqual(told(raw), {
      assets: [[toHex(policy), '01', 3n]],
      datumHash: toHex(blake2b256(Uint8Array.of(0x18, 0x2a))),
      inline: [toHex(blake2b256(Uint8Array.of(0x18, 0x2a))), '182a'],
      // However it was written, a script is given one way.
      script: [toHex(blake2b224(Uint8Array.of(2, 1, 2))), '8202420102'],
    });
    for (const [bytes, plain] of [
      [w.array(2).bytes(address).uint(5).take(), true],
      [
        w
          .map(2)
          .uint(0)
          .bytes(address)
          .uint(1)
          .bigUint(1n << 60n)
          .take(),
        true,
      ],
      [w.map(2).uint(1).uint(5).uint(0).bytes(address).take(), false],
      [w.map(2).uint(0).bytes(address).uint(1).raw(value).take(), false],
      [w.map(2).uint(0).bytes(address).uint(2).uint(5).take(), false],
      [w.array(2).bytes(address).raw(value).take(), false],
      [w.array(3).bytes(address).uint(5).bytes(new Uint8Array(32)).take(), false],
      [w.array(2).bytes(address).uint(5).take().subarray(0, 31), false],
      [Uint8Array.of(0x82), false],
      [Uint8Array.of(0x82, 0x58), false],
    ] as const)
      assert.equal(traits.isPlain(bytes, 0, bytes.length), plain, toHex(bytes));
  });

  test('any bytes give an answer or BLOCK_INVALID', () => {
    const sound = w
      .map(4)
      .uint(0)
      .bytes(address)
      .uint(1)
      .array(2)
      .uint(5)
      .raw(assetsOf(Uint8Array.of(9), 4n))
      .uint(2)
      .array(2)
      .uint(1);
    const raw = sound.encoded(fromHex('d87980')).uint(3).encoded(fromHex('820142aabb')).take();
    assert.ok(told(raw).script !== null && told(raw).inline !== null);
    for (let i = 0; i < 20_000; i++) {
      const damaged = damage(raw, new Dice(TEST_SEED, i), raw);
      traits.isPlain(damaged, 0, damaged.length);
      tolerated(() => told(damaged));
    }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => tolerated(() => told(bytes))),
      { seed: TEST_SEED, numRuns: 3000 },
    );
  });
});

/** Fine, or BLOCK_INVALID. */
function tolerated(body: () => unknown): void {
  try {
    body();
  } catch (error) {
    assert.ok(isUnspentError(error, 'BLOCK_INVALID'), String(error));
  }
}

function ofKind(witnesses: Iterable<Witness>, kind: WitnessKind): Witness[] {
  return [...witnesses].filter((witness) => witness.kind === kind);
}

describe('witnesses', () => {
  test('of real blocks: whoever mints shows the policy, and datums are known by their hashes', needsFixtures, (t) => {
    const seen = { datums: 0, native: 0, v1: 0, v2: 0, v3: 0, policies: 0, unshown: 0, datumHashes: 0 };
    for (const block of realBlocks) {
      const witnesses = [...traits.witnesses(block)];
      assert.deepEqual([...traits.witnesses(block, 'datum')], ofKind(witnesses, 'datum'));
      assert.deepEqual([...traits.witnesses(block, 'script')], ofKind(witnesses, 'script'));
      for (const { kind, item } of witnesses) {
        assert.deepEqual(traits.hashOf(kind, item.bytes), item.hash);
        seen[kind === 'datum' ? 'datums' : (['native', 'v1', 'v2', 'v3'] as const)[item.bytes[1]]]++;
      }
      if (block.era < ERA_SHELLEY) continue;
      for (const [i, { start, end, valid }] of block.txs.entries()) {
        const own = new Set(witnesses.filter(({ txIndex }) => txIndex === i).map(({ item }) => toHex(item.hash)));
        const { mint, referenceInputs, outputs } = describeTx(block.raw, start, end, valid);
        for (const policy of new Set(mint.map((asset) => toHex(asset.policy)))) {
          if (own.has(policy)) seen.policies++;
          else if (referenceInputs.length === 0) seen.unshown++;
        }
        for (const { datumHash } of outputs) if (datumHash !== null && own.has(toHex(datumHash))) seen.datumHashes++;
      }
    }
    t.diagnostic(JSON.stringify(seen));
    assert.equal(seen.unshown, 0, 'without reference inputs the script of every policy is a witness');
    assert.ok(Object.entries(seen).every(([name, count]) => name === 'unshown' || count > 0));
  });

  test('of made blocks are what was put there', () => {
    let count = 0;
    for (const flavour of ['conway', 'ancient'] as const) {
      const devnet = new Devnet(devnetOptions(TEST_SEED, flavour), { dressed: true });
      devnet.mine(70);
      for (const [i, block] of devnet.blocks().entries()) {
        const found = Array.from(traits.witnesses(block), ({ txIndex, kind, item }) => ({ txIndex, kind, ...item }));
        const byTx = (a: { txIndex: number; hash: Uint8Array }, b: typeof a) =>
          a.txIndex - b.txIndex || toHex(a.hash).localeCompare(toHex(b.hash));
        const wanted = [...devnet.brought(devnet.chain.blocks[i])];
        assert.deepEqual(found.sort(byTx).map(plain), wanted.sort(byTx).map(plain));
        count += found.length;
      }
    }
    assert.ok(count > 100, `${count} witnesses`);
  });

  test('scripts of auxiliary data count, in each of its forms', () => {
    const native = fromHex(`8200581c${'33'.repeat(28)}`);
    const w = new CborWriter();
    const forms: readonly (readonly [Uint8Array, readonly string[]])[] = [
      [w.map(1).uint(721).text('metadata').take(), []],
      [w.array(2).map(0).array(1).raw(native).take(), ['00']],
      [w.tag(259).map(3).uint(0).map(0).uint(1).array(1).raw(native).uint(4).array(1).bytes(Uint8Array.of(5)).take(), ['00', '03']],
    ];
    const { block, from, to } = aBlock();
    for (const [auxiliary, kinds] of forms) {
      const part = w.map(1).uint(0).raw(auxiliary).take();
      const again = decodeBlock(concatBytes(block.raw.subarray(0, from(2)), part, block.raw.subarray(to(2))), EPOCH_SLOTS);
      const before = ofKind(traits.witnesses(block), 'script').length;
      const added = ofKind(traits.witnesses(again), 'script').slice(before);
      assert.deepEqual(
        added.map(({ item }) => toHex(item.bytes, 1, 2)),
        kinds,
      );
      for (const { item } of added) assert.deepEqual(traits.hashOf('script', item.bytes), item.hash);
    }
    const stranger = w.map(1).uint(65_535).raw(forms[1][0]).take();
    const wrong = decodeBlock(concatBytes(block.raw.subarray(0, from(2)), stranger, block.raw.subarray(to(2))), EPOCH_SLOTS);
    assert.throws(() => traits.witnesses(wrong), { code: 'BLOCK_INVALID' });
  });

  test('more witness sets than transactions are refused', () => {
    const { block, from, to } = aBlock();
    const sets = new CborWriter().startArray();
    for (let i = 0; i <= block.txs.length; i++) sets.map(0);
    const raw = concatBytes(block.raw.subarray(0, from(1)), sets.end().take(), block.raw.subarray(to(1)));
    assert.throws(() => traits.witnesses(decodeBlock(raw, EPOCH_SLOTS)), { code: 'BLOCK_INVALID', message: /witness sets/ });
  });

  test('damaged ones give an answer or BLOCK_INVALID', () => {
    const { block, from, to } = aBlock();
    const part = block.raw.subarray(from(1), to(1));
    let read = 0;
    for (let i = 0; i < 20_000; i++) {
      const raw = concatBytes(block.raw.subarray(0, from(1)), damage(part, new Dice(TEST_SEED, i), part), block.raw.subarray(to(1)));
      tolerated(() => {
        const decoded = decodeBlock(raw, EPOCH_SLOTS);
        for (const { txIndex } of traits.witnesses(decoded)) assert.ok(txIndex < decoded.txs.length);
        read++;
      });
    }
    assert.ok(read > 1000, `${read} of the damaged blocks could be read`);
  });
});

const plain = ({ txIndex, kind, hash, bytes }: { txIndex: number; kind: string; hash: Uint8Array; bytes: Uint8Array }) => [
  txIndex,
  kind,
  toHex(hash),
  toHex(bytes),
];

/** A block with witnesses of both kinds, and where its parts stand. */
function aBlock(): { block: CardanoBlock; from: (part: number) => number; to: (part: number) => number } {
  const devnet = new Devnet(devnetOptions(TEST_SEED, 'conway'));
  devnet.mine(60);
  for (const { raw } of devnet.chain.blocks) {
    const { raw: dressed, brought } = dress(raw);
    const block = decodeBlock(dressed, EPOCH_SLOTS);
    const kinds = new Set(brought.map(({ kind }) => kind));
    if (kinds.size === 2) return { block, from: (part) => block.parts[part], to: (part) => block.parts[part + 1] };
  }
  throw new Error('no block of 60 has both');
}
