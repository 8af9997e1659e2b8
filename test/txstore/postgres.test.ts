/** The transaction store on PostgreSQL: the stories of safe deletion, random lives beside the model, and what only a database has to show. */
import { after, describe, it } from 'node:test';
import { PostgresServer, withoutPostgres } from '../support/sql/postgres-server.ts';
import { runTxScenarios } from './scenarios.ts';
import { runConstraints } from './sql/constraints.ts';
import { runTxContention } from './sql/contention.ts';
import { runPostgresCrashes } from './sql/crashes.ts';
import { makeTxSchema, openerOf } from './sql/databases.ts';
import { runPostgresFeed } from './sql/feed.ts';
import { runMutations } from './sql/mutations.ts';
import { runRandomTxs } from './sql/random.ts';
import { runStatementCounts } from './sql/statements.ts';

if (withoutPostgres) {
  describe('transaction store: PostgreSQL', () => it('tells the stories of safe deletion', { skip: withoutPostgres }, () => {}));
} else {
  const server = await PostgresServer.start(makeTxSchema);
  after(() => server.stop());

  runTxScenarios('PostgreSQL', openerOf(await server.freshUrl()));
  runStatementCounts(server);
  runConstraints(server);
  runTxContention(server);
  runPostgresCrashes(server);
  runPostgresFeed(server);
  // Those of the rules that all stores share: on SQLite, and here in the campaign.
  runMutations(server, 'sql/');
  runRandomTxs(server);
}
