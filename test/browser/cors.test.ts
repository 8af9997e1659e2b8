/**
 * A page of another origin in a real browser: it reads from the server, headers
 * and refusals too, where its origin is named, and nothing where it is not.
 */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe } from 'node:test';
import type { Browser } from 'playwright-core';
import { buildApp } from '../../src/server/app.ts';
import { CLIENT_KEEPS } from '../support/client-stage.ts';
import { Served } from '../support/served.ts';
import { browserTest, launch, withoutChromium } from './browser.ts';

interface Read {
  readonly status: number;
  readonly checkpoint: string | null;
  readonly etag: string | null;
  readonly rows: number | null;
}

/** Runs in the page. A header that is not plain makes the browser ask first. */
const READ = `async (url) => {
  const answer = await fetch(url, { headers: { 'if-none-match': 'x', authorization: 'Bearer y' } });
  const body = await answer.json();
  const header = (name) => answer.headers.get(name);
  return { status: answer.status, checkpoint: header('x-most-recent-checkpoint'), etag: header('etag'), rows: Array.isArray(body) ? body.length : null };
}`;

describe('a page of another origin', () => {
  let served: Served;
  let elsewhere: Server;
  let browser: Browser;
  let origin = '';

  before(async () => {
    if (withoutChromium) return;
    served = await Served.open({ blocks: 5, store: { keeps: CLIENT_KEEPS } });
    elsewhere = createServer((_request, response) =>
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>app</title>'),
    );
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    elsewhere?.close();
    await served?.close();
  });

  /** What the page reads from a server with this setting; null: the browser did not let it. */
  async function readFrom(cors: string, path: string): Promise<Read | null> {
    const { config } = served.context;
    const app = await buildApp({ ...served.context, config: { ...config, server: { ...config.server, cors } } });
    const page = await browser.newPage();
    try {
      const url = await app.listen({ host: '127.0.0.1', port: 0 });
      await page.goto(origin);
      return (await page.evaluate(`(${READ})(${JSON.stringify(`${url}${path}`)}).catch(() => null)`)) as Read | null;
    } finally {
      await page.close();
      await app.close();
    }
  }

  browserTest('reads where it is named', async () => {
    const { slot, hash } = served.devnet.chain.blocks.at(-1)!;
    const read = await readFrom(origin, '/kupo/matches?unspent');
    assert.deepEqual(read, {
      status: 200,
      checkpoint: `${slot}`,
      etag: Buffer.from(hash).toString('hex'),
      rows: served.devnet.chain.utxos.size,
    });
    assert.equal((await readFrom(origin, '/kupo/matches/nothing'))?.status, 400, 'it is told why it was refused');
  });

  browserTest('does not where it is not', async () => {
    for (const cors of ['', 'https://app.example.org']) assert.equal(await readFrom(cors, '/kupo/matches?unspent'), null);
  });
});
