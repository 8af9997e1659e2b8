/**
 * Each real node that is there writes its own unspent set; a store begins with
 * it, checked against what the node says of it, and follows the node from there
 * over each kind of source, through a branch that loses. At every step it is the
 * node's set, and that of a store that read every block.
 */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { importNodeSet } from '../../src/store/node-sets.ts';
import { isUnspentError } from '../../src/util/errors.ts';
import { type CoreNode, startNode } from '../support/core-node.ts';
import { NODE_KINDS, nodeMissing } from '../support/node-kinds.ts';
import { feed, OpTrueChain, opTrueAddress } from '../support/op-true-chain.ts';
import { assertParity, assertSound, Follower } from '../support/parity.ts';

const RIPE = 110;
const TIMEOUT_MS = 300_000;

for (const kind of NODE_KINDS)
  describe(`a store from the dump of ${kind.name}`, () => {
    const options = { skip: nodeMissing(kind), timeout: TIMEOUT_MS };
    const chain = new OpTrueChain({ network: kind.network });
    const begun: Follower[] = [];
    let node: CoreNode;
    let whole: Follower;
    let dump: string;

    before(async () => {
      if (options.skip) return;
      node = await startNode({ kind });
      await feed(node, chain, RIPE, 0);
      await feed(node, chain, 3, 60);
      dump = join(node.dir, 'utxo.dump');
      // Older nodes write of the newest block only, and are not asked which.
      await node.rpc('dumptxoutset', dump, ...(kind.name === 'bitcoind' ? ['latest'] : []));
    });

    after(async () => {
      for (const follower of begun) await follower.close();
      await whole?.close();
      await node?.stop();
    });

    const importInto = (data: string, given: object, set: readonly string[] = []) => {
      const { config } = loadConfig({ flags: { set: [`network=${kind.network}`, `data=${data}`, ...set] }, env: {} });
      return importNodeSet(dump, { config, ...given });
    };

    test('the set is the one that the node says, at the block it says', options, async () => {
      const info = await node.rpc('gettxoutsetinfo');
      for (const url of [node.rpcUrl, node.p2pUrl, `blk:${node.blocksDir}`]) {
        const follower = new Follower(node, url);
        const done = await importInto(follower.data, { node: node.rpcUrl });
        assert.deepEqual([done.point.height, done.point.hash, done.utxos], [info.height, info.bestblock, info.txouts]);
        await follower.open();
        begun.push(follower);
      }
      await assertParity(node, begun, 'as imported');
    });

    test('it follows on over each kind of source, through a branch that loses', options, async () => {
      whole = new Follower(node, node.rpcUrl);
      await whole.open();
      const agree = async (when: string): Promise<void> => {
        for (const follower of [whole, ...begun]) await follower.catchUp();
        await assertParity(node, [whole, ...begun], when);
        const { digest } = whole.store.digest();
        for (const { store, url } of begun) assert.equal(store.digest().digest, digest, `${when}, ${url}`);
      };
      await feed(node, chain, 6, 60);
      await agree('after blocks');
      await node.rpc('invalidateblock', await node.rpc('getblockhash', (await node.rpc<number>('getblockcount')) - 3));
      await node.rpc('generatetoaddress', 6, opTrueAddress(kind.network));
      await agree('after a branch lost');
      for (const { store, url } of begun) assertSound(store, url);
    });

    test('a node that has gone on cannot vouch for it by itself, unless it keeps an index', options, async () => {
      const spare = new Follower(node, node.rpcUrl);
      try {
        await assert.rejects(
          () => importInto(spare.data, { node: node.rpcUrl }),
          (error) => isUnspentError(error, 'USAGE') && error.message.includes('--hash-serialized'),
        );
      } finally {
        await spare.close();
        rmSync(dump);
      }
    });
  });
