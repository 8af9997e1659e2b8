/**
 * Against each real node that is there: 240,000 transactions, branches that lose
 * in both ways, a restart, a replaced transaction and one that we hand over.
 * After each of them our set of coins has the count, the total and the hash that
 * the node's own has, over RPC, P2P and its block files alike; in the end also
 * its MuHash, and every coin of its dump.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { decodeTx, formatId } from '../../src/ledgers/bitcoin/index.ts';
import type { MempoolChange } from '../../src/sources/source.ts';
import { toHex } from '../../src/util/bytes.ts';
import { type CoreNode, startNode } from '../support/core-node.ts';
import { NODE_KINDS, nodeMissing } from '../support/node-kinds.ts';
import { feed, OpTrueChain, opTrueAddress, replaceable, type Spendable } from '../support/op-true-chain.ts';
import { assertDump, assertMuHash, assertParity, assertSound, Follower } from '../support/parity.ts';
import { until } from '../support/patience.ts';

/** Of the chain that branches: small, because the whole set is compared after each step. */
const BLOCKS = 12;
const TXS_A_BLOCK = 250;
/** Of the chain that is read from its first block. */
const MANY_BLOCKS = 60;
const MANY_TXS_A_BLOCK = 4000;
/** Blocks until the first coinbases may be spent, and some more. */
const RIPE = 120;
const TIMEOUT_MS = 600_000;

/** What a mempool has told so far. */
class Told {
  readonly added = new Set<string>();
  readonly removed = new Set<string>();

  take(change: MempoolChange): void {
    if (change.kind === 'add') for (const raw of change.txs) this.added.add(toHex(decodeTx(raw, true).id));
    if (change.kind === 'remove') for (const id of change.ids) this.removed.add(toHex(id));
  }
}

for (const kind of NODE_KINDS)
  describe(`the set of coins of ${kind.name}`, () => {
    const options = { skip: nodeMissing(kind), timeout: TIMEOUT_MS };
    const address = opTrueAddress(kind.network);
    let node: CoreNode;
    let spare: Spendable;
    let handedOver: Spendable;
    let steps = 0;
    const chain = new OpTrueChain({ network: kind.network });
    const followers: { rpc?: Follower; p2p?: Follower; blk?: Follower } = {};
    const all = (): Follower[] => [followers.rpc!, followers.p2p!, followers.blk!];
    const live = (): Follower[] => [followers.rpc!, followers.p2p!];

    before(async () => {
      if (options.skip) return;
      // Peers that it trusts are told of transactions at once, not after some random seconds.
      node = await startNode({ kind, args: ['-whitelist=noban@127.0.0.1'] });
      await feed(node, chain, RIPE, 0);
      spare = chain.takeOldest();
      handedOver = chain.takeOldest();
      followers.rpc = new Follower(node, node.rpcUrl, kind.hasMuHash ? ['proofs.setHash=true'] : []);
      followers.p2p = new Follower(node, node.p2pUrl);
      followers.blk = new Follower(node, `blk:${node.blocksDir}`);
      for (const follower of all()) await follower.open();
    });

    after(async () => {
      for (const follower of Object.values(followers)) await follower.close();
      await node?.stop();
    });

    /** Those that stay connected are at the tip by themselves, block files are read again. */
    async function agree(when: string): Promise<void> {
      for (const follower of live()) await follower.reachesTip();
      await followers.blk!.catchUp();
      await assertParity(node, all(), when);
      // One of them in turn: all of them each time would take longer than all the rest.
      const checked = all()[steps++ % all().length];
      assertSound(checked.store, `${when}, ${checked.url}`);
    }

    test('its first transactions', options, async () => {
      await feed(node, chain, BLOCKS, TXS_A_BLOCK);
      for (const follower of all()) await follower.catchUp();
      await assertParity(node, all(), 'at first');
      for (const follower of live()) follower.stay();
    });

    test('a block that the node is told to forget, and a longer branch', options, async () => {
      const height = await node.rpc<number>('getblockcount');
      await node.rpc('invalidateblock', await node.rpc('getblockhash', height - 2));
      await node.rpc('generatetoaddress', 5, address);
      assert.equal(await node.rpc('getblockcount'), height + 2);
      await agree('after invalidateblock');
      for (const follower of live()) {
        const { rollbacks, undone } = await follower.pause();
        // The node forgets one block after the other: whoever asks meanwhile sees more than one turn.
        assert.ok(rollbacks >= 1 && rollbacks <= 3, `${follower.url} turned ${rollbacks} times`);
        assert.equal(undone, 3, follower.url);
      }
    });

    test('another node with a longer branch', options, async () => {
      const other = await startNode({ kind, args: [`-connect=127.0.0.1:${node.p2pPort}`] });
      try {
        const best = await node.rpc<string>('getbestblockhash');
        await until(async () => (await other.rpc('getbestblockhash')) === best, 'the other node has caught up');
        await other.rpc('setnetworkactive', false);
        await node.rpc('generatetoaddress', 2, address);
        // What was read by another process, as it were, is continued with.
        for (const follower of live()) {
          await follower.reopen();
          follower.stay();
        }
        await agree('on the branch that is going to lose');
        for (let i = 0; i < 4; i++) await other.rpc('generateblock', address, []);
        const winner = await other.rpc<string>('getbestblockhash');
        await other.rpc('setnetworkactive', true);
        await until(async () => (await node.rpc('getbestblockhash')) === winner, 'the node goes over to the longer branch');
        await agree('after another node won');
      } finally {
        await other.stop();
      }
    });

    test('a restart of the node', options, async () => {
      await node.restart();
      await node.rpc('generatetoaddress', 3, address);
      await agree('after a restart');
    });

    test('a transaction that is replaced before it is in a block', options, async () => {
      const [overRpc, overP2p] = [new Told(), new Told()];
      const stops = [followers.rpc!.mempool.watch((c) => overRpc.take(c)), followers.p2p!.mempool.watch((c) => overP2p.take(c))];
      const [first, second] = [replaceable(spare, 20_000n), replaceable(spare, 90_000n)];
      const [firstId, secondId] = [first, second].map((raw) => toHex(decodeTx(raw, true).id));
      assert.equal(toHex(await followers.rpc!.mempool.submit(first)), firstId);
      await until(() => overRpc.added.has(firstId) && overP2p.added.has(firstId), 'both see the first');
      assert.equal(overRpc.removed.has(firstId), false);
      await assert.rejects(followers.rpc!.mempool.submit(replaceable(spare, 20_001n)), { code: 'TX_REFUSED', message: /insufficient fee/ });
      await node.rpc('sendrawtransaction', toHex(second));
      await until(() => overRpc.added.has(secondId) && overP2p.added.has(secondId), 'both see the second');
      await until(() => overRpc.removed.has(firstId), 'the first is gone, over RPC');
      await agree('with a transaction in the mempool');
      await node.rpc('generatetoaddress', 1, address);
      await agree('with that transaction in a block');
      await until(() => overRpc.removed.has(secondId), 'the second is gone, over RPC');
      for (const stop of stops) stop();
    });

    test('a transaction with witnesses that we hand over as another node would', options, async () => {
      const raw = replaceable(handedOver, 20_000n);
      assert.ok(decodeTx(raw, true).hasWitness);
      const id = await followers.p2p!.mempool.submit(raw);
      assert.deepEqual(await node.rpc('getrawmempool'), [formatId(id)]);
      assert.deepEqual(await followers.p2p!.mempool.submit(raw), id, 'again it is no error');
      await node.rpc('generatetoaddress', 1, address);
      await agree('with what we handed over');
    });

    test('its MuHash', { ...options, skip: options.skip || (!kind.hasMuHash && 'it has none') }, () =>
      assertMuHash(node, followers.rpc!.store, 'after all that'),
    );
  });

for (const kind of NODE_KINDS)
  test(`240,000 transactions of ${kind.name}, and every coin of its dump`, { skip: nodeMissing(kind), timeout: TIMEOUT_MS }, async () => {
    const node = await startNode({ kind, args: [] });
    const sources = [node.rpcUrl, node.p2pUrl, `blk:${node.blocksDir}`];
    const followers = sources.map((url, i) => new Follower(node, url, kind.hasMuHash && i === 0 ? ['proofs.setHash=true'] : []));
    try {
      const chain = new OpTrueChain({ network: kind.network });
      await feed(node, chain, RIPE, 0);
      await feed(node, chain, MANY_BLOCKS, MANY_TXS_A_BLOCK);
      assert.equal(chain.transactions, 240_000);
      const blocks = 1 + RIPE + MANY_BLOCKS;
      for (const follower of followers) {
        await follower.open();
        const pumped = await follower.catchUp();
        assert.deepEqual({ blocks: pumped.blocks, txs: pumped.txs }, { blocks, txs: blocks + 240_000 }, follower.url);
        assertSound(follower.store, follower.url);
      }
      await assertParity(node, followers, 'at the tip');
      if (!kind.hasMuHash) return;
      await assertDump(node, followers[1].store);
      await assertMuHash(node, followers[0].store, 'at the tip');
    } finally {
      for (const follower of followers) await follower.close();
      await node.stop();
    }
  });
