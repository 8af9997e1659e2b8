/**
 * The ImmutableDB source against folders that grow, and that are damaged in
 * every way we know of.
 */
import assert from 'node:assert/strict';
import { appendFileSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { openImmutable } from '../../../src/sources/cardano/immutable/index.ts';
import type { Run } from '../../../src/sources/source.ts';
import { toHex } from '../../../src/util/bytes.ts';
import {
  assertFailed,
  assertLinked,
  collect,
  DEVNET_CHUNKS,
  digest,
  inflated,
  lastOf,
  NEVER,
  newFolder,
  PREVIEW,
  place,
  pointOf,
  unpack,
} from './immutable-rig.ts';

describe('immutable source: damage', () => {
  test('a flipped bit anywhere in a block with an index is found, and the blocks before it are given', async () => {
    const folder = unpack('devnet', ['00000', '00001']);
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
    const folder = unpack('devnet', ['00000']);
    const { raws } = await collect(folder);
    const bytes = readFileSync(join(folder, '00000.chunk'));
    // The block's signature: its CBOR stays well formed.
    bytes[raws[0].length + 800] ^= 1;
    writeFileSync(join(folder, '00000.chunk'), bytes);
    const { hash, slot } = pointOf(raws[1]);
    assertFailed(await collect(folder), 'SOURCE_DAMAGED', new RegExp(`byte ${raws[0].length}: block ${toHex(hash)} of slot ${slot} does`));
  });

  test('garbage between blocks is found without an index, and the blocks before it are given', async () => {
    const folder = unpack('devnet', DEVNET_CHUNKS, false);
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
    const whole = inflated('devnet', '00003.chunk');
    for (const indexed of [true, false]) {
      const folder = unpack('devnet', ['00003'], indexed);
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
    const folder = unpack('devnet', DEVNET_CHUNKS);
    truncateSync(join(folder, '00001.chunk'), 30_000);
    const cut = await collect(folder);
    assertFailed(cut, 'SOURCE_DAMAGED', /^00001\.chunk, byte \d+: the chunk ends inside/);
    assert.ok(cut.raws.length > 100 && cut.raws.length < 200);
  });

  test('an archive that does not inflate is damage', async () => {
    const folder = newFolder();
    const packed = readFileSync(join(place('devnet'), '00000.chunk.gz'));
    writeFileSync(join(folder, '00000.chunk.gz'), packed);
    writeFileSync(join(folder, '00001.chunk.gz'), packed.subarray(0, 1000));
    const damaged = await collect(folder);
    assertFailed(damaged, 'SOURCE_DAMAGED', /^00001\.chunk\.gz: does not inflate/);
    assert.equal(damaged.raws.length, 100);
  });

  test('blocks that are longer than what is read at a time', async () => {
    const folder = newFolder();
    const long = (bytes: number): Buffer => Buffer.concat([Buffer.from('82009f', 'hex'), Buffer.alloc(bytes), Buffer.from('ff', 'hex')]);
    const blocks = [long(10), long(9_000_000), long(2_500_000), long(20)];
    writeFileSync(join(folder, '00000.chunk'), Buffer.concat(blocks));
    const { raws, error } = await collect(folder);
    assert.equal(error, undefined);
    assert.deepEqual(
      raws.map((raw) => raw.length),
      blocks.map((block) => block.length),
    );
  });

  test('a block that never ends is damage, once it is longer than a block can be', async () => {
    const folder = newFolder();
    writeFileSync(join(folder, '00000.chunk'), Buffer.concat([Buffer.from('82009f', 'hex'), Buffer.alloc(17_000_000)]));
    assertFailed(await collect(folder), 'SOURCE_DAMAGED', /^00000\.chunk, byte 0: the block is longer than/);
  });
});

describe('immutable source: following', () => {
  test('takes up blocks as a node writes them, in pieces of any size, into new chunks', async () => {
    const folder = newFolder();
    const chunks = DEVNET_CHUNKS.map((name) => inflated('devnet', `${name}.chunk`));
    const indexes = DEVNET_CHUNKS.map((name) => inflated('devnet', `${name}.secondary`));
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
    const folder = unpack('devnet', ['00000']);
    const all = await collect(place('devnet'));
    const runs: Run[] = [];
    for await (const run of openImmutable(folder, PREVIEW).runs({ from: [pointOf(all.raws[150])], signal: NEVER, follow: true })) {
      runs.push(run);
      if (runs.length === 1) writeFileSync(join(folder, '00001.chunk'), inflated('devnet', '00001.chunk'));
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
    for await (const run of openImmutable(place('devnet'), slow).runs({ from: [], signal: atTip.signal, follow: true })) {
      if (run.atTip) setTimeout(() => atTip.abort(), 20);
    }
    const onTheWay = new AbortController();
    let runs = 0;
    for await (const _ of openImmutable(place('devnet'), slow).runs({ from: [], signal: onTheWay.signal, follow: true })) {
      runs++;
      onTheWay.abort();
    }
    assert.equal(runs, 1);
    const folder = unpack('devnet', DEVNET_CHUNKS);
    for await (const run of openImmutable(folder, slow).runs({ from: [], signal: NEVER, follow: true })) if (run.atTip) break;
    for await (const _ of openImmutable(folder, slow).runs({ from: [], signal: NEVER, follow: true })) break;
    for await (const _ of openImmutable(folder, slow).runs({ from: [], signal: AbortSignal.abort(), follow: true })) assert.fail('aborted');
    if (process.platform === 'linux') assert.equal(open(), before, 'every file was closed');
  });
});
