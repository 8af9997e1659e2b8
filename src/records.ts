/**
 * `unspent/records`: the interchange records that the server gives as CBOR,
 * written and read. Pure; docs/reference/records.md has the format.
 */
import './util/node-version.ts';

export type { BlockMmr } from './query/proofs-mmr.ts';
export {
  type BlockDelta,
  type CompactDelta,
  type CreatedOutput,
  type DeltaHead,
  decodeBlockDelta,
  encodeBlockDelta,
  type InvalidTx,
  type RecordedOutpoint,
  type SelfContainedDelta,
  type SpentOutput,
} from './query/record-delta.ts';
export {
  decodeOutputEntry,
  decodeSpentRecord,
  decodeUtxoRecord,
  encodeOutputEntry,
  encodeSpentRecord,
  encodeUtxoRecord,
  type OutputEntry,
  type SpentRecord,
  type UtxoRecord,
} from './query/records.ts';
