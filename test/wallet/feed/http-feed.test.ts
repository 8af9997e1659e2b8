/**
 * Wallets that follow a chain through the event stream of a server, over a real
 * socket: the server stops and starts again, the process that feeds is killed,
 * and no block is lost or taken in twice.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { bitcoinNetwork } from '../../../src/ledgers/bitcoin/index.ts';
import { type Served, serve } from '../../../src/server/serve.ts';
import { UnspentError } from '../../../src/util/errors.ts';
import { esploraBodies } from '../../../src/wallet/bitcoin/wallet-tx.ts';
import { HttpFeed, type HttpFeedOptions } from '../../../src/wallet/feed/http-feed.ts';
import { openWalletStore } from '../../../src/wallet/open.ts';
import { until } from '../../support/patience.ts';
import { WalletFiles } from '../sql/wallet-files.ts';
import { FEED, Town } from '../support/town.ts';

const TOKEN = 'token-for-tests';
const SETTINGS = ['utxo.history=true', `server.token=${TOKEN}`];

/** A server of the town's store; started again, it listens where it did. */
class TownServer {
  readonly town: Town;
  private served: Served | null = null;
  private port = 0;

  constructor(t: TestContext, town: Town) {
    this.town = town;
    t.after(() => this.stop());
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    this.served = await serve(this.town.store, { port: this.port, thread: false });
    this.port = Number(new URL(this.served.url).port);
  }

  async stop(): Promise<void> {
    await this.served?.close();
    this.served = null;
  }

  source(options: Partial<HttpFeedOptions> = {}): HttpFeed {
    return new HttpFeed({
      url: this.url,
      token: TOKEN,
      bodies: esploraBodies(this.town.chain.network),
      reconnectMs: [1, 20],
      ...options,
    });
  }
}

async function openServer(t: TestContext, seed: number, settings: readonly string[] = SETTINGS): Promise<TownServer> {
  const server = new TownServer(t, await Town.open(t, { seed, settings }));
  await server.start();
  return server;
}

/** What ends the events after that position. */
async function endOf(source: HttpFeed, after: string): Promise<unknown> {
  try {
    for await (const _ of source.events(after, new AbortController().signal));
    return null;
  } catch (error) {
    return error;
  }
}

describe('wallets that follow a server', () => {
  it('have the coins of the chain after every block and every fork, also when the server was away', async (t) => {
    const server = await openServer(t, 11);
    const { town } = server;
    const feed = await town.feed(server.source());
    for (let step = 0; step < 16; step++) {
      const isAway = step % 4 === 1;
      if (isAway) await server.stop();
      if (step % 3 === 2) town.chain.fork(1 + (step % 7));
      else town.chain.mine(1 + (step % 3));
      town.follow();
      if (isAway) await server.start();
      await until(() => town.hasFed(), `the wallets are at ${town.chain.height}`);
      await town.assertSame();
    }
    await feed.stop();
    await town.assertOnce();
  });

  it('go on where they were, from a server and from the store in turns, and by several feeds at once', async (t) => {
    const server = await openServer(t, 12);
    const { town } = server;
    await (await town.feed(server.source())).stop();
    for (let round = 0; round < 6; round++) {
      town.chain.mine(2);
      if (round % 2 === 1) town.chain.fork(3);
      town.follow();
      const sources =
        round % 3 === 0 ? [server.source()] : round % 3 === 1 ? [town.source] : [server.source(), town.source, server.source()];
      const feeds = await Promise.all(sources.map((source) => town.feed(source)));
      await until(() => town.hasFed(), `the wallets are at ${town.chain.height}`);
      await Promise.all(feeds.map((feed) => feed.stop()));
      await town.assertSame();
    }
    await town.assertOnce();
  });

  it('lose and repeat nothing when the process that feeds them is killed', async (t) => {
    const files = new WalletFiles();
    t.after(() => files[Symbol.dispose]());
    const database = await files.freshUrl();
    const town = await Town.open(t, { seed: 13, settings: SETTINGS, wallets: await openWalletStore(database, { isDurable: false }) });
    const server = new TownServer(t, town);
    await server.start();
    let child: ChildProcess | null = null;
    const begin = (): void => {
      const program = join(import.meta.dirname, '../support/feed-child.ts');
      child = spawn(process.execPath, [program, server.url, TOKEN, database, town.chain.network.name, FEED.feed], {
        stdio: ['ignore', 'inherit', 'inherit'],
      });
    };
    const kill = async (): Promise<void> => {
      const killed = child;
      child = null;
      if (killed === null) return;
      const ended = new Promise((resolve) => killed.once('exit', resolve));
      killed.kill('SIGKILL');
      await ended;
    };
    t.after(kill);
    begin();
    await until(async () => (await town.wallets.feedPosition(FEED.feed)) !== null, 'the feed has begun');
    for (const height of [30, 80]) {
      town.follow();
      await until(
        async () => ((await town.wallets.listWallets())[0].syncedTo?.height ?? -1) >= height,
        `a process has fed block ${height}`,
      );
      await kill();
      town.chain.fork(height === 30 ? 5 : 2);
      begin();
    }
    town.follow();
    await until(() => town.hasFed(), 'the last process has fed the rest');
    await kill();
    await town.assertSame();
    await town.assertOnce();
  });

  it('are told what is wrong where asking again does not help', async (t) => {
    const server = await openServer(t, 14);
    server.town.follow();
    const source = server.source();
    const { position, block } = await source.newest(new AbortController().signal);
    assert.deepEqual(block?.hash, server.town.chain.tip.hash);
    assert.throws(() => server.source({ url: 'ftp://somewhere' }), { code: 'USAGE' });
    assert.equal(((await endOf(server.source({ token: 'another' }), position)) as UnspentError).code, 'UNAUTHORIZED');
    await assert.rejects(server.source({ token: undefined }).newest(new AbortController().signal), { code: 'UNAUTHORIZED' });
    assert.equal(((await endOf(source, 'no position')) as UnspentError).code, 'USAGE');
    const other = { ...esploraBodies(server.town.chain.network), path: () => `/api/block/${'0'.repeat(63)}1/raw` };
    const lost: string[] = [];
    const end = new AbortController();
    const onLost = ({ code }: UnspentError): void => {
      lost.push(code);
      if (lost.length === 3) end.abort();
    };
    for await (const _ of server.source({ bodies: other, onLost }).events('-.', end.signal)) assert.fail('a block that is not there');
    assert.deepEqual(lost, ['NOT_FOUND', 'NOT_FOUND', 'NOT_FOUND']);
  });

  it('are told that a store keeps no history', async (t) => {
    const server = await openServer(t, 15, [`server.token=${TOKEN}`]);
    server.town.follow();
    assert.equal(((await endOf(server.source(), '-.')) as UnspentError).code, 'UNSUPPORTED');
  });

  it('are told EXPIRED, and wait for a server that fails', async (t) => {
    const answers: (readonly [status: number, body: string])[] = [
      [503, '{"code":"BUSY","detail":"too many"}'],
      [502, 'Bad Gateway'],
      [200, ': heartbeat\nid: -.\n\nevent: failure\ndata: {"detail":"disk"}\n\n'],
      [200, 'retry: 1000\n\n'],
      [200, 'event: expired\r\ndata: {"detail":"pruned"}\r\n\r\n'],
    ];
    const asked: (string | undefined)[] = [];
    const fake = createServer((request, response) => {
      asked.push(request.headers['last-event-id'] as string | undefined);
      const [status, body] = answers.shift() ?? [500, ''];
      response.writeHead(status).end(body);
    });
    await new Promise<void>((resolve) => fake.listen(0, '127.0.0.1', resolve));
    t.after(() => fake.close());
    const lost: string[] = [];
    const source = new HttpFeed({
      url: `http://127.0.0.1:${(fake.address() as AddressInfo).port}`,
      bodies: esploraBodies(bitcoinNetwork('bitcoin-regtest')),
      reconnectMs: [1, 4],
      onLost: ({ code }) => lost.push(code),
    });
    const error = await endOf(source, '-.abc');
    assert.ok(error instanceof UnspentError && error.code === 'EXPIRED' && error.message === 'pruned');
    assert.deepEqual(lost, ['BUSY', 'SOURCE_UNREACHABLE', 'SOURCE_UNREACHABLE', 'SOURCE_UNREACHABLE']);
    assert.deepEqual(asked, Array(5).fill('-.abc'));
  });
});
