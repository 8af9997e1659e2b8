/** A session whose connections are cut again and again: each statement that fails says so, typed, and those that follow are answered. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { cassandraPlace } from '../../src/publish/cassandra/place.ts';
import { CassandraSession } from '../../src/publish/cassandra/session.ts';
import { isUnspentError } from '../../src/util/errors.ts';
import { pause } from '../../src/util/pause.ts';
import { CuttingNode } from '../support/cassandra/cutting-node.ts';
import { until } from '../support/patience.ts';

const TEXT = 'SELECT k FROM t';
const WORKERS = 8;
const STATEMENTS = 60;

/** False: not yet. What is no such failure is thrown. */
function isBusy(error: unknown): false {
  if (!isUnspentError(error, 'DATABASE_BUSY')) throw error;
  return false;
}

it('a session is of use again when its connections last', async () => {
  let [isCutting, turn] = [false, 0];
  // Each third request, and now and then all connections: so that preparing, connecting and looking at the cluster are all cut.
  const node = await CuttingNode.open(() => isCutting && turn++ % 3 === 2);
  const session = new CassandraSession(cassandraPlace(`cassandra://127.0.0.1:${node.port}/ks`), { attempts: 1 });
  try {
    assert.deepEqual(await session.read(TEXT), []);
    isCutting = true;
    const failures: unknown[] = [];
    const work = async (worker: number): Promise<void> => {
      for (let i = 0; i < STATEMENTS; i++) {
        if (worker === 0 && i % 5 === 4) node.cutAll();
        await session.read(`${TEXT}${i % 7}`).catch((error) => failures.push(error));
        await pause(5, {});
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, (_, worker) => work(worker)));
    isCutting = false;
    assert.ok(failures.length > 0, 'statements failed');
    for (const failure of failures) assert.ok(isUnspentError(failure, 'DATABASE_BUSY'), String((failure as Error).stack));
    await until(() => session.read(TEXT).then(() => true, isBusy), 'the session is answered');
  } finally {
    await session.close();
    await node.close();
  }
});
