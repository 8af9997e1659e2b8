/**
 * `unspent/contracts`: for those who write their own projections and engines, and
 * pass them to `open`. What a projection is told and has to keep, what an engine
 * has to do, and what it takes to read the outputs in between. `unspent/testing`
 * checks that they do it.
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
export type {
  AssetVisitor,
  Block,
  Create,
  GenesisOutput,
  HeaderFacts,
  HeaderReader,
  IndexRows,
  KeyKind,
  Ledger,
  NamedBytes,
  OutputKeys,
  OutputLeaf,
  OutputTraits,
  OwnerKeyBatch,
  Point,
  PreviousBlock,
  RedeemerPurpose,
  ScriptData,
  SetHash,
  SetHashUpdate,
  SetMember,
  SetSummary,
  Spend,
  Transition,
  Tx,
  Witness,
  WitnessKind,
} from './ledgers/ledger.ts';
export { outpointIndex, outpointTxId } from './ledgers/outpoint.ts';
export type { ChainRow } from './projections/chain.ts';
export { type Coin, type PartKind, readStored, type Spender, type StoredOutput } from './projections/coin.ts';
export type { ProjectionEntry } from './projections/entry.ts';
export type { Inspection, ProjectionCheck, StoredUndo } from './projections/inspection.ts';
export type { ForwardBlock, Projection, PrunedBlock, SettledBlock, Step, StepBlock, StepTx, Undo } from './projections/projection.ts';
export type { FamilyName } from './proofs/index.ts';
