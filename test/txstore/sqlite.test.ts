/** The transaction store on SQLite: the stories of safe deletion, random lives beside the model, and what only a database has to show. */
import { after } from 'node:test';
import { SqliteFiles } from '../support/sql/sqlite-files.ts';
import { runTxScenarios } from './scenarios.ts';
import { runConstraints } from './sql/constraints.ts';
import { runTxContention } from './sql/contention.ts';
import { runSqliteCrashes } from './sql/crashes.ts';
import { makeTxSchema, openerOf } from './sql/databases.ts';
import { runFeed } from './sql/feed.ts';
import { runMutations } from './sql/mutations.ts';
import { runRandomTxs } from './sql/random.ts';
import { runStatementCounts } from './sql/statements.ts';

const files = new SqliteFiles(makeTxSchema);
after(() => files[Symbol.dispose]());

runTxScenarios('SQLite', openerOf(await files.freshUrl()));
runStatementCounts(files);
runConstraints(files);
runTxContention(files);
runSqliteCrashes(files);
runFeed(files);
runMutations(files);
runRandomTxs(files);
