/**
 * Clients of UTxO RPC that ask for more than is good for others, and take no
 * answer: on streams of HTTP/2 whose window they never open. Counted is what the
 * server has in work, never how long it takes.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { describe, test } from 'node:test';
import { query } from '@utxorpc/spec/lib/index.mjs';
import { openGrpc } from '../../../src/server/cardano/utxorpc/grpc/server.ts';
import type { CallTimeouts } from '../../../src/server/cardano/utxorpc/grpc/sessions.ts';
import { Workload } from '../../../src/server/http/work/workload.ts';
import type { ShapeServer } from '../../../src/server/shapes.ts';
import { UTXORPC_ITEMS_MAX } from '../../../src/util/limits.ts';
import { until } from '../../support/patience.ts';
import { Served, type ServedOptions } from '../../support/served.ts';

const HOUR_MS = 3_600_000;

class Stage {
  readonly served: Served;
  readonly workload: Workload;
  private readonly server: ShapeServer;
  private readonly sessions: ClientHttp2Session[] = [];

  private constructor(served: Served, workload: Workload, server: ShapeServer) {
    this.served = served;
    this.workload = workload;
    this.server = server;
  }

  static async open(
    workload: Workload,
    { stalledMs = HOUR_MS, requestMs = HOUR_MS, ...options }: ServedOptions & Partial<CallTimeouts> = {},
  ) {
    const served = await Served.open({ blocks: 20, ...options });
    const parts = {
      context: { ...served.context, workload },
      evaluation: served.app.txEvaluation!,
      log: (line: string) => assert.fail(line),
    };
    return new Stage(served, workload, await openGrpc(parts, 0, { stalledMs, requestMs, idleMs: HOUR_MS }));
  }

  /** `window`: bytes that the server may send of each answer. */
  async connect(window = 65_535): Promise<ClientHttp2Session> {
    const session = connect(`http://127.0.0.1:${this.server.ports['grpc']}`, { settings: { initialWindowSize: window } });
    session.on('error', () => undefined);
    this.sessions.push(session);
    await once(session, 'connect');
    return session;
  }

  /** The names of an output, so often. */
  readUtxos(session: ClientHttp2Session, count: number): ClientHttp2Stream {
    const { txId, index } = [...this.served.devnet.chain.utxos.values()][0];
    const keys = Array.from({ length: count }, () => ({ hash: new Uint8Array(txId), index }));
    return call(session, 'ReadUtxos', new query.ReadUtxosRequest({ keys } as object).toBinary());
  }

  async close(): Promise<void> {
    for (const session of this.sessions) session.destroy();
    await this.server.close();
    await this.served.close();
    assert.equal(this.workload.bytes, 0);
  }
}

function call(session: ClientHttp2Session, method: string, message: Uint8Array): ClientHttp2Stream {
  const stream = session.request({
    ':method': 'POST',
    ':path': `/utxorpc.v1alpha.query.QueryService/${method}`,
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  stream.on('error', () => undefined);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  stream.end(Buffer.concat([head, message]));
  return stream;
}

/** The status that the call ended with: in a header where there is no answer, in a trailer behind one. */
async function statusOf(stream: ClientHttp2Stream): Promise<{ readonly status: string; readonly message: string }> {
  const found: Record<string, unknown> = {};
  stream.on('response', (headers) => Object.assign(found, headers)).on('trailers', (headers) => Object.assign(found, headers));
  stream.resume();
  await once(stream, 'close');
  return { status: String(found['grpc-status']), message: decodeURIComponent(String(found['grpc-message'] ?? '')) };
}

describe('a call', () => {
  test('is worked on in turns, and no further when its client hangs up', async () => {
    const stage = await Stage.open(new Workload());
    const { reads } = stage.served;
    let looked = 0;
    let onLook: (() => void) | null = null;
    const lease = reads.lease.bind(reads);
    reads.lease = () => {
      const held = lease();
      const outpoints = Object.getPrototypeOf(held.query).outpoints.bind(held.query);
      held.query.outpoints = (keys) => {
        looked += keys.length;
        onLook?.();
        return outpoints(keys);
      };
      return held;
    };
    const session = await stage.connect();
    assert.equal((await statusOf(stage.readUtxos(session, UTXORPC_ITEMS_MAX))).status, '0');
    assert.equal(looked, UTXORPC_ITEMS_MAX);
    assert.ok(stage.workload.rounds > 1, 'others had their turn');
    looked = 0;
    const stream = stage.readUtxos(session, UTXORPC_ITEMS_MAX);
    onLook = () => stream.destroy();
    await until(() => looked > 0 && stage.workload.waiting === 0 && stage.workload.bytes === 0, 'the work ends');
    assert.ok(looked < UTXORPC_ITEMS_MAX, 'before all are looked up');
    await stage.close();
  });

  test('whose answer nobody takes holds it until the connection ends; beyond what may be held others are told BUSY', async () => {
    const stage = await Stage.open(new Workload({ longTasksMax: 64, answerBytesMax: 1_000_000 }));
    const { workload } = stage;
    const deaf = await stage.connect(0);
    const streams = Array.from({ length: 100 }, () => stage.readUtxos(deaf, 500));
    const statuses = streams.map(statusOf);
    await until(() => workload.refusal !== null && workload.waiting === 0, 'answers hold as much as they may');
    const other = await stage.connect();
    const { status, message } = await statusOf(stage.readUtxos(other, 1));
    assert.deepEqual([status, message.slice(0, 5)], ['14', 'BUSY:']);
    assert.ok(workload.bytes < 2_000_000);
    deaf.destroy();
    await Promise.all(statuses);
    await until(() => workload.bytes === 0, 'what they held is let go');
    assert.equal((await statusOf(stage.readUtxos(other, 1))).status, '0');
    await stage.close();
  });

  test('whose client takes nothing for long is ended', async () => {
    const stage = await Stage.open(new Workload(), { stalledMs: 200 });
    const deaf = await stage.connect(0);
    const stream = stage.readUtxos(deaf, 500);
    let isClosed = false;
    stream.on('close', () => {
      isClosed = true;
    });
    await until(() => stage.workload.bytes > 0, 'the answer is made');
    await until(() => isClosed && stage.workload.bytes === 0, 'it is ended');
    assert.ok(!deaf.destroyed, 'and not the connection');
    await stage.close();
  });
});

describe('as many connections as there may be', () => {
  test('one whose calls are never asked to their end is idle again', async () => {
    const stage = await Stage.open(new Workload(), { requestMs: 200, server: { connectionsMax: 1 } });
    const session = await stage.connect();
    const headers = { ':method': 'POST', ':path': '/utxorpc.v1alpha.query.QueryService/ReadUtxos', 'content-type': 'application/grpc' };
    const half = session.request(headers);
    half.on('error', () => undefined);
    let isClosed = false;
    half.on('close', () => {
      isClosed = true;
    });
    await until(() => isClosed, 'the call is ended');
    const next = await stage.connect();
    await until(() => session.destroyed, 'it makes room');
    assert.equal((await statusOf(stage.readUtxos(next, 1))).status, '0');
    await stage.close();
  });

  test('the one that has been idle for longest makes room; while all are at work, the next is turned away', async () => {
    const stage = await Stage.open(new Workload(), { server: { connectionsMax: 3 } });
    const idle = [await stage.connect(), await stage.connect(), await stage.connect()];
    // The first has just asked something: the second is idle for longer.
    assert.equal((await statusOf(stage.readUtxos(idle[0], 1))).status, '0');
    const fourth = await stage.connect(0);
    await until(() => idle[1].destroyed, 'the second is closed');
    assert.deepEqual(
      idle.map(({ destroyed }) => destroyed),
      [false, true, false],
    );
    // All of them wait for an answer that they do not take.
    const deaf = [fourth, await stage.connect(0), await stage.connect(0)];
    for (const session of deaf) stage.readUtxos(session, 100);
    await until(() => stage.workload.bytes > 2 * 100 * 4 * 50, 'all are at work');
    const late = await stage.connect();
    await until(() => late.destroyed, 'it is turned away');
    assert.ok(deaf.every(({ destroyed }) => !destroyed));
    await stage.close();
  });
});
