/**
 * Nodes that break the protocol, lie, or say nothing: each ends its connection
 * with a reason, none of what it sent is used, and the next node is tried.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { type P2pServer, serveP2p } from '../../../src/chains/bitcoin/responder/index.ts';
import { bitcoinNetwork, headerHash } from '../../../src/ledgers/bitcoin/index.ts';
import { encodeFrame } from '../../../src/sources/bitcoin/p2p/frame.ts';
import { openP2p } from '../../../src/sources/bitcoin/p2p/index.ts';
import { type Link, ownVersion } from '../../../src/sources/bitcoin/p2p/link.ts';
import { encodeMessage, ITEM, type Message } from '../../../src/sources/bitcoin/p2p/messages.ts';
import type { PeerStatus } from '../../../src/sources/peer.ts';
import { concatBytes } from '../../../src/util/bytes.ts';
import { type ErrorCode, UnspentError } from '../../../src/util/errors.ts';
import { P2P_INVENTORY_MAX, P2P_SILENCE_MS } from '../../../src/util/limits.ts';
import { forgeBlock, forgeCoinbase, forgeTx, OP_TRUE, u32, withWork } from '../../ledgers/bitcoin/forge.ts';
import { regtest } from '../../ledgers/bitcoin/samples.ts';
import { TestChain } from './p2p-chain.ts';
import { Reader, until } from './p2p-reader.ts';
import { ScriptedNode } from './p2p-scripted.ts';
import { type Spoil, Spoiler } from './p2p-spoiler.ts';

const MAINNET = bitcoinNetwork('bitcoin').magic;
/** A handshake may take a tenth of a second, an answer six. */
const HASTY = { reconnectMs: [1, 5], timeScale: 0.01, attempts: 1 } as const;
/** Shares of the time a node has for its answers. One that answers may need more of it than the first on a busy machine. */
const TIME_SCALES = [HASTY.timeScale, 0.1, 1];

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function served(chain: TestChain): Promise<P2pServer> {
  const server = await serveP2p(chain, { port: 0 });
  open.push(server);
  return server;
}

async function spoilt(chain: TestChain, spoil: Spoil): Promise<Spoiler> {
  const spoiler = await Spoiler.before(await served(chain), spoil);
  open.unshift(spoiler);
  return spoiler;
}

const urls = (...ports: readonly { readonly port: number }[]): string[] => ports.map(({ port }) => `p2p://127.0.0.1:${port}`);
const framed = (message: Message): Uint8Array => encodeFrame(regtest.magic, encodeMessage(message));
/** Spoils the messages of one kind. */
const only =
  (wanted: string, change: (frame: Uint8Array) => Uint8Array | null): Spoil =>
  (command, frame) =>
    command === wanted ? change(frame) : frame;

function changed(frame: Uint8Array, at: number, bytes: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(frame);
  copy.set(bytes, at);
  return copy;
}

const chain = new TestChain(30);
const other = new TestChain(10);
other.fork(10);
const header = (height: number): Uint8Array => chain.best[height].raw.subarray(0, 80);
const headersOf = (...headers: readonly Uint8Array[]): Uint8Array => framed({ kind: 'headers', headers });
/** The same header without enough work: its hash, as a number, is in the upper half of all. */
function idle(): Uint8Array {
  const bytes = Uint8Array.from(header(1));
  for (let nonce = 0; headerHash(bytes)[31] < 0x80; nonce++) bytes.set(u32(nonce), 76);
  return bytes;
}

type Case = readonly [name: string, spoil: Spoil, code: ErrorCode, message: RegExp];
const CASES: readonly Case[] = [
  ['bytes of no network', (_, frame) => changed(frame, 0, u32(1)), 'PROTOCOL', /begins with 01000000/],
  [
    'the magic of another network',
    (_, frame) => changed(frame, 0, Uint8Array.of(MAINNET >>> 24, MAINNET >>> 16, MAINNET >>> 8, MAINNET)),
    'NETWORK_WRONG',
    /: bitcoin$/,
  ],
  ['another magic later on', only('headers', (frame) => changed(frame, 0, u32(MAINNET))), 'PROTOCOL', /begins with/],
  ['a wrong checksum', only('headers', (frame) => changed(frame, 20, u32(0))), 'PROTOCOL', /'headers' with a wrong checksum/],
  ['four gigabytes of headers', only('headers', (frame) => changed(frame, 16, u32(0xffff_ffff))), 'PROTOCOL', /of 4294967295 bytes/],
  ['a command that is no text', only('headers', (frame) => changed(frame, 4, Uint8Array.of(7))), 'PROTOCOL', /not text/],
  [
    'an unknown command of any length',
    only('headers', (frame) => changed(frame, 4, concatBytes(new Uint8Array(12).fill(0x61), u32(5_000_000)))),
    'PROTOCOL',
    /5000000 bytes/,
  ],
  [
    'headers that are cut',
    only('headers', () => encodeFrame(regtest.magic, { command: 'headers', payload: Uint8Array.of(2, 0) })),
    'PROTOCOL',
    /does not decode/,
  ],
  [
    'more headers than there are numbers for',
    only('headers', () => encodeFrame(regtest.magic, { command: 'headers', payload: new Uint8Array(9).fill(0xff) })),
    'PROTOCOL',
    /does not decode/,
  ],
  ['a block of two gigabytes', only('block', (frame) => changed(frame, 16, u32(0x7fff_ffff))), 'PROTOCOL', /'block' of 2147483647 bytes/],
  [
    'a block of more transactions than it has bytes',
    only('block', (frame) => framed({ kind: 'block', raw: concatBytes(frame.subarray(24, 104), Uint8Array.of(0xfe), u32(0xffff_ffff)) })),
    'PROTOCOL',
    /not sound/,
  ],
  ['headers that do not link among themselves', only('headers', () => headersOf(header(1), header(3))), 'PROTOCOL', /does not follow/],
  ['headers that link to nothing', only('headers', () => headersOf(header(7))), 'NETWORK_WRONG', /of another network than/],
  ['headers without work', only('headers', () => headersOf(idle())), 'PROTOCOL', /has not the work/],
  ['another block than asked for', only('block', () => framed({ kind: 'block', raw: other.best[3].raw })), 'PROTOCOL', /was not asked for/],
  [
    'a block that is shorter than its header',
    only('block', (frame) => framed({ kind: 'block', raw: frame.slice(24, 84) })),
    'PROTOCOL',
    /60 bytes/,
  ],
  [
    'the transactions of another block',
    only('block', (frame) => framed({ kind: 'block', raw: concatBytes(frame.subarray(24, 104), other.best[1].raw.subarray(80)) })),
    'PROTOCOL',
    /not sound/,
  ],
  [
    'a block it does not have',
    only('block', (frame) => framed({ kind: 'notfound', items: [{ type: 0x4000_0002, hash: headerHash(frame.subarray(24)) }] })),
    'SOURCE_UNREACHABLE',
    /does not have block/,
  ],
  ['no version', only('version', () => null), 'PROTOCOL', /before the version/],
  ['no greeting', () => null, 'SOURCE_UNREACHABLE', /did not say its version/],
  ['no headers', only('headers', () => null), 'SOURCE_UNREACHABLE', /does not give its headers/],
  ['no blocks', only('block', () => null), 'SOURCE_UNREACHABLE', /does not give the blocks/],
  ['an end in the middle', only('headers', (frame) => frame.subarray(0, 40)), 'SOURCE_UNREACHABLE', /does not give its headers/],
  ['a second greeting', only('headers', () => framed({ kind: 'verack' })), 'PROTOCOL', /after the handshake/],
  [
    'services of a pruned node',
    only('version', (frame) =>
      encodeFrame(regtest.magic, { command: 'version', payload: changed(frame.subarray(24), 4, Uint8Array.of(8)) }),
    ),
    'UNSUPPORTED',
    /pruned/,
  ],
  [
    'an ancient version',
    only('version', (frame) => encodeFrame(regtest.magic, { command: 'version', payload: changed(frame.subarray(24), 0, u32(60_000)) })),
    'UNSUPPORTED',
    /60000/,
  ],
];

/** What is held against the node. A remark on its slowness counts only when it is the one expected, or the longest wait is over. */
async function refusalOf(reader: Reader, node: Spoiler, expected: RegExp): Promise<UnspentError> {
  let refusal: unknown;
  for (const timeScale of TIME_SCALES) {
    refusal = await reader.sync(openP2p(urls(node), regtest, { ...HASTY, timeScale })).catch((error: unknown) => error);
    assert.ok(refusal instanceof UnspentError, String(refusal));
    if (expected.test(refusal.message) || !/does not give|did not say/.test(refusal.message)) break;
  }
  return refusal as UnspentError;
}

describe('a node that sends', () => {
  for (const [name, spoil, code, message] of CASES) {
    it(name, async () => {
      const bad = await spoilt(chain, spoil);
      const reader = new Reader(regtest);
      const refusal = await refusalOf(reader, bad, message);
      assert.deepEqual([refusal.code, message.test(refusal.message) || refusal.message], [code, true]);
      assert.ok((reader.fold.head?.height ?? 0) === 0, 'nothing of it was used: the first block is built in');
      const good = new Reader(regtest);
      const timeScale = code === 'SOURCE_UNREACHABLE' ? HASTY.timeScale : 1;
      const source = openP2p(urls(bad, await served(chain)), regtest, { ...HASTY, timeScale, attempts: 50 });
      await good.sync(source);
      assert.equal(good.fold.head?.height, 30);
      assert.equal(source.status().lastError?.code, code);
    });
  }
});

describe('a node that gives', () => {
  it('a block whose last transactions are repeated, under the same Merkle root', async () => {
    const outputs = [{ value: 1n, script: OP_TRUE }];
    const spends = [1, 2].map((index) => forgeTx({ inputs: [{ txId: new Uint8Array(32).fill(7), index }], outputs }));
    const three = withWork(forgeBlock(chain.best[0].hash, [forgeCoinbase(1, outputs), ...spends]));
    const twice = concatBytes(three.subarray(0, 80), Uint8Array.of(4), three.subarray(81), spends[1]);
    const node = await ScriptedNode.open(regtest, 1, ({ kind }, link) => {
      if (kind === 'getheaders') link.send({ kind: 'headers', headers: [three.subarray(0, 80)] });
      if (kind === 'getdata') link.send({ kind: 'block', raw: twice });
    });
    open.push(node);
    const source = openP2p(urls(node), regtest, { ...HASTY, timeScale: 1 });
    await assert.rejects(new Reader(regtest).sync(source), { code: 'PROTOCOL', message: /are repeated/ });
  });

  it('its greeting byte by byte', async () => {
    const version = framed(ownVersion(1n, 30));
    const server = createServer(async (socket) => {
      socket.on('error', () => {});
      for (const byte of version) {
        socket.write(Uint8Array.of(byte));
        await sleep(10);
      }
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    open.push({ close: async () => void server.close() });
    const { port } = server.address() as AddressInfo;
    const late = { code: 'SOURCE_UNREACHABLE', message: /did not say its version/ };
    await assert.rejects(new Reader(regtest).sync(openP2p(urls({ port }), regtest, { ...HASTY, timeScale: 0.001 })), late);
  });

  it('the ids of transactions without end, and none of them', async () => {
    let [asked, isThrough] = [0, false];
    const links: Link[] = [];
    const node = await ScriptedNode.open(regtest, 0, (message, link) => {
      if (message.kind === 'getheaders') {
        links.push(link);
        link.send({ kind: 'headers', headers: [] });
      }
      if (message.kind === 'getdata') asked += message.items.length;
      isThrough ||= message.kind === 'pong';
    });
    open.push(node);
    const reader = new Reader(regtest);
    reader.start(openP2p(urls(node), regtest, { ...HASTY, timeScale: 1 }));
    // At the tip, which is the first block: from now on transactions are of use.
    await until(() => reader.fold.head !== null);
    for (let round = 0; round < 4; round++) {
      const hashOf = (i: number): Uint8Array => concatBytes(u32(i), u32(round), new Uint8Array(24));
      links[0].send({ kind: 'inv', items: Array.from({ length: P2P_INVENTORY_MAX }, (_, i) => ({ type: ITEM.tx, hash: hashOf(i) })) });
    }
    links[0].send({ kind: 'ping', nonce: new Uint8Array(8) });
    await until(() => isThrough);
    assert.deepEqual([asked, links.length], [P2P_INVENTORY_MAX, 1]);
    await reader.end();
  });
});

describe('a node that falls silent', () => {
  /** Three, twelve and sixty seconds for twice the silence. */
  const SILENCE_SCALES = [HASTY.timeScale, 0.04, 0.2];

  /** Both nodes behind doors, of which the first is shut at the tip: how the reader lost nodes, and how it stands after longer than silence may last. */
  async function lossesAt(
    timeScale: number,
  ): Promise<{ readonly losses: readonly string[]; readonly status: PeerStatus; readonly good: string }> {
    let isDeaf = false;
    const bad = await spoilt(chain, (_, frame) => (isDeaf ? null : frame));
    const [good] = urls(await spoilt(chain, (_, frame) => frame));
    const losses: string[] = [];
    const onPeer = ({ state, lastError }: PeerStatus): void => {
      if (state === 'waiting') losses.push(lastError?.message ?? '');
    };
    const source = openP2p([...urls(bad), good], regtest, { ...HASTY, timeScale, onPeer });
    const reader = new Reader(regtest);
    reader.start(source);
    await reader.reach(chain.tip.hash);
    isDeaf = true;
    await until(() => source.status().peer === good && source.status().state === 'following');
    await sleep(2 * P2P_SILENCE_MS * timeScale);
    const status = source.status();
    await reader.end();
    return { losses, status, good };
  }

  it('at its tip is left for another, and one that answers to pings is not', async () => {
    for (const timeScale of SILENCE_SCALES) {
      const { losses, status, good } = await lossesAt(timeScale);
      // On a busy machine a node that answers may need more time than this; the longest settles it.
      if (losses.length > 1 && timeScale !== SILENCE_SCALES.at(-1)) continue;
      assert.match(losses.join('\n'), /^\S+ has fallen silent$/);
      return assert.deepEqual([status.lost, status.state, status.peer], [1, 'following', good]);
    }
  });
});

describe('damage on the way', () => {
  it('never hangs, never crashes, never gets in', async () => {
    const server = await served(chain);
    const places = fc.record({ frame: fc.nat(40), at: fc.nat(400), byte: fc.integer({ min: 1, max: 255 }) });
    const run = async (damage: { frame: number; at: number; byte: number }): Promise<void> => {
      const spoiler = await Spoiler.before(server, (_, frame, nth) => {
        if (nth !== damage.frame) return frame;
        const at = damage.at % frame.length;
        return changed(frame, at, Uint8Array.of(frame[at] ^ damage.byte));
      });
      const reader = new Reader(regtest);
      try {
        await reader.sync(openP2p(urls(spoiler), regtest, { ...HASTY, timeScale: 0.005 }));
        assert.equal(reader.fold.head?.height, 30);
      } catch (error) {
        assert.ok(error instanceof UnspentError, String(error));
        assert.ok(['PROTOCOL', 'SOURCE_UNREACHABLE', 'NETWORK_WRONG', 'UNSUPPORTED'].includes(error.code), error.code);
      } finally {
        await spoiler.close();
      }
      for (let height = 0; height <= (reader.fold.head?.height ?? -1); height++)
        assert.deepEqual(reader.fold.rowAt(height)?.hash, chain.best[height].hash);
    };
    await fc.assert(fc.asyncProperty(places, run), { numRuns: 60 });
  });
});
