/**
 * A regtest chain comes back from its journal as it was: whole, cut off in any
 * place, through forks, and with older blocks read from the file.
 */
import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { p2wshScript, RegtestDevnet } from '../../../src/chains/bitcoin/regtest/index.ts';
import { equalBytes, toHex } from '../../../src/util/bytes.ts';
import { checkChain } from './regtest-node.ts';

const NOW = 1_800_000_000;
const OPEN = p2wshScript(Uint8Array.of(0x51));

let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'unspent-regtest-'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

function open(name: string): RegtestDevnet {
  return new RegtestDevnet({ seed: 9, clock: () => NOW, journal: join(folder, name) });
}

function hashes(devnet: RegtestDevnet): string[] {
  return Array.from({ length: devnet.height + 1 }, (_, height) => toHex(devnet.hashAt(height)!));
}

function setOf(devnet: RegtestDevnet): unknown {
  return [...devnet.utxos.entries()].sort(([a], [b]) => (a < b ? -1 : 1));
}

describe('the journal of a regtest chain', () => {
  it('brings it back with its forks, its set and who may spend what', async () => {
    const first = open('whole');
    first.mine(115);
    first.fund(OPEN, 1_000_000n);
    first.mine(5);
    const lost = first.hashAt(118)!;
    first.fork(4);
    first.mine(2);
    const [chain, set, side] = [hashes(first), setOf(first), first.block(lost)];
    await first.close();

    const second = open('whole');
    assert.deepEqual([hashes(second), setOf(second)], [chain, set]);
    assert.deepEqual(second.block(lost), side);
    assert.equal(second.heightOf(lost), null);
    second.fork(6);
    second.mine(30);
    checkChain(second, NOW);
    const grown = hashes(second);
    await second.close();
    const third = open('whole');
    assert.deepEqual(hashes(third), grown);
    await third.close();
  });

  it('serves what is no longer in memory from the file', async () => {
    const devnet = open('long');
    devnet.mine(700);
    checkChain(devnet, NOW);
    assert.throws(() => devnet.fork(501), { code: 'USAGE' });
    devnet.fork(500);
    checkChain(devnet, NOW);
    await devnet.close();
    const again = open('long');
    assert.equal(again.height, 701);
    checkChain(again, NOW);
    await again.close();
  });

  it('cut off anywhere, is that of an earlier moment, and goes on', async () => {
    const path = join(folder, 'torn');
    const devnet = open('torn');
    const moments: { size: number; chain: string[] }[] = [];
    const note = (): void => {
      moments.push({ size: readFileSync(path).length, chain: hashes(devnet) });
    };
    note();
    for (const blocks of [100, 1, 1]) {
      devnet.mine(blocks);
      note();
    }
    devnet.fork(3);
    note();
    await devnet.close();
    const whole = readFileSync(path);
    // Between the second and the last moment there is one record each.
    for (let size = whole.length; size > moments[1].size; size -= 97) {
      writeFileSync(path, whole.subarray(0, size));
      const again = open('torn');
      const expected = moments.findLast((moment) => moment.size <= size)!;
      assert.deepEqual(hashes(again), expected.chain, `cut to ${size} bytes`);
      again.mine();
      const grown = hashes(again);
      await again.close();
      const later = open('torn');
      assert.deepEqual(hashes(later), grown);
      await later.close();
    }
  });

  it('with noise behind its end, goes on from its end', async () => {
    const devnet = open('noise');
    devnet.mine(3);
    const chain = hashes(devnet);
    await devnet.close();
    appendFileSync(join(folder, 'noise'), Uint8Array.of(0xff, 0xff));
    const again = open('noise');
    assert.deepEqual(hashes(again), chain);
    await again.close();
  });

  it('a title that was not finished is begun again', async () => {
    const path = join(folder, 'title');
    await open('title').close();
    truncateSync(path, 7);
    const devnet = open('title');
    devnet.mine(2);
    await devnet.close();
    const again = open('title');
    assert.equal(again.height, 2);
    await again.close();
  });

  it('damaged in the middle, or of another chain, is refused', async () => {
    const path = join(folder, 'damaged');
    const devnet = open('damaged');
    devnet.mine(5);
    await devnet.close();
    assert.throws(() => new RegtestDevnet({ seed: 10, journal: path }), { code: 'CONFIG' });
    const bytes = readFileSync(path);
    bytes[200] ^= 1;
    writeFileSync(path, bytes);
    assert.throws(() => open('damaged'), { code: 'SOURCE_DAMAGED' });
    writeFileSync(path, 'something else entirely, and long enough to be a journal of its own\n');
    assert.throws(() => open('damaged'), { code: 'CONFIG' });
  });

  it('a chain that comes back does not make the blocks again that it lost', async () => {
    const devnet = open('turned');
    devnet.mine(110);
    const before = devnet.hashAt(110)!;
    devnet.fork(1);
    await devnet.close();
    const again = open('turned');
    again.fork(2);
    assert.ok(!equalBytes(again.hashAt(110)!, before));
    await again.close();
  });
});
