/**
 * Random operations on an engine and on a plain map, held against each other:
 * commits, batches thrown away, cleared columns, snapshots, reopening, scans.
 */
import { deepEqual, equal } from 'node:assert/strict';
import { Random } from '../chains/random.ts';
import type { Reader } from '../engine/engine.ts';
import { compareBytes, fromHex, toHex } from '../util/bytes.ts';
import { type EngineUnderTest, hexKeys, NAMES } from './engine-support.ts';

interface Operation {
  readonly column: string;
  readonly key: Uint8Array;
  /** Null: deleted. */
  readonly value: Uint8Array | null;
}

/** One thing that is done to an engine and to the model. */
export type EngineOperation =
  | { readonly do: 'commit'; readonly operations: readonly Operation[] }
  | { readonly do: 'abandon'; readonly operations: readonly Operation[] }
  | { readonly do: 'clear'; readonly column: string }
  | { readonly do: 'snapshot' }
  | { readonly do: 'reopen' }
  | {
      readonly do: 'scan';
      readonly column: string;
      readonly a: Uint8Array;
      readonly b: Uint8Array;
      readonly reverse: boolean;
      readonly limit: number;
    };

const RUNS = 80;
const OPERATIONS_MAX = 25;
const WRITES_MAX = 30;
const WEIGHTS = [
  ['commit', 6],
  ['abandon', 1],
  ['clear', 1],
  ['snapshot', 1],
  ['reopen', 1],
  ['scan', 6],
] as const;

/** Few distinct bytes, so that keys meet, share prefixes and touch the ends. */
export const KEY_BYTE_VALUES: readonly number[] = [0, 1, 0x7f, 0xfe, 0xff];

function randomKey(random: Random): Uint8Array {
  return Uint8Array.from({ length: 2 + random.int(3) }, () => random.pick(KEY_BYTE_VALUES));
}

function randomOperation(random: Random): EngineOperation {
  const kind = random.weighted(WEIGHTS);
  if (kind === 'snapshot' || kind === 'reopen') return { do: kind };
  if (kind === 'clear') return { do: kind, column: random.pick(NAMES) };
  if (kind === 'scan')
    return {
      do: kind,
      column: random.pick(NAMES),
      a: randomKey(random),
      b: randomKey(random),
      reverse: random.chance(0.5),
      limit: random.int(41),
    };
  const operations = Array.from({ length: random.int(WRITES_MAX + 1) }, () => ({
    column: random.pick(NAMES),
    key: randomKey(random),
    value: random.chance(0.25) ? null : random.bytes(random.int(9)),
  }));
  return { do: kind, operations };
}

/** One seed is one run, so that a failure can be repeated. */
export async function agreesWithModel(open: () => Promise<EngineUnderTest>): Promise<void> {
  for (let seed = 1; seed <= RUNS; seed++) {
    const random = new Random(seed);
    const operations = Array.from({ length: random.int(OPERATIONS_MAX + 1) }, () => randomOperation(random));
    await checkOperations(open, operations).catch((error: unknown) => {
      throw new Error(`the random operations of seed ${seed}: ${(error as Error).message}`, { cause: error });
    });
  }
}

type Model = Map<string, Map<string, string>>;

/** Does all of it to the engine and to the model, and compares them. */
export async function checkOperations(open: () => Promise<EngineUnderTest>, steps: readonly EngineOperation[]): Promise<void> {
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
function compareScan(reader: Reader, model: Model, scan: Extract<EngineOperation, { do: 'scan' }>): void {
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
