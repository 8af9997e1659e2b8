/** The engine in memory, for `open`. */
import type { EngineFactory } from '../engine/engine.ts';
import { openMemory } from '../engine/memory.ts';

/** Keeps everything in memory: a store that is gone when it is closed, for tests of programs. Its directory still says what it was. */
export const memoryEngine: EngineFactory = { name: 'memory', open: (_directory, columns) => openMemory(columns) };
