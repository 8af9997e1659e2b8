/**
 * A shape at the root of a port of its own: the same server behind shorter
 * paths, in a thread too, with the same guards, and closed with it.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { DevnetChain } from '../../../src/chains/cardano/devnet/index.ts';
import { serve } from '../../../src/server/serve.ts';
import { type OpenStore, openStore } from '../../../src/store/store.ts';
import { isUnspentError } from '../../../src/util/errors.ts';

async function withStore(body: (store: OpenStore) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'unspent-root-port-'));
  const chain = new DevnetChain({ seed: 4 });
  const genesis = { byron: chain.genesisByron, shelley: chain.genesisShelley };
  const store = await openStore({ data: join(folder, 'data'), network: 'devnet', genesis });
  try {
    for (let i = 0; i < 5; i++) store.fold.apply([store.network.ledger.decode(chain.mine())]);
    await body(store);
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

describe('a port of its own', () => {
  for (const thread of [true, false]) {
    test(`answers at the root what the server answers below the prefix (${thread ? 'in a thread' : 'here'})`, async () => {
      await withStore(async (store) => {
        const served = await serve(store, { port: 0, ports: { kupo: { http: 0 } }, thread });
        const port = served.ports['kupo']?.['http'];
        assert.ok(port !== undefined && port > 0);
        const root = `http://127.0.0.1:${port}`;
        for (const path of ['/matches?unspent', '/v1/patterns', '/checkpoints/0?strict', '/matches/nothing', '/matches/*/*?unspent']) {
          const [short, long] = await Promise.all([fetch(`${root}${path}`), fetch(new URL(`kupo${path}`, served.url))]);
          assert.deepEqual([short.status, await short.text()], [long.status, await long.text()], path);
        }
        assert.equal((await fetch(`${root}/api/v1/status`)).status, 404, 'nothing else is there');
        const { status } = await fetch(`${root}/patterns`, { method: 'PUT', headers: { origin: 'https://evil.example' } });
        assert.equal(status, 403, 'it is guarded like the rest');
        await served.close();
        await assert.rejects(fetch(`${root}/health`), 'it is closed with the server');
      });
    });
  }

  test('is there for the Blockfrost API too, with its prefixes and slashes', async () => {
    await withStore(async (store) => {
      const served = await serve(store, { port: 0, ports: { blockfrost: { http: 0 } }, thread: false });
      const root = `http://127.0.0.1:${served.ports['blockfrost']?.['http']}`;
      const wanted = await (await fetch(new URL('blockfrost/blocks/latest', served.url))).text();
      for (const path of ['/blocks/latest', '//blocks/latest', '/api/v0/blocks/latest', '/api/v1/blocks/latest'])
        assert.equal(await (await fetch(`${root}${path}`)).text(), wanted, path);
      assert.equal((await fetch(`${root}/matches`)).status, 501, 'nothing else is there');
      await served.close();
    });
  });

  test('that is taken is said to be, by its setting', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    await withStore(async (store) => {
      await assert.rejects(
        serve(store, { port: 0, ports: { kupo: { http: port } }, thread: false }),
        (error) => isUnspentError(error, 'IO') && error.message.includes('kupo.port'),
      );
    });
    taken.close();
  });
});
