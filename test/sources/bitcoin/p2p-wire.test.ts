/**
 * Frames and messages: what is written is read again however it is cut, what is
 * not well formed is the peer's mistake, and the window of blocks keeps to its
 * limits.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { compactBytes } from '../../../src/ledgers/bitcoin/cursor.ts';
import { headerHash } from '../../../src/ledgers/bitcoin/index.ts';
import { BlockWindow } from '../../../src/sources/bitcoin/p2p/block-window.ts';
import { encodeFrame, type Frame, FrameReader } from '../../../src/sources/bitcoin/p2p/frame.ts';
import { decodeMessage, encodeMessage, type Message, payloadLimit } from '../../../src/sources/bitcoin/p2p/messages.ts';
import { concatBytes, fromHex, toHex } from '../../../src/util/bytes.ts';
import { isUnspentError } from '../../../src/util/errors.ts';
import { P2P_BLOCK_BYTES_AHEAD_MAX, P2P_BLOCKS_IN_FLIGHT_MAX } from '../../../src/util/limits.ts';

/** As literals are, with a prototype. */
const record: typeof fc.record = (model: object) => fc.record(model, { noNullPrototype: true }) as never;
const MAGIC = 0xfabfb5da;
const hash = fc.uint8Array({ minLength: 32, maxLength: 32 });
const nonce = fc.uint8Array({ minLength: 8, maxLength: 8 });
const header = fc.uint8Array({ minLength: 80, maxLength: 80 });
const items = fc.array(record({ type: fc.nat(0xffff_ffff), hash }), { maxLength: 300 });
const text = fc.string({ unit: 'grapheme-ascii', maxLength: 60 });
const raw = fc.uint8Array({ maxLength: 3000 });

const message: fc.Arbitrary<Message> = fc.oneof(
  record({
    kind: fc.constant('version'),
    version: fc.integer({ min: 0, max: 0x7fff_ffff }),
    services: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    time: fc.nat(),
    nonce,
    userAgent: text,
    startHeight: fc.nat(),
    relay: fc.boolean(),
  }),
  record({ kind: fc.constantFrom('verack', 'sendheaders', 'mempool', 'wtxidrelay', 'sendaddrv2') }),
  record({ kind: fc.constantFrom('ping', 'pong'), nonce }),
  record({ kind: fc.constantFrom('getheaders', 'getblocks'), locator: fc.array(hash, { maxLength: 101 }), stop: hash }),
  record({ kind: fc.constant('headers'), headers: fc.array(header, { maxLength: 300 }) }),
  record({ kind: fc.constantFrom('inv', 'getdata', 'notfound'), items }),
  record({ kind: fc.constantFrom('block', 'tx'), raw }),
  record({ kind: fc.constant('reject'), message: text, code: fc.nat(255), reason: text, hash: fc.option(hash) }),
) as fc.Arbitrary<Message>;

function readAll(bytes: Uint8Array, cuts: readonly number[]): Frame[] {
  const reader = new FrameReader(MAGIC, payloadLimit);
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return ends.flatMap((end, i) => [...reader.read(bytes.subarray(ends[i - 1] ?? 0, end))]);
}

describe('messages', () => {
  it('are read as they were written, however the bytes are cut', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 5 }), fc.array(fc.nat(), { maxLength: 20 }), (messages, cuts) => {
        const bytes = concatBytes(...messages.map((one) => encodeFrame(MAGIC, encodeMessage(one))));
        assert.deepEqual(readAll(bytes, cuts).map(decodeMessage), messages);
      }),
    );
  });

  it('the one everybody knows is on the wire as everybody writes it', () => {
    const frame = encodeFrame(0xf9beb4d9, encodeMessage({ kind: 'verack' }));
    assert.equal(toHex(frame), 'f9beb4d976657261636b000000000000000000005df6e0e2');
  });

  it('what does not decode is a mistake of the peer, whatever it is', () => {
    const commands = fc.constantFrom('version', 'ping', 'getheaders', 'getblocks', 'headers', 'inv', 'getdata', 'notfound', 'reject');
    fc.assert(
      fc.property(commands, fc.uint8Array({ maxLength: 200 }), (command, payload) => {
        try {
          assert.equal(decodeMessage({ command, payload }).kind, command);
        } catch (error) {
          assert.ok(isUnspentError(error, 'PROTOCOL'), String(error));
        }
      }),
      { numRuns: 2000 },
    );
    const tooMany = concatBytes(fromHex('fdd207'), new Uint8Array(2002 * 81));
    assert.throws(() => decodeMessage({ command: 'headers', payload: tooMany }), { code: 'PROTOCOL' });
    assert.throws(() => decodeMessage({ command: 'inv', payload: fromHex('fd0000') }), { code: 'PROTOCOL' });
  });

  it('a text that is too long is cut off, and what a node adds behind a message is passed over', () => {
    const long = (bytes: number): Uint8Array => concatBytes(compactBytes(bytes), new Uint8Array(bytes).fill(0x78));
    const hash = new Uint8Array(32).fill(7);
    for (const bytes of [256, 257, 5000, 100_000]) {
      const payload = concatBytes(long(2), Uint8Array.of(16), long(bytes), hash);
      const [frame] = readAll(encodeFrame(MAGIC, { command: 'reject', payload }), [40]);
      assert.deepEqual(decodeMessage(frame), { kind: 'reject', message: 'xx', code: 16, reason: 'x'.repeat(256), hash });
    }
    for (const one of fc.sample(message, 50).filter(({ kind }) => kind !== 'block' && kind !== 'tx' && kind !== 'reject')) {
      const { command, payload } = encodeMessage(one);
      const [frame] = readAll(encodeFrame(MAGIC, { command, payload: concatBytes(payload, new Uint8Array(70_000)) }), []);
      assert.deepEqual(decodeMessage(frame), one);
    }
  });

  it('kinds that nobody reads are passed over and not kept', () => {
    const bytes = concatBytes(
      encodeFrame(MAGIC, { command: 'addrv2', payload: new Uint8Array(70_000) }),
      encodeFrame(MAGIC, { command: 'feefilter', payload: new Uint8Array(8) }),
      encodeFrame(MAGIC, encodeMessage({ kind: 'verack' })),
    );
    assert.deepEqual(
      readAll(bytes, [5, 30, 40_000]).map(({ command }) => command),
      ['verack'],
    );
  });
});

describe('the window of blocks', () => {
  const block = (n: number, bytes: number): Uint8Array => concatBytes(Uint8Array.of(n, n >> 8), new Uint8Array(bytes - 2));

  it('opens with small blocks and closes with large ones', () => {
    const window = new BlockWindow();
    const cycle = (bytes: number): number => {
      for (let n = 0; n < 200; n++) {
        const raw = block(n, bytes);
        window.ask(headerHash(raw));
        assert.deepEqual(window.arrived(raw), headerHash(raw));
        window.drop(headerHash(raw));
      }
      return window.room;
    };
    assert.ok(window.room >= 1 && window.room < P2P_BLOCKS_IN_FLIGHT_MAX);
    assert.equal(cycle(300), P2P_BLOCKS_IN_FLIGHT_MAX);
    const large = cycle(2_000_000);
    assert.ok(large >= 1 && large * 2_000_000 <= P2P_BLOCK_BYTES_AHEAD_MAX, `${large}`);
  });

  it('is full with what waits, has room again when it is taken, and takes nothing unasked', () => {
    const window = new BlockWindow();
    const raws = Array.from({ length: 5 }, (_, n) => block(n, 7_000_000));
    for (const raw of raws) window.ask(headerHash(raw));
    for (const raw of raws) window.arrived(raw);
    assert.deepEqual([window.isFull, window.room, window.waiting], [true, 0, 0]);
    assert.throws(() => window.arrived(raws[0]), { code: 'PROTOCOL' });
    window.keepOnly((hash) => toHex(hash) === toHex(headerHash(raws[1])));
    assert.equal(window.isFull, false);
    assert.equal(window.peek(headerHash(raws[0])), undefined);
    assert.equal(window.peek(headerHash(raws[1])), raws[1]);
    assert.ok(window.room > 0);
  });
});
