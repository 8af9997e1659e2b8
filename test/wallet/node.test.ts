/**
 * W84: a wallet of ours beside the wallet of a real node with the same
 * descriptors, through payments, replacements, double spends and
 * reorganisations. `test/campaign/wallet-node.campaign.ts` is its long form.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeMissing } from '../support/node-kinds.ts';
import { WalletFiles } from './sql/wallet-files.ts';
import { NodeRig } from './support/node-rig.ts';
import { FIRST_BLOCKS, NodeWalk } from './support/node-walk.ts';

const BLOCKS = FIRST_BLOCKS + 100;
/** Addresses of each branch of each descriptor. */
const INDEXES = 30;

describe('a wallet beside that of a node', { skip: nodeMissing() }, () => {
  it('W84: has its coins and balances, whatever happens', async (t) => {
    using files = new WalletFiles();
    const rig = await NodeRig.open(await files.openFresh(), INDEXES);
    try {
      const walk = new NodeWalk(rig, 84);
      await walk.begin();
      while (walk.blocks < BLOCKS) await walk.step();
      await walk.end();
      t.diagnostic(walk.summary());
      assert.ok(walk.comparison.withoutBalances < walk.comparison.compared / 4, 'balances could be compared after most steps');
    } finally {
      await rig.stop();
    }
  });
});
