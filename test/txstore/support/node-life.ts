/**
 * SD70: a store with records of transactions beside a real node, with R = W = 10:
 * many transactions, then branches that win, some with the transactions of the
 * losing one again, some without. At every tip that is compared the unspent set
 * is the node's, and the records say what the set says; no parent is missing.
 */
import assert from 'node:assert/strict';
import { followTxs } from '../../../src/cli/bitcoin/follow-txs.ts';
import { verifyTxs } from '../../../src/store/verify/verify-txs.ts';
import { startNode } from '../../support/core-node.ts';
import { LITECOIND } from '../../support/node-kinds.ts';
import { feed, OpTrueChain, opTrueAddress } from '../../support/op-true-chain.ts';
import { assertParity, assertSound, Follower } from '../../support/parity.ts';
import { until } from '../../support/patience.ts';

const R = 10;
/** Blocks until the first coinbases may be spent, and some more. */
const RIPE = 120;

export interface NodeLife {
  readonly blocks: number;
  readonly txsPerBlock: number;
  /** Blocks between two comparisons. */
  readonly every: number;
  readonly reorganisations: number;
  /** Where the records rest; default: in the engine of the store. */
  readonly database?: string | undefined;
}

export interface NodeLifeResult {
  readonly transactions: number;
  readonly deleted: number;
  readonly records: number;
  /** The most there were at a comparison. */
  readonly recordsMax: number;
  readonly utxos: number;
}

export async function liveBesideNode({ blocks, txsPerBlock, every, reorganisations, database }: NodeLife): Promise<NodeLifeResult> {
  const node = await startNode({ args: ['-whitelist=noban@127.0.0.1'] });
  const place = database === undefined ? ['txs.store=embedded'] : [`txs.store=${database}`, 'utxo.history=true', 'txs.boundHistory=true'];
  const settings = [...place, `txs.retention=${R}`, 'txs.unminedBlocks=20', 'txs.skipCatchUp=false'];
  const follower = new Follower(node, node.rpcUrl, settings);
  const stop = new AbortController();
  let listening: Promise<void> = Promise.resolve();
  let recordsMax = 0;
  const agree = async (when: string): Promise<void> => {
    await follower.reachesTip();
    const { txs, fold } = follower.store;
    await until(async () => (await txs!.records.pruneProgress()).lastCompleted >= fold.head!.height, `a pass ${when}`);
    await assertParity(node, [follower], when);
    assertSound(follower.store, when);
    if (database !== undefined) assert.deepEqual((await verifyTxs(follower.store)).faults, [], when);
    recordsMax = Math.max(recordsMax, (await txs!.records.stats()).records);
  };
  try {
    const chain = new OpTrueChain({ network: LITECOIND.network });
    const address = opTrueAddress(LITECOIND.network);
    await feed(node, chain, RIPE, 0);
    await follower.open();
    follower.stay();
    await follower.reachesTip();
    listening = followTxs(follower.store, stop.signal);
    for (let done = 0; done < blocks; done += every) {
      await feed(node, chain, Math.min(every, blocks - done), txsPerBlock);
      await agree(`after ${done + every} blocks`);
    }
    const began = Math.floor(Date.now() / 1000);
    for (let n = 0; n < reorganisations; n++) {
      const height = await node.rpc<number>('getblockcount');
      const depth = 1 + (n % (R - 1));
      await node.rpc('invalidateblock', await node.rpc('getblockhash', height - depth + 1));
      // At another time the same transactions make another block: the one before is invalid to the node for good.
      await node.rpc('setmocktime', began + 60 * (n + 1));
      // Without transactions, those of the losing branch wait; with them, they are mined again.
      if (n % 2 === 0) for (let i = 0; i < depth; i++) await node.rpc('generateblock', address, []);
      // The branch that wins is longer, as between nodes: a shorter one would add to the depth of the next.
      await node.rpc('generatetoaddress', n % 2 === 0 ? 2 : depth + 1, address);
      await agree(`after reorganisation ${n + 1}, ${depth} deep`);
    }
    await node.rpc('generatetoaddress', 2 * R, address);
    await agree('in the end');
    const { txs, fold } = follower.store;
    const { records } = await txs!.records.stats();
    assert.ok(records <= fold.head!.utxos, `${records} records for ${fold.head!.utxos} outputs: no more than one for each remain`);
    const deleted = txs!.pruner.counters.get('prune_deleted_total');
    return { transactions: chain.transactions, deleted, records, recordsMax, utxos: fold.head!.utxos };
  } finally {
    stop.abort();
    await listening;
    await follower.close();
    await node.stop();
  }
}
