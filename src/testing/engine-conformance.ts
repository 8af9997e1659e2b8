/**
 * What every engine must do: one suite, run on each. Columns are small (a
 * prefix of two bytes) so that random keys meet.
 */
import { deepEqual, equal, throws } from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { Engine, Reader, Row, ScanOptions } from '../engine/engine.ts';
import { compareBytes, fromHex, toHex, utf8 } from '../util/bytes.ts';
import { SCAN_ROWS } from '../util/limits.ts';
import { agreesWithModel } from './engine-model.ts';
import { closed, type EngineUnderTest, hexKeys, keys, mistake, NAMES, numberKey, shown, text, write, writeMany } from './engine-support.ts';
import { clearing, closing, stats } from './engine-upkeep.ts';

/**
 * Declares the tests that every engine has to pass, with `node:test`: call it at the top of a test file. `open` gives
 * an engine of its own to each test.
 */
export function engineConformance(name: string, open: () => Promise<EngineUnderTest>): void {
  describe(`engine contract: ${name}`, () => {
    let opened: EngineUnderTest;
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
    throws(() => engine().get('nowhere', fromHex('01')), mistake);
    throws(() => engine().scan('nowhere'), mistake);
    throws(() => engine().batch().put('nowhere', fromHex('01'), fromHex('01')), mistake);
    throws(() => engine().batch().del('nowhere', fromHex('01')), mistake);
    throws(() => engine().snapshot(['nowhere']), mistake);
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
    throws(() => engine().scan('ordered', { limit: -1 }), mistake);
    throws(() => engine().scan('ordered', { limit: 1.5 }), mistake);
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
        throws(() => reader.scan('prefixes', { gte: fromHex('a0a0') }), mistake);
        throws(() => reader.scan('prefixes', { lt: fromHex('a0a0') }), mistake);
        throws(() => reader.scan('prefixes', inPrefix('a0', 'a1')), mistake);
        throws(() => reader.scan('prefixes', inPrefix('a0a0', 'a0a2')), mistake);
        throws(() => reader.scan('prefixes', inPrefix('a0a0', 'a0a100')), mistake);
        throws(() => reader.scan('prefixes', { reverse: true }), mistake);
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
    throws(() => snapshot.get('points', fromHex('01')), mistake);
    throws(() => snapshot.scan('points'), mistake);
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
