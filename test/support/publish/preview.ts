/**
 * The preview network, followed block by block and published as it goes into
 * PostgreSQL in both forms by the threads that `start` would have, with
 * rollbacks. At checkpoints of the oracle both copies are read behind the backs
 * of their publishers: count, value and digest are the oracle's.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { Random } from '../../../src/chains/random.ts';
import { AT } from '../../../src/projections/coin.ts';
import { UNSPENT } from '../../../src/projections/utxo.ts';
import { publishedStore } from '../../../src/publish/of-store.ts';
import { startPublishing } from '../../../src/publish/start.ts';
import type { PublishThread } from '../../../src/publish/thread/thread.ts';
import { readPruned } from '../../../src/state/pruned.ts';
import type { OpenStore } from '../../../src/store/store.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { assertCheckpoint, type Checkpoint, chunks } from '../../oracle/oracle.ts';
import { assertSameDump, type Dump, dump } from '../harness.ts';
import { until } from '../patience.ts';
import { CassandraCopyReader } from './cassandra-copy.ts';
import { CopyReader } from './postgres-copy.ts';
import { assertSameTables, freshTables, SqlCopy } from './sql-copy.ts';

const SOURCE = 'preview-from-genesis';

export interface PreviewCopies {
  readonly columns: string;
  readonly sql: string;
  /** Of another copy for people, which begins anew at the end. */
  readonly fresh: string;
  /** Of columns in Cassandra, where there is one. */
  readonly cassandra?: string | undefined;
}

export interface PreviewPlan {
  /** Every so many checkpoints the copies are read. */
  readonly compareEvery: number;
  /** So many blocks before the last checkpoint, each is waited for. */
  readonly oneByOne: number;
}

export interface PreviewCounts {
  checkpoints: number;
  blocks: number;
  undone: number;
}

/** The digest of lines `<txid>#<index> <value>`, in ascending order of the name. */
function digestOfLines(lines: readonly (readonly [name: string, value: string])[]): string {
  const hash = createHash('sha256');
  for (const [name, value] of [...lines].sort(([a], [b]) => (a < b ? -1 : 1))) hash.update(`${name} ${value}\n`);
  return hash.digest('hex');
}

interface FoundHead {
  readonly height: number | null;
  readonly hash: string | null;
  readonly utxos: number;
  readonly value: string;
  readonly digest: string;
}

/** Of the dump of a copy of columns. */
function digestOfColumns(columns: Dump): string {
  const lines = (columns.get(UNSPENT) ?? assert.fail()).map((row) => {
    const [key, value] = row.split(' ').map((text) => Buffer.from(text, 'hex'));
    return [`${toHex(key, 0, 32)}#${key.readUInt32BE(32)}`, String(value.readBigUInt64BE(AT.value))] as const;
  });
  return digestOfLines(lines);
}

async function readColumns(url: string): Promise<FoundHead> {
  const reader = await CopyReader.open(url);
  try {
    return await reader.read(async (head) => {
      return { ...head, value: String(head.value), digest: digestOfColumns(await reader.dump(head, [UNSPENT])) };
    });
  } finally {
    await reader.close();
  }
}

async function readCassandra(url: string): Promise<FoundHead> {
  const reader = await CassandraCopyReader.open(url);
  try {
    return await reader.read(async (head) => {
      return { ...head, value: String(head.value), digest: digestOfColumns(await reader.dump(head, [UNSPENT])) };
    });
  } finally {
    await reader.close();
  }
}

async function readTables(url: string): Promise<FoundHead> {
  const copy = await SqlCopy.open(url);
  try {
    return await copy.atOneBlock(async () => {
      const [head] = await copy.rows("SELECT height, encode(hash, 'hex') AS hash, utxos, value FROM head");
      const rows = await copy.rows("SELECT encode(tx_id, 'hex') || '#' || output_index AS name, value FROM unspent");
      const lines = rows.map(({ name, value }) => [String(name), String(value)] as const);
      const { height, hash, utxos, value } = head;
      return {
        height: Number(height),
        hash: String(hash),
        utxos: Number(utxos),
        value: String(value),
        digest: digestOfLines(lines),
      };
    });
  } finally {
    await copy.close();
  }
}

/** What a publisher last said of itself may be of an earlier time: the copy may be elsewhere still, and comes. */
async function assertCopy(read: () => Promise<FoundHead>, expected: Required<Checkpoint>, form: string): Promise<void> {
  let found = await read();
  await until(async () => {
    if (found.hash !== expected.hash) found = await read();
    return found.hash === expected.hash;
  }, `${form} at ${expected.at}`);
  const { height, hash, utxos, value, digest } = found;
  assert.deepEqual(
    { height, hash, utxos, value, digest },
    { height: expected.blockNo, hash: expected.hash, utxos: expected.utxos, value: expected.lovelace, digest: expected.digest },
    `${form} at ${expected.at}`,
  );
}

/** From where the store is over these checkpoints; before the last, and by chance before others, the chain is taken back and followed again. */
export async function publishPreview(
  store: OpenStore,
  copies: PreviewCopies,
  checkpoints: readonly Required<Checkpoint>[],
  random: Random,
  { compareEvery, oneByOne }: PreviewPlan,
): Promise<PreviewCounts> {
  const { columns, sql, cassandra } = copies;
  const threads = [await startPublishing(store, columns, 'columns'), await startPublishing(store, sql, 'sql')];
  if (cassandra !== undefined) threads.push(await startPublishing(store, cassandra, 'columns'));
  const isThere = ({ report }: PublishThread, { blockNo }: Required<Checkpoint>): boolean => {
    assert.notEqual(report.state, 'stopped', String(report.lastError));
    return report.state === 'publishing' && report.height === blockNo && report.lag === 0;
  };
  const published = (at: Required<Checkpoint>): Promise<void> =>
    until(() => threads.every((thread) => isThere(thread, at)), `all copies are at ${at.at}`);
  const assertCopies = async (at: Required<Checkpoint>): Promise<void> => {
    await published(at);
    await Promise.all([
      assertCopy(() => readColumns(columns), at, 'columns'),
      assertCopy(() => readTables(sql), at, 'sql'),
      ...(cassandra === undefined ? [] : [assertCopy(() => readCassandra(cassandra), at, 'columns in Cassandra')]),
    ]);
  };
  const follow = ({ slot }: Required<Checkpoint>) => store.follow(chunks(SOURCE), { until: { kind: 'slot', slot } });
  try {
    for (const [i, checkpoint] of checkpoints.entries()) {
      const isLast = i === checkpoints.length - 1;
      if (isLast) await blockByBlock(store, threads, checkpoint.blockNo - oneByOne, checkpoint.blockNo);
      await follow(checkpoint);
      // A copy that falls behind what the store still knows would begin anew, and none may.
      await published(checkpoint);
      if (i > 0 && (isLast || random.chance(0.5))) {
        const back = checkpoints[Math.max(0, i - 1 - random.int(3))];
        store.rollback(store.locate(back.hash));
        // What is undone then may have been published, in part or not at all.
        if (random.chance(0.5)) await assertCopies(back);
        await follow(checkpoint);
      }
      if (i % compareEvery !== 0 && !isLast) continue;
      assertCheckpoint(store, checkpoint);
      await assertCopies(checkpoint);
    }
    await assertWhole(store, copies);
    for (const { report } of threads) assert.equal(report.snapshots, 1, `${report.target} was never begun anew`);
    const sum = (of: (thread: PublishThread) => number): number => threads.reduce((total, thread) => total + of(thread), 0);
    return {
      checkpoints: checkpoints.length,
      blocks: sum(({ report }) => report.blocks),
      undone: sum(({ report }) => report.undone),
    };
  } finally {
    for (const thread of threads) await thread.close();
  }
}

/** Each of these blocks is waited for in every copy before the next one comes. */
async function blockByBlock(store: OpenStore, threads: readonly PublishThread[], from: number, to: number): Promise<void> {
  for (let height = from + 1; height <= to; height++) {
    await store.follow(chunks(SOURCE), { until: { kind: 'height', height } });
    const isThere = ({ report }: PublishThread): boolean => report.height === height && report.lag === 0;
    await until(() => threads.every(isThere), `all copies are at height ${height}`);
  }
}

async function assertWholeCassandra(store: OpenStore, url: string): Promise<void> {
  const reader = await CassandraCopyReader.open(url);
  try {
    const names = store.engine.columns.map(({ name }) => name);
    assertSameDump(await reader.dump(await reader.head(), names), dump(store.engine), 'all columns in Cassandra');
  } finally {
    await reader.close();
  }
}

/** Every column byte for byte, and every table as a copy has it that begins now. */
async function assertWhole(store: OpenStore, { columns, sql, fresh, cassandra }: PreviewCopies): Promise<void> {
  if (cassandra !== undefined) await assertWholeCassandra(store, cassandra);
  const reader = await CopyReader.open(columns);
  try {
    await reader.check();
    await reader.read(async (head) => {
      const names = store.engine.columns.map(({ name }) => name);
      assertSameDump(await reader.dump(head, names), dump(store.engine), 'all columns');
    });
  } finally {
    await reader.close();
  }
  const copy = await SqlCopy.open(sql);
  try {
    const anew = await freshTables(fresh, publishedStore(store));
    // What the store has pruned meanwhile is here still, and in no copy that begins now.
    const { spent } = readPruned(store.engine);
    const isOlder = (row: string): boolean => Number(/,(\d+)\)$/.exec(row)?.[1] ?? assert.fail(row)) <= spent;
    const both = new Map(
      [...(await copy.dump())].map(([name, rows]) => [name, name.startsWith('spent') ? rows.filter((row) => !isOlder(row)) : rows]),
    );
    assertSameTables(both, anew, 'all tables');
  } finally {
    await copy.close();
  }
}
