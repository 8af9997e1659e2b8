/** How far pruning is, as bytes. */
import type { Reader } from '../../engine/engine.ts';
import { TXID_BYTES } from '../../ledgers/outpoint.ts';
import { ByteReader, ByteWriter } from '../../util/byte-writer.ts';
import type { PruneCursor, PruneProgress } from '../prune-store.ts';
import { PROGRESS_KEY, TX_RECORD } from './columns.ts';

/** What a store has that was never pruned. */
const UNPRUNED: PruneProgress = { unfinished: null, lastCompleted: 0, prunedHeight: 0 };

export function encodeProgress({ lastCompleted, prunedHeight, unfinished }: PruneProgress): Uint8Array {
  const writer = new ByteWriter();
  writer.varint(lastCompleted);
  writer.varint(prunedHeight);
  writer.u8(unfinished === null ? 0 : unfinished.cursor === null ? 1 : 2);
  if (unfinished !== null) writer.varint(unfinished.height);
  if (unfinished?.cursor) {
    writer.varint(unfinished.cursor.height);
    writer.run(unfinished.cursor.txId);
  }
  return writer.view();
}

export function readProgress(source: Reader): PruneProgress {
  const row = source.get(TX_RECORD, PROGRESS_KEY);
  if (row === undefined) return UNPRUNED;
  const reader = new ByteReader(row, 'the progress of pruning');
  const [lastCompleted, prunedHeight, kind] = [reader.varint(), reader.varint(), reader.u8()];
  if (kind === 0) return { lastCompleted, prunedHeight, unfinished: null };
  const height = reader.varint();
  const cursor: PruneCursor | null = kind === 1 ? null : { height: reader.varint(), txId: reader.run(TXID_BYTES).slice() };
  return { lastCompleted, prunedHeight, unfinished: { height, cursor } };
}
