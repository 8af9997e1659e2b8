/**
 * Readers of a published copy: what they answer is what the server beside the
 * store answers, byte for byte and at one block each; they wait, go on from each
 * other's cursors, and come back by themselves when the database was away.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { Random } from '../../src/chains/random.ts';
import { loadConfig } from '../../src/config/load.ts';
import { formatAddress } from '../../src/ledgers/cardano/address.ts';
import { type ServedCopy, serveCopy } from '../../src/server/serve-copy.ts';
import { fromHex } from '../../src/util/bytes.ts';
import { isUnspentError } from '../../src/util/errors.ts';
import { blockRunBy } from '../docs/page-blocks.ts';
import { copyDatabase, copyServer, stopCopies } from '../support/copy/mirror.ts';
import { RandomRequests } from '../support/copy/requests.ts';
import { TestPublisher } from '../support/copy/test-publisher.ts';
import { TEST_SEED } from '../support/harness.ts';
import { until } from '../support/patience.ts';
import { Served } from '../support/served.ts';
import { withoutPostgres } from '../support/sql/postgres-server.ts';

/** Of each kind of route. */
const ROUNDS = 4;

describe('a reader of a published copy', { skip: withoutPostgres }, () => {
  after(stopCopies);

  test('answers every route as the store does, while blocks come and go', async (t) => {
    const served = await Served.open({ mirrored: true, blocks: 60, store: { pruneDepth: 40, rollbackWindow: 50 } });
    t.after(() => served.close());
    const requests = new RandomRequests(new Random(TEST_SEED), served.devnet);
    let asked = 0;
    let undoings = 0;
    for (let round = 0; round < ROUNDS; round++) {
      for (const kind of RandomRequests.kinds) {
        await served.ask(requests.next(kind));
        asked++;
        if (kind === 'columnChanges') undoings++;
      }
      if (round % 2 === 0) served.forward(3);
      else served.back(2);
      if (round === 1) served.prune();
    }
    const { mirror } = served;
    assert.equal(mirror?.compared, asked);
    const { reads, repeats, statements } = mirror.copy.figures;
    assert.ok(reads > asked / 2 && repeats > 0 && statements > 0, 'the rows came from the database');
    // To undo blocks a tree over the set is walked down row by row, which may take more than there are attempts.
    const { given } = mirror.copy.engine.attempts.counts;
    assert.ok(given <= undoings, `${given} reads took more attempts than they may, of ${undoings} that undo blocks`);
  });
});

describe('several readers of one copy', { skip: withoutPostgres }, () => {
  let served: Served;
  let publisher: TestPublisher;
  let url: string;
  let readers: ServedCopy[];

  before(async () => {
    served = await Served.open({ blocks: 50, mirrored: false });
    url = await copyDatabase();
    const { engine } = served.rig;
    const { network, projections, config } = served.context;
    publisher = await TestPublisher.open(url, { engine, network, projections, windows: config.utxo });
    await publisher.publish();
    readers = [await serveCopy(url, { port: 0 }), await serveCopy(url, { port: 0 })];
  });
  after(async () => {
    for (const reader of readers) await reader.close();
    await publisher.close();
    await served.close();
    await stopCopies();
  });

  const ask = (reader: ServedCopy, path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(new URL(path, reader.url), { headers });
  const published = async (): Promise<void> => {
    await publisher.publish();
    for (const reader of readers) await until(() => reader.copy.head.seq === publisher.seq, 'the reader is at the newest change');
  };

  test('go on from each other: cursors, validators and streams', async () => {
    const [{ addressHex }] = served.devnet.chain.utxos.values();
    const all = await served.get(`/addresses/${addressHex}/utxos?all=true`);
    for (const reader of readers) assert.equal(await (await ask(reader, `api/v1/addresses/${addressHex}/utxos?all=true`)).text(), all.text);
    const rows: unknown[] = [];
    let path: string | null = `/api/v1/addresses/${addressHex}/utxos?limit=3`;
    for (let page = 0; path !== null; page++) {
      const answer: Response = await ask(readers[page % 2], path);
      rows.push(...((await answer.json()) as unknown[]));
      path = /<([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1] ?? null;
    }
    assert.deepEqual(rows, JSON.parse(all.text));
    const etag = (await ask(readers[0], 'api/v1/blocks/latest')).headers.get('etag') ?? assert.fail('there is a validator');
    assert.equal((await ask(readers[1], 'api/v1/blocks/latest', { 'if-none-match': etag })).status, 304);
  });

  test('need no more than the role that docs/readers.md makes', async () => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      await client.query(blockRunBy('test/publish/readers.test.ts', 'docs/readers.md'));
      const asReader = new URL(url);
      asReader.username = 'reader';
      const reader = await serveCopy(asReader.href, { port: 0 });
      assert.equal((await ask(reader, 'api/v1/blocks/latest')).status, 200);
      await reader.close();
    } finally {
      await client.query('drop owned by reader; drop role reader');
      await client.end();
    }
  });

  test('wait for a slot that is published later', async () => {
    served.forward(1);
    const slot = served.devnet.chain.tip?.slot ?? assert.fail();
    const waiting = readers.map((reader) => ask(reader, `api/v1/blocks/latest?min_slot=${slot}`));
    await published();
    for (const answer of await Promise.all(waiting)) assert.equal(((await answer.json()) as { slot: number }).slot, slot);
  });

  test('tell the same events, and go on where another was', async () => {
    const first = (await served.get('/blocks/latest')).json<{ hash: string }>().hash;
    served.forward(3);
    served.back(1);
    served.forward(2);
    await published();
    const events = async (reader: ServedCopy, after: string, count: number): Promise<{ id: string; text: string }[]> => {
      const response = await ask(reader, `api/v1/events?types=block,utxo,tip&after=${after}`);
      const found: { id: string; text: string }[] = [];
      let text = '';
      for await (const piece of response.body ?? assert.fail()) {
        text += Buffer.from(piece).toString();
        const frames = text.split('\n\n');
        text = frames.pop() ?? '';
        for (const frame of frames) {
          const id = /^id: (.*)$/m.exec(frame)?.[1];
          if (id !== undefined) found.push({ id, text: frame });
          if (found.length === count) return found;
        }
      }
      return found;
    };
    const told = await events(readers[0], first, 20);
    assert.equal(told.length, 20);
    assert.deepEqual(await events(readers[1], told[7].id, 12), told.slice(8));
    assert.deepEqual(await events(readers[1], first, 20), told);
  });

  test('say which copy they read, how far behind they are, and that there is no node', async () => {
    const status = (await (await ask(readers[0], 'api/v1/status')).json()) as {
      ready: boolean;
      lag_blocks: number;
      following: { state: string; source: string };
      copy: { change: number; reads: number };
    };
    assert.deepEqual([status.ready, status.lag_blocks, status.following.state, status.copy.change], [true, 0, 'following', publisher.seq]);
    assert.match(status.following.source, /^postgres:/);
    const metrics = await (await ask(readers[0], 'metrics')).text();
    assert.match(metrics, /^unspent_copy_reachable 1$/m);
    assert.match(metrics, new RegExp(`^unspent_copy_change ${publisher.seq}$`, 'm'));
    const refused = await fetch(new URL('blockfrost/tx/submit', readers[0].url), {
      method: 'POST',
      body: new Uint8Array(10),
      headers: { 'content-type': 'application/cbor' },
    });
    assert.ok(refused.status >= 400);
    const wallets = await ask(readers[0], 'api/v1/wallets');
    assert.equal(((await wallets.json()) as { code: string }).code, 'UNSUPPORTED');
  });

  test('show wallets that are kept elsewhere, if told where and by which token', async () => {
    const { config } = loadConfig({ flags: { set: [`wallet.database=${await copyDatabase()}`, 'wallet.token=of-the-wallets'] }, env: {} });
    const reader = await serveCopy(url, { port: 0, config });
    try {
      assert.equal((await ask(reader, 'api/v1/wallets')).status, 401);
      const headers = { authorization: 'Bearer of-the-wallets', 'content-type': 'application/json' };
      const [{ addressHex }] = served.devnet.chain.utxos.values();
      const body = JSON.stringify({ name: 'shop', addresses: [formatAddress(fromHex(addressHex))] });
      const made = await fetch(new URL('api/v1/wallets', reader.url), { method: 'POST', headers, body });
      assert.equal(made.status, 201, await made.text());
      const { wallets } = (await (await fetch(new URL('api/v1/wallets', reader.url), { headers })).json()) as {
        wallets: { name: string }[];
      };
      assert.deepEqual(
        wallets.map(({ name }) => name),
        ['shop'],
      );
    } finally {
      await reader.close();
    }
  });

  test('answer 503 while the database is away, and come back by themselves', async () => {
    const server = copyServer() ?? assert.fail();
    // Rows that nobody has asked for yet: others may be here.
    const path = `api/v1/utxos/${'ab'.repeat(32)}/0`;
    await server.kill();
    for (const reader of readers) {
      const answer = await ask(reader, path);
      const problem = (await answer.json()) as { code: string };
      assert.deepEqual([answer.status, problem.code, answer.headers.get('retry-after')], [503, 'COPY_UNREACHABLE', '1']);
      await until(async () => (await ask(reader, 'ready')).status === 503, 'the reader is not ready');
      assert.equal((await ask(reader, 'health')).status, 200, 'starting it again would not help');
    }
    await server.run();
    const expected = (await served.get(path.slice('api/v1'.length))).text;
    const [{ addressHex }] = served.devnet.chain.utxos.values();
    for (const reader of readers) {
      await until(async () => (await ask(reader, path)).status === 404, 'the reader answers again');
      assert.equal(await (await ask(reader, path)).text(), expected);
      const balance = `/addresses/${addressHex}/balance`;
      assert.equal(await (await ask(reader, `api/v1${balance}`)).text(), (await served.get(balance)).text);
      await until(async () => (await ask(reader, 'ready')).status === 200, 'the reader is ready');
    }
    await publisher.reconnect(url);
    served.forward(1);
    await published();
  });

  test('are refused where nothing was published', async () => {
    await assert.rejects(serveCopy(await copyDatabase(), { port: 0 }), (error) => isUnspentError(error, 'COPY_UNREADY'));
    await assert.rejects(serveCopy('redis://localhost', { port: 0 }), (error) => isUnspentError(error, 'USAGE'));
    await assert.rejects(serveCopy('postgres://127.0.0.1:1/none', { port: 0 }), (error) => isUnspentError(error, 'COPY_UNREACHABLE'));
  });
});
