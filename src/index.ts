/**
 * The library: `import { open } from 'unspent'`. Open a store, follow a source,
 * query, close. Everything else the package has is reached from here.
 */

export { loadConfig } from './config/load.ts';
export type { Config } from './config/schema.ts';
export type { Engine, Reader, Row, ScanOptions, Snapshot } from './engine/engine.ts';
export { networkNames } from './families/networks.ts';
export type { Block, Ledger, Point } from './ledgers/ledger.ts';
export type { StoredOutput, StoredSpend } from './projections/coin.ts';
export type { Projection, Step, Undo } from './projections/projection.ts';
export type { Digest } from './query/digest.ts';
export type { Prover, Roots } from './query/proofs.ts';
export type { IndexedUtxo, Page, Query, Utxo } from './query/query.ts';
export { type Served, type ServeOptions, serve } from './server/serve.ts';
export type { Progress, Pumped, Until } from './sources/follow.ts';
export type { ChainEvent, Run, Source } from './sources/source.ts';
export type { FillProgress } from './state/fill.ts';
export { type Compacted, type CompactOptions, compact } from './store/compact.ts';
export {
  type ExportOptions,
  exportSnapshot,
  type ImportOptions,
  importSnapshot,
  type Manifest,
  type VerifySnapshotOptions,
  verifySnapshot,
} from './store/snapshots.ts';
export {
  type FillSettings,
  type FollowSettings,
  type OpenOptions,
  type OpenStore as Store,
  open,
  type StoreStatus,
} from './store/store.ts';
export type { Verification } from './store/verify/verify.ts';
export { ERROR_CODES, type ErrorCode, isUnspentError, UnspentError } from './util/errors.ts';
export { VERSION } from './util/version.ts';
