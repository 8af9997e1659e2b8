/** The engine contract on every engine there is. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openMemory } from '../../src/engine/memory.ts';
import { openEngineIn } from '../../src/engine/open.ts';
import { engineConformance } from '../conformance/engine.ts';
import { CONFORMANCE_COLUMNS } from '../conformance/engine-support.ts';

engineConformance('memory', async () => {
  const engine = openMemory(CONFORMANCE_COLUMNS);
  return { engine, cleanup: () => engine.close() };
});

for (const kind of ['rocks', 'sqlite'] as const) {
  engineConformance(kind, async () => {
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
  });
}
