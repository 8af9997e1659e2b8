/**
 * `unspent/testing`: for those who write their own engines and projections. The
 * suites that ours pass, declared with `node:test`, and an engine that keeps
 * everything in memory.
 */
import './util/node-version.ts';

export type {
  Batch,
  ColumnSpec,
  CommitsAhead,
  Engine,
  EngineFactory,
  EngineStats,
  Landed,
  Reader,
  Row,
  ScanOptions,
  Snapshot,
} from './engine/engine.ts';
export type { ProjectionEntry } from './projections/entry.ts';
export { engineConformance } from './testing/engine-conformance.ts';
export { CONFORMANCE_COLUMNS, type EngineUnderTest } from './testing/engine-support.ts';
export { memoryEngine } from './testing/memory-engine.ts';
export { type PropertyOptions, projectionProperties } from './testing/projection-properties.ts';
