/**
 * `unspent`: open a store, follow a source, read, undo, serve, close. What else
 * the package has is behind its other doors: `unspent/sources`,
 * `unspent/cardano`, `unspent/bitcoin`, `unspent/cage`, `unspent/proofs`, `unspent/records` and,
 * for those who write their own parts, `unspent/contracts` and `unspent/testing`.
 */

import './util/node-version.ts';

export type { NetworkParameters } from './families/family.ts';
export { networkNames } from './families/networks.ts';
export type {
  BlockEventJson,
  EventsOptions,
  EventTxJson,
  RollbackEventJson,
  StoreEventJson,
  StoreEventStream,
} from './library/events.ts';
export { open } from './library/open.ts';
export type { PageOptions, TxPage, UtxoPage } from './library/page.ts';
export type { StoreReads, TxOutputs } from './library/reads.ts';
export type { PruneOptions, SnapshotExportOptions, Store, StoreFollowOptions } from './library/store.ts';
export type { BlockPlace } from './library/text.ts';
export type { StoreView } from './library/view.ts';
export type { Digest } from './query/digest.ts';
export type {
  AmountJson,
  BalanceJson,
  BlockJson,
  InputJson,
  OwnerTxJson,
  PlaceJson,
  PointJson,
  RedeemerJson,
  SpentJson,
  TransactionJson,
  TxJson,
  UtxoJson,
} from './query/json.ts';
export type { MmrDetails, Roots } from './query/proofs.ts';
export type { Served, ServeOptions } from './server/serve.ts';
export type { PortsByShape, ShapePorts } from './server/shapes.ts';
export type { ManifestChunk, ManifestNetwork } from './snapshot/manifest.ts';
export type { FollowProgress, FollowResult, StopReason, Until } from './sources/follow.ts';
export type { FillProgress } from './state/fill.ts';
export type { Totals } from './state/head.ts';
export type { PruneCounts } from './state/pruned.ts';
export { type BackupList, listBackups } from './store/backup/list.ts';
export type { BackupFile, BackupManifest } from './store/backup/manifest.ts';
export {
  type RestoreOptions,
  restoreBackup,
  type VerifyBackupOptions,
  verifyBackup,
} from './store/backup/restore.ts';
export type { BackupOptions, BackupProgress, BackupReport, FileCount } from './store/backup/write.ts';
export { type CompactOptions, type CompactResult, compactDirectory as compact } from './store/compact.ts';
export type { OpenOptions, SettingValues } from './store/options.ts';
export type { PublishingStatus } from './store/publishing.ts';
export {
  type ExpectedHashes,
  type ImportOptions,
  importSnapshot,
  type SnapshotManifest,
  type VerifySnapshotOptions,
  verifySnapshot,
} from './store/snapshots.ts';
export type { BlockTime, StatusJson } from './store/status-json.ts';
export type { CageSummary } from './store/summary.ts';
export { type UpgradeOptions, type UpgradeReport, upgradeStore as upgrade } from './store/upgrade/upgrade.ts';
export type { Fault, Verification } from './store/verify/verify.ts';
export { ERROR_CODES, type ErrorCode, isUnspentError, UnspentError } from './util/errors.ts';
export type { SettingValue } from './util/setting.ts';
export { VERSION } from './util/version.ts';
