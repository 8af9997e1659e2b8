/**
 * Answers that stream: every row, over real sockets. They wait for a slow
 * reader, keep their snapshot only as long as they last, are bounded in number,
 * and let others be answered meanwhile.
 */
import assert from 'node:assert/strict';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { blake2b224 } from '../../../src/crypto/hash.ts';
import type { UtxoJson } from '../../../src/query/json.ts';
import { type IndexedUtxo, Query } from '../../../src/query/query.ts';
import { connectionMs } from '../../../src/server/app.ts';
import { RowStream } from '../../../src/server/http/rows.ts';
import { ServerState } from '../../../src/server/http/server-state.ts';
import { Workload } from '../../../src/server/http/work/workload.ts';
import { fromHex } from '../../../src/util/bytes.ts';
import { UnspentError } from '../../../src/util/errors.ts';
import { HTTP_PIECE_CHARS } from '../../../src/util/limits.ts';
import { until } from '../../support/patience.ts';
import { assertProblem, Served } from '../../support/served.ts';

/** More than sockets hold by themselves: the server has to wait for its reader. */
const ROWS = 40_000;

/** Every key has that many rows, as far as a reader can tell: the few it has, over and over. */
function repeat(served: Served): void {
  const lease = served.reads.lease.bind(served.reads);
  served.reads.lease = () => {
    const held = lease();
    const byKey = held.query.byKey.bind(held.query);
    held.query.byKey = function* (kind, key, page = {}) {
      const few = [...byKey(kind, key, { ...page, limit: undefined })];
      for (let i = 0; i < Math.min(page.limit ?? ROWS, ROWS); i++) yield few[i % few.length];
    };
    return held;
  };
}

describe('every row', () => {
  let served: Served;
  let port: number;
  let path: string;

  before(async () => {
    served = await Served.open({ blocks: 60, server: { streamsMax: 2, rowsMax: 100_000 } });
    const [{ addressHex }] = served.devnet.chain.utxos.values();
    repeat(served);
    path = `/api/v1/addresses/${addressHex}/utxos?all=true`;
    ({ port } = await served.listen());
  });
  after(() => served.close());

  function open(url = path): Promise<{ response: IncomingMessage; asking: ClientRequest }> {
    return new Promise((resolve, reject) => {
      const asking = request({ host: '127.0.0.1', port, path: url, agent: false }, (response) => resolve({ response, asking }));
      asking.on('error', reject).end();
    });
  }

  async function text(response: IncomingMessage): Promise<string> {
    let all = '';
    for await (const piece of response.setEncoding('utf8')) all += piece;
    return all;
  }

  const released = async (): Promise<void> => {
    await until(() => served.reads.snapshots === 1, 'only the newest snapshot is left');
  };
  const streams = async (): Promise<number> => (await served.get('/status')).json<{ streams: number }>().streams;

  test('comes as one array', async () => {
    const { response } = await open();
    assert.deepEqual([response.statusCode, response.headers['transfer-encoding']], [200, 'chunked']);
    assert.equal((JSON.parse(await text(response)) as UtxoJson[]).length, ROWS);
    assert.equal(await streams(), 0);
  });

  test('waits for a slow reader, at its own point, and lets others pass', async () => {
    const { response } = await open();
    response.pause();
    await sleep(200);
    assert.equal(await streams(), 1, 'it is still under way');
    const { height } = served.devnet.chain.tip!;
    served.forward(1);
    assert.equal(served.reads.snapshots, 2, 'the old one, and the new one that is held to tell what a rollback takes');
    assert.equal((await served.get('/blocks/latest')).point?.height, height + 1);
    assert.equal(served.reads.snapshots, 2);
    assert.equal(Number(response.headers['x-block-height']), height);
    assert.equal((JSON.parse(await text(response)) as UtxoJson[]).length, ROWS);
    await released();
  });

  test('ends when the reader hangs up', async () => {
    const { response, asking } = await open();
    response.on('error', () => {});
    asking.on('error', () => {});
    response.pause();
    await sleep(50);
    assert.equal(await streams(), 1);
    served.forward(1);
    asking.destroy();
    await until(async () => (await streams()) === 0, 'the stream is over');
    await released();
  });

  test('ends when the reader stalls', async () => {
    const { timeout } = served.app.server;
    assert.equal(timeout, connectionMs(served.context.config.server.waitSecondsMax));
    served.app.server.timeout = 200;
    const { response } = await open();
    served.app.server.timeout = timeout;
    const cut = new Promise((resolve) => response.once('error', resolve));
    response.pause();
    await until(async () => (await streams()) === 0, 'the stream is over');
    response.resume();
    assert.match(String(await cut), /aborted/);
    await released();
  });

  test('what the server ends early does not look complete', async (t) => {
    const streaming = t.mock.method(ServerState.prototype, 'stream');
    const { response } = await open();
    const cut = new Promise((resolve) => response.once('error', resolve));
    response.pause();
    // As its time limit does.
    streaming.mock.calls[0].result?.destroy();
    await sleep(20);
    response.resume();
    assert.match(String(await cut), /aborted/);
    await released();
  });

  test('only so many at a time', async () => {
    const [one, two] = [await open(), await open()];
    for (const { response } of [one, two]) response.pause();
    await sleep(50);
    const refused = await served.get(path.slice('/api/v1'.length));
    assertProblem(refused, 'BUSY', 503);
    assert.equal(refused.headers['retry-after'], '1');
    assert.equal((await served.get(path.slice('/api/v1'.length).replace('all=true', 'limit=3'))).status, 200, 'pages are no streams');
    await Promise.all([text(one.response), text(two.response)]);
    assert.equal((await served.get(path.slice('/api/v1'.length))).status, 200);
  });

  test('a long page is made in slices: a short question need not wait for it', async () => {
    const order: string[] = [];
    const long = served.get(path.slice('/api/v1'.length).replace('all=true', 'limit=30000')).then((answer) => {
      order.push('long');
      assert.equal(answer.json<unknown[]>().length, 30_000);
      assert.ok(answer.headers['x-next-after'] !== undefined);
    });
    await sleep(5);
    await served.get('/blocks/latest').then(() => order.push('short'));
    await long;
    assert.deepEqual(order, ['short', 'long']);
  });
});

describe('a stream that fails', () => {
  /** A store whose rows end with one that is damaged. */
  async function failingAfter(rows: number): Promise<{ served: Served; url: string }> {
    const served = await Served.open({ blocks: 20 });
    const [{ addressHex }] = served.devnet.chain.utxos.values();
    const lease = served.reads.lease.bind(served.reads);
    served.reads.lease = () => {
      const held = lease();
      const [row] = Query.prototype.byKey.call(held.query, 'address', blake2b224(fromHex(addressHex)));
      held.query.byKey = function* () {
        for (let i = 0; i < rows; i++) yield row;
        throw new UnspentError('STORE_DAMAGED', 'the next row is not there');
      };
      return held;
    };
    const { origin } = await served.listen();
    return { served, url: `${origin}/api/v1/addresses/${addressHex}/utxos?limit=all` };
  }

  test('is cut off, never ended as if that were all; health turns red', async () => {
    const { served, url } = await failingAfter(20_000);
    const response = await fetch(url);
    assert.equal(response.status, 200);
    await assert.rejects(response.text());
    assert.equal((await served.get('//health')).status, 503);
    assert.equal(served.logged.length, 1);
    assert.match(served.logged.splice(0)[0], /^a streamed answer: STORE_DAMAGED: /);
    await served.close();
  });

  test('is a problem where nothing was sent yet', async () => {
    const { served, url } = await failingAfter(0);
    const response = await fetch(url);
    assert.deepEqual([response.status, ((await response.json()) as { code: string }).code], [500, 'STORE_DAMAGED']);
    assert.equal(served.logged.splice(0).length, 1, 'and logged once');
    await served.close();
  });
});

describe('a stream of rows', () => {
  const task = new Workload().task(() => false);
  const row = { cursor: new Uint8Array(0) } as unknown as IndexedUtxo;
  const many = function* (count: number): Iterable<IndexedUtxo> {
    for (let i = 0; i < count; i++) yield row;
  };

  test('makes no more than its reader takes', async () => {
    let made = 0;
    const encode = () => {
      made++;
      return '"0123456789"';
    };
    const stream = new RowStream(task, many(1_000_000), undefined, encode, 'json');
    stream.read(0);
    await sleep(50);
    assert.ok(made > 0 && made * 13 < 3 * HTTP_PIECE_CHARS, `${made} rows are waiting`);
    stream.destroy();
    await sleep(5);
    const until = made;
    await sleep(20);
    assert.equal(made, until);
  });

  test('is an array whatever is accepted, in both forms', async () => {
    const text = async (count: number, accepted: (i: number) => boolean): Promise<unknown> => {
      let i = 0;
      const stream = new RowStream(
        task,
        many(count),
        () => accepted(i++),
        () => '7',
        'json',
      );
      return JSON.parse(Buffer.concat(await stream.toArray()).toString());
    };
    assert.deepEqual(await text(0, () => true), []);
    assert.deepEqual(await text(3, () => true), [7, 7, 7]);
    assert.deepEqual(await text(50_000, (i) => i === 49_999), [7], 'nothing for many pieces, then one');
    assert.deepEqual(await text(50_000, (i) => i === 0 || i === 30_000), [7, 7]);
    assert.deepEqual(await text(50_000, () => false), []);
    const cbor = new RowStream(task, many(2), undefined, () => Uint8Array.of(7), 'cbor');
    assert.deepEqual([...Buffer.concat(await cbor.toArray())], [0x9f, 7, 7, 0xff]);
  });

  test('an error ends it, and is not an empty answer', async () => {
    const failing = function* (): Iterable<IndexedUtxo> {
      yield row;
      throw new Error('damaged');
    };
    await assert.rejects(new RowStream(task, failing(), undefined, () => '7', 'json').toArray(), /damaged/);
  });
});
