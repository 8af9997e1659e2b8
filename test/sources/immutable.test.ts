/**
 * The ImmutableDB source against real chunk folders: whole, archived, resumed
 * anywhere, growing, and damaged in every way we know of.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import fc from 'fast-check';
import { readHeader } from '../../src/ledgers/cardano/header.ts';
import type { Point } from '../../src/ledgers/ledger.ts';
import { openImmutable } from '../../src/sources/immutable/index.ts';
import type { ChainEvent, Run } from '../../src/sources/source.ts';
import { toHex } from '../../src/util/bytes.ts';
import { type ErrorCode, isUnspentError, type UnspentError } from '../../src/util/errors.ts';
import { fixtures, needsFixtures, readFixture } from '../support/fixtures.ts';

const PREVIEW = { byronEpochSlots: 4320, pollMs: 5 };
const MAINNET = { byronEpochSlots: 21_600, pollMs: 5 };
const DEVNET_CHUNKS = ['00000', '00001', '00002', '00003'];
const NEVER = new AbortController().signal;
const place = (name: string): string => fixtures('cardano', 'immutable', name);

const scratch = mkdtempSync(join(tmpdir(), 'unspent-immutable-'));
after(() => rmSync(scratch, { recursive: true }));
let folders = 0;

function newFolder(): string {
  const folder = join(scratch, String(folders++));
  mkdirSync(folder);
  return folder;
}

function inflated(folder: string, name: string): Uint8Array {
  return readFixture('cardano', 'immutable', folder, `${name}.gz`);
}

/** A plain copy of some chunks, with or without their indexes. */
function unpack(from: string, chunks: readonly string[], indexes = true): string {
  const folder = newFolder();
  for (const chunk of chunks) {
    writeFileSync(join(folder, `${chunk}.chunk`), inflated(from, `${chunk}.chunk`));
    if (indexes) writeFileSync(join(folder, `${chunk}.secondary`), inflated(from, `${chunk}.secondary`));
  }
  return folder;
}

interface Collected {
  readonly runs: Run[];
  readonly events: ChainEvent[];
  readonly raws: Uint8Array[];
  readonly intact: number;
  readonly error: UnspentError | undefined;
}

async function collect(path: string, options = PREVIEW, from: readonly Point[] = []): Promise<Collected> {
  const runs: Run[] = [];
  let error: UnspentError | undefined;
  try {
    for await (const run of openImmutable(path, options).runs({ from, signal: NEVER, follow: false })) runs.push(run);
  } catch (thrown) {
    if (!isUnspentError(thrown)) throw thrown;
    error = thrown;
  }
  const events = runs.flatMap((run) => run.events);
  const blocks = events.filter((event) => event.kind === 'forward');
  return { runs, events, raws: blocks.map(({ raw }) => raw), intact: blocks.filter(({ intact }) => intact).length, error };
}

async function firstRun(path: string, options: typeof PREVIEW, from: readonly Point[]): Promise<Run> {
  for await (const run of openImmutable(path, options).runs({ from, signal: NEVER, follow: false })) return run;
  return assert.fail('no run at all');
}

const digest = (raws: readonly Uint8Array[]): string => {
  const hash = createHash('sha256');
  for (const raw of raws) hash.update(raw);
  return `${raws.length} ${hash.digest('hex')}`;
};

const pointOf = (raw: Uint8Array, { byronEpochSlots } = PREVIEW): Point => {
  const { height, slot, hash } = readHeader(raw, byronEpochSlots);
  return { height, slot, hash };
};

function assertLinked(raws: readonly Uint8Array[], { byronEpochSlots } = PREVIEW): void {
  let before: Uint8Array | undefined;
  for (const raw of raws) {
    const { hash, prevHash } = readHeader(raw, byronEpochSlots);
    if (before !== undefined) assert.ok(prevHash !== null && Buffer.compare(prevHash, before) === 0, 'linked');
    before = hash;
  }
}

function assertFailed({ error }: Collected, code: ErrorCode, message: RegExp): void {
  assert.equal(error?.code, code);
  assert.match(error?.message ?? '', message);
}

const unknownAt = (slot: number): Point => ({ height: 1, slot, hash: new Uint8Array(32).fill(7) });
const lastOf = <T>(items: readonly T[]): T => items[items.length - 1];

describe('immutable source: reading', needsFixtures, () => {
  test('gives the 55,113 linked blocks of 280 preview chunks, the same archived and plain', async () => {
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

  test('reads mainnet chunks of three eras, gaps between them included, in runs of at most 2,000', async () => {
    const plain = await collect(unpack('mainnet', ['00000', '00500', '06189']), MAINNET);
    assert.equal(plain.raws.length, 21_587 + 1_078 + 1_054);
    assert.equal(plain.intact, plain.raws.length);
    assert.ok(plain.runs.every((run) => run.events.length <= 2000));
    const bare = await collect(unpack('mainnet', ['00000', '00500', '06189'], false), MAINNET);
    assert.equal(bare.intact, 0);
    assert.equal(digest(bare.raws), digest(plain.raws));
    assert.equal(digest((await collect(place('mainnet'), MAINNET)).raws), digest(plain.raws));
  });

  test("finds the chunks in a node's database folder, and orders them by number", async () => {
    const outer = newFolder();
    mkdirSync(join(outer, 'immutable'));
    for (const [i, name] of ['99998', '99999', '100000', '100001'].entries()) {
      writeFileSync(join(outer, 'immutable', `${name}.chunk`), inflated('devnet-conway', `0000${i}.chunk`));
    }
    const { raws } = await collect(outer);
    assert.equal(raws.length, 400);
    assertLinked(raws);
  });

  test('gives all 59 blocks of a chunk whose index is cut', async () => {
    const { raws, intact, error } = await collect(place('preview-inconsistent'));
    assert.deepEqual([raws.length, intact, error], [59, 25, undefined]);
    assertLinked(raws);
  });

  test('gives the 5 blocks of a chunk whose index goes on behind its end', async () => {
    const { raws, error, runs } = await collect(unpack('preprod', ['02019']), MAINNET);
    assert.deepEqual([raws.length, error, lastOf(runs).atTip], [5, undefined, true]);
    assert.deepEqual(lastOf(runs).tip, { slot: 43_610_483, height: 1_563_649 });
  });

  test('does not believe the index of another chunk', async () => {
    const folder = unpack('devnet-conway', DEVNET_CHUNKS);
    writeFileSync(join(folder, '00001.secondary'), inflated('mainnet', '06189.secondary'));
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
    assertFailed(await collect(folder), 'SOURCE_UNREACHABLE', /00000\.chunk: /);
  });

  test('an empty chunk is no block and no error', async () => {
    const folder = unpack('devnet-conway', DEVNET_CHUNKS);
    writeFileSync(join(folder, '00004.chunk'), '');
    const { raws, error, runs } = await collect(folder);
    assert.deepEqual([raws.length, error, lastOf(runs).atTip, lastOf(runs).tip?.height], [400, undefined, true, 399]);
  });
});

describe('immutable source: resuming', needsFixtures, () => {
  test('continues right after any point, with indexes and without', async () => {
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
      const folder = unpack('devnet-conway', DEVNET_CHUNKS, indexed);
      const { raws } = await collect(folder);
      for (let i = 0; i < raws.length; i += 7) {
        const rest = await collect(folder, PREVIEW, [pointOf(raws[i])]);
        assert.equal(digest(rest.raws), digest(raws.slice(i + 1)));
      }
    }
  });

  test('tells a boundary block from the block of the same slot', async () => {
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

  test('reads a few heads and one chunk, not the folder', async () => {
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
    const folder = unpack('devnet-conway', DEVNET_CHUNKS);
    const { raws } = await collect(folder);
    const known = pointOf(raws[250]);
    const { events } = await collect(folder, PREVIEW, [unknownAt(320), unknownAt(300), known, pointOf(raws[100])]);
    assert.equal(events.length, 149);
    assert.ok(events.every((event) => event.kind === 'forward'));
  });

  test('a chain without any of our points is a fork', async () => {
    const folder = unpack('devnet-conway', DEVNET_CHUNKS);
    const failed = await collect(folder, PREVIEW, [unknownAt(320), unknownAt(0)]);
    assertFailed(failed, 'SOURCE_FORK', /none of our 2 points .*slot 320, block 0707/);
    assert.equal(failed.events.length, 0);
  });

  test('a folder that ends before our points has nothing for us yet', async () => {
    const { runs, error } = await collect(place('devnet-conway'), PREVIEW, [unknownAt(500), unknownAt(450)]);
    assert.equal(error, undefined);
    assert.deepEqual(runs, [{ events: [], tip: { slot: 399, height: 399 }, atTip: true }]);
  });
});

describe('immutable source: damage', needsFixtures, () => {
  test('a flipped bit anywhere in a block with an index is found, and the blocks before it are given', async () => {
    const folder = unpack('devnet-conway', ['00000', '00001']);
    const sound = await collect(folder);
    const file = join(folder, '00000.chunk');
    const bytes = readFileSync(file);
    const start = sound.raws.slice(0, 60).reduce((sum, raw) => sum + raw.length, 0);
    for (let at = start; at < start + sound.raws[60].length; at += 3) {
      bytes[at] ^= 1 << (at % 8);
      writeFileSync(file, bytes);
      bytes[at] ^= 1 << (at % 8);
      const damaged = await collect(folder);
      assertFailed(damaged, 'SOURCE_DAMAGED', new RegExp(`^00000\\.chunk, byte ${start}: `));
      assert.equal(digest(damaged.raws), digest(sound.raws.slice(0, 60)), `flip at ${at}`);
    }
  });

  test('the message names the block whose checksum is wrong', async () => {
    const folder = unpack('devnet-conway', ['00000']);
    const { raws } = await collect(folder);
    const bytes = readFileSync(join(folder, '00000.chunk'));
    // The block's signature: its CBOR stays well formed.
    bytes[raws[0].length + 800] ^= 1;
    writeFileSync(join(folder, '00000.chunk'), bytes);
    const { hash, slot } = pointOf(raws[1]);
    assertFailed(await collect(folder), 'SOURCE_DAMAGED', new RegExp(`byte ${raws[0].length}: block ${toHex(hash)} of slot ${slot} does`));
  });

  test('garbage between blocks is found without an index, and the blocks before it are given', async () => {
    const folder = unpack('devnet-conway', DEVNET_CHUNKS, false);
    const { raws } = await collect(folder);
    const good = raws.slice(0, 40);
    const start = good.reduce((sum, raw) => sum + raw.length, 0);
    const rest = readFileSync(join(folder, '00000.chunk')).subarray(start);
    for (const garbage of ['00', 'ff', '8218', '82ff', '9f', '8200ff', '82005bffffffffffffffff', '82005a7fffffff', '82009a7fffffff']) {
      for (const chunk of ['00000', '00009']) {
        const bytes = Buffer.concat([...good, Buffer.from(garbage, 'hex'), rest]);
        const damaged = chunk === '00000' ? folder : newFolder();
        writeFileSync(join(damaged, `${chunk}.chunk`), bytes);
        const found = await collect(damaged);
        assertFailed(found, 'SOURCE_DAMAGED', new RegExp(`^${chunk}\\.chunk, byte ${start}: `));
        assert.equal(digest(found.raws), digest(good), garbage);
      }
    }
  });

  test('cut at any byte, the last chunk gives a clean prefix, with an index and without', async () => {
    const whole = inflated('devnet-conway', '00003.chunk');
    for (const indexed of [true, false]) {
      const folder = unpack('devnet-conway', ['00003'], indexed);
      const { raws } = await collect(folder);
      let end = 0;
      const ends = raws.map((raw) => (end += raw.length));
      const check = fc.asyncProperty(fc.integer({ min: 0, max: whole.length }), async (length) => {
        writeFileSync(join(folder, '00003.chunk'), whole.subarray(0, length));
        const cut = await collect(folder);
        assert.equal(cut.error, undefined);
        assert.equal(digest(cut.raws), digest(raws.slice(0, ends.filter((at) => at <= length).length)));
        assert.equal(lastOf(cut.runs).atTip, true);
      });
      await fc.assert(check, { numRuns: 300 });
    }
  });

  test('a chunk that is cut before others is damage', async () => {
    const folder = unpack('devnet-conway', DEVNET_CHUNKS);
    truncateSync(join(folder, '00001.chunk'), 30_000);
    const cut = await collect(folder);
    assertFailed(cut, 'SOURCE_DAMAGED', /^00001\.chunk, byte \d+: the chunk ends inside/);
    assert.ok(cut.raws.length > 100 && cut.raws.length < 200);
  });

  test('an archive that does not inflate is damage', async () => {
    const folder = newFolder();
    const packed = readFileSync(join(place('devnet-conway'), '00000.chunk.gz'));
    writeFileSync(join(folder, '00000.chunk.gz'), packed);
    writeFileSync(join(folder, '00001.chunk.gz'), packed.subarray(0, 1000));
    const damaged = await collect(folder);
    assertFailed(damaged, 'SOURCE_DAMAGED', /^00001\.chunk\.gz: does not inflate/);
    assert.equal(damaged.raws.length, 100);
  });

  test('a block that never ends is damage, once it is longer than a block can be', async () => {
    const folder = newFolder();
    writeFileSync(join(folder, '00000.chunk'), Buffer.concat([Buffer.from('82009f', 'hex'), Buffer.alloc(9_000_000)]));
    assertFailed(await collect(folder), 'SOURCE_DAMAGED', /^00000\.chunk, byte 0: the block is longer than/);
  });
});

describe('immutable source: following', { ...needsFixtures, timeout: 60_000 }, () => {
  test('takes up blocks as a node writes them, in pieces of any size, into new chunks', async () => {
    const folder = newFolder();
    const chunks = DEVNET_CHUNKS.map((name) => inflated('devnet-conway', `${name}.chunk`));
    const indexes = DEVNET_CHUNKS.map((name) => inflated('devnet-conway', `${name}.secondary`));
    writeFileSync(join(folder, '00000.chunk'), chunks[0].subarray(0, 50_001));
    const stop = new AbortController();
    const raws: Uint8Array[] = [];
    let wake = (): void => {};
    const reading = (async () => {
      for await (const run of openImmutable(folder, PREVIEW).runs({ from: [], signal: stop.signal, follow: true })) {
        for (const event of run.events) if (event.kind === 'forward') raws.push(event.raw);
        if (run.atTip && run.events.length > 0) assert.equal(run.tip?.height, raws.length - 1);
        wake();
      }
    })();
    const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
    for (const [i, bytes] of chunks.entries()) {
      const file = join(folder, `${DEVNET_CHUNKS[i]}.chunk`);
      for (let at = i === 0 ? 50_001 : 0, step = 997; at < bytes.length; at += step, step = 1 + ((step * 7919) % 9001)) {
        appendFileSync(file, bytes.subarray(at, at + step));
        await pause(at % 3);
      }
      if (i % 2 === 1) writeFileSync(join(folder, `${DEVNET_CHUNKS[i]}.secondary`), indexes[i]);
    }
    while (raws.length < 400) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    stop.abort();
    await reading;
    assert.equal(raws.length, 400);
    assertLinked(raws);
  });

  test('waits where it is ahead, and goes on when the folder has caught up', async () => {
    const folder = unpack('devnet-conway', ['00000']);
    const all = await collect(place('devnet-conway'));
    const runs: Run[] = [];
    for await (const run of openImmutable(folder, PREVIEW).runs({ from: [pointOf(all.raws[150])], signal: NEVER, follow: true })) {
      runs.push(run);
      if (runs.length === 1) writeFileSync(join(folder, '00001.chunk'), inflated('devnet-conway', '00001.chunk'));
      if (runs.length === 2) break;
    }
    assert.deepEqual([runs[0].events.length, runs[0].atTip], [0, true]);
    assert.equal(runs[1].events.length, 49);
  });

  test('ends at once on abort, at the tip or on the way, and when the reader leaves', async () => {
    const open = (): number => readdirSync('/proc/self/fd').length;
    const before = process.platform === 'linux' ? open() : 0;
    const slow = { ...PREVIEW, pollMs: 600_000 };
    const atTip = new AbortController();
    for await (const run of openImmutable(place('devnet-conway'), slow).runs({ from: [], signal: atTip.signal, follow: true })) {
      if (run.atTip) setTimeout(() => atTip.abort(), 20);
    }
    const onTheWay = new AbortController();
    let runs = 0;
    for await (const _ of openImmutable(place('devnet-conway'), slow).runs({ from: [], signal: onTheWay.signal, follow: true })) {
      runs++;
      onTheWay.abort();
    }
    assert.equal(runs, 1);
    const folder = unpack('devnet-conway', DEVNET_CHUNKS);
    for await (const run of openImmutable(folder, slow).runs({ from: [], signal: NEVER, follow: true })) if (run.atTip) break;
    for await (const _ of openImmutable(folder, slow).runs({ from: [], signal: NEVER, follow: true })) break;
    for await (const _ of openImmutable(folder, slow).runs({ from: [], signal: AbortSignal.abort(), follow: true })) assert.fail('aborted');
    if (process.platform === 'linux') assert.equal(open(), before, 'every file was closed');
  });
});
