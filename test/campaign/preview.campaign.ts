/**
 * The preview network from its first block to its last, block by block with
 * rollbacks, into PostgreSQL in both forms and into three nodes of Cassandra: the
 * long form of test/publish/preview.test.ts. UNSPENT_CAMPAIGN_COMPARE: every so
 * many checkpoints the copies are compared (8 unless said);
 * UNSPENT_CAMPAIGN_CASSANDRA=0: without Cassandra.
 */
import { test } from 'node:test';
import { Random } from '../../src/chains/random.ts';
import { opener, readOracle } from '../oracle/oracle.ts';
import { CassandraNode, withoutCassandra } from '../support/cassandra/cassandra-node.ts';
import { needsFixtures } from '../support/fixtures.ts';
import { publishPreview } from '../support/publish/preview.ts';
import { PostgresServer, withoutPostgres } from '../support/sql/postgres-server.ts';

const SEED = Number(process.env['UNSPENT_CAMPAIGN_SEED'] ?? 17);
/** Into three nodes of Cassandra as well, unless told not to. */
const CASSANDRA = withoutCassandra === false && process.env['UNSPENT_CAMPAIGN_CASSANDRA'] !== '0';
const COMPARE = Number(process.env['UNSPENT_CAMPAIGN_COMPARE'] ?? 8);

test('preview in PostgreSQL and Cassandra, the whole of it', { skip: withoutPostgres || needsFixtures.skip }, async (t) => {
  const server = await PostgresServer.start(async () => {});
  t.after(() => server.stop());
  const { checkpoints } = readOracle('preview-from-genesis.json');
  const store = await opener(t)(
    { network: 'preview' },
    { syncGroupBlocks: 1, set: ['utxo.history=true', 'utxo.datums=true', 'utxo.scripts=true'] },
  );
  const [columns, sql, fresh] = [await server.unusedUrl(), await server.unusedUrl(), await server.unusedUrl()];
  const nodes = CASSANDRA ? await CassandraNode.startAll(3) : [];
  for (const node of nodes) t.after(() => node.stop());
  const cassandra = CASSANDRA ? `cassandra://${nodes.map(({ host }) => host).join(',')}/preview?replication=3` : undefined;
  const plan = { compareEvery: COMPARE, oneByOne: 200 };
  const counts = await publishPreview(store, { columns, sql, fresh, cassandra }, checkpoints, new Random(SEED), plan);
  t.diagnostic(JSON.stringify(counts));
});
