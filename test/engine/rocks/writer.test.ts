/**
 * Commits in a thread of their own (`CommitsAhead` on RocksDB): what is read
 * while they are on their way, in which order they land, and what is left of
 * them when one fails or the process is killed.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Random } from '../../../src/chains/random.ts';
import type { ColumnSpec, CommitsAhead, Engine, Reader } from '../../../src/engine/engine.ts';
import { openRocks, type RocksEngine } from '../../../src/engine/rocks/rocks.ts';
import { fromHex, toHex } from '../../../src/util/bytes.ts';
import { WRITER_AHEAD_BYTES_MAX } from '../../../src/util/limits.ts';

const COLUMNS: readonly ColumnSpec[] = [
  { name: 'points', access: 'point', weight: 3, main: true },
  { name: 'prefixes', access: 'prefix', prefixBytes: 2, weight: 1 },
];
const NAMES = COLUMNS.map(({ name }) => name);

async function withEngine(body: (engine: RocksEngine, writer: CommitsAhead, directory: string) => void | Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'unspent-writer-'));
  const engine = await open(directory);
  try {
    const writer = engine.ahead?.() ?? null;
    assert.ok(writer !== null);
    await body(engine, writer, directory);
  } finally {
    await engine.close();
    rmSync(directory, { recursive: true });
  }
}

function open(directory: string): Promise<RocksEngine> {
  return openRocks(directory, COLUMNS, { createIfMissing: true, memtableBytes: 4 << 20, cacheBytes: 4 << 20, writerThread: 'on' });
}

function failed(failure: Error | null): void {
  if (failure !== null) throw failure;
}

type Rows = Map<string, string>;
type Model = Readonly<Record<string, Rows>>;

const emptyModel = (): Model => ({ points: new Map(), prefixes: new Map() });

/** Few, so that batches meet on them. */
function randomKey(random: Random): Uint8Array {
  return random.chance(0.1) ? random.bytes(2 + random.int(60)).fill(7) : Uint8Array.of(0, random.int(3), random.int(12), 0, random.int(3));
}

/** A batch of random operations, handed over, and what the model is then. */
function writeRandomly(random: Random, writer: CommitsAhead, model: Model, landed: (failure: Error | null) => void): void {
  const batch = writer.batch(landed);
  for (let n = 1 + random.int(60); n > 0; n--) {
    const [column, key] = [random.pick(NAMES), randomKey(random)];
    if (random.chance(0.3)) {
      batch.del(column, key);
      model[column].delete(toHex(key));
    } else {
      const value = random.bytes(random.chance(0.02) ? 70_000 : random.int(300));
      batch.put(column, key, value);
      model[column].set(toHex(key), toHex(value));
    }
  }
  batch.commit();
}

function assertReads(random: Random, reader: Reader, model: Model): void {
  const column = random.pick(NAMES);
  const keys = Array.from({ length: random.int(30) }, () => randomKey(random));
  const values = reader.getMany(column, keys).map((value) => value && toHex(value));
  assert.deepEqual(
    values,
    keys.map((key) => model[column].get(toHex(key))),
  );
}

function assertIsModel(reader: Reader, model: Model): void {
  for (const name of NAMES) {
    const rows = Array.from(reader.scan(name), ([key, value]) => [toHex(key), toHex(value)]);
    assert.deepEqual(
      rows,
      [...model[name]].toSorted(([a], [b]) => (a < b ? -1 : 1)),
    );
  }
}

describe('commits in a thread of their own', () => {
  it('are read as if they were there, and land in their order, among direct ones', () =>
    withEngine((engine, writer) => {
      for (let seed = 1; seed <= 12; seed++) {
        const random = new Random(seed);
        const model = emptyModel();
        for (const name of NAMES) engine.clear(name);
        const landed: number[] = [];
        let handed = 0;
        for (let step = 0; step < 40; step++) {
          const kind = random.int(10);
          if (kind < 7)
            writer.plan(() => {
              assertReads(random, engine, model);
              const number = handed++;
              writeRandomly(random, writer, model, (failure) => {
                failed(failure);
                landed.push(number);
              });
              assertReads(random, engine, model);
            });
          else if (kind === 7) writeDirectly(random, engine, model);
          else if (kind === 8) assertReads(random, engine, model);
          else assertIsModel(engine, model);
        }
        writer.settle();
        assert.deepEqual(landed, [...landed.keys()]);
        assert.equal(landed.length, handed);
        assertIsModel(engine, model);
      }
    }));

  it('are there for whoever asks anything else: scans, snapshots, counts, pins, closing', () =>
    withEngine(async (engine, writer, directory) => {
      const others: ((key: Uint8Array) => unknown)[] = [
        (key) => engine.get('points', key)?.[0],
        () => [...engine.scan('points', { reverse: true, limit: 1 })][0]?.[1][0],
        (key) => {
          const snapshot = engine.snapshot(NAMES);
          const value = snapshot.get('points', key)?.[0];
          snapshot.release();
          return value;
        },
        () => {
          engine.pinFiles(mkdtempSync(join(directory, 'pin-')));
          return undefined;
        },
        () => engine.batch().size,
        () => void engine.stats('points'),
      ];
      let landed = 0;
      for (let n = 1; n <= 60; n++) {
        const key = Uint8Array.of(n);
        const batch = writer.batch((failure) => {
          failed(failure);
          landed++;
        });
        batch.put('points', key, Uint8Array.of(n));
        batch.commit();
        const told = others[n % others.length](key);
        assert.equal(landed, n, 'who asks waits for it');
        if (n % others.length < 3) assert.equal(told, n);
      }
      const last = writer.batch(() => landed++);
      last.put('points', Uint8Array.of(99), Uint8Array.of(99));
      last.commit();
      await engine.close();
      assert.equal(landed, 61);
      const again = await open(directory);
      assert.equal(again.get('points', Uint8Array.of(99))?.[0], 99);
      await again.close();
    }));

  it('are told in a turn of the event loop when nobody waits', () =>
    withEngine(async (_engine, writer) => {
      const landed = new Promise<Error | null>((resolve) => {
        const batch = writer.batch(resolve);
        batch.put('points', Uint8Array.of(1), Uint8Array.of(1));
        batch.commit();
      });
      const alive = setInterval(() => {}, 1000);
      assert.equal(await landed, null);
      clearInterval(alive);
    }));

  it('take values larger than all that may be on its way, and batches of many pieces', () =>
    withEngine((engine, writer) => {
      const large = new Uint8Array(WRITER_AHEAD_BYTES_MAX + 1).fill(5);
      const piece = new Uint8Array(300_000).fill(6);
      for (let turn = 0; turn < 3; turn++)
        writer.plan(() => {
          const batch = writer.batch(failed);
          for (let n = 0; n < 12; n++) batch.put('points', Uint8Array.of(n), piece);
          batch.put('points', Uint8Array.of(200, turn), turn === 1 ? large : piece);
          batch.put('points', Uint8Array.of(turn), Uint8Array.of(turn));
          batch.commit();
          assert.equal(engine.get('points', Uint8Array.of(turn))?.[0], turn);
          assert.equal(engine.get('points', Uint8Array.of(11))?.length, piece.length);
        });
      assert.equal(engine.get('points', Uint8Array.of(200, 1))?.length, large.length);
    }));

  it('leave nothing behind of a batch that was begun and given up', () =>
    withEngine((engine, writer) => {
      const early = writer.batch(failed);
      early.put('points', Uint8Array.of(1), Uint8Array.of(1));
      const batch = writer.batch(failed);
      batch.put('points', Uint8Array.of(2), Uint8Array.of(2));
      batch.clear();
      assert.equal(batch.size, 0);
      assert.throws(() => early.commit(), /assertion failed/);
      batch.put('points', Uint8Array.of(3), Uint8Array.of(3));
      batch.commit();
      assert.deepEqual(
        [1, 2, 3].map((n) => engine.get('points', Uint8Array.of(n))?.[0]),
        [undefined, undefined, 3],
      );
    }));
});

function writeDirectly(random: Random, engine: Engine, model: Model): void {
  const batch = engine.batch();
  const [column, key, value] = [random.pick(NAMES), randomKey(random), random.bytes(5)];
  batch.put(column, key, value);
  batch.commit();
  model[column].set(toHex(key), toHex(value));
}

/** What the process below says: how many batches were told to have landed, and what it found after one had failed. */
interface Said {
  readonly landed: number;
  readonly failures: readonly string[];
  readonly stored: number;
  readonly refused: string;
}

describe('a commit that fails in the thread', () => {
  it('is told, nothing behind it is written, and what was begun before it is refused', () => {
    const directory = mkdtempSync(join(tmpdir(), 'unspent-writer-'));
    try {
      // Files may not grow beyond that: the log cannot be written any more, as on a full disk.
      const child = join(import.meta.dirname, '../../support/writer-child.ts');
      const { stdout, stderr, status } = spawnSync('sh', [
        '-c',
        'ulimit -f 4096; exec "$0" "$@"',
        process.execPath,
        child,
        'fail',
        directory,
      ]);
      assert.equal(status, 0, `${stderr}`);
      const said = JSON.parse(`${stdout}`) as Said;
      assert.ok(said.landed > 0);
      assert.match(said.failures[0], /^(IO|DISK_FULL)/);
      assert.equal(said.stored, said.landed, 'what was told to be written is, and no more');
      if (said.refused !== '') assert.match(said.refused, /one before it was not/);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('was killed with the process: what is left is a beginning of what was handed over, with all that was told', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'unspent-writer-'));
    try {
      const child = spawn(process.execPath, [join(import.meta.dirname, '../../support/writer-child.ts'), 'run', directory]);
      let told = 0;
      child.stdout.on('data', (text: Buffer) => {
        told = Number(`${text}`.trim().split('\n').at(-1));
        if (told > 40) child.kill('SIGKILL');
      });
      await once(child, 'exit');
      const engine = await open(directory);
      const rows = Array.from(engine.scan('points'), ([key]) => toHex(key));
      assert.ok(rows.length / 50 >= told, `${rows.length} rows, ${told} batches told`);
      assert.equal(rows.length % 50, 0, 'batches are whole');
      assert.deepEqual(
        rows,
        rows.map((_, n) => toHex(fromHex(n.toString(16).padStart(8, '0')))),
      );
      await engine.close();
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
