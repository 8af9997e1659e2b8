/**
 * Transactions that are in no block, over P2P, from and to our own responder:
 * what waits when we come, what comes later, what we hand over, and that a new
 * connection begins anew.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { decodeTx } from '../../../src/ledgers/bitcoin/index.ts';
import { openP2p } from '../../../src/sources/bitcoin/p2p/index.ts';
import { type P2pServer, serveP2p } from '../../../src/sources/bitcoin/responder/index.ts';
import type { MempoolChange, MempoolFeed } from '../../../src/sources/source.ts';
import { fromHex, toHex } from '../../../src/util/bytes.ts';
import { forgeTx, OP_TRUE } from '../../ledgers/bitcoin/forge.ts';
import { regtest } from '../../ledgers/bitcoin/samples.ts';
import { TestChain } from './p2p-chain.ts';
import { Reader, until } from './p2p-reader.ts';

describe('the mempool over P2P', () => {
  const chain = new TestChain(20);
  const reader = new Reader(regtest);
  let server: P2pServer;
  let feed: MempoolFeed;
  /** What a listener has by now. */
  let seen: string[] = [];
  let resets = 0;

  const take = (change: MempoolChange): void => {
    if (change.kind === 'reset') {
      seen = [];
      resets++;
    } else if (change.kind === 'add') seen.push(...change.txs.map((raw) => toHex(raw)));
  };

  before(async () => {
    server = await serveP2p(chain, { port: 0 });
    const source = openP2p([`p2p://127.0.0.1:${server.port}`], regtest, { reconnectMs: [1, 20], timeScale: 0.05 });
    assert.ok(source.mempool !== undefined);
    feed = source.mempool;
    await assert.rejects(feed.submit(chain.payment()), { code: 'SOURCE_UNREACHABLE' }, 'not followed yet');
    chain.submit(chain.payment());
    feed.watch(take);
    reader.start(source);
  });

  after(async () => {
    await reader.end();
    await server.close();
  });

  it('shows what waited before we came', async () => {
    await until(() => seen.length === 1);
    assert.deepEqual(
      seen.map((raw) => decodeTx(fromHex(raw)).id),
      chain.mempool(),
    );
    assert.equal(resets, 1);
  });

  it('shows what comes, with its witnesses, and once', async () => {
    const raw = chain.payment();
    assert.ok(decodeTx(raw).hasWitness);
    chain.submit(raw);
    chain.submit(raw);
    await until(() => seen.length === 2);
    assert.equal(seen[1], toHex(raw));
    let late = 0;
    const stop = feed.watch((change) => (late += change.kind === 'add' ? change.txs.length : 0));
    assert.equal(late, 2, 'a second listener is told what is there');
    stop();
  });

  it('takes a transaction to the node, and shows it', async () => {
    const raw = chain.payment();
    const ids = await Promise.all([feed.submit(raw), feed.submit(raw)]);
    for (const id of ids) assert.deepEqual(id, decodeTx(raw).id);
    assert.deepEqual(chain.tx(ids[0]), raw);
    assert.equal(seen.filter((one) => one === toHex(raw)).length, 1);
    assert.deepEqual(await feed.submit(raw), ids[0], 'again it is no error');
  });

  it("says the node's own words when it refuses one", async () => {
    const raw = forgeTx({ inputs: [{ txId: new Uint8Array(32).fill(3), index: 0 }], outputs: [{ value: 1n, script: OP_TRUE }] });
    await assert.rejects(feed.submit(raw), { code: 'TX_REFUSED', message: 'bad-txns-inputs-missingorspent' });
    await assert.rejects(feed.submit(fromHex('01020304')), { code: 'TX_REFUSED', message: /not a transaction/ });
  });

  it('begins anew with a new connection', async () => {
    const raw = chain.payment();
    server.cut();
    await until(() => resets === 2);
    chain.submit(raw);
    await until(() => seen.includes(toHex(raw)));
    await until(() => seen.length === chain.mempool().length);
  });

  it('knows nothing of those that a block has taken', async () => {
    chain.mine(1);
    await reader.reach(chain.tip.hash);
    const raw = chain.payment();
    chain.submit(raw);
    await until(() => seen.at(-1) === toHex(raw));
    assert.equal(chain.mempool().length, 1);
  });
});
