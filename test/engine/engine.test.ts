/** The engine contract on every engine there is, and the model with operations that shrink to the shortest that fails. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { openMemory } from '../../src/engine/memory.ts';
import { openEngineIn } from '../../src/engine/open.ts';
import { checkOperations, type EngineOperation, KEY_BYTE_VALUES } from '../../src/testing/engine-model.ts';
import { CONFORMANCE_COLUMNS, type EngineUnderTest, engineConformance } from '../../src/testing.ts';

const keyBytes = fc.array(fc.constantFrom(...KEY_BYTE_VALUES), { minLength: 2, maxLength: 4 }).map((bytes) => Uint8Array.from(bytes));
const column = fc.constantFrom(...CONFORMANCE_COLUMNS.map(({ name }) => name));
const operations = fc.array(fc.record({ column, key: keyBytes, value: fc.option(fc.uint8Array({ maxLength: 8 }), { freq: 3 }) }), {
  maxLength: 30,
});
const operation: fc.Arbitrary<EngineOperation> = fc.oneof(
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

async function onDisk(kind: 'rocks' | 'sqlite'): Promise<EngineUnderTest> {
  const directory = mkdtempSync(join(tmpdir(), 'unspent-engine-'));
  const open = () =>
    openEngineIn(directory, CONFORMANCE_COLUMNS, { kind, createIfMissing: true, memtableBytes: 4 << 20, cacheBytes: 8 << 20 });
  let engine = await open();
  return {
    engine,
    reopen: async () => {
      await engine.close();
      engine = await open();
      return engine;
    },
    cleanup: async () => {
      await engine.close();
      rmSync(directory, { recursive: true });
    },
  };
}

const ENGINES: Readonly<Record<string, () => Promise<EngineUnderTest>>> = {
  async memory() {
    const engine = openMemory(CONFORMANCE_COLUMNS);
    return { engine, cleanup: () => engine.close() };
  },
  rocks: () => onDisk('rocks'),
  sqlite: () => onDisk('sqlite'),
};

for (const [name, open] of Object.entries(ENGINES)) {
  engineConformance(name, open);
  describe(`engine model: ${name}`, () => {
    it('agrees with it over random operations', async () => {
      const property = fc.asyncProperty(fc.array(operation, { maxLength: 25 }), (list) => checkOperations(open, list));
      await fc.assert(property, { numRuns: 300, seed: 20240607 });
    });
  });
}
