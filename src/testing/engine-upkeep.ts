/**
 * What happens to columns and engines as a whole: emptied, measured, closed.
 */
import { deepEqual, equal, throws } from 'node:assert/strict';
import { it } from 'node:test';
import type { Engine, EngineStats } from '../engine/engine.ts';
import { fromHex, utf8 } from '../util/bytes.ts';
import { SCAN_ROWS } from '../util/limits.ts';
import { closed, keys, mistake, NAMES, numberKey, shown, text, write, writeMany } from './engine-support.ts';

export function closing(engine: () => Engine): void {
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

export function clearing(engine: () => Engine, reopen: () => Promise<Engine> | undefined): void {
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
    throws(() => engine().clear('nowhere'), mistake);
  });
}

export function stats(engine: () => Engine, reopen: () => Promise<Engine> | undefined): void {
  it('tells its kind and size', () => {
    writeMany(engine(), 'ordered', 100);
    const { kind, bytes } = engine().stats();
    equal(typeof kind, 'string');
    equal(bytes > 0, true);
  });

  it('tells the size of a column, before and after it rests on disk', async () => {
    writeMany(engine(), 'ordered', 300);
    writeMany(engine(), 'prefixes', 3000);
    const look = (now: Engine): void => {
      const [small, large, none] = ['ordered', 'prefixes', 'points'].map((name) => now.stats(name));
      equal(small.kind, now.stats().kind);
      equal(none.bytes, 0);
      equal(small.bytes > 0 && large.bytes > small.bytes, true, `${small.bytes} and ${large.bytes}`);
      deepEqual(Object.keys(small.properties), Object.keys(none.properties), 'the same properties of every column');
      equal(Object.keys(none.properties).length > 0, true);
      deepEqual([none, small, large].map(rowsSaid), [0, 300, 3000]);
    };
    look(engine());
    throws(() => engine().stats('nowhere'), mistake);
    const again = await reopen();
    if (again !== undefined) look(again);
  });
}

/** What an engine says about the rows of a column: exact as long as nothing was deleted or written twice. */
function rowsSaid({ properties }: EngineStats): number {
  return Number(properties['rows'] ?? properties['rocksdb.estimate-num-keys']);
}
