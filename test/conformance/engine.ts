/**
 * What every engine must do: one suite, run on each. Columns are small (a
 * prefix of two bytes) so that random keys meet.
 */
import { deepEqual, equal, throws } from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import fc from 'fast-check';
import type { ColumnSpec, Engine, EngineStats, Reader, Row, ScanOptions } from '../../src/engine/engine.ts';
import { compareBytes, fromHex, toHex, utf8 } from '../../src/util/bytes.ts';
import { isUnspentError } from '../../src/util/errors.ts';
import { SCAN_ROWS } from '../../src/util/limits.ts';

export const CONFORMANCE_COLUMNS: readonly ColumnSpec[] = [
  { name: 'points', access: 'point', weight: 4 },
  { name: 'prefixes', access: 'prefix', prefixBytes: 2, weight: 2 },
  { name: 'ordered', access: 'order', weight: 1 },
];
const NAMES = CONFORMANCE_COLUMNS.map((column) => column.name);

export interface Opened {
  readonly engine: Engine;
  /** Closes and opens again what was stored, where the engine stores. */
  readonly reopen?: () => Promise<Engine>;
  readonly cleanup: () => Promise<void>;
}

export function engineConformance(name: string, open: () => Promise<Opened>): void {
  describe(`engine contract: ${name}`, () => {
    let opened: Opened;
    let engine: Engine;
    beforeEach(async () => {
      opened = await open();
      engine = opened.engine;
    });
    afterEach(() => opened.cleanup());

    describe('lookups', () => lookups(() => engine));
    describe('scans', () => scans(() => engine));
    describe('snapshots', () => snapshots(() => engine));
    describe('batches', () => batches(() => engine));
    describe('clear', () =>
      clearing(
        () => engine,
        () => opened.reopen?.(),
      ));
    describe('stats', () =>
      stats(
        () => engine,
        () => opened.reopen?.(),
      ));
    describe('close', () => closing(() => engine));
    it('agrees with a plain model over random operations', () => agreesWithModel(open));
  });
}

function lookups(engine: () => Engine): void {
  it('gives values in the order of the keys, undefined where there is none', () => {
    write(engine(), 'points', { '01': 'a', '02': 'b', '03': '' });
    deepEqual(
      engine()
        .getMany('points', keys('03', '09', '01', '01', '02'))
        .map(text),
      ['', undefined, 'a', 'a', 'b'],
    );
    equal(text(engine().get('points', fromHex('02'))), 'b');
    equal(engine().get('points', fromHex('0200')), undefined);
    deepEqual(engine().getMany('points', []), []);
  });

  it('takes views into larger buffers as keys and values', () => {
    const buffer = fromHex('ff0102030405ff');
    const batch = engine().batch();
    batch.put('points', buffer.subarray(1, 3), buffer.subarray(3, 6));
    batch.commit();
    equal(toHex(engine().get('points', fromHex('0102'))!), '030405');
    equal(toHex(engine().getMany('points', [buffer.subarray(1, 3)])[0]!), '030405');
  });

  it('keeps columns apart, and asserts on an unknown one', () => {
    write(engine(), 'points', { '0101': 'p' });
    write(engine(), 'ordered', { '0101': 'o' });
    equal(text(engine().get('points', fromHex('0101'))), 'p');
    equal(text(engine().get('ordered', fromHex('0101'))), 'o');
    equal(engine().get('prefixes', fromHex('0101')), undefined);
    throws(() => engine().get('nowhere', fromHex('01')), /assertion failed/);
    throws(() => engine().scan('nowhere'), /assertion failed/);
    throws(() => engine().batch().put('nowhere', fromHex('01'), fromHex('01')), /assertion failed/);
    throws(() => engine().batch().del('nowhere', fromHex('01')), /assertion failed/);
    throws(() => engine().snapshot(['nowhere']), /assertion failed/);
  });

  it('keeps empty and big values whole', () => {
    const big = new Uint8Array(3_000_000).map((_, at) => at * 7);
    const batch = engine().batch();
    batch.put('points', fromHex('01'), big);
    batch.put('points', fromHex('02'), new Uint8Array(0));
    batch.commit();
    equal(compareBytes(engine().get('points', fromHex('01'))!, big), 0);
    equal(engine().get('points', fromHex('02'))?.length, 0);
  });

  it('gives bytes the caller may change', () => {
    write(engine(), 'ordered', { '01': 'abc' });
    engine().get('ordered', fromHex('01'))!.fill(0);
    for (const [key, value] of engine().scan('ordered')) {
      key.fill(9);
      value.fill(9);
    }
    deepEqual(shown(engine().scan('ordered')), ['01=abc']);
  });
}

function scans(engine: () => Engine): void {
  const all = ['01', '0100', '0101', '02', '03', 'ff', 'ffff'];
  const fill = () => write(engine(), 'ordered', Object.fromEntries(all.map((key) => [key, key])));
  const scan = (options: ScanOptions) => hexKeys(engine().scan('ordered', options));

  it('goes in byte order, shorter first, both ways', () => {
    fill();
    deepEqual(scan({}), all);
    deepEqual(scan({ reverse: true }), all.toReversed());
  });

  it('keeps to its bounds', () => {
    fill();
    deepEqual(scan({ gte: fromHex('0100') }), ['0100', '0101', '02', '03', 'ff', 'ffff']);
    deepEqual(scan({ lt: fromHex('0101') }), ['01', '0100']);
    deepEqual(scan({ gte: fromHex('0101'), lt: fromHex('03') }), ['0101', '02']);
    deepEqual(scan({ gte: fromHex('0101'), lt: fromHex('03'), reverse: true }), ['02', '0101']);
    deepEqual(scan({ gte: fromHex('0102'), lt: fromHex('01ff'), reverse: true }), []);
    deepEqual(scan({ gte: fromHex('03'), lt: fromHex('03') }), []);
    deepEqual(scan({ gte: fromHex('ff'), lt: fromHex('01') }), []);
    deepEqual(scan({ gte: new Uint8Array(0) }), all);
    deepEqual(scan({ lt: new Uint8Array(0) }), []);
    deepEqual(scan({ lt: fromHex('ffffff'), reverse: true }), all.toReversed());
  });

  it('keeps to its limit', () => {
    fill();
    deepEqual(scan({ limit: 2 }), ['01', '0100']);
    deepEqual(scan({ limit: 2, reverse: true }), ['ffff', 'ff']);
    deepEqual(scan({ limit: 0 }), []);
    deepEqual(scan({ limit: 100 }), all);
    throws(() => engine().scan('ordered', { limit: -1 }), /assertion failed/);
    throws(() => engine().scan('ordered', { limit: 1.5 }), /assertion failed/);
  });

  it('fetches more rows than one chunk, exactly to a chunk’s end, and stops early', () => {
    const many = 3 * SCAN_ROWS + 5;
    writeMany(engine(), 'ordered', many);
    for (const reader of [engine(), engine().snapshot(['ordered'])]) {
      const expected = Array.from({ length: many }, (_, at) => numberKey(at));
      deepEqual(hexKeys(reader.scan('ordered')), expected);
      deepEqual(hexKeys(reader.scan('ordered', { reverse: true })), expected.toReversed());
      for (const limit of [1, 31, 32, 33, SCAN_ROWS, many - 1, many, many + 1]) {
        equal(hexKeys(reader.scan('ordered', { limit })).length, Math.min(limit, many));
      }
      for (const [key] of reader.scan('ordered')) if (toHex(key) === numberKey(40)) break;
    }
  });

  it('sees the store as it was when it started', () => {
    writeMany(engine(), 'ordered', 200);
    const seen: string[] = [];
    for (const [key] of engine().scan('ordered')) {
      seen.push(toHex(key));
      if (seen.length === 1) write(engine(), 'ordered', { ffff: 'late' });
    }
    equal(seen.length, 200);
  });

  it('copies its bounds', () => {
    fill();
    const lt = fromHex('02');
    const rows = engine().scan('ordered', { lt });
    lt.fill(0xff);
    deepEqual(hexKeys(rows), ['01', '0100', '0101']);
  });

  describe('in a prefix column', () => {
    const prefixed = { a0a0: '0', a0a001: '1', a0a0ff: '2', a0ff05: '3', b0b001: '4', ffff01: '5' };
    const inPrefix = (gte: string, lt: string, more: ScanOptions = {}) => ({ gte: fromHex(gte), lt: fromHex(lt), ...more });

    it('stays inside the prefix, both ways', () => {
      write(engine(), 'prefixes', prefixed);
      for (const reader of [engine(), engine().snapshot(['prefixes'])]) {
        const scan = (options: ScanOptions) => hexKeys(reader.scan('prefixes', options));
        deepEqual(scan(inPrefix('a0a0', 'a0a1')), ['a0a0', 'a0a001', 'a0a0ff']);
        deepEqual(scan(inPrefix('a0a0', 'a0a1', { reverse: true })), ['a0a0ff', 'a0a001', 'a0a0']);
        deepEqual(scan(inPrefix('a0a0', 'a0a1', { reverse: true, limit: 1 })), ['a0a0ff']);
        deepEqual(scan(inPrefix('a0a001', 'a0a0ff')), ['a0a001']);
        deepEqual(scan(inPrefix('a0a001', 'a0a0ff', { reverse: true })), ['a0a001']);
        deepEqual(scan(inPrefix('a0ff', 'a1')), ['a0ff05']);
        deepEqual(scan(inPrefix('a0ff', 'a100', { reverse: true })), ['a0ff05']);
        deepEqual(scan(inPrefix('ffff', 'ffffffff', { reverse: true })), ['ffff01']);
        deepEqual(scan(inPrefix('c0c0', 'c0c1')), []);
        deepEqual(scan(inPrefix('c0c0', 'c0c1', { reverse: true })), []);
      }
    });

    it('asserts on a scan that leaves the prefix', () => {
      const snapshot = engine().snapshot(['prefixes']);
      for (const reader of [engine(), snapshot]) {
        throws(() => reader.scan('prefixes', { gte: fromHex('a0a0') }), /assertion failed/);
        throws(() => reader.scan('prefixes', { lt: fromHex('a0a0') }), /assertion failed/);
        throws(() => reader.scan('prefixes', inPrefix('a0', 'a1')), /assertion failed/);
        throws(() => reader.scan('prefixes', inPrefix('a0a0', 'a0a2')), /assertion failed/);
        throws(() => reader.scan('prefixes', inPrefix('a0a0', 'a0a100')), /assertion failed/);
        throws(() => reader.scan('prefixes', { reverse: true }), /assertion failed/);
      }
    });

    it('reads the whole column in order', () => {
      write(engine(), 'prefixes', prefixed);
      deepEqual(hexKeys(engine().scan('prefixes')), Object.keys(prefixed));
      deepEqual(hexKeys(engine().snapshot(['prefixes']).scan('prefixes')), Object.keys(prefixed));
      deepEqual(hexKeys(engine().scan('prefixes', { limit: 4 })), Object.keys(prefixed).slice(0, 4));
    });
  });
}

function snapshots(engine: () => Engine): void {
  const everything = (reader: Reader) => NAMES.map((name) => shown(reader.scan(name)));

  it('is one moment of all its columns while writes happen', () => {
    for (const name of NAMES) write(engine(), name, { aaaa01: 'old', aaaa02: 'old', bbbb01: 'old' });
    const before = everything(engine());
    const snapshot = engine().snapshot(NAMES);
    for (let round = 0; round < 50; round++) {
      const batch = engine().batch();
      for (const name of NAMES) {
        batch.put(name, fromHex('aaaa01'), utf8(`new ${round}`));
        batch.put(name, fromHex(`cc${round.toString(16).padStart(2, '0')}`), utf8('more'));
        batch.del(name, fromHex('aaaa02'));
      }
      batch.commit();
      if (round % 10 === 0) deepEqual(everything(snapshot), before);
    }
    for (const name of NAMES) {
      deepEqual(snapshot.getMany(name, keys('aaaa02', 'cc00', 'aaaa01')).map(text), ['old', undefined, 'old']);
      equal(text(engine().get(name, fromHex('aaaa01'))), 'new 49');
      equal(engine().get(name, fromHex('aaaa02')), undefined);
    }
    snapshot.release();
  });

  it('allows interleaved scans and lookups of one column', () => {
    const many = SCAN_ROWS + 300;
    for (const name of NAMES) writeMany(engine(), name, many);
    const expected = Array.from({ length: many }, (_, at) => numberKey(at));
    const snapshot = engine().snapshot(NAMES);
    const late = engine().batch();
    for (const name of NAMES) for (const key of expected) late.del(name, fromHex(key));
    late.commit();
    for (const name of NAMES) {
      const one = snapshot.scan(name)[Symbol.iterator]();
      const two = snapshot.scan(name)[Symbol.iterator]();
      const back = name === 'prefixes' ? undefined : snapshot.scan(name, { reverse: true })[Symbol.iterator]();
      two.next();
      for (let at = 0; at < many; at++) {
        equal(toHex((one.next().value as Row)[0]), expected[at]);
        if (at + 1 < many) equal(toHex((two.next().value as Row)[0]), expected[at + 1]);
        if (back) equal(toHex((back.next().value as Row)[0]), expected[many - 1 - at]);
        if (at % 100 === 0) equal(text(snapshot.get(name, fromHex(expected[many - 1 - at]))), `${many - 1 - at}`);
      }
      equal(one.next().done, true);
      equal(two.next().done, true);
    }
  });

  it('asserts on a column it does not hold, and is CLOSED after release', () => {
    write(engine(), 'ordered', { '01': 'a', '02': 'b' });
    const snapshot = engine().snapshot(['ordered', 'ordered']);
    throws(() => snapshot.get('points', fromHex('01')), /assertion failed/);
    throws(() => snapshot.scan('points'), /assertion failed/);
    const started = snapshot.scan('ordered');
    deepEqual(snapshot.getMany('ordered', []), []);
    snapshot.release();
    snapshot.release();
    throws(() => snapshot.get('ordered', fromHex('01')), closed);
    throws(() => snapshot.getMany('ordered', []), closed);
    throws(() => snapshot.scan('ordered'), closed);
    throws(() => [...started], closed);
    deepEqual(hexKeys(engine().scan('ordered')), ['01', '02']);
  });
}

function batches(engine: () => Engine): void {
  it('shows nothing before commit and everything after', () => {
    const batch = engine().batch();
    for (const name of NAMES) batch.put(name, fromHex('0101'), utf8('x'));
    equal(batch.size, 3);
    for (const name of NAMES) equal(engine().get(name, fromHex('0101')), undefined);
    batch.commit({ fsync: true });
    for (const name of NAMES) equal(text(engine().get(name, fromHex('0101'))), 'x');
  });

  it('is empty after commit, after clear and when asked for again', () => {
    const batch = engine().batch();
    batch.put('points', fromHex('01'), utf8('a'));
    batch.commit();
    equal(batch.size, 0);
    batch.del('points', fromHex('01'));
    batch.clear();
    equal(batch.size, 0);
    batch.commit();
    equal(text(engine().get('points', fromHex('01'))), 'a');
    batch.del('points', fromHex('01'));
    const again = engine().batch();
    equal(again.size, 0);
    again.put('points', fromHex('02'), utf8('b'));
    again.commit();
    deepEqual(engine().getMany('points', keys('01', '02')).map(text), ['a', 'b']);
  });

  it('lets the last operation on a key win', () => {
    const batch = engine().batch();
    batch.put('points', fromHex('01'), utf8('first'));
    batch.put('points', fromHex('01'), utf8('second'));
    batch.put('points', fromHex('02'), utf8('gone'));
    batch.del('points', fromHex('02'));
    batch.del('points', fromHex('03'));
    batch.put('points', fromHex('03'), utf8('back'));
    batch.commit();
    deepEqual(
      engine()
        .getMany('points', keys('01', '02', '03'))
        .map(text),
      ['second', undefined, 'back'],
    );
  });

  it('copies bytes at the call', () => {
    const key = fromHex('01');
    const value = utf8('kept');
    const batch = engine().batch();
    batch.put('points', key, value);
    key[0] = 2;
    value.fill(0);
    batch.put('points', key, utf8('other'));
    batch.commit();
    deepEqual(engine().getMany('points', keys('01', '02')).map(text), ['kept', 'other']);
  });
}

function closing(engine: () => Engine): void {
  it('makes every call CLOSED, is idempotent, and takes snapshots and scans along', async () => {
    writeMany(engine(), 'ordered', 2 * SCAN_ROWS);
    const batch = engine().batch();
    batch.put('points', fromHex('01'), utf8('never'));
    const snapshot = engine().snapshot(['ordered']);
    const scan = engine().scan('ordered')[Symbol.iterator]();
    const snapshotScan = snapshot.scan('ordered')[Symbol.iterator]();
    scan.next();
    snapshotScan.next();
    await Promise.all([engine().close(), engine().close()]);
    await engine().close();
    throws(() => engine().get('points', fromHex('01')), closed);
    throws(() => engine().getMany('points', []), closed);
    throws(() => engine().scan('points'), closed);
    throws(() => engine().batch(), closed);
    throws(() => engine().snapshot([]), closed);
    throws(() => engine().stats(), closed);
    throws(() => engine().stats('points'), closed);
    throws(() => engine().clear('points'), closed);
    throws(() => batch.put('points', fromHex('01'), utf8('x')), closed);
    throws(() => batch.del('points', fromHex('01')), closed);
    throws(() => snapshot.get('ordered', fromHex('01')), closed);
    for (const rows of [scan, snapshotScan]) {
      throws(() => {
        while (!rows.next().done);
      }, closed);
    }
    snapshot.release();
    throws(() => batch.commit(), closed);
  });
}

function clearing(engine: () => Engine, reopen: () => Promise<Engine> | undefined): void {
  it('empties that column at once, and no other', async () => {
    for (const name of NAMES) writeMany(engine(), name, 2 * SCAN_ROWS);
    for (const name of NAMES) {
      write(engine(), name, { '0000': 'low', ffffffffffff: 'high' });
      engine().clear(name);
      deepEqual(shown(engine().scan(name)), []);
      deepEqual(engine().getMany(name, keys('0000', numberKey(3), 'ffffffffffff')), [undefined, undefined, undefined]);
      const others = NAMES.slice(NAMES.indexOf(name) + 1);
      for (const other of others) equal(shown(engine().scan(other)).length, 2 * SCAN_ROWS);
    }
    const again = await reopen();
    for (const name of NAMES) deepEqual(shown((again ?? engine()).scan(name)), []);
  });

  it('leaves what was read before as it was, and the column good for new rows', () => {
    for (const name of NAMES) writeMany(engine(), name, 200);
    const snapshot = engine().snapshot(NAMES);
    const started = NAMES.map((name) => engine().scan(name)[Symbol.iterator]());
    for (const scan of started) scan.next();
    for (const name of NAMES) engine().clear(name);
    for (const scan of started) {
      let rest = 0;
      while (!scan.next().done) rest++;
      equal(rest, 199);
    }
    for (const name of NAMES) {
      equal(shown(snapshot.scan(name)).length, 200);
      equal(text(snapshot.get(name, fromHex(numberKey(7)))), '7');
      write(engine(), name, { [numberKey(7)]: 'new', aaaa: 'row' });
      deepEqual(shown(engine().scan(name)), [`${numberKey(7)}=new`, 'aaaa=row'].sort());
      equal(text(engine().get(name, fromHex(numberKey(7)))), 'new');
      equal(text(snapshot.get(name, fromHex(numberKey(7)))), '7');
    }
    snapshot.release();
  });

  it('may be said of an empty column, and asserts on an unknown one', () => {
    engine().clear('points');
    engine().clear('points');
    deepEqual(shown(engine().scan('points')), []);
    throws(() => engine().clear('nowhere'), /assertion failed/);
  });
}

function stats(engine: () => Engine, reopen: () => Promise<Engine> | undefined): void {
  it('tells its kind and size', () => {
    writeMany(engine(), 'ordered', 100);
    const { kind, bytes } = engine().stats();
    equal(typeof kind, 'string');
    equal(bytes > 0, true);
  });

  it('tells the size of a column, before and after it rests on disk', async () => {
    writeMany(engine(), 'ordered', 300);
    writeMany(engine(), 'prefixes', 1000);
    const look = (now: Engine): void => {
      const [small, large, none] = ['ordered', 'prefixes', 'points'].map((name) => now.stats(name));
      equal(small.kind, now.stats().kind);
      equal(none.bytes, 0);
      equal(small.bytes > 0 && large.bytes > small.bytes, true, `${small.bytes} and ${large.bytes}`);
      deepEqual(Object.keys(small.properties), Object.keys(none.properties), 'the same properties of every column');
      equal(Object.keys(none.properties).length > 0, true);
      deepEqual([none, small, large].map(rowsSaid), [0, 300, 1000]);
    };
    look(engine());
    throws(() => engine().stats('nowhere'), /assertion failed/);
    const again = await reopen();
    if (again !== undefined) look(again);
  });
}

/** What an engine says about the rows of a column: exact as long as nothing was deleted or written twice. */
function rowsSaid({ properties }: EngineStats): number {
  return Number(properties['rows'] ?? properties['rocksdb.estimate-num-keys']);
}

type Operation = { column: string; key: Uint8Array; value: Uint8Array | null };
type Step =
  | { do: 'commit'; operations: Operation[] }
  | { do: 'abandon'; operations: Operation[] }
  | { do: 'clear'; column: string }
  | { do: 'snapshot' }
  | { do: 'reopen' }
  | { do: 'scan'; column: string; a: Uint8Array; b: Uint8Array; reverse: boolean; limit: number };

/** Few distinct bytes, so that keys meet, share prefixes and touch the ends. */
const keyBytes = fc.array(fc.constantFrom(0, 1, 0x7f, 0xfe, 0xff), { minLength: 2, maxLength: 4 }).map((bytes) => Uint8Array.from(bytes));
const column = fc.constantFrom(...NAMES);
const operations = fc.array(fc.record({ column, key: keyBytes, value: fc.option(fc.uint8Array({ maxLength: 8 }), { freq: 3 }) }), {
  maxLength: 30,
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: operations.map((list) => ({ do: 'commit', operations: list }) as const) },
  { weight: 1, arbitrary: operations.map((list) => ({ do: 'abandon', operations: list }) as const) },
  { weight: 1, arbitrary: column.map((name) => ({ do: 'clear', column: name }) as const) },
  { weight: 1, arbitrary: fc.constant({ do: 'snapshot' } as const) },
  { weight: 1, arbitrary: fc.constant({ do: 'reopen' } as const) },
  {
    weight: 6,
    arbitrary: fc
      .record({ column, a: keyBytes, b: keyBytes, reverse: fc.boolean(), limit: fc.integer({ min: 0, max: 40 }) })
      .map((scan) => ({ do: 'scan', ...scan }) as const),
  },
);

type Model = Map<string, Map<string, string>>;

async function agreesWithModel(open: () => Promise<Opened>): Promise<void> {
  const property = fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
    const opened = await open();
    let engine = opened.engine;
    let model: Model = new Map(NAMES.map((name) => [name, new Map()]));
    let frozen: { reader: Reader; model: Model } | undefined;
    try {
      for (const now of steps) {
        if (now.do === 'commit' || now.do === 'abandon') {
          const batch = engine.batch();
          const next: Model = structuredClone(model);
          for (const { column, key, value } of now.operations) {
            if (value === null) batch.del(column, key);
            else batch.put(column, key, value);
            if (value === null) next.get(column)!.delete(toHex(key));
            else next.get(column)!.set(toHex(key), toHex(value));
          }
          equal(batch.size, now.operations.length);
          if (now.do === 'commit') {
            batch.commit();
            model = next;
          }
        } else if (now.do === 'clear') {
          engine.clear(now.column);
          model.get(now.column)!.clear();
        } else if (now.do === 'snapshot') {
          frozen = { reader: engine.snapshot(NAMES), model: structuredClone(model) };
        } else if (now.do === 'reopen') {
          if (opened.reopen) engine = await opened.reopen();
          if (opened.reopen) frozen = undefined;
        } else {
          compareScan(engine, model, now);
          if (frozen) compareScan(frozen.reader, frozen.model, now);
        }
      }
      compareAll(engine, model);
      if (frozen) compareAll(frozen.reader, frozen.model);
    } finally {
      await engine.close();
      await opened.cleanup();
    }
  });
  await fc.assert(property, { numRuns: 300, seed: 20240607 });
}

function compareAll(reader: Reader, model: Model): void {
  for (const name of NAMES) {
    const expected = [...model.get(name)!].sort(([a], [b]) => compareBytes(fromHex(a), fromHex(b)));
    deepEqual(
      Array.from(reader.scan(name), ([key, value]) => [toHex(key), toHex(value)]),
      expected,
    );
    const asked = [...expected.map(([key]) => fromHex(key)), fromHex('abcdef')];
    deepEqual(
      reader.getMany(name, asked).map((value) => value && toHex(value)),
      [...expected.map(([, value]) => value), undefined],
    );
  }
}

/** In the prefix column the scan is cut to the prefix of its first key, as its rule demands. */
function compareScan(reader: Reader, model: Model, scan: Extract<Step, { do: 'scan' }>): void {
  const [gte, far] = compareBytes(scan.a, scan.b) <= 0 ? [scan.a, scan.b] : [scan.b, scan.a];
  const end = (gte[0] << 8) + gte[1] + 1;
  const successor = end > 0xffff ? fromHex('ffffffffff') : Uint8Array.of(end >> 8, end & 0xff);
  const lt = scan.column === 'prefixes' && compareBytes(far, successor) > 0 ? successor : far;
  const rows = reader.scan(scan.column, { gte, lt, reverse: scan.reverse, limit: scan.limit });
  const expected = [...model.get(scan.column)!.keys()]
    .map((key) => fromHex(key))
    .filter((key) => compareBytes(key, gte) >= 0 && compareBytes(key, lt) < 0)
    .sort(compareBytes);
  if (scan.reverse) expected.reverse();
  deepEqual(
    hexKeys(rows),
    expected.slice(0, scan.limit).map((key) => toHex(key)),
  );
}

function closed(error: unknown): boolean {
  return isUnspentError(error, 'CLOSED');
}

function keys(...hex: string[]): Uint8Array[] {
  return hex.map((key) => fromHex(key));
}

function numberKey(at: number): string {
  return at.toString(16).padStart(8, '0');
}

function writeMany(engine: Engine, column: string, count: number): void {
  const batch = engine.batch();
  for (let at = 0; at < count; at++) batch.put(column, fromHex(numberKey(at)), utf8(`${at}`));
  batch.commit();
}

function write(engine: Engine, column: string, rows: Record<string, string>): void {
  const batch = engine.batch();
  for (const [key, value] of Object.entries(rows)) batch.put(column, fromHex(key), utf8(value));
  batch.commit();
}

function text(bytes: Uint8Array | undefined): string | undefined {
  return bytes && new TextDecoder().decode(bytes);
}

function hexKeys(rows: Iterable<Row>): string[] {
  return Array.from(rows, ([key]) => toHex(key));
}

function shown(rows: Iterable<Row>): string[] {
  return Array.from(rows, ([key, value]) => `${toHex(key)}=${text(value)}`);
}
