/**
 * The mempool of a followed node in the server, in a thread of its own and in
 * the caller's: what comes and goes, blocks and turns of the chain, submitting,
 * and what happens when nothing is followed any more.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { loadConfig } from '../../../src/config/load.ts';
import { formatId } from '../../../src/ledgers/bitcoin/index.ts';
import { type Served, type ServeOptions, serve } from '../../../src/server/serve.ts';
import { type OpenStore, openStore } from '../../../src/store/store.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { UnspentError } from '../../../src/util/errors.ts';
import { FakeNode } from '../../support/fake-node.ts';
import { eventually, until } from '../../support/patience.ts';
import { type Made, makeTx, PoolChain } from '../../support/pool-chain.ts';

interface Rig {
  readonly store: OpenStore;
  readonly chain: PoolChain;
  readonly node: FakeNode;
  readonly served: Served;
  /** Follows the node until the function it returns is called. */
  follow(): () => Promise<void>;
}

async function withNode(options: ServeOptions, body: (rig: Rig) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'unspent-mempool-'));
  const { config } = loadConfig({});
  const keeping = { ...config, utxo: { ...config.utxo, history: true } };
  const store = await openStore({ data: join(folder, 'data'), network: 'bitcoin-regtest', config: keeping });
  const chain = new PoolChain();
  for (let i = 0; i < 5; i++) chain.mine();
  const node = new FakeNode(chain);
  const follow = (): (() => Promise<void>) => {
    const stop = new AbortController();
    const followed = store.follow(node, { follow: true, signal: stop.signal });
    return async () => {
      stop.abort();
      await followed;
    };
  };
  try {
    const served = await serve(store, { port: 0, ...options });
    await body({ store, chain, node, served, follow });
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function text({ url }: Served, path: string): Promise<string> {
  const response = await fetch(`${url}api${path}`);
  assert.equal(response.status, 200, path);
  return await response.text();
}

const named = (...txs: readonly Made[]): string => JSON.stringify(txs.map(({ id }) => formatId(id)));
const spend = ({ txs }: { readonly txs: readonly Made[] }, fee: bigint, script = 1): Made =>
  makeTx([{ txId: txs[0].id, index: 0 }], [[txs[0].outputs[0].value - fee, script]]);

/** The mempool becomes just this. */
function has(served: Served, ...txs: readonly Made[]): Promise<void> {
  return eventually(async () => assert.equal(await text(served, '/mempool/txids'), named(...txs)));
}

async function post({ url }: Served, raw: Uint8Array): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`${url}api/tx`, { method: 'POST', body: toHex(raw) });
  return { status: response.status, text: await response.text() };
}

for (const [where, options] of [
  ['a thread of its own', {}],
  ["the caller's thread", { thread: false }],
] as const)
  describe(`the mempool of a node, in ${where}`, () => {
    it('holds what the node has, at the block the store is at', () =>
      withNode(options, async ({ chain, node, served, follow, store }) => {
        const { blocks } = chain;
        const [first, second, third] = [spend(blocks[1], 100n), spend(blocks[2], 200n), spend(blocks[3], 300n)];
        node.add(first.raw);
        const stop = follow();
        await has(served, first);
        node.add(second.raw, third.raw);
        await has(served, first, second, third);
        assert.equal(JSON.parse(await text(served, '/mempool')).total_fee, 600);
        node.remove(third.id);
        await has(served, first, second);
        chain.mine([first]);
        node.moved();
        await has(served, second);
        // A node that does not say what left: the chain does.
        chain.back(2);
        chain.mine([spend(blocks[2], 250n)]);
        chain.mine();
        node.moved();
        await has(served);
        assert.equal(store.fold.head?.height, chain.height);
        await stop();
      }));

    it('is replaced by a newer spender, and empty when nothing is followed', () =>
      withNode(options, async ({ chain, node, served, follow }) => {
        const stop = follow();
        const old = spend(chain.blocks[1], 100n);
        const child = makeTx([{ txId: old.id, index: 0 }], [[1n, 2]]);
        node.add(old.raw, child.raw);
        await has(served, old, child);
        const dear = spend(chain.blocks[1], 900n);
        node.add(dear.raw);
        await has(served, dear);
        await stop();
        await has(served);
        assert.equal(node.listeners.size, 0);
        node.pool.delete(toHex(old.id));
        node.pool.delete(toHex(child.id));
        const again = follow();
        await has(served, dear);
        await again();
      }));

    it('takes what is submitted, and passes on why not', () =>
      withNode(options, async ({ chain, node, served, follow }) => {
        const tx = spend(chain.blocks[1], 100n);
        const nowhere = await post(served, tx.raw);
        assert.equal(nowhere.status, 501);
        assert.match(nowhere.text, /nothing is followed/);
        const stop = follow();
        await until(() => node.listeners.size > 0, 'it is watched');
        assert.deepEqual(await post(served, tx.raw), { status: 200, text: formatId(tx.id) });
        // At once, though the node has not told of it.
        assert.equal(await text(served, '/mempool/txids'), named(tx));
        node.refusal = new UnspentError('TX_REFUSED', 'bad-txns-inputs-missingorspent');
        const refused = await post(served, spend(chain.blocks[2], 1n).raw);
        assert.equal(refused.status, 400);
        assert.match(refused.text, /bad-txns-inputs-missingorspent/);
        assert.equal((await post(served, tx.raw.subarray(1))).status, 400);
        await has(served, tx);
        await stop();
      }));

    it('closes while the node still thinks about a transaction', () =>
      withNode(options, async ({ chain, node, served, follow }) => {
        const stop = follow();
        await until(() => node.listeners.size > 0, 'it is watched');
        const { promise, resolve } = Promise.withResolvers<void>();
        node.answered = promise;
        const asked = post(served, spend(chain.blocks[1], 100n).raw).catch((error: unknown) => error);
        await new Promise((done) => setTimeout(done, 100));
        await served.close();
        await asked;
        resolve();
        await stop();
        assert.equal(node.listeners.size, 0);
      }));

    it('has an Electrum server beside it, when asked', () =>
      withNode({ ...options, ports: { electrum: { tcp: 0 } } }, async ({ chain, node, served, follow }) => {
        const { tcp } = served.ports['electrum'] ?? {};
        assert.ok(tcp !== undefined && tcp > 0);
        assert.deepEqual(Object.keys(served.ports['electrum'] ?? {}), ['tcp']);
        const stop = follow();
        const tx = spend(chain.blocks[1], 10_000n);
        node.add(tx.raw);
        await has(served, tx);
        const answer = await ask(tcp, 'mempool.get_fee_histogram');
        assert.equal((answer as { result: number[][] }).result.length, 1);
        await stop();
        await served.close();
        await assert.rejects(ask(tcp, 'server.ping'));
      }));
  });

async function ask(port: number, method: string): Promise<unknown> {
  const socket = connect(port, '127.0.0.1');
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  let got = '';
  socket.on('error', reject).on('data', (bytes) => {
    got += bytes.toString();
    const lines = got.split('\n');
    if (lines.length > 2) resolve(JSON.parse(lines[1]));
  });
  socket.write('{"jsonrpc":"2.0","id":0,"method":"server.version","params":["test","1.4"]}\n');
  socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] })}\n`);
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}
