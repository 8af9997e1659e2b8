/**
 * Page cursors: what a page gave out is read back, what no page gave out is
 * refused, and a reader who goes from page to page while blocks arrive and are
 * rolled back sees every output that stayed, none twice, and is told when the
 * ground it stood on is gone.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { ModelUtxo } from '../../src/chains/cardano/devnet/model.ts';
import { Random } from '../../src/chains/random.ts';
import { INDEX_KINDS, type IndexKind } from '../../src/projections/index/by-key.ts';
import { keyOf } from '../../src/projections/packed.ts';
import { PLACE_BYTES } from '../../src/projections/place.ts';
import { afterCursor, checkCursor, decodeCursor, encodeCursor, type PageCursor, pageCursor } from '../../src/query/cursor.ts';
import type { Query } from '../../src/query/query.ts';
import { fromHex, toHex } from '../../src/util/bytes.ts';
import { isUnspentError } from '../../src/util/errors.ts';
import { assertCode, Devnet, devnetOptions, memoryRig, type Rig, TEST_SEED } from '../support/harness.ts';
import { ChainModel, indexKeys, nameOf } from './model.ts';

const cursors: fc.Arbitrary<PageCursor> = fc.record({
  kind: fc.constantFrom(...INDEX_KINDS),
  order: fc.constantFrom('asc' as const, 'desc' as const),
  place: fc.uint8Array({ minLength: PLACE_BYTES, maxLength: PLACE_BYTES }),
  height: fc.nat({ max: 0xffff_ffff }),
  hash: fc.uint8Array({ minLength: 8, maxLength: 8 }),
});

describe('a page cursor', () => {
  it('is read back as it was written, and is short and fit for a URL', () => {
    const property = fc.property(cursors, (cursor) => {
      const text = encodeCursor(cursor);
      assert.match(text, /^[A-Za-z0-9_-]{42}$/);
      const { place, hash, ...rest } = decodeCursor(text);
      assert.deepEqual(
        { ...rest, place: toHex(place), hash: toHex(hash) },
        { ...cursor, place: toHex(cursor.place), hash: toHex(cursor.hash) },
      );
    });
    fc.assert(property, { seed: TEST_SEED });
  });

  it('that no page gave out is refused', () => {
    const [cursor] = fc.sample(cursors, { seed: 1, numRuns: 1 });
    const text = encodeCursor(cursor);
    const bad = [
      '',
      'x',
      text.slice(1),
      `${text}A`,
      `${text}=`,
      `${text.slice(0, 20)} ${text.slice(20)}`,
      `Aw${text.slice(2)}`,
      'A'.repeat(42),
    ];
    for (const each of [...bad, text.replace(/^Ag./, 'Agf'), '../../etc/passwd']) assertCode(() => decodeCursor(each), 'USAGE');
    const property = fc.property(fc.oneof(fc.string(), fc.base64String(), fc.uint8Array({ maxLength: 40 }).map(base64url)), (any) => {
      try {
        assert.equal(encodeCursor(decodeCursor(any)), any);
      } catch (error) {
        assert.ok(isUnspentError(error, 'USAGE'), String(error));
      }
    });
    fc.assert(property, { seed: TEST_SEED, numRuns: 500 });
  });

  it('is of one question', () => {
    const [cursor] = fc.sample(cursors, { seed: 2, numRuns: 1 });
    const key = new Uint8Array(28).fill(3);
    assert.deepEqual(afterCursor(cursor, cursor.kind, cursor.order, key), Uint8Array.of(...key, ...cursor.place));
    const other = INDEX_KINDS.find((kind) => kind !== cursor.kind)!;
    assertCode(() => afterCursor(cursor, other, cursor.order, key), 'USAGE');
    assertCode(() => afterCursor(cursor, cursor.kind, cursor.order === 'asc' ? 'desc' : 'asc', key), 'USAGE');
  });

  it('holds while its block is on our chain, boundary blocks included', () => {
    const rig = memoryRig(new Devnet(devnetOptions(3, 'ancient')));
    rig.forward(40);
    const { blocks } = rig.devnet.chain;
    assert.ok(blocks.some((block, i) => block.boundary && i > 0 && blocks[i - 1].height === block.height));
    const made = blocks.map((block) => pageCursor('address', 'asc', new Uint8Array(42), block));
    rig.read((query) => {
      for (const cursor of made) checkCursor(query, cursor);
    });
    rig.fold.rollback(blocks[29]);
    rig.devnet.chain.rollback(10);
    const check = (query: Query) => {
      for (const cursor of made.slice(0, 30)) checkCursor(query, cursor);
      for (const cursor of made.slice(30)) assertCode(() => checkCursor(query, cursor), 'CURSOR_STALE');
    };
    rig.read(check);
    rig.forward(20);
    rig.read(check);
  });
});

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');

/** One reader, page after page, with its own account of what it must see. */
class PageReader {
  readonly kind: IndexKind;
  readonly key: string;
  readonly order: 'asc' | 'desc';
  private readonly seen: string[] = [];
  private cursor: string | null = null;
  /** Unspent from the first page on, without a break. */
  private stayed: Set<string> | null = null;

  constructor(kind: IndexKind, key: string, order: 'asc' | 'desc') {
    this.kind = kind;
    this.key = key;
    this.order = order;
  }

  private wanted(rig: Rig): ModelUtxo[] {
    return [...rig.devnet.chain.utxos.values()].filter((utxo) => indexKeys(utxo, this.kind).includes(this.key));
  }

  /** The chain has moved. */
  moved(rig: Rig): void {
    const now = new Set(this.wanted(rig).map(({ key }) => key));
    for (const name of this.stayed ?? []) if (!now.has(name)) this.stayed?.delete(name);
  }

  /** Reads the next page; 'stale' or 'end' end the reader. */
  next(rig: Rig, limit: number): 'more' | 'stale' | 'end' {
    return rig.read((query) => {
      const { kind, order } = this;
      const key = fromHex(this.key);
      const given = this.cursor === null ? null : decodeCursor(this.cursor);
      try {
        if (given !== null) checkCursor(query, given);
      } catch (error) {
        assert.ok(isUnspentError(error, 'CURSOR_STALE'));
        return 'stale';
      }
      this.stayed ??= new Set(this.wanted(rig).map((utxo) => utxo.key));
      const after = given === null ? undefined : afterCursor(given, kind, order, key);
      const page = [...query.byKey(kind, key, { order, limit, after })];
      const now = new Set(this.wanted(rig).map((utxo) => utxo.key));
      for (const row of page) assert.ok(now.has(nameOf(row)), 'a row is unspent at the point of its page');
      this.seen.push(...page.map(nameOf));
      if (page.length < limit) return 'end';
      this.cursor = encodeCursor(pageCursor(kind, order, page.at(-1)!.cursor, query.head!));
      return 'more';
    });
  }

  check(complete: boolean): void {
    assert.equal(new Set(this.seen).size, this.seen.length, 'none is told twice');
    if (!complete) return;
    for (const name of this.stayed ?? []) assert.ok(this.seen.includes(name), `${name} stayed and is left out`);
  }
}

describe('pages while the chain moves', () => {
  const ends = { end: 0, stale: 0 };

  function walk(seed: number): void {
    const random = new Random(seed);
    const rig = memoryRig(new Devnet(devnetOptions(seed, random.chance(0.3) ? 'ancient' : 'conway')));
    const { chain } = rig.devnet;
    rig.forward(40, [5]);
    const newReader = (): PageReader => {
      const kind = random.pick(INDEX_KINDS);
      const keys = [...new ChainModel(rig.devnet).indexAt(chain.blocks.length - 1, kind)].sort((a, b) => b[1].length - a[1].length);
      if (keys.length === 0) return newReader();
      return new PageReader(kind, keys[random.int(Math.min(3, keys.length))][0], random.chance(0.5) ? 'asc' : 'desc');
    };
    let readers = Array.from({ length: 6 }, newReader);
    for (let step = 0; step < 40; step++) {
      if (random.chance(0.2)) {
        const depth = random.int(4);
        rig.fold.rollback(rig.devnet.pointBelow(depth));
        chain.rollback(depth);
        // Going back and coming again are two moves: what was gone in between did not stay.
        for (const reader of readers) reader.moved(rig);
      }
      if (random.chance(0.7)) rig.forward(1 + random.int(2));
      readers = readers.map((reader) => {
        reader.moved(rig);
        const result = reader.next(rig, 1 + random.int(4));
        if (result === 'more') return reader;
        ends[result]++;
        reader.check(result === 'end');
        return newReader();
      });
    }
  }

  it('neither skip nor repeat', () => {
    fc.assert(
      fc.property(fc.nat({ max: 1_000_000 }), (seed) => walk(seed)),
      { seed: TEST_SEED, numRuns: 20 },
    );
    assert.ok(ends.end > 50 && ends.stale > 20, `readers came to an end both ways: ${JSON.stringify(ends)}`);
  });
});

describe('a range of slots', () => {
  it('is the rows of the whole that came in it, either way, behind a cursor, now and earlier', () => {
    const rig = memoryRig(new Devnet(devnetOptions(7, 'conway')), { keeps: ['chain', 'transactions', 'utxo', 'index.address'] });
    rig.forward(50, [7]);
    const point = rig.devnet.pointBelow(20);
    rig.read((query) => {
      const tip = query.head?.slot ?? 0;
      const keys = [...new Set(Array.from(query.unspent(), ({ output }) => toHex(keyOf(output, 'address', rig.devnet.ledger)!)))];
      const slots = fc.nat({ max: tip + 2 });
      const property = fc.property(
        fc.constantFrom(...keys),
        slots,
        slots,
        fc.boolean(),
        fc.boolean(),
        fc.nat(),
        (hex, from, length, back, past, skip) => {
          const view = past ? query.at(point) : query;
          const order = back ? 'desc' : 'asc';
          const range = { from, to: from + length };
          const all = [...view.byKey('address', fromHex(hex), { order })];
          const after = all.length === 0 ? undefined : all[skip % all.length].cursor;
          const rest = after === undefined ? [] : all.slice((skip % all.length) + 1);
          const isIn = ({ output }: { output: { slot: number } }): boolean => output.slot >= range.from && output.slot <= range.to;
          const places = (rows: Iterable<{ cursor: Uint8Array }>): string[] => [...rows].map(({ cursor }) => toHex(cursor));
          assert.deepEqual(places(view.byKey('address', fromHex(hex), { order, slots: range })), places(all.filter(isIn)));
          assert.deepEqual(
            places(view.byKey('address', fromHex(hex), { order, slots: range, after })),
            places((after === undefined ? all : rest).filter(isIn)),
          );
        },
      );
      fc.assert(property, { seed: TEST_SEED, numRuns: 200 });
    });
  });
});
