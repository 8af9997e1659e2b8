/**
 * Several server threads behind one port: each gives the same answers, blocks
 * and rollbacks reach all of them, metrics are those of all together, and
 * closing ends them all.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { DevnetChain } from '../../../src/chains/cardano/devnet/index.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { canSharePorts } from '../../../src/server/http/shared-port.ts';
import { Workload } from '../../../src/server/http/work/workload.ts';
import { together } from '../../../src/server/metrics/route.ts';
import { type Served, serve } from '../../../src/server/serve.ts';
import { shareOf } from '../../../src/server/thread/threads.ts';
import { type OpenStore, openStore } from '../../../src/store/store.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { isUnspentError } from '../../../src/util/errors.ts';
import { LONG_TASKS_MAX } from '../../../src/util/limits.ts';
import { until } from '../../support/patience.ts';

const THREADS = 3;
/** Connections that are tried until each thread has had one; a hash of the system decides. */
const CONNECTIONS = 48;
const options = { skip: canSharePorts() ? false : 'this system does not spread the connections of a port' };

async function withThreads(
  body: (served: Served, store: OpenStore, chain: DevnetChain) => Promise<void>,
  engineKind = 'rocks',
  threads = THREADS,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'unspent-threads-'));
  const chain = new DevnetChain({ seed: 7 });
  const genesis = { byron: chain.genesisByron, shelley: chain.genesisShelley };
  const { config } = loadConfig({ flags: { engineKind, set: [`server.threads=${threads}`] }, env: {} });
  const store = await openStore({ control: false, data: join(folder, 'data'), network: 'devnet', genesis, config });
  try {
    mine(store, chain, 30);
    const served = await serve(store, { port: 0 });
    await body(served, store, chain);
    await served.close();
    await served.ended;
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function mine({ fold, network }: OpenStore, chain: DevnetChain, count: number): void {
  for (let i = 0; i < count; i++) fold.apply([network.ledger.decode(chain.mine())]);
}

interface Answer {
  readonly status: number;
  readonly etag: string | undefined;
  readonly text: string;
}

/** One connection, kept open: all that is asked over it is answered by one thread. */
class Line {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });
  private readonly url: string;

  constructor({ url }: Served) {
    this.url = url;
  }

  get(path: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const sent = request(`${this.url}${path}`, { agent: this.agent }, (response: IncomingMessage) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (piece: string) => (text += piece));
        response.on('end', () => resolve({ status: response.statusCode!, etag: response.headers.etag, text }));
      });
      sent.on('error', reject);
      sent.end();
    });
  }

  close(): void {
    this.agent.destroy();
  }
}

async function withLines(served: Served, body: (lines: readonly Line[]) => Promise<void>): Promise<void> {
  const lines = Array.from({ length: CONNECTIONS }, () => new Line(served));
  try {
    await body(lines);
  } finally {
    for (const line of lines) line.close();
  }
}

const value = (text: string, name: string): number =>
  text
    .split('\n')
    .filter((line) => line.startsWith(name) && !line.startsWith('#'))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);

describe('several server threads', () => {
  for (const engine of ['rocks', 'sqlite'])
    it(`${engine}: give the same answers, at every block and after a rollback`, options, () =>
      withThreads(async (served, store, chain) => {
        const address = store.read((query) => {
          const [first] = query.unspent();
          return toHex(first.txId);
        });
        const paths = ['api/v1/status', `api/v1/txs/${address}`, 'api/v1/blocks?limit=3', 'api/v1/openapi.json', 'api/v1/utxos/newest'];
        await withLines(served, async (lines) => {
          for (const move of [
            () => {},
            () => mine(store, chain, 5),
            () => store.rollback(store.read((query) => query.blockAtHeight(20))!),
          ]) {
            move();
            const tip = `"height":${store.fold.head!.height}`;
            for (const path of paths) {
              const answers = async () => Promise.all(lines.map((line) => line.get(path)));
              // A thread hears of a move some milliseconds later than another.
              await until(
                async () => new Set((await answers()).map(({ text, status }) => `${status} ${bare(text)}`)).size === 1,
                `one answer to ${path}`,
              );
              const [{ text }] = await answers();
              if (path === 'api/v1/status')
                await until(async () => (await answers()).every((answer) => answer.text.includes(tip)), 'the tip');
              assert.ok(text.length > 20, path);
            }
          }
        });
      }, engine),
    );

  it('count together, whichever is asked', options, () =>
    withThreads((served) =>
      withLines(served, async (lines) => {
        const count = 'unspent_http_request_seconds_count{';
        const asked = 3 * lines.length;
        for (let i = 0; i < 3; i++) await Promise.all(lines.map((line) => line.get('api/v1/health')));
        const texts = await Promise.all(lines.map(async (line) => (await line.get('metrics')).text));
        for (const text of texts) {
          assert.ok(value(text, count) >= asked, `${value(text, count)} of ${asked}`);
          assert.equal(value(text, 'unspent_http_connections'), lines.length);
          // What is of the store is not summed.
          assert.equal(value(text, 'unspent_tip_height'), 29);
          const names = text.match(/^# TYPE \S+/gm)!;
          assert.equal(new Set(names).size, names.length, 'each metric is there once');
        }
        const history = await Promise.all(lines.map(async (line) => JSON.parse((await line.get('api/v1/status/history')).text)));
        assert.ok(history.every((samples) => Array.isArray(samples)));
      }),
    ),
  );

  it('have a socket each on the port', options, () =>
    withThreads(async (served) => {
      const port = Number(new URL(served.url).port).toString(16).toUpperCase().padStart(4, '0');
      const listening = readFileSync('/proc/self/net/tcp', 'utf8').match(new RegExp(`0100007F:${port} 00000000:0000 0A`, 'g'));
      assert.equal(listening?.length, THREADS);
    }),
  );

  it('leave a port that somebody else has, and a single one does as before', options, async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as { port: number };
    await withThreads(async (served, store) => {
      await assert.rejects(
        () => serve(store, { port }),
        (error) => isUnspentError(error, 'IO') && error.meta['taken'] === true,
      );
      const mine = Number(new URL(served.url).port);
      await assert.rejects(
        () => serve(store, { port: mine }),
        (error) => isUnspentError(error, 'IO') && error.meta['taken'] === true,
      );
    });
    other.close();
  });

  it('end with their streams when they are closed', options, () =>
    withThreads(async (served) => {
      const streams = await Promise.all(Array.from({ length: 12 }, () => fetch(`${served.url}api/v1/events`)));
      const ends = streams.map((stream) => stream.text().catch(() => 'cut'));
      await served.close();
      await Promise.all(ends);
      await assert.rejects(() => fetch(`${served.url}api/v1/health`));
    }),
  );
});

describe('the share of a thread', () => {
  it('adds up to no more than the settings and limits allow', () => {
    const { config } = loadConfig({ env: {} });
    for (const count of [1, 2, 3, 7]) {
      const { server, electrum } = shareOf(config, count);
      assert.ok(count * server.connectionsMax <= config.server.connectionsMax);
      assert.ok(count * server.streamsMax <= config.server.streamsMax);
      assert.ok(count * electrum.sessionsMax <= config.electrum.sessionsMax);
    }
    const workload = new Workload(2);
    assert.ok(2 * workload.longTasksMax <= LONG_TASKS_MAX);
  });

  it('is put together second by second', () => {
    const sample = (time: number, requests: number, p99: number | null) =>
      ({
        time,
        height: 1,
        lag_blocks: 0,
        blocks_per_second: 2,
        apply_ms: 1,
        rollback_ms: null,
        prune_ms: null,
        requests_per_second: requests,
        p99_ms: p99,
      }) as const;
    const sum = together([sample(1, 5, 3), sample(2, 0, null)], [[sample(1, 7, 9)], [sample(2, 1, 4), sample(3, 9, 9)]]);
    assert.deepEqual(
      sum.map(({ time, requests_per_second, p99_ms, blocks_per_second }) => [time, requests_per_second, p99_ms, blocks_per_second]),
      [
        [1, 12, 9, 2],
        [2, 1, 4, 2],
      ],
    );
  });
});

/** Without what a process counts on: seconds, and figures of the moment. */
function bare(text: string): string {
  return text.replace(/"(uptime_seconds|time|engine|following)":(\{[^{}]*(\{[^{}]*\}[^{}]*)*\}|[^,}]+)/g, '');
}
