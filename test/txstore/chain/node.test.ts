/** SD70, the short form; `test/campaign/txs-node.campaign.ts` is the long one. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporary } from '../../cli/run.ts';
import { nodeMissing } from '../../support/node-kinds.ts';
import { PostgresServer, withoutPostgres } from '../../support/sql/postgres-server.ts';
import { makeTxSchema } from '../sql/databases.ts';
import { liveBesideNode } from '../support/node-life.ts';

test('SD70: records of transactions beside a real node', { skip: nodeMissing(), timeout: 600_000 }, async () => {
  const { deleted, transactions } = await liveBesideNode({ blocks: 24, txsPerBlock: 60, every: 12, reorganisations: 4 });
  assert.ok(deleted > transactions / 8, `${deleted} of ${transactions} records were deleted`);
});

test('SD70: the same in a database', { skip: nodeMissing(), timeout: 600_000 }, async () => {
  const database = `sqlite:${join(temporary(), 'records.sqlite')}`;
  const { deleted, transactions } = await liveBesideNode({ blocks: 24, txsPerBlock: 30, every: 12, reorganisations: 4, database });
  assert.ok(deleted > transactions / 8, `${deleted} of ${transactions} records were deleted`);
});

test('SD70: the same in PostgreSQL', { skip: nodeMissing() || withoutPostgres, timeout: 600_000 }, async () => {
  const server = await PostgresServer.start(makeTxSchema);
  try {
    const database = await server.freshUrl();
    const { deleted, transactions } = await liveBesideNode({ blocks: 24, txsPerBlock: 30, every: 12, reorganisations: 4, database });
    assert.ok(deleted > transactions / 8, `${deleted} of ${transactions} records were deleted`);
  } finally {
    await server.stop();
  }
});
