/**
 * Block files as a source: in whatever order, files and dress the blocks stand,
 * the chain handed over is the same; and what is not a good folder is said.
 */
import assert from 'node:assert/strict';
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { RETARGET_BLOCKS } from '../../../src/ledgers/bitcoin/difficulty.ts';
import { bitcoinNetwork, genesisBlock, headerHash } from '../../../src/ledgers/bitcoin/index.ts';
import { openBlk } from '../../../src/sources/bitcoin/blk/index.ts';
import { xorWithKey } from '../../../src/sources/bitcoin/blk/xor.ts';
import { concatBytes, equalBytes } from '../../../src/util/bytes.ts';
import { BLK_LOOK_BYTES_MAX } from '../../../src/util/limits.ts';
import { forgeBlock, forgeCoinbase, u32, withWork } from '../../ledgers/bitcoin/forge.ts';
import { bitcoin, readRun, regtest } from '../../ledgers/bitcoin/samples.ts';
import { needsFixtures } from '../../support/fixtures.ts';
import { extend, folderOf, keyed, newChain, newFolder, nextBlock, record, START_TIME, writeFile, zeros } from './blk-folder.ts';
import { hashOf, memoryFold, ownChain, pointOf, pump, steps, tell } from './pump.ts';

const WEEK = 7 * 24 * 3600;

/** The same block with a target a fourth of regtest's, and the work for it. */
function hardened(block: Uint8Array): Uint8Array {
  const raw = Uint8Array.from(block);
  raw.set(u32(0x201f_ffff), 72);
  return withWork(raw, 0x1f);
}

const forwards = (chain: readonly Uint8Array[], first = 0): string[] => chain.slice(first).map((raw, i) => `+${first + i} ${hashOf(raw)}`);
const said = async (folder: string): Promise<string[]> => {
  const { runs, error } = await tell(openBlk(folder, regtest));
  assert.equal(error, undefined);
  return steps(runs);
};

describe('blk source: any order', () => {
  const dressed = fc.record({
    length: fc.integer({ min: 1, max: 40 }),
    /** Branches that lose: where they leave, and how much shorter than the rest of the chain they are. */
    sides: fc.array(fc.record({ at: fc.nat(100), shorter: fc.integer({ min: 1, max: 5 }) }), { maxLength: 4 }),
    twice: fc.array(fc.nat(100), { maxLength: 5 }),
    files: fc.integer({ min: 1, max: 5 }),
    withFirst: fc.boolean(),
    key: fc.option(fc.uint8Array({ minLength: 8, maxLength: 8 })),
    gaps: fc.array(fc.nat(70), { minLength: 1, maxLength: 6 }),
    tail: fc.integer({ min: 0, max: 3000 }),
    cut: fc.boolean(),
    order: fc.array(fc.nat(), { minLength: 100, maxLength: 100 }),
  });

  test('the best chain comes in order, whatever stands where', async () => {
    const property = fc.asyncProperty(dressed, async ({ length, sides, twice, files, withFirst, key, gaps, tail, cut, order }) => {
      const main = newChain(length);
      const losing = sides.flatMap(({ at, shorter }, i) => {
        const leave = at % length;
        return extend(main.slice(0, leave + 1), Math.max(0, length - leave - shorter), 1 + i).slice(leave + 1);
      });
      const again = twice.map((i) => main[i % main.length]);
      const all = [...main.slice(1), ...losing, ...again];
      const mixed = all.map((block, i) => ({ block, at: order[i % order.length] + i / 1000 })).sort((a, b) => a.at - b.at);
      const shelves: Uint8Array[][] = Array.from({ length: files }, () => []);
      if (withFirst) shelves[0].push(main[0]);
      for (const [i, { block }] of mixed.entries()) shelves[order[(3 * i) % order.length] % files].push(block);
      const folder = newFolder();
      if (key !== null) writeFileSync(join(folder, 'xor.dat'), key);
      for (const [number, blocks] of shelves.entries()) {
        // The first file must begin with a record, as that of a node does.
        const parts = blocks.flatMap((block, i) => [zeros(i === 0 ? 0 : gaps[i % gaps.length]), record(block)]);
        const half = cut && number === files - 1 ? [record(nextBlock(main[length], length + 1)).subarray(0, 120)] : [{ blank: tail }];
        writeFile(folder, number, keyed([...parts, ...half], key));
      }
      assert.deepEqual(await said(folder), forwards(main));
      const fold = memoryFold(regtest);
      await pump(openBlk(folder, regtest), fold, regtest, { groupBlocks: 7 });
      assert.deepEqual([fold.head?.height, fold.head && equalBytes(fold.head.hash, pointOf(main[length], 0).hash)], [length, true]);
    });
    await fc.assert(property, { numRuns: 60 });
  });

  test('work decides, not length', async () => {
    // A period that was gone through in no time makes the next one four times as hard; one whose last block is late does not.
    const network = { ...regtest, work: { ...regtest.work, retarget: 'bitcoin' as const } };
    const { time } = regtest.genesis;
    const period = extend([genesisBlock(regtest)], RETARGET_BLOCKS - 2, 0, time);
    const late = nextBlock(period[period.length - 1], period.length, 1, time + 8 * WEEK);
    const easy = extend([...period, late], 3, 1, time + 9 * WEEK);
    const soon = extend(period, 1, 0, time);
    const hard = [...soon, hardened(nextBlock(soon[soon.length - 1], soon.length, 0, time + soon.length))];
    const folder = folderOf([...easy, ...hard.slice(period.length)]);
    const { runs, error } = await tell(openBlk(folder, network));
    assert.deepEqual([error, hard.length, easy.length], [undefined, RETARGET_BLOCKS + 1, RETARGET_BLOCKS + 3]);
    assert.equal(steps(runs).at(-1), forwards(hard).at(-1));
  });

  test('a header that breaks the rules is not there, nor is what stands on it', async () => {
    const chain = newChain(6);
    const idle = Uint8Array.from(chain[4]);
    for (let nonce = 0; headerHash(idle)[31] < 0x80; nonce++) idle.set(u32(nonce), 76);
    const bad = [nextBlock(chain[3], 4, 1, START_TIME), hardened(nextBlock(chain[3], 4, 2)), idle];
    for (const block of bad)
      assert.deepEqual(await said(folderOf([...chain, ...extend([...chain.slice(0, 4), block], 9).slice(4)])), forwards(chain));
  });

  test('the first 255 blocks of the chain, shuffled, into the fold', needsFixtures, async () => {
    const blocks = readRun('btcd-blocks1-255.dat');
    const folder = newFolder();
    const shuffled = [...blocks.filter((_, i) => i % 3 === 1), ...blocks.filter((_, i) => i % 3 !== 1).reverse()];
    const half = shuffled.length >> 1;
    for (const [number, part] of [shuffled.slice(0, half), shuffled.slice(half)].entries())
      writeFile(folder, number, concatBytes(...part.map((block) => record(block, bitcoin.magic))));
    const fold = memoryFold(bitcoin);
    const { blocks: count, reason } = await pump(openBlk(folder, bitcoin), fold, bitcoin);
    assert.deepEqual([count, reason, fold.head?.height, fold.head?.utxos], [256, 'end', 255, 260]);
  });

  test('a block larger than a look, and what stands behind it', async () => {
    const first = genesisBlock(regtest);
    const script = new Uint8Array(9000).fill(0x51);
    const outputs = Array.from({ length: 300 }, () => ({ value: 1n, script }));
    const large = withWork(forgeBlock(pointOf(first, 0).hash, [forgeCoinbase(1, outputs)]));
    assert.ok(large.length > 2 * BLK_LOOK_BYTES_MAX);
    const chain = extend([first, large], 20);
    assert.deepEqual(await said(folderOf(chain)), forwards(chain));
    assert.deepEqual(await said(folderOf([...chain].reverse())), forwards(chain));
  });

  test('in the data directory, in its network, or in blocks themselves', async () => {
    const chain = newChain(3);
    for (const inside of [[], ['blocks'], ['regtest', 'blocks']]) {
      const folder = newFolder(...inside);
      writeFile(folder, 0, concatBytes(...chain.map((block) => record(block))));
      assert.deepEqual(await said(join(folder, ...inside.map(() => '..'))), forwards(chain));
    }
  });
});

describe('blk source: what a crash leaves', () => {
  const chain = newChain(12);
  const records = chain.map((block) => record(block));

  test('bytes between records are passed over, also such as look like a record', async () => {
    const junk = Uint8Array.from({ length: 333 }, (_, i) => i * 7);
    const false1 = concatBytes(record(new Uint8Array(81)).subarray(0, 4), new Uint8Array(4).fill(0xff));
    const false2 = concatBytes(record(new Uint8Array(81)).subarray(0, 4), Uint8Array.of(0, 0, 0x10, 0), new Uint8Array(90));
    for (const between of [junk, zeros(5), false1, false2, records[3].subarray(0, 5)]) {
      const folder = newFolder();
      writeFile(folder, 0, concatBytes(...records.slice(0, 5), between, ...records.slice(5, 9)));
      // The last two may still grow; what stands there unfinished is waited for.
      for (const number of [1, 2]) writeFile(folder, number, concatBytes(...records.slice(5 + 2 * number, 9 + 2 * number)));
      assert.deepEqual(await said(folder), forwards(chain));
    }
  });

  test('a last record that is not all there is left aside', async () => {
    const bytes = concatBytes(...records);
    const last = records[records.length - 1].length;
    for (const missing of [1, last - 89, last - 88, last - 8, last - 3]) {
      const folder = newFolder();
      writeFile(folder, 0, bytes);
      truncateSync(join(folder, 'blk00000.dat'), bytes.length - missing);
      assert.deepEqual(await said(folder), forwards(chain.slice(0, -1)), `${missing} bytes missing`);
      // The same in a file that was made longer before it was filled.
      writeFile(folder, 0, concatBytes(bytes.subarray(0, bytes.length - missing), zeros(missing + 500)));
      const ends = missing <= 4 ? undefined : forwards(chain.slice(0, -1));
      if (ends !== undefined) assert.deepEqual(await said(folder), ends, `${missing} bytes blank`);
    }
  });

  test('whatever is damaged, it is a chain of good headers or a typed error', async () => {
    const bytes = concatBytes(...records);
    const damage = fc.array(fc.record({ at: fc.nat(bytes.length - 1), by: fc.integer({ min: 1, max: 255 }) }), {
      minLength: 1,
      maxLength: 4,
    });
    const property = fc.asyncProperty(damage, fc.nat(bytes.length), async (places, cut) => {
      const damaged = Uint8Array.from(bytes);
      for (const { at, by } of places) damaged[at] ^= by;
      const folder = newFolder();
      writeFile(folder, 0, damaged.subarray(0, bytes.length - (cut % 400)));
      const { runs, error } = await tell(openBlk(folder, regtest));
      if (error !== undefined) assert.ok(['NETWORK_WRONG', 'SOURCE_UNREACHABLE'].includes(error.code), error.message);
      let before: Uint8Array | null = null;
      for (const event of runs.flatMap(({ events }) => events)) {
        const raw: Uint8Array = event.kind === 'forward' ? event.raw : assert.fail('a step back');
        if (before !== null) assert.ok(equalBytes(raw.subarray(4, 36), pointOf(before, 0).hash));
        before = raw;
      }
    });
    await fc.assert(property, { numRuns: 150 });
  });
});

describe('blk source: going on', () => {
  const main = newChain(20);
  const side = extend(main.slice(0, 11), 4, 1);
  const folder = folderOf([...main, ...side.slice(11)]);

  test('behind each of its points', async () => {
    for (const at of [0, 7, 19]) {
      const { runs } = await tell(openBlk(folder, regtest), { from: [pointOf(main[at], at)] });
      assert.deepEqual(steps(runs), forwards(main, at + 1));
      assert.equal(runs.at(-1)?.atTip, true);
    }
    const { runs } = await tell(openBlk(folder, regtest), { from: [pointOf(main[20], 20)] });
    assert.deepEqual(runs, [{ events: [], tip: { slot: 20, height: 20 }, atTip: true }]);
  });

  test('from a branch that lost: back to where it left, exactly', async () => {
    const { runs } = await tell(openBlk(folder, regtest), { from: [pointOf(side[14], 14), pointOf(main[2], 2)] });
    assert.deepEqual(steps(runs), ['-10', ...forwards(main, 11)]);
  });

  test('from a branch it never saw: the reader says how far they agree', async () => {
    const unseen = extend(main.slice(0, 14), 3, 2);
    const from = [pointOf(unseen[16], 16), pointOf(unseen[15], 15), pointOf(unseen[8], 8), pointOf(unseen[0], 0)];
    const known = await tell(openBlk(folder, regtest), { from, chain: ownChain(unseen) });
    assert.deepEqual(steps(known.runs), ['-13', ...forwards(main, 14)]);
    const unknown = await tell(openBlk(folder, regtest), { from });
    assert.deepEqual(steps(unknown.runs), ['-8', ...forwards(main, 9)]);
  });

  test('from a branch with as much work, or more: it stays where it is', async () => {
    for (const count of [10, 12]) {
      const ours = extend(main.slice(0, 11), count, 3);
      const from = [pointOf(ours[10 + count], 10 + count), pointOf(ours[10], 10)];
      const { runs, error } = await tell(openBlk(folder, regtest), { from, chain: ownChain(ours) });
      assert.deepEqual([error, steps(runs), runs.at(-1)?.atTip], [undefined, [], true]);
    }
  });

  test('a folder that is behind us has nothing for us, and takes nothing back', async () => {
    const ahead = extend(main, 5);
    const from = [pointOf(ahead[25], 25), pointOf(ahead[20], 20), pointOf(ahead[3], 3)];
    const { runs, error } = await tell(openBlk(folder, regtest), { from, chain: ownChain(ahead) });
    assert.deepEqual([error, steps(runs), runs.at(-1)?.atTip], [undefined, [], true]);
    const far = await tell(openBlk(folder, regtest), { from: [pointOf(ahead[25], 25), pointOf(ahead[21], 21)] });
    assert.deepEqual([far.error, steps(far.runs)], [undefined, []]);
  });

  test('another chain is a fork', async () => {
    const other = newChain(9, 5);
    const { error } = await tell(openBlk(folder, regtest), { from: [pointOf(other[9], 9), pointOf(other[1], 1)] });
    assert.equal(error?.code, 'SOURCE_FORK');
    assert.match(error?.message ?? '', /none of our 2 points.*height 9/);
  });
});

describe('blk source: what is said', () => {
  const failure = async (path: string, network = regtest): Promise<string> => {
    const { error, runs } = await tell(openBlk(path, network));
    assert.deepEqual(runs, []);
    return `${error?.code}: ${error?.message}`;
  };

  test('no files, no folder', async () => {
    const empty = newFolder();
    assert.match(await failure(empty), /^SOURCE_UNREACHABLE: .*no block files \(blk00000.dat.*regtest\/blocks/);
    assert.match(await failure(join(empty, 'nowhere')), /^SOURCE_UNREACHABLE: .*there is no .*nowhere/);
  });

  test('another network, by its magic and by its first block', async () => {
    const folder = folderOf(newChain(3));
    assert.match(await failure(folder, bitcoin), /^NETWORK_WRONG: .*fabfb5da, of 'bitcoin-regtest'.*'bitcoin' begin with f9beb4d9/);
    assert.match(await failure(folder, bitcoinNetwork('litecoin-regtest')), /^NETWORK_WRONG: .*0f9188f1.*530827f3/);
    const strange = newFolder();
    writeFile(strange, 0, concatBytes(Uint8Array.of(1, 2, 3, 4), new Uint8Array(500)));
    assert.match(await failure(strange), /^NETWORK_WRONG: .*01020304, of no network we know.*xor.dat/);
  });

  test('a key of the wrong length', async () => {
    const folder = folderOf(newChain(3));
    writeFileSync(join(folder, 'xor.dat'), new Uint8Array(7));
    assert.match(await failure(folder), /^SOURCE_DAMAGED: .*xor.dat has 7 bytes/);
    writeFileSync(join(folder, 'xor.dat'), new Uint8Array(8));
    assert.equal((await said(folder)).length, 4);
  });

  test('files that begin in the middle of the chain', async () => {
    assert.match(
      await failure(folderOf(newChain(9).slice(4))),
      /^SOURCE_UNREACHABLE: .*6 blocks, but not the one behind the first.*prunes/,
    );
  });

  test('a gap ends the chain before it', async () => {
    const chain = newChain(9);
    assert.deepEqual(await said(folderOf(chain.filter((_, i) => i !== 6))), forwards(chain.slice(0, 6)));
  });
});

test('a key is taken off at any place and length', () => {
  const place = fc.record({
    bytes: fc.uint8Array({ maxLength: 50 }),
    key: fc.uint8Array({ minLength: 8, maxLength: 8 }),
    offset: fc.nat(1_000_000),
  });
  fc.assert(
    fc.property(place, ({ bytes, key, offset }) => {
      const plain = Uint8Array.from(bytes);
      xorWithKey(plain, key, offset);
      assert.deepEqual(
        [...plain],
        [...bytes].map((byte, i) => byte ^ key[(offset + i) % 8]),
      );
    }),
  );
});
