/**
 * Safe by default: nobody but this machine, no name but ours, no answer without
 * the token where there is one, nothing larger than it may be, nothing another
 * page in a browser could use.
 */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { loadConfig } from '../../../src/config/load.ts';
import type { Config } from '../../../src/config/schema.ts';
import { buildApp } from '../../../src/server/app.ts';
import { checkBind, isLoopback } from '../../../src/server/http/safety.ts';
import { isUnspentError } from '../../../src/util/errors.ts';
import { HTTP_OUTPOINT_BYTES_MAX, HTTP_PARAM_CHARS_MAX, HTTP_URL_CHARS_MAX } from '../../../src/util/limits.ts';
import { assertCode } from '../../support/harness.ts';
import { assertProblem, Served } from '../../support/served.ts';

const server = (given: Partial<Config['server']>): Config['server'] => ({ ...loadConfig({}).config.server, ...given });

/** What the server writes for these bytes, until it closes the connection or says nothing more. */
function raw(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    let text = '';
    socket.setTimeout(500, () => socket.destroy());
    socket.on('data', (piece) => {
      text += piece;
    });
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
  });
}

describe('who can reach it', () => {
  test('by default, this machine', () => {
    assert.ok(isLoopback(loadConfig({}).config.server.host));
    for (const host of ['127.0.0.1', '127.8.9.1', 'localhost', '::1', '[::1]']) checkBind(server({ host }));
  });

  test('anybody else only with a token, or when somebody said so', async () => {
    for (const host of ['0.0.0.0', '::', '192.168.1.5', 'example.org', '127.0.0.1.example.org', '']) {
      assertCode(() => checkBind(server({ host })), 'CONFIG');
      checkBind(server({ host, token: 'x' }));
      checkBind(server({ host, allowPublic: true }));
    }
    const served = await Served.open({ blocks: 2 });
    const context = { ...served.context, config: { ...served.context.config, server: server({ host: '0.0.0.0' }) } };
    await assert.rejects(buildApp(context), (error) => isUnspentError(error, 'CONFIG'));
    await served.close();
  });
});

describe('the name it is asked by', () => {
  test('must be its own', async () => {
    const served = await Served.open({ blocks: 2, server: { hosts: 'api.example.org, Other.example.org' } });
    const ours = ['localhost', 'LOCALHOST', 'localhost:8437', '127.0.0.1:1', '127.0.0.1', '[::1]:8437', '[::1]'];
    for (const host of [...ours, 'api.example.org', 'api.example.org:443', 'other.example.org'])
      assert.equal((await served.get('/status', { host })).status, 200, host);
    const theirs = [
      'evil.example',
      'localhost.evil.example',
      'evil.example:8437',
      '127.0.0.1.evil.example',
      '192.168.1.9',
      '[::2]',
      'localhost.',
    ];
    for (const host of [...theirs, 'localhost:x', 'user@localhost', 'localhost/evil', 'sub.api.example.org'])
      for (const path of ['/status', '//health', '//', '//docs/api', '//nothing'])
        assertProblem(await served.get(path, { host }), 'FORBIDDEN', 403);
    await served.close();
  });

  test('an address it really listens on is its own', async () => {
    const served = await Served.open({ blocks: 2, server: { host: '0.0.0.0', allowPublic: true } });
    const { origin, port } = await served.listen('127.0.0.2');
    assert.equal(await raw(port, '').catch(() => 'refused'), 'refused', 'it listens on that address only');
    assert.equal((await fetch(`${origin}/health`)).status, 200);
    await served.close();
  });
});

describe('a request on the wire', () => {
  test('names one host, and a target that names a host names ours', async () => {
    const served = await Served.open({ blocks: 2 });
    const { port } = await served.listen();
    const ask = (target: string, headers: readonly string[]): Promise<string> =>
      raw(port, `GET ${target} HTTP/1.1\r\n${headers.join('\r\n')}\r\nconnection: close\r\n\r\n`);
    const own = `host: localhost:${port}`;
    assert.match(await ask('/health', [own]), /^HTTP\/1\.1 200 /);
    assert.match(await ask(`http://localhost:${port}/health`, [own]), /^HTTP\/1\.1 200 /);
    for (const more of ['host: evil.example', own, 'HOST: localhost']) {
      assert.match(await ask('/health', [own, more]), /^HTTP\/1\.1 400 .*"code":"USAGE"/s, more);
      assert.match(await ask('/health', [more, 'x: y', own]), /^HTTP\/1\.1 400 /, more);
    }
    for (const target of ['http://evil.example/health', 'http://evil.example', 'https://user@localhost/health'])
      assert.match(await ask(target, [own]), /^HTTP\/1\.1 403 .*"code":"FORBIDDEN"/s, target);
    assert.match(await ask(`http://localhost:${port}/health`, ['host: evil.example']), /^HTTP\/1\.1 403 /);
    await served.close();
  });

  test('what sends something does not come from a page of another origin', async () => {
    const served = await Served.open({ blocks: 2, server: { hosts: 'api.example.org' } });
    const send = (origin: string | null, host = 'localhost:8437') =>
      served.post('/utxos', [`${'00'.repeat(32)}#0`], { host, 'content-type': 'application/json', ...(origin === null ? {} : { origin }) });
    const own = [null, 'http://localhost:8437', 'http://LOCALHOST:8437', 'https://api.example.org', 'https://api.example.org:8443'];
    for (const origin of own) assert.equal((await send(origin)).status, 200, `${origin}`);
    assert.equal((await send('http://127.0.0.1:8437', '127.0.0.1:8437')).status, 200);
    const others = [
      'https://evil.example',
      'null',
      '',
      'http://localhost:3000',
      'http://localhost',
      'file://',
      'localhost:8437',
      'http://127.0.0.1:8437',
    ];
    for (const origin of others) assertProblem(await send(origin), 'FORBIDDEN', 403, 'origin');
    await served.close();
  });
});

describe('the token', () => {
  test('is needed for everything but health, readiness and files that say nothing', async () => {
    const served = await Served.open({ blocks: 2, server: { token: 'correct horse'.replace(' ', '-') } });
    const right = { authorization: 'Bearer correct-horse' };
    for (const path of ['/status', '/blocks/latest', '/openapi.json', '/events', '//metrics', '/metrics', '//nothing', '/status/engine']) {
      for (const authorization of [
        undefined,
        '',
        'Bearer',
        'Bearer ',
        'Bearer correct-hors',
        'Bearer correct-horse2',
        'Basic correct-horse',
        'correct-horse',
      ]) {
        const answer = await served.get(path, authorization === undefined ? {} : { authorization });
        assertProblem(answer, 'UNAUTHORIZED', 401);
        assert.match(answer.headers['www-authenticate'] ?? '', /^Bearer/);
      }
      if (path !== '/events') assert.ok((await served.get(path, right)).status !== 401, path);
    }
    assert.equal((await served.get('/status', { authorization: 'bearer  correct-horse ' })).status, 200);
    assertProblem(await served.get('/status?token=correct-horse'), 'UNAUTHORIZED', 401);
    assert.equal((await served.get('//blockfrost/blocks/latest', { project_id: 'correct-horse' })).status, 200, 'clients of Blockfrost');
    const wrong = await served.get('//blockfrost/blocks/latest', { project_id: 'correct-hors' });
    assert.deepEqual([wrong.status, wrong.json<{ status_code: number }>().status_code], [401, 401]);
    for (const path of ['//health', '//ready', '/health', '/ready', '//docs/', '//docs/api', '//'])
      assert.equal((await served.get(path)).status, 200, path);
    await served.close();
  });
});

describe('what a browser may do with an answer', () => {
  test('no other origin reads it, and nothing from elsewhere runs in it', async () => {
    const served = await Served.open({ blocks: 2 });
    for (const path of ['/status', '//', '//docs/', '//docs/api', '/nothing', '/openapi.json']) {
      const answer = await served.get(path, { origin: 'https://evil.example' });
      assert.equal(answer.headers['access-control-allow-origin'], undefined);
      const policy = answer.headers['content-security-policy'] ?? '';
      assert.match(policy, /default-src 'self'/);
      // Only the page may, and nothing but WebAssembly.
      const rest = path === '//' ? policy.replace("script-src 'self' 'wasm-unsafe-eval'", '') : policy;
      assert.doesNotMatch(rest, /unsafe|\*|http/);
    }
    const preflight = { origin: 'https://evil.example', 'access-control-request-method': 'GET' };
    const options = await served.ask({ method: 'OPTIONS', url: '/api/v1/status', headers: preflight });
    assertProblem(options, 'NO_ROUTE', 404);
    for (const path of ['//docs/api', '//']) {
      const page = (await served.get(path)).text;
      assert.doesNotMatch(page, /<script(?![^>]*\bsrc="\/)|\son\w+=|style="|<style|https?:\/\/(?!www\.w3\.org)/i, path);
    }
    await served.close();
  });
});

describe('limits', () => {
  test('of a URL, a part of it, and a body', async () => {
    const served = await Served.open({ blocks: 2 });
    assertProblem(await served.get(`/status?x=${'a'.repeat(HTTP_URL_CHARS_MAX)}`), 'LIMIT', 413, 'url');
    assert.equal((await served.get(`/addresses/${'61'.repeat(HTTP_PARAM_CHARS_MAX / 2)}/utxos`)).status, 200);
    assertProblem(await served.get(`/addresses/${'61'.repeat(HTTP_PARAM_CHARS_MAX / 2 + 1)}/utxos`), 'LIMIT', 413, 'path');
    assertProblem(await served.post('/utxos', `["${'a'.repeat(HTTP_OUTPOINT_BYTES_MAX * 1000)}"]`), 'LIMIT', 413, 'body');
    assertProblem(await served.get('/addresses/%zz/utxos'), 'USAGE', 400);
    assertProblem(await served.post('/utxos', '{"__proto__":{}}'), 'USAGE', 400);
    await served.close();
  });

  test('what is not HTTP is told so', async () => {
    const served = await Served.open({ blocks: 2 });
    const { port } = await served.listen();
    const answer = await raw(port, 'hello\r\n\r\n');
    assert.match(answer, /^HTTP\/1\.1 400 .*application\/problem\+json.*"code":"USAGE"/s);
    assert.doesNotMatch(answer, /HPE_|\bat \S+ \(/);
    assert.match(await raw(port, 'GET /health HTTP/1.0\r\n\r\n'), /^HTTP\/1\.1 403 /, 'who names no host is not asking us');
    await served.close();
  });
});
