/**
 * Following that does not get on says so: a block that peers send and we refuse
 * again and again turns health red until it is taken, and following that failed
 * leaves health red behind. Whose fault it is shows in the error.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type P2pServer, serveP2p } from '../../src/chains/bitcoin/responder/index.ts';
import { loadConfig } from '../../src/config/load.ts';
import { type Served, serve } from '../../src/server/serve.ts';
import { openP2p } from '../../src/sources/bitcoin/p2p/index.ts';
import type { NodeSource } from '../../src/sources/peer.ts';
import type { Source } from '../../src/sources/source.ts';
import { type OpenStore, openStore } from '../../src/store/store.ts';
import { concatBytes } from '../../src/util/bytes.ts';
import { regtest } from '../ledgers/bitcoin/samples.ts';
import { TestChain } from '../sources/bitcoin/p2p-chain.ts';
import { until } from '../support/patience.ts';

/** Its newest block has a byte too many, for as long as it is told to. */
class SpoiltChain extends TestChain {
  isSpoilt = true;

  override block(hash: Uint8Array): Uint8Array | null {
    const raw = super.block(hash);
    return raw === null || !this.isSpoilt || this.heightOf(hash) !== this.height ? raw : concatBytes(raw, Uint8Array.of(0));
  }
}

describe('following that is stuck', () => {
  const folder = mkdtempSync(join(tmpdir(), 'unspent-stuck-'));
  const chain = new SpoiltChain(5);
  let node: P2pServer;
  let store: OpenStore;
  let served: Served;

  before(async () => {
    node = await serveP2p(chain, { port: 0 });
    store = await openStore({ data: folder, network: 'bitcoin-regtest', config: loadConfig({}).config });
    served = await serve(store, { port: 0, thread: false });
  });

  after(async () => {
    await served?.close();
    await store?.close();
    await node?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  function source(): NodeSource {
    return openP2p([`p2p://127.0.0.1:${node.port}`], regtest, { reconnectMs: [1, 5] });
  }

  async function asked(path: string): Promise<{ status: number; reason: string | null }> {
    const response = await fetch(new URL(path, served.url));
    return { status: response.status, reason: ((await response.json()) as { reason: string | null }).reason };
  }

  async function becomes(path: string, status: number): Promise<void> {
    await until(async () => (await asked(path)).status === status, `${path} says ${status}`);
  }

  it('a block that comes again and again and cannot be read is not the fault of the connection', async () => {
    await assert.rejects(store.follow(source()), { code: 'BLOCK_INVALID', message: /height 5 .*bytes after the end.*came \d+ times/ });
    assert.equal(store.fold.head?.height, 4, 'the blocks before it are kept');
  });

  it('following that failed leaves health red', async () => {
    await becomes('health', 503);
    assert.equal((await asked('health')).reason, 'following stopped with an error');
    const broken: Source = {
      name: 'broken:',
      // biome-ignore lint/correctness/useYield: it fails before it has anything.
      async *runs() {
        throw new Error('the disk is gone');
      },
    };
    await assert.rejects(store.follow(broken), /disk is gone/);
    await becomes('health', 503);
  });

  it('while it is followed, health and readiness turn red and say why, until the block comes right', async () => {
    const stop = new AbortController();
    const following = store.follow(source(), { follow: true, signal: stop.signal });
    try {
      await until(async () => (await asked('health')).reason?.includes('again and again') === true, 'health says that it is stuck');
      assert.deepEqual(await asked('ready'), { status: 503, reason: 'what the source sends is refused again and again' });
      const status = (await (await fetch(new URL('api/v1/status', served.url))).json()) as {
        healthy: boolean;
        following: { refusals: number };
      };
      assert.equal(status.healthy, false);
      assert.ok(status.following.refusals >= 3);
      chain.isSpoilt = false;
      await becomes('health', 200);
      await becomes('ready', 200);
      assert.equal(store.fold.head?.height, 5);
    } finally {
      stop.abort();
      await following;
    }
  });
});
