/**
 * The P2P source against a real node, Debian's litecoind: what it has is what we
 * have, through new blocks, a turn, a restart, and transactions both ways. And
 * the other way round: the node follows our responder.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { serveP2p } from '../../../src/chains/bitcoin/responder/index.ts';
import { bitcoinNetwork, decodeTx, formatId, headerHash, parseId } from '../../../src/ledgers/bitcoin/index.ts';
import { openP2p } from '../../../src/sources/bitcoin/p2p/index.ts';
import type { NodeSource } from '../../../src/sources/peer.ts';
import type { MempoolChange } from '../../../src/sources/source.ts';
import { fromHex, toHex } from '../../../src/util/bytes.ts';
import { forgeTx } from '../../ledgers/bitcoin/forge.ts';
import { type CoreNode, startNode } from '../../support/core-node.ts';
import { nodeMissing } from '../../support/node-kinds.ts';
import { TestChain } from './p2p-chain.ts';
import { Reader, until } from './p2p-reader.ts';

const network = bitcoinNetwork('litecoin-regtest');
const missing = nodeMissing();

const P2WSH = fromHex('00204ae81572f06e1b88fd5ced7a1a000945432e83e1551e6f721ee9c00b8cc33260');
/** `-whitelist`: announces transactions at once, where others wait some seconds. */
const OPTIONS = ['-whitelist=noban,mempool@127.0.0.1', '-peerbloomfilters=1', '-txindex=0'];

describe('a real node over P2P', { skip: missing }, () => {
  let node: CoreNode;
  let source: NodeSource;
  const reader = new Reader(network);
  const changes: MempoolChange[] = [];
  let address = '';

  const tip = async (): Promise<Uint8Array> => parseId(await node.rpc<string>('getbestblockhash'));
  const mine = (blocks: number): Promise<string[]> => node.rpc('generatetoaddress', blocks, address);
  const told = (): string[] =>
    changes.flatMap((change) => (change.kind === 'add' ? change.txs.map((raw) => formatId(decodeTx(raw, true).id)) : []));

  async function assertSame(): Promise<void> {
    await reader.reach(await tip());
    const set = await node.rpc('gettxoutsetinfo');
    assert.equal(reader.fold.head?.height, set.height);
    assert.equal(reader.fold.head?.utxos, set.txouts);
    assert.equal(reader.fold.head?.value, BigInt(Math.round(set.total_amount * 1e8)));
  }

  /** A signed payment that is in nobody's mempool yet. */
  async function payment(fee = 0.0001): Promise<Uint8Array> {
    const [coin] = await node.rpc('listunspent', 1, 9_999_999, [], false, { maximumCount: 1 });
    const amount = Number((coin.amount - fee).toFixed(8));
    const made = await node.rpc(
      'createrawtransaction',
      [{ txid: coin.txid, vout: coin.vout }],
      [{ [await node.rpc('getnewaddress')]: amount }],
    );
    const { hex } = await node.rpc('signrawtransactionwithwallet', made);
    return fromHex(hex);
  }

  before(async () => {
    node = await startNode({ args: OPTIONS });
    await node.rpc('createwallet', 'w').catch(() => {});
    address = await node.rpc('getnewaddress');
    await mine(130);
    source = openP2p([node.p2pUrl], network, { reconnectMs: [10, 100], timeScale: 0.1 });
    source.mempool?.watch((change) => changes.push(change));
    reader.start(source);
  });

  after(async () => {
    await reader.end();
    await node.stop();
  });

  it('is read to its tip', async () => {
    await assertSame();
    assert.equal(source.status().version, 'P2P 70016');
    assert.equal(source.status().lagBlocks, 0);
  });

  it('tells of a new block', async () => {
    const [hash] = await mine(1);
    await reader.reach(parseId(hash));
    await assertSame();
  });

  for (const [depth, blocks] of [
    [2, 5],
    [40, 60],
  ]) {
    it(`turns ${depth} blocks below its tip, and is followed`, async () => {
      const { height } = reader.fold.head!;
      const before = reader.rollbacks;
      await node.rpc('invalidateblock', await node.rpc('getblockhash', height - depth));
      // To somebody else: the same blocks again would be just as invalid.
      address = await node.rpc('getnewaddress');
      await mine(blocks);
      await assertSame();
      assert.equal(reader.rollbacks, before + 1);
      assert.equal(reader.fold.head?.height, height - depth - 1 + blocks);
      assert.equal(source.status().lost, 0);
    });
  }

  it('shows transactions that are in no block, and takes ours', async () => {
    await until(() => changes.length > 0);
    const sent = await node.rpc('sendtoaddress', address, 1);
    await until(
      () => told().includes(sent),
      () => `${told()}`,
    );
    await mine(1);
    const raw = await payment();
    const id = await source.mempool!.submit(raw);
    assert.ok((await node.rpc<string[]>('getrawmempool')).includes(formatId(id)));
    assert.ok(told().includes(formatId(id)));
    await mine(1);
    await assertSame();
  });

  it('refuses transactions, and says why as far as it does', async () => {
    const lost = forgeTx({ inputs: [{ txId: new Uint8Array(32).fill(9), index: 0 }], outputs: [{ value: 50_000n, script: P2WSH }] });
    await assert.rejects(source.mempool!.submit(lost), { code: 'SOURCE_UNREACHABLE', message: /does not know transaction 0909/ });
    await assert.rejects(source.mempool!.submit(await payment(0.00000001)), {
      code: 'SOURCE_UNREACHABLE',
      message: /may have taken .* neither passed it on/,
    });
    await assert.rejects(source.mempool!.submit(fromHex('00')), { code: 'TX_REFUSED' });
    assert.deepEqual(await node.rpc('getrawmempool'), []);
  });

  it('is restarted, and followed again', async () => {
    await node.restart();
    await mine(3);
    await assertSame();
    assert.ok(source.status().lost >= 1);
    assert.ok(changes.filter(({ kind }) => kind === 'reset').length >= 2);
  });

  it('is followed from the middle by a reader that comes later', async () => {
    const late = new Reader(network);
    const fresh = openP2p([node.p2pUrl], network);
    await late.sync(fresh);
    assert.equal(late.tip, reader.tip);
    await mine(4);
    const { blocks } = await late.sync(openP2p([node.p2pUrl], network));
    assert.equal(blocks, 4);
    assert.equal(late.tip, toHex(await tip()));
  });

  it('follows our responder, which has its blocks', async () => {
    const chain = new TestChain(0, network);
    for (let height = 1; height <= (await node.rpc<number>('getblockcount')); height++) {
      chain.adopt(fromHex(await node.rpc('getblock', await node.rpc('getblockhash', height), 0)));
    }
    const server = await serveP2p(chain, { port: 0 });
    const other = await startNode({ args: [`-connect=127.0.0.1:${server.port}`] });
    try {
      await until(
        async () => (await other.rpc('getbestblockhash')) === formatId(chain.tip.hash),
        () => 'and follow',
      );
      const [hash] = await mine(1);
      const raw = fromHex(await node.rpc('getblock', hash, 0));
      chain.adopt(raw);
      await until(
        async () => (await other.rpc('getbestblockhash')) === hash,
        () => 'and follow new ones',
      );
      assert.equal(formatId(headerHash(raw)), hash);
    } finally {
      await other.stop();
      await server.close();
    }
  });
});
