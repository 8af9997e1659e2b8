/**
 * The server in a thread of its own, on each engine: it answers while the fold
 * commits beside it, sees every move, and is gone before the engine is.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { DevnetChain, openDevnet } from '../../../src/chains/cardano/devnet/index.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { type Served, serve } from '../../../src/server/serve.ts';
import type { Source } from '../../../src/sources/source.ts';
import { type OpenStore, openStore } from '../../../src/store/store.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { isUnspentError, type UnspentError } from '../../../src/util/errors.ts';
import { until } from '../../support/patience.ts';

interface Status {
  readonly tip: { readonly height: number; readonly hash: string } | null;
  readonly utxos: number;
  readonly lag_blocks: number | null;
  readonly following: {
    readonly state: string;
    readonly source: string | null;
    readonly blocks: number;
    readonly txs: number;
    readonly undone: number;
    readonly created: number;
    readonly rollbacks: readonly { readonly undone: number; readonly to: { readonly height: number } | null }[];
  };
}

async function withStore(body: (store: OpenStore, chain: DevnetChain) => Promise<void>, engineKind = 'rocks'): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'unspent-thread-'));
  const chain = new DevnetChain({ seed: 3 });
  const genesis = { byron: chain.genesisByron, shelley: chain.genesisShelley };
  const store = await openStore({
    // So that the server is the only reader.
    control: false,
    data: join(folder, 'data'),
    network: 'devnet',
    genesis,
    config: loadConfig({ flags: { engineKind } }).config,
  });
  try {
    await body(store, chain);
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function mine({ fold, network }: OpenStore, chain: DevnetChain, count: number): void {
  for (let i = 0; i < count; i++) fold.apply([network.ledger.decode(chain.mine())]);
}

async function status({ url }: Served): Promise<Status> {
  const response = await fetch(`${url}api/v1/status`);
  assert.equal(response.status, 200);
  return (await response.json()) as Status;
}

async function refused(attempt: Promise<unknown>): Promise<UnspentError> {
  const error = await attempt.then(
    () => null,
    (reason: unknown) => reason,
  );
  assert.ok(isUnspentError(error), String(error));
  return error;
}

async function answersWhileBlocksCome(store: OpenStore, chain: DevnetChain): Promise<void> {
  const served = await serve(store, { port: 0 });
  assert.match(served.url, /^http:\/\/127\.0\.0\.1:\d+\/$/);
  const points = new Map<string, number>();
  let asking = true;
  const asked = (async () => {
    while (asking) {
      const { tip, utxos } = await status(served);
      if (tip === null) continue;
      const known = points.get(tip.hash);
      // What a point adds up to is the same whenever it is asked for.
      if (known !== undefined) assert.equal(utxos, known);
      points.set(tip.hash, utxos);
    }
  })();
  const truth = new Map<string, number>();
  for (let round = 0; round < 40; round++) {
    mine(store, chain, 3);
    truth.set(toHex(store.fold.head!.hash), store.fold.head!.utxos);
    if (round % 10 === 9) {
      store.rollback(chain.blocks.at(-3)!);
      chain.rollback(2);
      truth.set(toHex(store.fold.head!.hash), store.fold.head!.utxos);
    }
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
  const { height, hash } = store.fold.head!;
  await until(() => points.has(toHex(hash)), 'the server is at the tip');
  asking = false;
  await asked;
  for (const [point, utxos] of truth) if (points.has(point)) assert.equal(points.get(point), utxos);
  assert.ok(points.size > 10, `${points.size} points were seen`);
  // A snapshot may be newer than the message that goes with it.
  let last = await status(served);
  await until(async () => {
    last = await status(served);
    return last.following.blocks >= 120;
  }, 'all blocks are told');
  const { following, tip } = last;
  assert.equal(tip?.height, height);
  assert.deepEqual(
    following.rollbacks.map(({ undone }) => undone),
    [2, 2, 2, 2],
  );
  assert.equal(following.undone, 8);
  assert.equal(following.blocks, 120);
  await served.close();
  await served.ended;
  await assert.rejects(fetch(served.url));
}

describe('a server in its own thread', () => {
  for (const kind of ['rocks', 'sqlite']) {
    it(`answers at one point each while blocks come and go, and is at the tip right after: ${kind}`, () =>
      withStore(answersWhileBlocksCome, kind));
  }

  it('tells what is followed, from where, and that it has ended', () =>
    withStore(async (store) => {
      const served = await serve(store, { port: 0 });
      assert.equal((await status(served)).following.state, 'idle');
      const made = openDevnet('devnet:?blocks=900&seed=3&interval=0');
      const source: Source = { name: 'devnet:, told apart', runs: (options) => made.runs(options) };
      const stop = new AbortController();
      const followed = store.follow(source, { follow: true, signal: stop.signal });
      await until(() => store.fold.head?.height === 899, 'all blocks');
      let seen = await status(served);
      await until(async () => {
        seen = await status(served);
        return seen.following.txs === store.following?.progress?.txs;
      }, 'all transactions are told');
      assert.equal(seen.following.state, 'following');
      assert.equal(seen.following.source, 'devnet:, told apart');
      assert.equal(seen.lag_blocks, 0);
      assert.ok(seen.following.txs > 900 && seen.following.created > 900 && seen.following.undone > 0);
      stop.abort();
      await followed;
      await until(async () => (await status(served)).following.state === 'stopped', 'it is told that following has stopped');
      await served.close();
    }));

  it('ends its streams and answers when the store is closed under it, and the store opens again', () =>
    withStore(async (store, chain) => {
      mine(store, chain, 20);
      const served = await serve(store, { port: 0 });
      const stream = await fetch(`${served.url}api/v1/events`);
      const reader = stream.body!.getReader();
      await reader.read();
      const { data } = store;
      await store.close();
      await served.ended;
      // Either way it is over: with its last words, or cut off behind them.
      for (let done = false; !done; )
        done = await reader.read().then(
          (part) => part.done,
          () => true,
        );
      const again = await openStore({ data, config: loadConfig({}).config, create: false });
      assert.equal(again.fold.head?.height, 19);
      await again.close();
    }));

  it('two servers of one store, and one in the thread of the caller', () =>
    withStore(async (store, chain) => {
      const servers = [await serve(store, { port: 0 }), await serve(store, { port: 0 }), await serve(store, { port: 0, thread: false })];
      mine(store, chain, 7);
      for (const served of servers) {
        for (let tip = -1, i = 0; tip !== 6; i++) {
          assert.ok(i < 500, 'it is told in time');
          tip = (await status(served)).tip?.height ?? -1;
        }
      }
      await servers[1].close();
      assert.equal((await status(servers[0])).tip?.height, 6);
      assert.equal((await status(servers[2])).tip?.height, 6);
      // The others are closed with the store.
    }));
});

describe('a server that cannot start', () => {
  it('says that the port is taken, and by what to go on', () =>
    withStore(async (store) => {
      // The store itself listens for its events; a server that could not start leaves nothing more behind.
      const watchers = store.fold.watchers.size;
      const other = createServer().listen(0, '127.0.0.1');
      await new Promise((resolve) => other.once('listening', resolve));
      const { port } = other.address() as { port: number };
      try {
        for (const thread of [true, false]) {
          const error = await refused(serve(store, { port, thread }));
          assert.equal(error.code, 'IO');
          assert.match(error.message, new RegExp(`port ${port} on 127.0.0.1 is taken.*--port`));
          assert.deepEqual([error.meta['port'], error.meta['taken']], [port, true]);
        }
        assert.equal(store.readers.size, 0);
        assert.equal(store.fold.watchers.size, watchers);
      } finally {
        other.close();
      }
    }));

  it('refuses to be open to others unless told, and an address that is not ours', () =>
    withStore(async (store) => {
      assert.equal((await refused(serve(store, { host: '0.0.0.0', port: 0 }))).code, 'CONFIG');
      assert.equal((await refused(serve(store, { port: 70_000 }))).code, 'USAGE');
      const { config } = store;
      const open = { ...config, server: { ...config.server, allowPublic: true } };
      const elsewhere = Object.assign(Object.create(store) as OpenStore, { config: open });
      assert.equal((await refused(serve(elsewhere, { host: '192.0.2.1', port: 0 }))).code, 'IO');
      assert.equal(store.readers.size, 0);
    }));
});

describe('whether it is ready', () => {
  it('not from the moment it listens until the source has said where it is', () =>
    withStore(async (store, chain) => {
      mine(store, chain, 3);
      const alone = await serve(store, { port: 0 });
      assert.equal((await fetch(`${alone.url}ready`)).status, 200, 'nothing is followed: as new as it will ever be');
      await alone.close();
      for (const thread of [true, false]) {
        const served = await serve(store, { port: 0, thread, follows: true });
        const ready = async (): Promise<unknown> => {
          const response = await fetch(`${served.url}ready`);
          return [response.status, ((await response.json()) as { reason: string | null }).reason];
        };
        assert.deepEqual(await ready(), [503, 'the source has not said where it is']);
        const gate = Promise.withResolvers<void>();
        const made = openDevnet('devnet:?blocks=40&seed=3&interval=0');
        const source: Source = {
          name: 'devnet:, slow to answer',
          async *runs(options) {
            await gate.promise;
            yield* made.runs(options);
          },
        };
        const stop = new AbortController();
        const following = store.follow(source, { follow: true, signal: stop.signal });
        await until(async () => (await status(served)).following.source !== null, 'it follows');
        assert.deepEqual(await ready(), [503, 'the source has not said where it is']);
        gate.resolve();
        await until(async () => JSON.stringify(await ready()) === '[200,null]', 'it is ready');
        assert.equal((await status(served)).lag_blocks, 0);
        stop.abort();
        await following;
        await served.close();
      }
    }));
});
