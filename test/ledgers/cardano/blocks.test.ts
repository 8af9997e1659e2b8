/**
 * Every sample block, of every era: decoded, its hash recomputed and compared
 * with its name, its facts with the table that came with the data, its body
 * with its header, and its structure with what a second CBOR library reads.
 */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import { verifyBody } from '../../../src/ledgers/cardano/body-proof.ts';
import { type CardanoBlock, decodeBlock, OUTPUT_FLAG } from '../../../src/ledgers/cardano/decode.ts';
import { ERA, eraName, readHeader } from '../../../src/ledgers/cardano/header.ts';
import { concatBytes, toHex } from '../../../src/util/bytes.ts';
import { Cursor } from '../../../src/util/cbor.ts';
import { fixtures, hasFixtures, needsFixtures, readFixture, readFixtureText } from '../../support/fixtures.ts';
import { compareWithCborg } from './cborg-reading.ts';
import { BYRON_EPOCH_SLOTS, between, fateOf, flipAt } from './flips.ts';

/** Blocks with byte strings in pieces inside Plutus data, which cborg does not take. */
const REFUSED_BY_CBORG = 8;
const GOLDEN = ['cardano', 'golden', 'n2n-CardanoNodeToNodeVersion2'] as const;

interface Sample {
  readonly name: string;
  readonly raw: Uint8Array;
  readonly block: CardanoBlock;
}

const names = hasFixtures ? readdirSync(fixtures('cardano', 'blocks')).filter((name) => name.endsWith('.cbor')) : [];
const samples: readonly Sample[] = names.map((name) => {
  const raw = new Uint8Array(readFixture('cardano', 'blocks', name));
  return { name, raw, block: decodeBlock(raw, BYRON_EPOCH_SLOTS) };
});

const sampleOf = (prefix: string): Sample => samples.find(({ name }) => name.startsWith(prefix)) ?? assert.fail(`no block ${prefix}`);

/** The rows of the table of single blocks: era, height, slot, transactions and bytes by file. */
function table(): Map<string, { era: string; height: number; slot: string; txs: number; bytes: number }> {
  const rows = readFixtureText('cardano', 'README.md')
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter((cells) => cells[1]?.endsWith('.cbor') && cells.length >= 10);
  return new Map(
    rows.map(([, file, , era, height, slot, txs, bytes]) => [
      file,
      { era, height: Number(height), slot, txs: Number.parseInt(txs, 10), bytes: Number(bytes) },
    ]),
  );
}

describe('single blocks', () => {
  test('hash and slot are those of the file name', needsFixtures, () => {
    assert.equal(samples.length, 124);
    for (const { name, raw, block } of samples) {
      const [, era, slot, hash16] = /-(byron-ebb|[a-z]+)-(\d{9})-([0-9a-f]{16})\.cbor$/.exec(name) ?? assert.fail(name);
      assert.equal(toHex(block.hash).slice(0, 16), hash16, name);
      assert.equal(block.slot, Number(slot), name);
      assert.equal(block.boundary, era === 'byron-ebb', name);
      assert.equal(eraName(block.era), era.replace('-ebb', ''), name);
      assert.deepEqual(readHeader(raw, BYRON_EPOCH_SLOTS), block.header, name);
    }
  });

  test('era, block number, transactions and size are those of the table', needsFixtures, () => {
    const rows = table();
    assert.equal(rows.size, samples.length);
    for (const { name, raw, block } of samples) {
      const row = rows.get(name) ?? assert.fail(`${name} is not in the table`);
      assert.equal(block.era === ERA.byronBoundary ? 'byron-ebb' : eraName(block.era), row.era, name);
      assert.equal(block.height, row.height, name);
      assert.equal(block.txs.length, row.txs, name);
      assert.equal(raw.length, row.bytes, name);
      if (!block.boundary) assert.equal(block.slot, Number(row.slot), name);
    }
  });

  test('one transaction is invalid: its collateral is spent, nothing comes back', needsFixtures, () => {
    for (const { name, block } of samples) {
      const invalid = block.txs.flatMap((tx, i) => (tx.valid ? [] : [i]));
      assert.deepEqual(invalid, name.startsWith('mainnet-alonzo-049503576') ? [3] : [], name);
    }
    const [, , , tx] = sampleOf('mainnet-alonzo-049503576').block.txs;
    assert.deepEqual(tx.creates, []);
    assert.equal(tx.spends.length, 1);
    assert.equal(tx.returnAt, 0);
  });

  test('nothing but a collateral return carries its flag', needsFixtures, () => {
    for (const { block } of samples) {
      for (const tx of block.txs) for (const { flags } of tx.creates) assert.equal(flags & OUTPUT_FLAG.collateralReturn, 0);
    }
  });
});

describe('the body belongs to its header', () => {
  test('each sample block is accepted', needsFixtures, () => {
    for (const { name, block } of samples) assert.doesNotThrow(() => verifyBody(block), name);
  });

  test('a bit flipped in any part of any block is refused', needsFixtures, () => {
    const parts = new Map<string, number>();
    for (const { name, raw, block } of samples) {
      if (block.era < ERA.shelley) continue;
      assert.equal(block.parts.length, block.era < ERA.alonzo ? 4 : 5, name);
      for (let part = 0; part + 1 < block.parts.length; part++) {
        const [start, end] = [block.parts[part], block.parts[part + 1]];
        const { accepted, unproven } = flipAt(raw, [start, (start + end) >> 1, end - 1], (at) => at % 8);
        assert.equal(accepted, 0, `${name} part ${part}`);
        parts.set(`part ${part}`, (parts.get(`part ${part}`) ?? 0) + unproven);
      }
    }
    // For each part the proof itself had to refuse some.
    assert.equal(parts.size, 4);
    for (const [part, unproven] of parts) assert.ok(unproven > 0, part);
  });

  test('every bit of every body byte of some whole blocks', needsFixtures, (t) => {
    for (const prefix of ['sanchonet-conway-023971491', 'testnet-legacy-mary-022350951', 'vasil-devnet-babbage-001029948']) {
      const { raw, block } = sampleOf(prefix);
      for (let bit = 0; bit < 8; bit++) {
        const { accepted, unproven } = flipAt(raw, between(block.parts[0], raw.length), () => bit);
        assert.equal(accepted, 0, `${prefix} bit ${bit}`);
        assert.ok(unproven > 0);
        if (bit === 0) t.diagnostic(`${prefix}: ${unproven} of ${raw.length - block.parts[0]} flips decode and fail the proof`);
      }
    }
  });

  test('Byron: every byte of every transaction, and the body of boundary blocks', needsFixtures, () => {
    let txs = 0;
    for (const { name, raw, block } of samples) {
      if (block.era === ERA.byron) {
        for (const { start, end } of block.txs) {
          const { accepted } = flipAt(raw, between(start, end), (at) => at % 8);
          assert.equal(accepted, 0, name);
          txs++;
        }
      } else if (block.era === ERA.byronBoundary) {
        const [start, end] = block.parts;
        const { accepted, unproven } = flipAt(raw, between(start + 8, end, 40), (at) => at % 8);
        assert.equal(accepted, 0, name);
        assert.ok(unproven > 0);
      }
    }
    assert.equal(txs, 30);
  });

  test('a transaction left out or put twice is refused', needsFixtures, () => {
    const { raw, block } = sampleOf('preprod-babbage-013111973');
    const [first, second] = block.txs;
    const without = concatBytes(raw.subarray(0, first.start), raw.subarray(first.end));
    without[block.parts[0]]--;
    assert.equal(decodeBlock(without, BYRON_EPOCH_SLOTS).txs.length, block.txs.length - 1);
    assert.equal(fateOf(without), 'unproven');
    const twice = concatBytes(raw.subarray(0, second.start), raw.subarray(first.start));
    twice[block.parts[0]]++;
    assert.equal(decodeBlock(twice, BYRON_EPOCH_SLOTS).txs.length, block.txs.length + 1);
    assert.equal(fateOf(twice), 'unproven');
  });
});

test('a second CBOR library reads the same transactions, effects and ids', needsFixtures, (t) => {
  let compared = 0;
  let outputs = 0;
  const refused: string[] = [];
  for (const { name, raw, block } of samples) {
    const counts = compareWithCborg(name, raw, block);
    if (counts === null) refused.push(name);
    compared += counts?.txs ?? 0;
    outputs += counts?.outputs ?? 0;
  }
  t.diagnostic(`${compared} transactions and ${outputs} outputs compared; refused by cborg: ${refused.length}`);
  assert.equal(refused.length, REFUSED_BY_CBORG, refused.join(', '));
  assert.equal(compared, 1356);
  assert.equal(outputs, 3574);
});

describe('golden blocks of the consensus layer', () => {
  const golden = hasFixtures ? readdirSync(fixtures(...GOLDEN)).filter((name) => name.startsWith('Block_')) : [];
  /** The block inside tag 24. */
  const unwrap = (name: string): Uint8Array => {
    const c = new Cursor(readFixture(...GOLDEN, name));
    assert.equal(c.tag(), 24);
    return c.byteString();
  };

  test('each known era decodes, and its body proves', needsFixtures, () => {
    const eras = new Set<number>();
    for (const name of golden.filter((name) => name !== 'Block_Dijkstra')) {
      const block = decodeBlock(unwrap(name), BYRON_EPOCH_SLOTS);
      verifyBody(block);
      assert.equal(eraName(block.era), name.split('_')[1].toLowerCase());
      assert.equal(block.txs.length, block.boundary ? 0 : 1, name);
      eras.add(block.era);
    }
    assert.deepEqual(
      [...eras].sort(),
      Object.values(ERA).sort((a, b) => a - b),
    );
  });

  test('the coming era is refused by its number', needsFixtures, () => {
    assert.throws(() => decodeBlock(unwrap('Block_Dijkstra'), BYRON_EPOCH_SLOTS), { code: 'BLOCK_INVALID', message: /era tag 8/ });
    assert.throws(() => readHeader(unwrap('Block_Dijkstra'), BYRON_EPOCH_SLOTS), { code: 'BLOCK_INVALID', message: /era tag 8/ });
  });
});
