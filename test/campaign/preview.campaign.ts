/**
 * The preview network from its first block to its last, block by block with
 * rollbacks, into PostgreSQL in both forms: the long form of
 * test/publish/preview.test.ts. UNSPENT_CAMPAIGN_COMPARE: every so many
 * checkpoints the copies are compared (8 unless said).
 */
import { test } from 'node:test';
import { Random } from '../../src/chains/random.ts';
import { opener, readOracle } from '../oracle/oracle.ts';
import { needsFixtures } from '../support/fixtures.ts';
import { publishPreview } from '../support/publish/preview.ts';
import { PostgresServer, withoutPostgres } from '../support/sql/postgres-server.ts';

const SEED = Number(process.env['UNSPENT_CAMPAIGN_SEED'] ?? 17);
const COMPARE = Number(process.env['UNSPENT_CAMPAIGN_COMPARE'] ?? 8);

test('preview in PostgreSQL, the whole of it', { skip: withoutPostgres || needsFixtures.skip }, async (t) => {
  const server = await PostgresServer.start(async () => {});
  t.after(() => server.stop());
  const { checkpoints } = readOracle('preview-from-genesis.json');
  const store = await opener(t)(
    { network: 'preview' },
    { syncGroupBlocks: 1, set: ['utxo.history=true', 'utxo.datums=true', 'utxo.scripts=true'] },
  );
  const [columns, sql, fresh] = [await server.unusedUrl(), await server.unusedUrl(), await server.unusedUrl()];
  const counts = await publishPreview(store, { columns, sql, fresh }, checkpoints, new Random(SEED), COMPARE);
  t.diagnostic(JSON.stringify(counts));
});
