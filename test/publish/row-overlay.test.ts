/** Rows on top of others: whatever was put or deleted, reads and scans are those of an engine that has both. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { ColumnSpec, ScanOptions } from '../../src/engine/engine.ts';
import { openMemory } from '../../src/engine/memory.ts';
import { RowOverlay } from '../../src/publish/row-overlay.ts';
import { TEST_SEED } from '../support/harness.ts';

const COLUMN = 'rows';
const COLUMNS: readonly ColumnSpec[] = [{ name: COLUMN, access: 'point', weight: 1 }];

/** Few keys, so that many are met again; of different lengths, so that some begin others. */
const key = fc.uint8Array({ minLength: 1, maxLength: 2, max: 3 });
const change = fc.record({ key, value: fc.option(fc.uint8Array({ minLength: 1, maxLength: 2 }), { nil: undefined }) });
interface Range {
  readonly gte: Uint8Array | undefined;
  readonly lt: Uint8Array | undefined;
  readonly reverse: boolean;
  readonly limit: number | undefined;
}

const range = fc.record<Range>({
  gte: fc.option(key, { nil: undefined }),
  lt: fc.option(key, { nil: undefined }),
  reverse: fc.boolean(),
  limit: fc.option(fc.integer({ min: 0, max: 5 }), { nil: undefined }),
});
const turns = fc.array(fc.record({ changes: fc.array(change, { maxLength: 4 }), range }), { minLength: 1, maxLength: 12 });

function optionsOf({ gte, lt, reverse, limit }: Range): ScanOptions {
  return { reverse, ...(gte && { gte }), ...(lt && { lt }), ...(limit !== undefined && { limit }) };
}

describe('rows on top of others', () => {
  it('are read and scanned as those of an engine that has both', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 12 }), turns, (below, all) => {
        const [bottom, both] = [openMemory(COLUMNS), openMemory(COLUMNS)];
        for (const engine of [bottom, both]) {
          const batch = engine.batch();
          for (const row of below) if (row.value !== undefined) batch.put(COLUMN, row.key, row.value);
          batch.commit();
        }
        const overlay = new RowOverlay(bottom);
        for (const turn of all) {
          const batch = both.batch();
          for (const row of turn.changes) {
            const { key: k, value } = row;
            overlay.apply([{ column: COLUMN, puts: value === undefined ? [] : [[k, value]], deletes: value === undefined ? [k] : [] }]);
            if (value === undefined) batch.del(COLUMN, k);
            else batch.put(COLUMN, k, value);
          }
          batch.commit();
          const options = optionsOf(turn.range);
          const rows = [...overlay.scan(COLUMN, options)].map(([k, v]) => [[...k], [...v]]);
          assert.deepEqual(
            rows,
            [...both.scan(COLUMN, options)].map(([k, v]) => [[...k], [...v]]),
          );
          const keys = turn.changes.map(({ key: k }) => k);
          assert.deepEqual(overlay.getMany(COLUMN, keys), both.getMany(COLUMN, keys));
        }
      }),
      { seed: TEST_SEED, numRuns: 500 },
    );
  });

  it('do not make a scan for one row read all that are below', () => {
    const engine = openMemory(COLUMNS);
    const limits: (number | undefined)[] = [];
    const watched = Object.assign(Object.create(engine) as typeof engine, {
      scan: (column: string, options: ScanOptions) => {
        limits.push(options.limit);
        return engine.scan(column, options);
      },
    });
    const overlay = new RowOverlay(watched);
    overlay.apply([{ column: COLUMN, puts: [[Uint8Array.of(9), Uint8Array.of(1)]], deletes: [Uint8Array.of(8)] }]);
    assert.deepEqual([...overlay.scan(COLUMN, { lt: Uint8Array.of(8), reverse: true, limit: 1 })], []);
    assert.deepEqual([...overlay.scan(COLUMN, { limit: 1 })].length, 1);
    assert.deepEqual(limits, [1, 3]);
  });
});
