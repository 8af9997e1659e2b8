/**
 * The multiplexer: however the bytes are cut and interleaved, the same messages
 * come out; what is not allowed ends the connection, once, for everybody.
 */
import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Channel } from '../../../../src/sources/cardano/ouroboros/channel.ts';
import { Ingress } from '../../../../src/sources/cardano/ouroboros/ingress.ts';
import { MessageScanner } from '../../../../src/sources/cardano/ouroboros/message-scanner.ts';
import { Mux } from '../../../../src/sources/cardano/ouroboros/mux.ts';
import { concatBytes, equalBytes, readU16, writeU16 } from '../../../../src/util/bytes.ts';
import { CborWriter } from '../../../../src/util/cbor-write.ts';
import { type ErrorCode, isUnspentError } from '../../../../src/util/errors.ts';
import { SDU_BYTES_SENT_MAX } from '../../../../src/util/limits.ts';
import { pair } from './wire.ts';

const LIMIT = 5_000_000;
const soon = (channel: Channel, bytesMax = LIMIT): Promise<Uint8Array> => channel.receive(bytesMax, 2000, 'test');
const code = (wanted: ErrorCode) => (error: unknown) => isUnspentError(error, wanted);

function segment(protocol: number, payload: Uint8Array): Uint8Array {
  const out = new Uint8Array(8 + payload.length);
  writeU16(out, 4, protocol);
  writeU16(out, 6, payload.length);
  out.set(payload, 8);
  return out;
}

/** A stream whose other end is the test. */
function bare(): { stream: Duplex; sent: Uint8Array[] } {
  const sent: Uint8Array[] = [];
  const stream = new Duplex({
    read() {},
    write(chunk: Uint8Array, _encoding, done) {
      sent.push(chunk);
      done();
    },
  });
  return { stream, sent };
}

/** Any CBOR item, shallow enough to print. */
const item: fc.Arbitrary<Uint8Array> = fc.letrec<{ item: Uint8Array }>((tie) => ({
  item: fc.oneof(
    { maxDepth: 4 },
    fc.nat().map((n) => new CborWriter().uint(n).take()),
    fc.uint8Array({ maxLength: 400 }).map((bytes) => new CborWriter().bytes(bytes).take()),
    fc.string({ maxLength: 40 }).map((text) => new CborWriter().text(text).take()),
    fc.constant(Uint8Array.of(0xf5)),
    fc.bigInt({ min: -(1n << 63n), max: 1n << 63n }).map((n) => new CborWriter().int(n).take()),
    fc
      .array(tie('item'), { maxLength: 4 })
      .map((items) => items.reduce((w, each) => w.raw(each), new CborWriter().array(items.length)).take()),
    fc.array(tie('item'), { maxLength: 4 }).map((items) =>
      items
        .reduce((w, each) => w.raw(each), new CborWriter().startArray())
        .end()
        .take(),
    ),
    fc
      .array(tie('item'), { maxLength: 3 })
      .map((items) => items.reduce((w, each) => w.raw(each).raw(each), new CborWriter().map(items.length)).take()),
    fc.array(tie('item'), { maxLength: 3 }).map((items) =>
      items
        .reduce((w, each) => w.raw(each).raw(each), new CborWriter().startMap())
        .end()
        .take(),
    ),
    fc.array(fc.uint8Array({ maxLength: 9 }), { maxLength: 3 }).map((items) =>
      items
        .reduce((w, each) => w.bytes(each), new CborWriter().startBytes())
        .end()
        .take(),
    ),
    tie('item').map((inner) => new CborWriter().tag(24).raw(inner).take()),
  ),
})).item;

describe('any cutting and interleaving gives the same messages', () => {
  it('in segments, read from a stream in chunks', async () => {
    const cuts = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 60 });
    const lines = fc.array(fc.array(item, { maxLength: 8 }), { minLength: 3, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(
        lines,
        cuts,
        cuts,
        fc.array(fc.nat(2), { minLength: 1, maxLength: 40 }),
        async (messages, segments, chunks, order) => {
          const { stream } = bare();
          const mux = new Mux(stream);
          const channels = [2, 3, 8].map((protocol) => mux.channel(protocol, 'initiator'));
          const received = Promise.all(
            channels.map(async (channel, i) => {
              const out: Uint8Array[] = [];
              while (out.length < messages[i].length) out.push(channel.tryReceive(LIMIT) ?? (await soon(channel)));
              return out;
            }),
          );
          const bytes = interleave(
            messages.map((each) => concatBytes(...each)),
            segments,
            order,
          );
          for (let at = 0, i = 0; at < bytes.length; i++) {
            const end = at + chunks[i % chunks.length];
            stream.push(bytes.slice(at, end));
            at = end;
          }
          const got = await received;
          got.forEach((out, i) => {
            assert.equal(out.length, messages[i].length);
            out.forEach((message, j) => {
              assert.ok(equalBytes(message, messages[i][j]));
            });
          });
          await mux.close();
        },
      ),
      { numRuns: 150 },
    );
  });

  it('written by one multiplexer and read by another, over a socket', async () => {
    const { client, server, close } = await pair();
    const [a, b] = [client.channel(2, 'initiator'), client.channel(3, 'initiator')];
    const [c, d] = [server.channel(2, 'responder'), server.channel(3, 'responder')];
    const big = new CborWriter().array(2).uint(4).encoded(new Uint8Array(2_400_000).fill(3)).take();
    const small = Uint8Array.of(0x81, 0);
    for (let i = 0; i < 3; i++) b.send(big);
    for (let i = 0; i < 300; i++) a.send(small);
    for (let i = 0; i < 300; i++) assert.ok(equalBytes(await soon(c), small));
    for (let i = 0; i < 3; i++) assert.ok(equalBytes(await soon(d), big));
    c.send(big);
    assert.ok(equalBytes(await soon(a), big));
    await close();
  });
});

function interleave(streams: readonly Uint8Array[], cuts: readonly number[], order: readonly number[]): Uint8Array {
  const at = streams.map(() => 0);
  const out: Uint8Array[] = [];
  for (let i = 0; streams.some((bytes, k) => at[k] < bytes.length); i++) {
    const k = order[i % order.length];
    const which = at[k] < streams[k].length ? k : streams.findIndex((bytes, j) => at[j] < bytes.length);
    const end = Math.min(streams[which].length, at[which] + cuts[i % cuts.length]);
    out.push(segment([2, 3, 8][which] | 0x8000, streams[which].subarray(at[which], end)));
    at[which] = end;
  }
  return concatBytes(...out);
}

describe('segments', () => {
  it('are cut at 12,288 bytes and carry the direction of the sender', async () => {
    const { stream, sent } = bare();
    const mux = new Mux(stream);
    mux.channel(2, 'initiator').send(new Uint8Array(30_000));
    mux.channel(7, 'responder').send(Uint8Array.of(1));
    await new Promise((resolve) => setImmediate(resolve));
    const bytes = concatBytes(...sent);
    const heads: [number, number][] = [];
    for (let at = 0; at < bytes.length; at += 8 + readU16(bytes, at + 6)) heads.push([readU16(bytes, at + 4), readU16(bytes, at + 6)]);
    assert.deepEqual(heads, [
      [2, SDU_BYTES_SENT_MAX],
      [0x8007, 1],
      [2, SDU_BYTES_SENT_MAX],
      [2, 30_000 - 2 * SDU_BYTES_SENT_MAX],
    ]);
    await mux.close();
  });

  it('of 65,535 bytes are taken; a message inside one is a view', async () => {
    const { stream } = bare();
    const mux = new Mux(stream);
    const channel = mux.channel(2, 'initiator');
    const message = new CborWriter().bytes(new Uint8Array(65_532)).take();
    assert.equal(message.length, 65_535);
    const bytes = segment(0x8002, message);
    stream.push(bytes);
    const got = await soon(channel);
    assert.equal(got.length, 65_535);
    assert.equal(got.buffer, bytes.buffer, 'no copy');
    await mux.close();
  });
});

describe('what ends a connection', () => {
  const cases: readonly (readonly [string, Uint8Array, ErrorCode])[] = [
    ['an empty segment', segment(0x8002, new Uint8Array(0)), 'PROTOCOL'],
    ['an unknown protocol', segment(0x8005, Uint8Array.of(0)), 'PROTOCOL'],
    ['a segment with our own direction', segment(2, Uint8Array.of(0)), 'PROTOCOL'],
    ['a message that is too large, told by its head', segment(0x8002, Uint8Array.of(0x5a, 0, 1, 0, 0)), 'PROTOCOL'],
    ['a message that is too large, told by its bytes', segment(0x8002, new Uint8Array(1001).fill(0x81)), 'PROTOCOL'],
    ['a lone break', segment(0x8002, Uint8Array.of(0xff)), 'PROTOCOL'],
    ['a reserved head', segment(0x8002, Uint8Array.of(0x1c)), 'PROTOCOL'],
    ['nesting without end', segment(0x8002, new Uint8Array(1200).fill(0x81)), 'PROTOCOL'],
  ];
  for (const [name, bytes, wanted] of cases) {
    it(name, async () => {
      const { stream } = bare();
      const mux = new Mux(stream);
      const [channel, other] = [mux.channel(2, 'initiator'), mux.channel(3, 'initiator')];
      const waiting = [soon(channel, 1000), soon(other)];
      stream.push(bytes);
      for (const each of waiting) await assert.rejects(each, code(wanted));
      await mux.closed;
      assert.throws(() => channel.send(bytes), code(wanted));
      await assert.rejects(soon(other), code(wanted));
      assert.equal(stream.destroyed, true);
      for (const event of ['data', 'end', 'error', 'close', 'drain']) assert.equal(stream.listenerCount(event), 0, event);
    });
  }

  it('a message may be nested as deep as it has bytes', () => {
    const deep = Uint8Array.from({ length: 20_001 }, (_, i) => (i === 20_000 ? 0 : 0x81));
    for (const step of [20_001, 777]) {
      const scanner = new MessageScanner();
      let end = -1;
      for (let at = 0; at < deep.length; at += step) end = scanner.scan(deep.subarray(at, at + step), 0, 30_000);
      assert.ok(end > 0, 'it ends with its last byte');
    }
  });

  it('a message just inside its limit passes, one byte more does not', () => {
    const message = new CborWriter().bytes(new Uint8Array(500)).take();
    for (const step of [1, 7, 503]) {
      const [inside, outside] = [new Ingress(), new Ingress()];
      for (let at = 0; at < message.length; at += step) {
        inside.push(message.subarray(at, at + step));
        outside.push(message.subarray(at, at + step));
      }
      assert.ok(equalBytes(inside.take(503)!, message));
      assert.throws(() => outside.take(502), code('PROTOCOL'));
    }
  });

  it('silence in the middle of a segment, and in the middle of a state', async () => {
    const first = bare();
    const slow = new Mux(first.stream, { timeScale: 0.001 });
    const waiting = slow.channel(2, 'initiator').receive(LIMIT, null, 'test');
    first.stream.push(Uint8Array.of(0, 0, 0, 0, 0x80, 2));
    await assert.rejects(waiting, code('SOURCE_UNREACHABLE'));
    const second = bare();
    const silent = new Mux(second.stream);
    await assert.rejects(silent.channel(2, 'initiator').receive(LIMIT, 20, 'test'), code('SOURCE_UNREACHABLE'));
    await Promise.all([slow.closed, silent.closed]);
  });

  it('not an answer that waited while we did not look', async () => {
    const { client, server, close } = await pair();
    const [asks, answers] = [client.channel(2, 'initiator'), server.channel(2, 'responder')];
    const message = new CborWriter().bytes(new Uint8Array(300_000)).take();
    const waiting = asks.receive(LIMIT, 30, 'test');
    answers.send(message);
    await new Promise((resolve) => setImmediate(resolve));
    for (const until = performance.now() + 80; performance.now() < until; );
    assert.equal((await waiting).length, message.length);
    await close();
  });

  it('what came before the end can still be read', async () => {
    const { client, server, close } = await pair();
    const sends = server.channel(2, 'responder');
    const reads = client.channel(2, 'initiator');
    for (let i = 0; i < 3; i++) sends.send(Uint8Array.of(i));
    await server.close();
    await client.closed;
    for (let i = 0; i < 3; i++) assert.deepEqual([...(await soon(reads))], [i]);
    await assert.rejects(soon(reads), code('SOURCE_UNREACHABLE'));
    await close();
  });
});

it('a slow reader slows the peer, and nothing is lost', async () => {
  const { client, server, close } = await pair({ ingressBytesMax: 100_000 });
  const [sends, reads] = [server.channel(2, 'responder'), client.channel(2, 'initiator')];
  const message = new CborWriter().bytes(new Uint8Array(60_000)).take();
  const count = 400;
  let sent = 0;
  const sending = (async () => {
    for (; sent < count; sent++) {
      sends.send(message);
      await sends.drained();
    }
  })();
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.ok(sent < count, 'the sender waits');
  assert.ok(client.bytesIn < 3_000_000, `${client.bytesIn} bytes were read ahead`);
  for (let i = 0; i < count; i++) assert.equal((await soon(reads)).length, message.length);
  await sending;
  await close();
});
