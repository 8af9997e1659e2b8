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
import { assertSameDump, dump } from '../harness.ts';
import { until } from '../patience.ts';
import { CopyReader } from './postgres-copy.ts';
import { assertSameTables, freshTables, SqlCopy } from './sql-copy.ts';

const SOURCE = 'preview-from-genesis';

export interface PreviewCopies {
  readonly columns: string;
  readonly sql: string;
  /** Of another copy for people, which begins anew at the end. */
  readonly fresh: string;
}

export interface PreviewCounts {
  checkpoints: number;
  blocks: number;
  undone: number;
  snapshots: number;
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

async function readColumns(url: string): Promise<FoundHead> {
  const reader = await CopyReader.open(url);
  try {
    return await reader.read(async (head) => {
      const rows = (await reader.dump(head, [UNSPENT])).get(UNSPENT) ?? assert.fail();
      const lines = rows.map((row) => {
        const [key, value] = row.split(' ').map((text) => Buffer.from(text, 'hex'));
        return [`${toHex(key, 0, 32)}#${key.readUInt32BE(32)}`, String(value.readBigUInt64BE(AT.value))] as const;
      });
      return { ...head, value: String(head.value), digest: digestOfLines(lines) };
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
  { columns, sql, fresh }: PreviewCopies,
  checkpoints: readonly Required<Checkpoint>[],
  random: Random,
  compareEvery: number,
): Promise<PreviewCounts> {
  const threads = [await startPublishing(store, columns, 'columns'), await startPublishing(store, sql, 'sql')];
  const isThere = ({ report }: PublishThread, { blockNo }: Required<Checkpoint>): boolean => {
    assert.notEqual(report.state, 'stopped', String(report.lastError));
    return report.state === 'publishing' && report.height === blockNo && report.lag === 0;
  };
  const published = (at: Required<Checkpoint>): Promise<void> =>
    until(() => threads.every((thread) => isThere(thread, at)), `both copies are at ${at.at}`);
  const assertCopies = async (at: Required<Checkpoint>): Promise<void> => {
    await published(at);
    await Promise.all([assertCopy(() => readColumns(columns), at, 'columns'), assertCopy(() => readTables(sql), at, 'sql')]);
  };
  const follow = ({ slot }: Required<Checkpoint>) => store.follow(chunks(SOURCE), { until: { kind: 'slot', slot } });
  try {
    for (const [i, checkpoint] of checkpoints.entries()) {
      await follow(checkpoint);
      const isLast = i === checkpoints.length - 1;
      if (i > 0 && (isLast || random.chance(0.5))) {
        const back = checkpoints[Math.max(0, i - 1 - random.int(3))];
        // What is undone may have been published, in part or not at all; the last time all of it.
        if (isLast || random.chance(0.5)) await published(checkpoint);
        store.rollback(store.locate(back.hash));
        if (random.chance(0.5)) await assertCopies(back);
        await follow(checkpoint);
      }
      if (i % compareEvery !== 0 && !isLast) continue;
      assertCheckpoint(store, checkpoint);
      await assertCopies(checkpoint);
    }
    await assertWhole(store, columns, sql, fresh);
    const sum = (of: (thread: PublishThread) => number): number => threads.reduce((total, thread) => total + of(thread), 0);
    return {
      checkpoints: checkpoints.length,
      blocks: sum(({ report }) => report.blocks),
      undone: sum(({ report }) => report.undone),
      snapshots: sum(({ report }) => report.snapshots),
    };
  } finally {
    for (const thread of threads) await thread.close();
  }
}

/** Every column byte for byte, and every table as a copy has it that begins now. */
async function assertWhole(store: OpenStore, columns: string, sql: string, fresh: string): Promise<void> {
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
