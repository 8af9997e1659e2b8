/**
 * The ImmutableDB source against real chunk folders and made ones: whole, archived, and
 * resumed anywhere.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { toHex } from '../../../src/util/bytes.ts';
import { needsFixtures } from '../../support/fixtures.ts';
import {
  ALL_ERAS,
  assertFailed,
  assertLinked,
  collect,
  DEVNET_CHUNKS,
  devnet,
  digest,
  EVERY_ERA_CHUNKS,
  everyEra,
  firstRun,
  inflated,
  lastOf,
  MAINNET,
  newFolder,
  PREVIEW,
  place,
  pointOf,
  unknownAt,
  unknownBeside,
  unpack,
} from './immutable-rig.ts';

describe('immutable source: reading', () => {
  test('gives the 55,113 linked blocks of 280 preview chunks, the same archived and plain', needsFixtures, async () => {
    const packed = await collect(place('preview-from-genesis'));
    assert.equal(packed.error, undefined);
    assert.equal(packed.raws.length, 55_113);
    assert.equal(packed.intact, 55_113);
    assertLinked(packed.raws);
    for (const [height, raw] of packed.raws.entries()) assert.equal(pointOf(raw).height, height);
    assert.deepEqual(
      packed.runs.map((run) => run.atTip),
      packed.runs.map((_, i) => i === packed.runs.length - 1),
    );
    for (const run of packed.runs) assert.deepEqual(run.tip, { slot: 1_209_598, height: 55_112 });

    const chunks = readdirSync(place('preview-from-genesis')).flatMap((name) => name.match(/^(\d+)\.chunk/)?.[1] ?? []);
    const plain = await collect(unpack('preview-from-genesis', chunks));
    assert.equal(plain.intact, 55_113);
    assert.equal(digest(plain.raws), digest(packed.raws));
  });

  test('reads mainnet chunks of three eras, gaps between them included, in runs of at most 2,000', needsFixtures, async () => {
    const plain = await collect(unpack('mainnet', ['00000', '00500', '06189']), MAINNET);
    assert.equal(plain.raws.length, 21_587 + 1_078 + 1_054);
    assert.equal(plain.intact, plain.raws.length);
    assert.ok(plain.runs.every((run) => run.events.length <= 2000));
    const bare = await collect(unpack('mainnet', ['00000', '00500', '06189'], false), MAINNET);
    assert.equal(bare.intact, 0);
    assert.equal(digest(bare.raws), digest(plain.raws));
    assert.equal(digest((await collect(place('mainnet'), MAINNET)).raws), digest(plain.raws));
  });

  test('gives the blocks of every era that a devnet wrote, the same archived, plain and without an index', async () => {
    const written = digest(everyEra.blocks.map(({ raw }) => raw));
    for (const folder of [place('everyEra'), unpack('everyEra', EVERY_ERA_CHUNKS)]) {
      const { raws, intact, error } = await collect(folder, ALL_ERAS);
      assert.deepEqual([error, intact, digest(raws)], [undefined, everyEra.blocks.length, written]);
    }
    const bare = await collect(unpack('everyEra', EVERY_ERA_CHUNKS, false), ALL_ERAS);
    assert.deepEqual([bare.error, bare.intact, digest(bare.raws)], [undefined, 0, written]);
    assert.deepEqual(new Set(everyEra.blocks.map(({ era }) => era)), new Set([0, 1, 2, 3, 4, 5, 6, 7]));
  });

  test("finds the chunks in a node's database folder, and orders them by number", async () => {
    const outer = newFolder();
    mkdirSync(join(outer, 'immutable'));
    for (const [i, name] of ['99998', '99999', '100000', '100001'].entries()) {
      writeFileSync(join(outer, 'immutable', `${name}.chunk`), inflated('devnet', `0000${i}.chunk`));
    }
    const { raws } = await collect(outer);
    assert.equal(raws.length, 400);
    assertLinked(raws);
  });

  test('gives all 59 blocks of a chunk whose index is cut', needsFixtures, async () => {
    const { raws, intact, error } = await collect(place('preview-inconsistent'));
    assert.deepEqual([raws.length, intact, error], [59, 25, undefined]);
    assertLinked(raws);
  });

  test('gives the 5 blocks of a chunk whose index goes on behind its end', needsFixtures, async () => {
    const { raws, error, runs } = await collect(unpack('preprod', ['02019']), MAINNET);
    assert.deepEqual([raws.length, error, lastOf(runs).atTip], [5, undefined, true]);
    assert.deepEqual(lastOf(runs).tip, { slot: 43_610_483, height: 1_563_649 });
  });

  test('does not believe the index of another chunk', async () => {
    const folder = unpack('devnet', DEVNET_CHUNKS);
    writeFileSync(join(folder, '00001.secondary'), inflated('everyEra', '00001.secondary'));
    const foreign = await collect(folder);
    assert.deepEqual([foreign.raws.length, foreign.intact], [400, 300]);
  });

  test('says in one line why a folder cannot be read', async () => {
    const folder = newFolder();
    assertFailed(await collect(folder), 'SOURCE_UNREACHABLE', /no chunk files/);
    assertFailed(await collect(join(folder, 'nowhere')), 'SOURCE_UNREACHABLE', /no such file or directory$/);
    writeFileSync(join(folder, 'file'), 'x');
    assertFailed(await collect(join(folder, 'file')), 'SOURCE_UNREACHABLE', /not a directory$/);
    mkdirSync(join(folder, '00000.chunk'));
    assertFailed(await collect(folder), 'SOURCE_UNREACHABLE', /00000\.chunk is a directory, not a regular file$/);
  });

  test('an empty chunk is no block and no error', async () => {
    const folder = unpack('devnet', DEVNET_CHUNKS);
    writeFileSync(join(folder, '00004.chunk'), '');
    const { raws, error, runs } = await collect(folder);
    assert.deepEqual([raws.length, error, lastOf(runs).atTip, lastOf(runs).tip?.height], [400, undefined, true, 399]);
  });
});

describe('immutable source: resuming', () => {
  test('continues right after any point, with indexes and without', needsFixtures, async () => {
    const { raws } = await collect(place('preview-from-genesis'));
    const chunks = readdirSync(place('preview-from-genesis')).flatMap((name) => name.match(/^(\d+)\.chunk/)?.[1] ?? []);
    const plain = unpack('preview-from-genesis', chunks);
    const bare = unpack('preview-from-genesis', chunks, false);
    const at = fc.integer({ min: 0, max: raws.length - 2 });
    const check = fc.asyncProperty(at, fc.boolean(), async (i, indexed) => {
      const run = await firstRun(indexed ? plain : bare, PREVIEW, [pointOf(raws[i])]);
      const [event] = run.events;
      assert.ok(event.kind === 'forward');
      assert.equal(toHex(event.raw), toHex(raws[i + 1]));
    });
    await fc.assert(check, {
      numRuns: 150,
      examples: [
        [0, true],
        [0, false],
        [raws.length - 2, true],
        [raws.length - 2, false],
      ],
    });
    const atEnd = await collect(plain, PREVIEW, [pointOf(lastOf(raws))]);
    assert.deepEqual(atEnd.runs, [{ events: [], tip: { slot: 1_209_598, height: 55_112 }, atTip: true }]);
  });

  test('every point of a chunk folder gives exactly the rest', async () => {
    for (const indexed of [true, false]) {
      const folder = unpack('devnet', DEVNET_CHUNKS, indexed);
      const { raws } = await collect(folder);
      for (let i = 0; i < raws.length; i += 7) {
        const rest = await collect(folder, PREVIEW, [pointOf(raws[i])]);
        assert.equal(digest(rest.raws), digest(raws.slice(i + 1)));
      }
    }
  });

  test('every point of every era gives exactly the rest, boundary blocks included', async () => {
    const raws = everyEra.blocks.map(({ raw }) => raw);
    for (const indexed of [true, false]) {
      const folder = unpack('everyEra', EVERY_ERA_CHUNKS, indexed);
      for (const [i, { height, slot, hash, boundary }] of everyEra.blocks.entries()) {
        if (!boundary && i % 5 !== 0) continue;
        const rest = await collect(folder, ALL_ERAS, [{ height, slot, hash }]);
        assert.equal(digest(rest.raws), digest(raws.slice(i + 1)), `after ${i}`);
      }
    }
  });

  test('tells a boundary block from the block of the same slot', needsFixtures, async () => {
    for (const indexed of [true, false]) {
      const folder = unpack('mainnet', ['00000'], indexed);
      const { raws } = await collect(folder, MAINNET);
      assert.equal(pointOf(raws[0], MAINNET).slot, pointOf(raws[1], MAINNET).slot);
      for (const i of [0, 1, 2, 21_585]) {
        const { raws: rest } = await collect(folder, MAINNET, [pointOf(raws[i], MAINNET)]);
        assert.equal(digest(rest), digest(raws.slice(i + 1)), `after ${i}`);
      }
    }
  });

  test('reads a few heads and one chunk, not the folder', needsFixtures, async () => {
    const folder = unpack(
      'preview-from-genesis',
      Array.from({ length: 60 }, (_, i) => String(i).padStart(5, '0')),
    );
    const point = pointOf((await collect(folder)).raws[5000]);
    const chunks = readdirSync(folder).filter((name) => name.endsWith('.chunk'));
    const isHome = (name: string): boolean =>
      readFileSync(join(folder, name.replace('chunk', 'secondary'))).includes(Buffer.from(point.hash));
    for (const name of chunks) if (!isHome(name) && name !== lastOf(chunks)) truncateSync(join(folder, name), 2000);
    const [event] = (await firstRun(folder, PREVIEW, [point])).events;
    assert.ok(event.kind === 'forward');
    assert.equal(pointOf(event.raw).height, point.height + 1);
  });

  test('continues behind the newest point it knows', async () => {
    const folder = unpack('devnet', DEVNET_CHUNKS);
    const { raws } = await collect(folder);
    const known = pointOf(raws[250]);
    const { events } = await collect(folder, PREVIEW, [unknownBeside(320), unknownBeside(300), known, pointOf(raws[100])]);
    assert.equal(events.length, 149);
    assert.ok(events.every((event) => event.kind === 'forward'));
  });

  test('a chain without any of our points is a fork', async () => {
    const folder = unpack('devnet', DEVNET_CHUNKS);
    const failed = await collect(folder, PREVIEW, [unknownBeside(320), unknownBeside(0)]);
    assertFailed(failed, 'SOURCE_FORK', new RegExp(`none of our 2 points .*slot ${devnet.blocks[320].slot}, block 0707`));
    assert.equal(failed.events.length, 0);
  });

  test('a folder that ends before our points has nothing for us yet', async () => {
    const { slot, height } = lastOf(devnet.blocks);
    const tip = { slot, height };
    const { runs, error } = await collect(place('devnet'), PREVIEW, [unknownAt(tip.slot + 101), unknownAt(tip.slot + 51)]);
    assert.equal(error, undefined);
    assert.deepEqual(runs, [{ events: [], tip, atTip: true }]);
  });
});
