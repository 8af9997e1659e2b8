/**
 * Block files that a node still writes to: new records, records half written,
 * new files, branches that become the better one; and a real node's own files.
 */
import assert from 'node:assert/strict';
import { appendFileSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { bitcoinNetwork } from '../../../src/ledgers/bitcoin/index.ts';
import { openBlk } from '../../../src/sources/bitcoin/blk/index.ts';
import { concatBytes } from '../../../src/util/bytes.ts';
import { regtest } from '../../ledgers/bitcoin/samples.ts';
import { startNode } from '../../support/core-node.ts';
import { nodeMissing } from '../../support/node-kinds.ts';
import { extend, fileName, folderOf, newChain, newFolder, nextBlock, record, writeFile, zeros } from './blk-folder.ts';
import { Following, hashOf, stopAll, tell } from './pump.ts';

afterEach(stopAll);
const POLL = { pollMs: 5 };
const follow = (folder: string): Following => new Following(openBlk(folder, regtest, POLL), regtest);
const last = <T>(items: readonly T[]): T => items[items.length - 1];

describe('blk source: following', () => {
  test('new records, in the same file and in new ones', async () => {
    const chain = newChain(30);
    const folder = folderOf(chain.slice(0, 11));
    const following = follow(folder);
    await following.reach(hashOf(chain[10]));
    appendFileSync(join(folder, fileName(0)), concatBytes(...chain.slice(11, 14).map((block) => record(block))));
    await following.reach(hashOf(chain[13]));
    writeFile(folder, 1, record(chain[15]));
    await sleep(30);
    assert.equal(following.fold.head?.height, 13);
    appendFileSync(join(folder, fileName(1)), record(chain[14]));
    await following.reach(hashOf(chain[15]));
    for (const [i, block] of chain.slice(16).entries()) writeFile(folder, 2 + i, record(block));
    await following.reach(hashOf(chain[30]));
    assert.deepEqual(following.turns, []);
    await following.stop();
  });

  test('a record that is half written is waited for', async () => {
    const chain = newChain(6);
    const folder = folderOf(chain.slice(0, 5));
    const following = follow(folder);
    await following.reach(hashOf(chain[4]));
    const bytes = record(chain[5]);
    for (const [from, to] of [
      [0, 6],
      [6, 90],
      [90, bytes.length - 1],
    ]) {
      appendFileSync(join(folder, fileName(0)), bytes.subarray(from, to));
      await sleep(20);
      assert.equal(following.fold.head?.height, 4);
    }
    appendFileSync(join(folder, fileName(0)), concatBytes(bytes.subarray(-1), record(chain[6])));
    await following.reach(hashOf(chain[6]));
    await following.stop();
  });

  test('also where the file was made longer before', async () => {
    const chain = newChain(6);
    const folder = newFolder();
    const start = concatBytes(...chain.slice(0, 5).map((block) => record(block)));
    writeFile(folder, 0, concatBytes(start, zeros(100_000)));
    const following = follow(folder);
    await following.reach(hashOf(chain[4]));
    const fd = openSync(join(folder, fileName(0)), 'r+');
    const bytes = record(chain[5]);
    for (const [from, to] of [
      [0, 8],
      [8, 100],
      [100, bytes.length - 6],
    ]) {
      writeSync(fd, bytes, from, to - from, start.length + from);
      await sleep(20);
      assert.equal(following.fold.head?.height, 4);
    }
    writeSync(fd, bytes, 0, bytes.length, start.length);
    await following.reach(hashOf(chain[5]));
    await following.stop();
  });

  test('turns to a branch once it has more work, and not before', async () => {
    const main = newChain(12);
    const side = extend(main.slice(0, 9), 5, 1);
    const folder = folderOf(main);
    const following = follow(folder);
    await following.reach(hashOf(main[12]));
    for (const block of side.slice(9, 13)) appendFileSync(join(folder, fileName(0)), record(block));
    await sleep(40);
    assert.deepEqual([following.fold.head?.height, following.turns], [12, []]);
    appendFileSync(join(folder, fileName(0)), record(side[13]));
    await following.reach(hashOf(side[13]));
    assert.deepEqual(following.turns, ['8 -4']);
    await following.stop();
    // What stood there first wins again when it grows; a new reader of the folder goes straight to it.
    const longer = extend(main, 2);
    for (const block of longer.slice(13)) appendFileSync(join(folder, fileName(0)), record(block));
    const again = new Following(openBlk(folder, regtest, POLL), regtest, following.fold);
    await again.reach(hashOf(longer[14]));
    assert.deepEqual(again.turns, ['8 -5']);
    await again.stop();
  });

  test('however a tree of blocks arrives, the reader ends at its best', async () => {
    const growth = fc.array(fc.record({ on: fc.nat(1000), wait: fc.boolean() }), { minLength: 1, maxLength: 25 });
    const property = fc.asyncProperty(growth, async (story) => {
      const blocks = [{ raw: newChain(0)[0], height: 0 }];
      const folder = folderOf([blocks[0].raw]);
      const following = new Following(openBlk(folder, regtest, { pollMs: 1 }), regtest);
      // The first to reach a height has the most work there.
      let best = blocks[0];
      for (const [i, { on, wait }] of story.entries()) {
        const parent = blocks[Math.max(0, blocks.length - 1 - (on % 5))];
        const block = { raw: nextBlock(parent.raw, parent.height + 1, i), height: parent.height + 1 };
        blocks.push(block);
        if (block.height > best.height) best = block;
        appendFileSync(join(folder, fileName(0)), record(block.raw));
        if (wait) await following.reach(hashOf(best.raw));
      }
      await following.reach(hashOf(best.raw));
      await following.stop();
    });
    await fc.assert(property, { numRuns: 25 });
  });

  test('waits where it is behind us, and stops when it is told to', async () => {
    const chain = newChain(9);
    const ahead = follow(folderOf(chain));
    await ahead.reach(hashOf(chain[9]));
    await ahead.stop();
    const folder = folderOf(chain.slice(0, 6));
    const following = new Following(openBlk(folder, regtest, POLL), regtest, ahead.fold);
    await sleep(40);
    const longer = extend(chain, 2);
    appendFileSync(join(folder, fileName(0)), concatBytes(...longer.slice(6).map((block) => record(block))));
    await following.reach(hashOf(last(longer)));
    assert.deepEqual(following.turns, []);
    const end = await following.stop();
    assert.equal('reason' in end && end.reason, 'interrupted');
  });
});

describe('blk source: the files of a real node', { skip: nodeMissing() }, () => {
  const network = bitcoinNetwork('litecoin-regtest');

  test('followed while it mines and reorganises', async () => {
    const node = await startNode();
    const following = new Following(openBlk(node.dir, network, { pollMs: 50 }), network);
    try {
      await node.rpc('createwallet', 'w');
      const address = await node.rpc<string>('getnewaddress');
      await node.rpc('generatetoaddress', 120, address);
      await following.reach(await node.rpc('getbestblockhash'));
      for (let i = 0; i < 5; i++) await node.rpc('sendtoaddress', address, 1 + i);
      await node.rpc('generatetoaddress', 3, address);
      await following.reach(await node.rpc('getbestblockhash'));
      await node.rpc('invalidateblock', await node.rpc('getblockhash', 121));
      await node.rpc('generatetoaddress', 5, await node.rpc('getnewaddress'));
      await following.reach(await node.rpc('getbestblockhash'));
      assert.deepEqual(following.turns, ['120 -3']);
      const { txouts, total_amount: total } = await node.rpc('gettxoutsetinfo');
      const { head } = following.fold;
      assert.deepEqual([head?.height, head?.utxos, head?.value], [125, txouts, BigInt(Math.round(total * 1e8))]);
      const { runs } = await tell(openBlk(node.blocksDir, network));
      assert.equal(runs.flatMap(({ events }) => events).length, 126);
    } finally {
      await following.stop();
      await node.stop();
    }
  });
});
