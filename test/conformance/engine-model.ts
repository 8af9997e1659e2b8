/**
 * Random operations on an engine and on a plain map, held against each other:
 * commits, batches thrown away, cleared columns, snapshots, reopening, scans.
 */
import { deepEqual, equal } from 'node:assert/strict';
import fc from 'fast-check';
import type { Reader } from '../../src/engine/engine.ts';
import { compareBytes, fromHex, toHex } from '../../src/util/bytes.ts';
import { hexKeys, NAMES, type Opened } from './engine-support.ts';

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

export async function agreesWithModel(open: () => Promise<Opened>): Promise<void> {
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
