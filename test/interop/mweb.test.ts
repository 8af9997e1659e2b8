/**
 * A real node with Litecoin's extension blocks switched on: coins that go in
 * and come out again, blocks with the extension's own bytes behind their
 * transactions, and still the node's set of coins, bit for bit.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type BitcoinBlock, bitcoinLedger, bitcoinNetwork } from '../../src/ledgers/bitcoin/index.ts';
import { rawBlock } from '../../src/query/bitcoin/raw-block.ts';
import { fromHex, toHex } from '../../src/util/bytes.ts';
import { type CoreNode, startNode } from '../support/core-node.ts';
import { nodeMissing } from '../support/node-kinds.ts';
import { assertParity, assertSound, Follower } from '../support/parity.ts';

/** The first block of the extension; the node cannot make it before somebody wants in. */
const FIRST_HEIGHT = 432;
const options = { skip: nodeMissing() };

describe('extension blocks of a real node', () => {
  let node: CoreNode;
  let followers: Follower[] = [];
  const ledger = bitcoinLedger(bitcoinNetwork('litecoin-regtest'));

  before(async () => {
    if (options.skip) return;
    node = await startNode({ mweb: true, args: ['-keypool=10'] });
    await node.rpc('createwallet', 'w');
    const address = await node.rpc('getnewaddress');
    await node.rpc('generatetoaddress', FIRST_HEIGHT - 1, address);
    await node.rpc('sendtoaddress', await node.rpc('getnewaddress', '', 'mweb'), 10);
    await node.rpc('generatetoaddress', 3, address);
    followers = [node.rpcUrl, node.p2pUrl, `blk:${node.blocksDir}`].map((url) => new Follower(node, url, ['utxo.history=true']));
    for (const follower of followers) await follower.open();
  });

  after(async () => {
    for (const follower of followers) await follower.close();
    await node?.stop();
  });

  async function raw(height: number): Promise<string> {
    return node.rpc('getblock', await node.rpc('getblockhash', height), 0);
  }

  async function block(height: number): Promise<BitcoinBlock> {
    return ledger.decode(fromHex(await raw(height)), height);
  }

  async function agree(when: string): Promise<void> {
    for (const follower of followers) await follower.catchUp();
    await assertParity(node, followers, when);
  }

  test('a block with a peg-in has the extension behind its transactions', options, async () => {
    const first = await block(FIRST_HEIGHT);
    ledger.verify(first);
    assert.equal(first.txs.length, 3);
    assert.equal(first.txs[2].hasMweb, true);
    assert.ok(ledger.tailBytes!(first).length > 1, 'the extension is behind the transactions');
    assert.equal((await block(FIRST_HEIGHT - 1)).txs.length, 1);
  });

  test('coins that went in', options, async () => {
    await agree('after coins went in');
  });

  test('coins that came out again, and a branch that lost', options, async () => {
    await node.rpc('sendtoaddress', await node.rpc('getnewaddress', '', 'bech32'), 3);
    const address = await node.rpc('getnewaddress');
    await node.rpc('generatetoaddress', 8, address);
    await agree('after coins came out');
    await node.rpc('invalidateblock', await node.rpc('getblockhash', (await node.rpc<number>('getblockcount')) - 1));
    // To another address: the same block again would be the one it was told to forget.
    await node.rpc('generatetoaddress', 4, await node.rpc('getnewaddress'));
    await agree('after a branch lost');
    for (const follower of followers) assertSound(follower.store, follower.url);
  });

  test('blocks come back out of the store as they went in, the extension included', options, async () => {
    const { store } = followers[0];
    for (let height = FIRST_HEIGHT - 1; height <= store.fold.head!.height; height++) {
      const ours = store.read((query) => toHex(rawBlock(query, store.fold.rowAt(height)!)));
      assert.equal(ours, await raw(height), `block ${height}`);
    }
  });
});
