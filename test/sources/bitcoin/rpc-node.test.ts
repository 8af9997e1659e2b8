/**
 * The RPC source against a real node: sync, new blocks, both ways a chain turns,
 * a restart, the cookie, and its mempool; the set adds up to the node's own.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { bitcoinNetwork, decodeTx, formatId } from '../../../src/ledgers/bitcoin/index.ts';
import { RpcClient, RpcError } from '../../../src/sources/bitcoin/rpc/client.ts';
import { openRpc } from '../../../src/sources/bitcoin/rpc/index.ts';
import { fromHex } from '../../../src/util/bytes.ts';
import { bitcoin } from '../../ledgers/bitcoin/samples.ts';
import { type CoreNode, startNode } from '../../support/core-node.ts';
import { nodeMissing } from '../../support/node-kinds.ts';
import { eventually } from '../../support/patience.ts';
import { Following, memoryFold, pump, stopAll, tell } from './pump.ts';

const network = bitcoinNetwork('litecoin-regtest');
const QUICK = { pollMs: 20, mempoolMs: 20, reconnectMs: [20, 100] } as const;

describe('rpc source: a real node', { skip: nodeMissing() }, () => {
  let node: CoreNode;
  let address = '';
  before(async () => {
    node = await startNode();
    await node.rpc('createwallet', 'w');
    address = await node.rpc('getnewaddress');
    await node.rpc('generatetoaddress', 110, address);
  });
  after(async () => {
    await stopAll();
    await node.stop();
  });

  const agrees = async ({ fold }: Following): Promise<void> => {
    const { height, bestblock, txouts, total_amount: total } = await node.rpc('gettxoutsetinfo');
    const { head } = fold;
    assert.ok(head !== null);
    assert.deepEqual(
      [head.height, formatId(head.hash), head.utxos, head.value],
      [height, bestblock, txouts, BigInt(Math.round(total * 1e8))],
    );
  };

  test('followed through blocks, a turn, a step back and a restart', async () => {
    const source = openRpc(node.rpcUrl, network, QUICK);
    const following = new Following(source, network);
    await following.reach(await node.rpc('getbestblockhash'));
    await agrees(following);
    assert.match(source.status().version, /^RPC 21\d{4}$/);
    await node.rpc('sendtoaddress', address, 1.5);
    await node.rpc('generatetoaddress', 2, address);
    await following.reach(await node.rpc('getbestblockhash'));
    const old = await node.rpc<string>('getblockhash', 111);
    await node.rpc('invalidateblock', old);
    await following.reach(await node.rpc('getbestblockhash'));
    await agrees(following);
    // To another address: to the same one it would be the block that was just refused.
    await node.rpc('generatetoaddress', 4, await node.rpc('getnewaddress'));
    await following.reach(await node.rpc('getbestblockhash'));
    await agrees(following);
    assert.deepEqual(following.turns, ['110 -2']);
    await node.restart();
    await node.rpc('loadwallet', 'w').catch(() => {});
    await node.rpc('generatetoaddress', 1, address);
    await following.reach(await node.rpc('getbestblockhash'));
    await agrees(following);
    assert.ok(source.status().lost > 0);
    await following.stop();
  });

  test('its mempool: in, refused, mined', async () => {
    const source = openRpc(node.rpcUrl, network, QUICK);
    const feed = source.mempool ?? assert.fail();
    const seen = new Set<string>();
    feed.watch((change) => {
      if (change.kind === 'add') for (const raw of change.txs) seen.add(formatId(decodeTx(raw, true).id));
      if (change.kind === 'remove') for (const id of change.ids) seen.delete(formatId(id));
    });
    const following = new Following(source, network);
    const before = (await node.rpc<string[]>('getrawmempool')).length;
    const sent = await node.rpc<string>('sendtoaddress', address, 2);
    await eventually(() => assert.ok(seen.has(sent) && seen.size === before + 1));
    const draft = await node.rpc('createrawtransaction', [], [{ [address]: 3 }]);
    const { hex: funded } = await node.rpc('fundrawtransaction', draft);
    await assert.rejects(feed.submit(fromHex(funded)), {
      code: 'TX_REFUSED',
      message: /script-verify-flag|non-mandatory|Witness|missing/i,
    });
    const { hex } = await node.rpc('signrawtransactionwithwallet', funded);
    const id = formatId(await feed.submit(fromHex(hex)));
    await eventually(() => assert.ok(seen.has(id) && seen.size === before + 2));
    await node.rpc('generatetoaddress', 1, address);
    await eventually(() => assert.equal(seen.size, 0));
    await following.reach(await node.rpc('getbestblockhash'));
    await following.stop();
  });

  test('what it says to strangers and to nonsense', async () => {
    const wrong = await tell(openRpc(`rpc://u:wrong@127.0.0.1:${node.rpcPort}`, network, QUICK));
    assert.match(wrong.error?.message ?? '', /does not take that user and password/);
    const elsewhere = await tell(openRpc(node.rpcUrl, bitcoin, QUICK));
    assert.equal(elsewhere.error?.code, 'NETWORK_WRONG');
    const noCookie = await tell(
      openRpc(`rpc://127.0.0.1:${node.rpcPort}?cookie=${join(node.dir, '.cookie')}`, network, { ...QUICK, attempts: 1 }),
    );
    assert.match(noCookie.error?.message ?? '', /is not there/);
    const client = new RpcClient(node.rpcUrl, network);
    await assert.rejects(client.call('nonsense'), (error) => error instanceof RpcError && error.nodeCode === -32601);
    assert.deepEqual(
      await client
        .batch([{ method: 'getblockcount' }, { method: 'getblockhash', params: [-1] }])
        .then(([count, none]) => [typeof count, none instanceof RpcError]),
      ['number', true],
    );
    client.close();
  });

  test('all of it in one sync', async () => {
    const fold = memoryFold(network);
    const { reason } = await pump(openRpc(node.rpcUrl, network, QUICK), fold, network);
    assert.equal(reason, 'end');
    assert.equal(fold.head?.height, await node.rpc('getblockcount'));
  });
});
