/**
 * Whoever wants us to turn must show more work than our own chain has: branches
 * with less, with as much, from below the horizon, with headers that break the
 * rules of the network, and headers without end. None of them moves us, none
 * fills our memory, and a good node beside them is followed.
 */
import assert from 'node:assert/strict';
import { scryptSync } from 'node:crypto';
import { afterEach, describe, it } from 'node:test';
import { serveP2p } from '../../../src/chains/bitcoin/responder/index.ts';
import { bitcoinNetwork, genesisBlock, headerHash } from '../../../src/ledgers/bitcoin/index.ts';
import { openP2p, type P2pOptions } from '../../../src/sources/bitcoin/p2p/index.ts';
import type { NodeSource } from '../../../src/sources/peer.ts';
import { toHex } from '../../../src/util/bytes.ts';
import type { UnspentError } from '../../../src/util/errors.ts';
import { P2P_HEADERS_AHEAD_MAX, P2P_HEADERS_KEPT_MAX, P2P_HEADERS_MAX } from '../../../src/util/limits.ts';
import { atTime, forgeBlock, forgeCoinbase, OP_TRUE, u32, withWork } from '../../ledgers/bitcoin/forge.ts';
import { regtest } from '../../ledgers/bitcoin/samples.ts';
import { TestChain } from './p2p-chain.ts';
import { Reader, until } from './p2p-reader.ts';
import { ScriptedNode } from './p2p-scripted.ts';
import { Spoiler } from './p2p-spoiler.ts';

const QUICK: P2pOptions = { reconnectMs: [1, 20], attempts: 1 };
const START_TIME = 1_700_000_000;

const open: { close(): Promise<void> }[] = [];
const readers: Reader[] = [];
afterEach(async () => {
  for (const reader of readers.splice(0)) await reader.end();
  for (const one of open.splice(0)) await one.close();
});

async function opened<T extends { close(): Promise<void> }>(opening: Promise<T>): Promise<T> {
  const one = await opening;
  open.unshift(one);
  return one;
}

const served = (chain: TestChain): Promise<{ readonly port: number; close(): Promise<void> }> => opened(serveP2p(chain, { port: 0 }));

function sourceOf(nodes: readonly { readonly port: number }[], network = regtest, options: P2pOptions = QUICK): NodeSource {
  return openP2p([`p2p://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`], network, options);
}

function reading(window?: number): Reader {
  const reader = new Reader(regtest, window);
  readers.push(reader);
  return reader;
}

/** Another chain with the first blocks of that one, and so many of its own. */
function branchOf(chain: TestChain, height: number, own: number): TestChain {
  const branch = new TestChain();
  for (const { raw } of chain.best.slice(1, height + 1)) branch.adopt(raw);
  // So that its blocks are others than those which the chain has at their heights.
  branch.ballastBytes = 1;
  branch.mine(own);
  return branch;
}

/** Headers after a block, each with the work of regtest; `salt` tells branches apart. */
function headersAfter(prevHash: Uint8Array, count: number, startTime: number, salt = 0): Uint8Array[] {
  const headers: Uint8Array[] = [];
  for (let prev = prevHash; headers.length < count; prev = headerHash(headers[headers.length - 1])) {
    const raw = new Uint8Array(80);
    raw.set(u32(0x2000_0000));
    raw.set(prev, 4);
    raw.set(u32(salt), 36);
    raw.set(u32(startTime + headers.length), 68);
    raw.set(u32(0x207f_ffff), 72);
    headers.push(withWork(raw));
  }
  return headers;
}

const failsWith =
  (code: string, message: RegExp) =>
  (error: UnspentError): boolean => {
    assert.deepEqual([error.code, message.test(error.message) || error.message], [code, true]);
    return true;
  };

describe('a node with another branch', () => {
  it('does not move us with less work, nor with as much, and does with more', async () => {
    const chain = new TestChain(60);
    const other = branchOf(chain, 20, 1);
    const reader = reading();
    await reader.sync(sourceOf([await served(chain)]));
    const node = await served(other);
    const source = sourceOf([node]);
    for (const own of [0, 9, 30]) {
      other.mine(own);
      const { reason } = await reader.sync(sourceOf([node]));
      assert.deepEqual([reason, reader.tip, reader.rollbacks], ['end', toHex(chain.tip.hash), 0], `a branch of ${other.height - 20}`);
    }
    assert.equal(other.height, 60);
    reader.start(source);
    await until(() => other.watchers === 1);
    other.mine(1);
    await reader.reach(other.tip.hash);
    assert.deepEqual([reader.rollbacks, source.status().lastRollback?.to?.height], [1, 20]);
  });

  it('is not asked for a block before its headers have more work', async () => {
    const chain = new TestChain(60);
    const reader = reading();
    await reader.sync(sourceOf([await served(chain)]));
    let blocks = 0;
    const count = (command: string, frame: Uint8Array): Uint8Array => {
      if (command === 'block') blocks++;
      return frame;
    };
    await reader.sync(sourceOf([await opened(Spoiler.before(await served(branchOf(chain, 50, 10)), count))]));
    assert.deepEqual([blocks, reader.tip], [0, toHex(chain.tip.hash)]);
    await reader.sync(sourceOf([await opened(Spoiler.before(await served(branchOf(chain, 50, 11)), count))]));
    assert.deepEqual([blocks, reader.rollbacks], [11, 1]);
  });

  it('from below the horizon is refused before a block is asked for, and the next node is followed', async () => {
    const chain = new TestChain(60);
    const reader = reading(10);
    await reader.sync(sourceOf([await served(chain)]));
    let blocks = 0;
    const deep = await opened(
      Spoiler.before(await served(branchOf(chain, 49, 30)), (command, frame) => {
        if (command === 'block') blocks++;
        return frame;
      }),
    );
    await assert.rejects(reader.sync(sourceOf([deep])), failsWith('SOURCE_FORK', /leaves our chain at height 49: .*below our horizon/));
    assert.deepEqual([blocks, reader.fold.head?.height, reader.rollbacks], [0, 60, 0]);
    const good = await served(chain);
    chain.mine(2);
    const source = sourceOf([deep, good]);
    await reader.sync(source);
    assert.deepEqual([reader.tip, source.status().lastError?.code], [toHex(chain.tip.hash), 'SOURCE_FORK']);
    // One with less work from down there has nothing for us, which is no fault.
    await reader.sync(sourceOf([await served(branchOf(chain, 20, 5))]));
    assert.deepEqual([reader.tip, reader.rollbacks], [toHex(chain.tip.hash), 0]);
  });

  it('whose fork is below all headers that we hold is refused too', async () => {
    const chain = new TestChain(2100);
    const reader = reading(10);
    await reader.sync(sourceOf([await served(chain)]));
    const deep = await served(branchOf(chain, 1000, 1200));
    await assert.rejects(reader.sync(sourceOf([deep])), failsWith('SOURCE_FORK', /none of our blocks from height 2004 on/));
    assert.equal(reader.tip, toHex(chain.tip.hash));
  });
});

describe('headers that may not follow', () => {
  const chain = new TestChain(15);
  const tip = chain.best[15];
  const header = (change: (raw: Uint8Array) => void): Uint8Array => {
    const [raw] = headersAfter(tip.hash, 1, START_TIME + 16);
    change(raw);
    return withWork(raw);
  };
  const CASES: readonly (readonly [name: string, header: Uint8Array, message: RegExp])[] = [
    [
      'a harder target than the schedule asks for',
      header((raw) => raw.set(u32(0x201f_ffff), 72)),
      /has bits 201fffff, which is not the target/,
    ],
    ['an easier target than there may be', header((raw) => raw.set(u32(0x217f_ffff), 72)), /has bits 217fffff/],
    [
      'a time not later than the median of the last eleven',
      header((raw) => raw.set(u32(START_TIME + 10), 68)),
      /is not later than the blocks/,
    ],
    ['a time far in the future', header((raw) => raw.set(u32(Math.floor(Date.now() / 1000) + 3 * 3600), 68)), /is from the future/],
  ];
  for (const [name, bad, message] of CASES) {
    it(name, async () => {
      const node = await opened(
        ScriptedNode.open(regtest, 16, ({ kind }, link) => {
          if (kind === 'getheaders') link.send({ kind: 'headers', headers: [bad] });
        }),
      );
      const reader = reading();
      await reader.sync(sourceOf([await served(chain)]));
      await assert.rejects(reader.sync(sourceOf([node])), failsWith('PROTOCOL', message));
      assert.equal(reader.tip, toHex(tip.hash));
    });
  }

  it('a header of Litecoin whose work is not scrypt', async () => {
    const litecoin = bitcoinNetwork('litecoin-regtest');
    const first = genesisBlock(litecoin);
    const works = (raw: Uint8Array): boolean => scryptSync(raw, raw, 32, { N: 1024, r: 1, p: 1 })[31] < 0x7f;
    for (const isGood of [true, false]) {
      const [raw] = headersAfter(headerHash(first), 1, START_TIME);
      for (let nonce = 0; works(raw) !== isGood || headerHash(raw)[31] >= 0x7f; nonce++) raw.set(u32(nonce), 76);
      const node = await opened(
        ScriptedNode.open(litecoin, 1, ({ kind }, link) => {
          if (kind === 'getheaders') link.send({ kind: 'headers', headers: [raw] });
          // Its header was taken when its block is asked for.
          if (kind === 'getdata') link.send({ kind: 'block', raw });
        }),
      );
      const message = isGood ? /a block of 80 bytes/ : /has not the work that it claims/;
      await assert.rejects(new Reader(litecoin).sync(sourceOf([node], litecoin)), failsWith('PROTOCOL', message));
    }
  });
});

describe('headers without end', () => {
  const chain = new TestChain(20);

  /** Sends headers for as long as they are taken; how many. */
  async function flood(next: (sent: number) => readonly Uint8Array[]): Promise<number> {
    let sent = 0;
    const bad = await opened(
      ScriptedNode.open(regtest, 30, async ({ kind }, link) => {
        if (kind !== 'getheaders' || sent > 0) return;
        // Far more than is kept, and never more than a node could take in one test.
        while (sent < 2 * P2P_HEADERS_KEPT_MAX) {
          const headers = next(sent);
          sent += headers.length;
          link.send({ kind: 'headers', headers });
          await link.drained();
        }
      }),
    );
    const reader = reading();
    await reader.sync(sourceOf([await served(chain)]));
    const good = await served(chain);
    const source = sourceOf([bad, good]);
    reader.start(source);
    await until(() => source.status().lost === 1);
    chain.mine(1);
    await reader.reach(chain.tip.hash);
    assert.deepEqual([source.status().lastError?.code, reader.rollbacks], ['PROTOCOL', 0]);
    assert.match(source.status().lastError?.message ?? '', /more headers than are kept/);
    return sent;
  }

  it('of one branch that nobody asked for', async () => {
    let prev: Uint8Array = chain.tip.hash;
    const sent = await flood((sent) => {
      const headers = headersAfter(prev, P2P_HEADERS_MAX, START_TIME + 100 + sent);
      prev = headerHash(headers[headers.length - 1]);
      return headers;
    });
    assert.ok(sent > P2P_HEADERS_AHEAD_MAX, `${sent} headers`);
  });

  it('of branches of one block each', async () => {
    const { hash } = chain.best[chain.height - 1];
    await flood((sent) => headersAfter(hash, 1, START_TIME + 100, sent));
  });

  it('of a branch with less work than ours, which is asked for as long as it may come to more', async () => {
    const start = chain.best[2].hash;
    const short = headersAfter(start, 10, START_TIME + 5, 7);
    const node = await opened(
      ScriptedNode.open(regtest, 30, ({ kind }, link) => {
        if (kind === 'getheaders') link.send({ kind: 'headers', headers: short });
      }),
    );
    const reader = reading();
    await reader.sync(sourceOf([await served(chain)]));
    await reader.sync(sourceOf([node]));
    assert.deepEqual([reader.tip, reader.rollbacks], [toHex(chain.tip.hash), 0]);
  });
});

describe('a long chain', () => {
  it('is read with no more headers ahead of its blocks than may be', async () => {
    const blocks = [genesisBlock(regtest)];
    const heights = new Map<string, number>();
    for (let height = 1; height <= 2.5 * P2P_HEADERS_AHEAD_MAX; height++) {
      const coinbase = forgeCoinbase(height, [{ value: 1n, script: OP_TRUE }]);
      blocks.push(withWork(atTime(forgeBlock(headerHash(blocks[height - 1]), [coinbase]), START_TIME + height)));
    }
    for (const [height, raw] of blocks.entries()) heights.set(toHex(headerHash(raw)), height);
    let [told, given, ahead] = [0, 0, 0];
    const node = await opened(
      ScriptedNode.open(regtest, blocks.length - 1, async (message, link) => {
        if (message.kind === 'getheaders') {
          const from = Math.max(...message.locator.map((hash) => heights.get(toHex(hash)) ?? 0));
          const headers = blocks.slice(from + 1, from + 1 + P2P_HEADERS_MAX).map((raw) => raw.subarray(0, 80));
          told = Math.max(told, from + headers.length);
          ahead = Math.max(ahead, told - given);
          link.send({ kind: 'headers', headers });
        } else if (message.kind === 'getdata') {
          for (const { hash } of message.items) {
            given = heights.get(toHex(hash)) as number;
            link.send({ kind: 'block', raw: blocks[given] });
          }
          await link.drained();
        }
      }),
    );
    let height = -1;
    for await (const { events } of sourceOf([node]).runs({ from: [], follow: false, signal: new AbortController().signal }))
      for (const event of events) assert.ok(event.kind === 'forward' && event.height === ++height);
    assert.equal(height, blocks.length - 1);
    assert.ok(ahead > P2P_HEADERS_MAX, `it reads ahead: ${ahead}`);
    assert.ok(ahead <= P2P_HEADERS_AHEAD_MAX + 2 * P2P_HEADERS_MAX, `not without end: ${ahead}`);
  });
});
