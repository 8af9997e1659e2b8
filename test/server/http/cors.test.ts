/**
 * Pages of other origins: nothing by default; named ones may read and send,
 * every one may read where that was said; and a preflight is answered the same
 * for every shape, without the token.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Config } from '../../../src/config/schema.ts';
import { buildApp } from '../../../src/server/app.ts';
import { AllowedOrigins } from '../../../src/server/http/cors.ts';
import { CORS_HEADER_NAMES_CHARS_MAX } from '../../../src/util/limits.ts';
import { assertCode } from '../../support/harness.ts';
import { Served } from '../../support/served.ts';

const PAGE = 'https://app.example.org';
const OTHER = 'https://other.example';
const PATHS = ['/api/v1/status', '/kupo/matches/*?unspent', '/kupo/v1/datums/xx', '/health', '/nothing', '/api/v1/utxos', '/api/v1/events'];

interface Told {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
}

type Ask = (method: 'GET' | 'POST' | 'OPTIONS', url: string, headers?: Readonly<Record<string, string>>) => Promise<Told>;

/** Asks a server with these settings; lines of its log beside it. */
async function withServer(server: Partial<Config['server']>, body: (ask: Ask, logged: readonly string[]) => Promise<void>): Promise<void> {
  const served = await Served.open({ blocks: 2, store: { keeps: ['chain', 'transactions', 'utxo'] } });
  const { config } = served.context;
  const logged: string[] = [];
  const context = { ...served.context, config: { ...config, server: { ...config.server, ...server } } };
  const app = await buildApp(context, { log: (line) => logged.push(line) });
  const ask: Ask = async (method, url, headers = {}) => {
    const payload = method === 'POST' ? { payload: JSON.stringify([`${'00'.repeat(32)}#0`]) } : {};
    const sent = { host: 'localhost', ...(method === 'POST' ? { 'content-type': 'application/json' } : {}), ...headers };
    const { statusCode, headers: got } = await app.inject({ method, url, headers: sent, ...payload });
    return { status: statusCode, headers: got };
  };
  await body(ask, logged);
  await app.close();
  await served.close();
}

const preflight = (origin: string, method: string, headers?: string): Record<string, string> => ({
  origin,
  'access-control-request-method': method,
  ...(headers === undefined ? {} : { 'access-control-request-headers': headers }),
});

describe('pages of other origins', () => {
  test('may do nothing by default', async () => {
    await withServer({}, async (ask) => {
      for (const path of PATHS.filter((url) => !url.endsWith('events'))) {
        const asked = await ask('OPTIONS', path, preflight(PAGE, 'GET'));
        assert.ok(asked.status >= 400);
        for (const { headers } of [asked, await ask('GET', path, { origin: PAGE })]) {
          assert.deepEqual(
            Object.keys(headers).filter((name) => name.startsWith('access-control')),
            [],
          );
          assert.equal(headers['cross-origin-resource-policy'], 'same-origin');
        }
      }
    });
  });

  test('read and send where they are named', async () => {
    await withServer({ cors: ` ${PAGE}, HTTP://localhost:5173,chrome-extension://abcdef ` }, async (ask, logged) => {
      for (const origin of [PAGE, 'http://localhost:5173', 'chrome-extension://abcdef']) {
        for (const path of PATHS) {
          const { status, headers } = await ask('OPTIONS', path, preflight(origin, 'POST', 'authorization,content-type,project_id'));
          assert.equal(status, 204, path);
          assert.equal(headers['access-control-allow-origin'], origin);
          assert.match(`${headers['access-control-allow-methods']}`, /\bPOST\b/);
          assert.equal(headers['access-control-allow-headers'], 'authorization,content-type,project_id');
          assert.equal(headers['access-control-allow-credentials'], undefined);
        }
        const read = await ask('GET', '/kupo/matches/*?unspent', { origin });
        assert.deepEqual([read.status, read.headers['access-control-allow-origin'], read.headers['vary']], [200, origin, 'accept, origin']);
        assert.match(`${read.headers['access-control-expose-headers']}`, /x-most-recent-checkpoint/);
        assert.equal(read.headers['cross-origin-resource-policy'], 'cross-origin');
        assert.equal((await ask('POST', '/api/v1/utxos', { origin })).status, 200);
        const wrong = await ask('GET', '/kupo/matches/nothing', { origin });
        assert.deepEqual([wrong.status, wrong.headers['access-control-allow-origin']], [400, origin], 'a page reads why it was refused');
      }
      for (const origin of [OTHER, 'https://app.example.org.evil.example', 'http://app.example.org', 'null', '', 'http://localhost:3000']) {
        assert.equal((await ask('OPTIONS', '/kupo/matches', preflight(origin, 'GET'))).status, 404);
        const { headers } = await ask('GET', '/kupo/patterns', { origin });
        assert.deepEqual([headers['access-control-allow-origin'], headers['vary']], [undefined, 'accept, origin']);
        assert.equal((await ask('POST', '/api/v1/utxos', { origin })).status, 403);
      }
      assert.equal((await ask('OPTIONS', '/kupo/matches', { ...preflight(PAGE, 'GET'), host: 'evil.example' })).status, 403);
      const long = 'x'.repeat(CORS_HEADER_NAMES_CHARS_MAX + 1);
      assert.equal(
        (await ask('OPTIONS', '/kupo/matches', preflight(PAGE, 'GET', long))).headers['access-control-allow-headers'],
        undefined,
      );
      assert.deepEqual(logged, []);
    });
  });

  test('may all read where the server is public and says so, and send nothing', async () => {
    await withServer({ cors: `*, ${PAGE}`, allowPublic: true }, async (ask, logged) => {
      assert.deepEqual(logged.length, 1);
      assert.match(logged[0], /every origin/);
      const { status, headers } = await ask('OPTIONS', '/kupo/matches', preflight(OTHER, 'POST'));
      assert.deepEqual([status, headers['access-control-allow-origin'], headers['access-control-allow-methods']], [204, '*', 'GET, HEAD']);
      assert.equal((await ask('GET', '/api/v1/blocks/latest', { origin: OTHER })).headers['access-control-allow-origin'], '*');
      assert.equal((await ask('POST', '/api/v1/utxos', { origin: OTHER })).status, 403);
      assert.equal((await ask('POST', '/api/v1/utxos', { origin: PAGE })).status, 200);
    });
  });

  test('are asked for the token like anybody, but not in a preflight', async () => {
    await withServer({ cors: PAGE, token: 'secret' }, async (ask) => {
      assert.equal((await ask('OPTIONS', '/kupo/patterns', preflight(PAGE, 'GET', 'authorization'))).status, 204);
      const refused = await ask('GET', '/kupo/patterns', { origin: PAGE });
      assert.deepEqual([refused.status, refused.headers['access-control-allow-origin']], [401, PAGE]);
      assert.equal((await ask('GET', '/kupo/patterns', { origin: PAGE, authorization: 'Bearer secret' })).status, 200);
      assert.equal((await ask('OPTIONS', '/kupo/patterns', preflight(OTHER, 'GET', 'authorization'))).status, 401);
    });
  });
});

test('settings that name no origin, or everybody on a server for this machine, are refused', () => {
  for (const cors of [
    'example.org',
    'https://',
    'https://app.example.org/',
    'https://app.example.org/x',
    'null',
    'https://*.example.org',
    'file://',
  ])
    assertCode(() => new AllowedOrigins({ cors }, true), 'CONFIG');
  assertCode(() => new AllowedOrigins({ cors: '*' }, false), 'CONFIG', ['allowPublic']);
  assert.ok(new AllowedOrigins({ cors: ' , ' }, false).isEmpty);
});
