/**
 * A part of the preview network, published block by block with rollbacks: both
 * forms of copy in PostgreSQL are the oracle's at its checkpoints. The whole of
 * it: test/campaign/preview.campaign.ts.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Random } from '../../src/chains/random.ts';
import { chunks, opener, readOracle } from '../oracle/oracle.ts';
import { needsFixtures } from '../support/fixtures.ts';
import { TEST_SEED } from '../support/harness.ts';
import { publishPreview } from '../support/publish/preview.ts';
import { PostgresServer, withoutPostgres } from '../support/sql/postgres-server.ts';

/** Where transactions begin to be many. */
const FIRST = 196;
const CHECKPOINTS = 4;

test('preview in PostgreSQL, block by block', { skip: withoutPostgres || needsFixtures.skip }, async (t) => {
  const server = await PostgresServer.start(async () => {});
  t.after(() => server.stop());
  const { checkpoints } = readOracle('preview-from-genesis.json');
  const openStore = opener(t);
  const slot = checkpoints[FIRST].slot;
  const grouped = await openStore({ network: 'preview' }, { set: ['utxo.history=true', 'utxo.datums=true', 'utxo.scripts=true'] });
  await grouped.follow(chunks('preview-from-genesis'), { until: { kind: 'slot', slot } });
  const store = await openStore({}, { syncGroupBlocks: 1 });
  const [columns, sql, fresh] = [await server.unusedUrl(), await server.unusedUrl(), await server.unusedUrl()];
  const counts = await publishPreview(
    store,
    { columns, sql: `${sql}&partition=500`, fresh: `${fresh}&partition=500` },
    checkpoints.slice(FIRST, FIRST + CHECKPOINTS),
    new Random(TEST_SEED),
    { compareEvery: 3, oneByOne: 5 },
  );
  assert.ok(counts.undone > 0 && counts.blocks > 1000, JSON.stringify(counts));
  t.diagnostic(JSON.stringify(counts));
});
