/**
 * Every sample block, of every era: decoded, its hash recomputed and compared
 * with its name, its facts with the table that came with the data, its body
 * with its header, and its structure with what a second CBOR library reads.
 */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import { decode, decodeFirst, Tagged } from 'cborg';
import { verifyBody } from '../../../src/ledgers/cardano/body-proof.ts';
import { type CardanoBlock, type CardanoTx, decodeBlock, OUTPUT_FLAG } from '../../../src/ledgers/cardano/decode.ts';
import { ERA, eraName, readHeader } from '../../../src/ledgers/cardano/header.ts';
import { concatBytes, toHex } from '../../../src/util/bytes.ts';
import { Cursor } from '../../../src/util/cbor.ts';
import { isUnspentError } from '../../../src/util/errors.ts';
import { blake2b256 } from '../../../src/util/hash.ts';
import { fixtures, hasFixtures, needsFixtures, readFixture, readFixtureText } from '../../support/fixtures.ts';

const BYRON_EPOCH_SLOTS = 21_600;
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

/** What becomes of changed bytes: both refusals are BLOCK_INVALID, anything else is a failure of the test. */
function fateOf(raw: Uint8Array): 'accepted' | 'undecodable' | 'unproven' {
  let decoded = false;
  try {
    const block = decodeBlock(raw, BYRON_EPOCH_SLOTS);
    decoded = true;
    verifyBody(block);
    return 'accepted';
  } catch (error) {
    if (!isUnspentError(error, 'BLOCK_INVALID')) throw error;
    return decoded ? 'unproven' : 'undecodable';
  }
}

/** Counts the fates of one flipped bit at each of the places. */
function flipAt(raw: Uint8Array, places: Iterable<number>, bitOf: (at: number) => number): Record<string, number> {
  const changed = raw.slice();
  const fates: Record<string, number> = { accepted: 0, undecodable: 0, unproven: 0 };
  for (const at of places) {
    changed[at] ^= 1 << bitOf(at);
    fates[fateOf(changed)]++;
    changed[at] = raw[at];
  }
  return fates;
}

function* between(start: number, end: number, most = Number.POSITIVE_INFINITY): Iterable<number> {
  const step = Math.max(1, Math.floor((end - start) / most));
  for (let at = start; at < end; at += step) yield at;
}

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

/** cborg's reading, with every tag kept. */
const tags = Object.fromEntries(Array.from({ length: 1500 }, (_, tag) => [tag, Tagged.decoder(tag)]));
const cborgOptions = { useMaps: true, tags };
const untag = (value: unknown): unknown => (value instanceof Tagged ? value.value : value);
type Body = ReadonlyMap<number, unknown>;

function cborg(raw: Uint8Array): unknown[] | null {
  try {
    return (decode(raw, cborgOptions) as [number, unknown[]])[1];
  } catch {
    return null;
  }
}

/** Where the transactions stand, found by cborg alone: what an item leaves over says where it ends. */
function bodySpans(raw: Uint8Array, byron: boolean): [number, number][] {
  const skip = (at: number): number => raw.length - (decodeFirst(raw.subarray(at), cborgOptions) as [unknown, Uint8Array])[1].length;
  // The wrapper `82 <era>`, the block's array head, the header, and for Byron the head of the body.
  let at = skip(3);
  if (byron) at++;
  const info = raw[at] & 0x1f;
  const indefinite = info === 31;
  const count = indefinite ? Number.POSITIVE_INFINITY : info === 24 ? raw[at + 1] : info;
  at += info === 24 ? 2 : 1;
  const spans: [number, number][] = [];
  for (let i = 0; i < count && !(indefinite && raw[at] === 0xff); i++) {
    const end = skip(at);
    spans.push(byron ? [at + 1, skip(at + 1)] : [at, end]);
    at = end;
  }
  return spans;
}

const refs = (value: unknown): string[] => {
  const list = ((untag(value) ?? []) as [Uint8Array, number][]).map(([id, index]) => `${toHex(id)}#${index}`);
  return [...new Set(list)];
};
const coinOf = (value: unknown): bigint => BigInt((Array.isArray(value) ? value[0] : value) as number | bigint);

function theirOutput(output: unknown): { address: string; lovelace: bigint } {
  const [address, value] = output instanceof Map ? [output.get(0), output.get(1)] : (output as unknown[]);
  return { address: toHex(address as Uint8Array), lovelace: coinOf(value) };
}

function theirEffects(body: Body, valid: boolean) {
  const outputs = (body.get(1) as unknown[]).map(theirOutput);
  if (valid) return { spends: refs(body.get(0)), creates: outputs.map((output, index) => ({ index, ...output })) };
  const back = body.has(16) ? [{ index: outputs.length, ...theirOutput(body.get(16)) }] : [];
  return { spends: refs(body.get(13)), creates: back };
}

function theirByronEffects([inputs, outputs]: unknown[]) {
  const spends = (inputs as [number, Tagged][]).map(([, inner]) => {
    const [id, index] = decode(inner.value as Uint8Array) as [Uint8Array, number];
    return `${toHex(id)}#${index}`;
  });
  const creates = (outputs as [[Tagged, number], number | bigint][]).map(([[payload, crc], coin], index) => ({
    index,
    address: `82d818${bytesHead((payload.value as Uint8Array).length)}${toHex(payload.value as Uint8Array)}${uintHex(crc)}`,
    lovelace: BigInt(coin),
  }));
  return { spends, creates };
}

const bytesHead = (length: number): string =>
  length < 24 ? (0x40 + length).toString(16) : length < 256 ? `58${hexOf(length, 1)}` : `59${hexOf(length, 2)}`;
const uintHex = (value: number): string =>
  value < 24 ? hexOf(value, 1) : value < 256 ? `18${hexOf(value, 1)}` : value < 65536 ? `19${hexOf(value, 2)}` : `1a${hexOf(value, 4)}`;
const hexOf = (value: number, bytes: number): string => value.toString(16).padStart(2 * bytes, '0');

function ourEffects(raw: Uint8Array, tx: CardanoTx) {
  return {
    spends: tx.spends.map(({ at, index }) => `${toHex(raw, at, at + 32)}#${index}`),
    creates: tx.creates.map(({ index, addressStart, addressEnd, valueHi, valueLo }) => ({
      index,
      address: toHex(raw, addressStart, addressEnd),
      lovelace: (BigInt(valueHi) << 32n) | BigInt(valueLo),
    })),
  };
}

test('a second CBOR library reads the same transactions, effects and ids', needsFixtures, (t) => {
  let compared = 0;
  let outputs = 0;
  const refused: string[] = [];
  for (const { name, raw, block } of samples) {
    const theirs = cborg(raw);
    if (theirs === null) {
      refused.push(name);
      continue;
    }
    if (block.boundary) continue;
    const byron = block.era === ERA.byron;
    const bodies = (byron ? (theirs[1] as unknown[])[0] : theirs[1]) as unknown[];
    assert.equal(block.txs.length, bodies.length, name);
    const spans = bodySpans(raw, byron);
    assert.equal(spans.length, bodies.length, name);
    const invalid = new Set((block.era >= ERA.alonzo ? theirs[4] : []) as number[]);
    assert.deepEqual(new Set(block.txs.flatMap((tx, i) => (tx.valid ? [] : [i]))), invalid, name);
    for (const [i, tx] of block.txs.entries()) {
      const expected = byron ? theirByronEffects((bodies[i] as unknown[][])[0]) : theirEffects(bodies[i] as Body, !invalid.has(i));
      assert.deepEqual(ourEffects(raw, tx), expected, `${name} transaction ${i}`);
      assert.deepEqual([tx.start, tx.end], spans[i], `${name} transaction ${i}`);
      assert.equal(toHex(tx.id), toHex(blake2b256(raw, ...spans[i])), `${name} transaction ${i}`);
      compared++;
      outputs += tx.creates.length;
    }
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
