/**
 * SD70 at length: 240,000 transactions in 60 blocks of a real node, then
 * reorganisations (`UNSPENT_CAMPAIGN_REORGANISATIONS`), with R = W = 10,
 * compared with the node at every tip.
 * `test/txstore/chain/node.test.ts` is its short form.
 */
import { test } from 'node:test';
import { nodeMissing } from '../support/node-kinds.ts';
import { liveBesideNode } from '../txstore/support/node-life.ts';

const REORGANISATIONS = Number(process.env['UNSPENT_CAMPAIGN_REORGANISATIONS'] ?? 18);

test('SD70: 240,000 transactions and reorganisations of a real node', { skip: nodeMissing() }, async (t) => {
  const result = await liveBesideNode({ blocks: 60, txsPerBlock: 4000, every: 1, reorganisations: REORGANISATIONS });
  t.diagnostic(JSON.stringify(result));
});
