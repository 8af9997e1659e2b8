/**
 * The indexes of the embedded store follow from its records alone: what they
 * must be, where they differ, and how they are made anew. Opening a store
 * replays nothing; this is for whoever doubts an index.
 */
import type { Batch, Engine, Reader } from '../../engine/engine.ts';
import { TXID_BYTES } from '../../ledgers/outpoint.ts';
import { fromHex, toHex } from '../../util/bytes.ts';
import { needsParents } from '../rules/mining.ts';
import { readInputs } from './codec.ts';
import { heightKey, pairKey, TX_DUE, TX_PRESERVED, TX_RECORD, TX_REFERENCE, TX_UNMINED } from './columns.ts';
import { distinctParents, loadedTx } from './loaded-tx.ts';
import { newMark, putTotals, readTotals } from './totals.ts';

export interface IndexDifference {
  readonly column: string;
  /** In hex. */
  readonly key: string;
  /** `missing`: the records ask for it; `surplus`: they do not. */
  readonly kind: 'missing' | 'surplus';
}

const INDEXES = [TX_DUE, TX_UNMINED, TX_PRESERVED, TX_REFERENCE] as const;

/** Reads every record. */
export function indexDifferences(reader: Reader): readonly IndexDifference[] {
  const wanted = wantedKeys(reader);
  return INDEXES.flatMap((column) => {
    const surplus: IndexDifference[] = [];
    const keys = wanted.get(column)!;
    for (const [bytes] of reader.scan(column)) {
      const key = toHex(bytes);
      if (!keys.delete(key)) surplus.push({ column, key, kind: 'surplus' });
    }
    return [...surplus, ...[...keys].map((key): IndexDifference => ({ column, key, kind: 'missing' }))];
  });
}

/** In one atomic change. Returns what was wrong. */
export function rebuildIndexes(engine: Engine): readonly IndexDifference[] {
  const differences = indexDifferences(engine);
  const batch: Batch = engine.batch();
  for (const { column, key, kind } of differences) {
    if (kind === 'missing') batch.put(column, fromHex(key), new Uint8Array());
    else batch.del(column, fromHex(key));
  }
  // What stores have at hand was made with the index as it was.
  if (differences.length > 0) putTotals(batch, { ...readTotals(engine), mark: newMark() });
  batch.commit();
  return differences;
}

function wantedKeys(reader: Reader): ReadonlyMap<string, Set<string>> {
  const wanted = new Map<string, Set<string>>(INDEXES.map((column) => [column, new Set()]));
  const add = (column: string, key: Uint8Array): void => void wanted.get(column)!.add(toHex(key));
  for (const [txId, row] of reader.scan(TX_RECORD)) {
    if (txId.length !== TXID_BYTES) continue;
    const { state } = loadedTx(txId, row, 0, row.length, true);
    if (state.deleteAtHeight !== null) add(TX_DUE, heightKey(state.deleteAtHeight, txId));
    if (state.unminedSince !== null) add(TX_UNMINED, heightKey(state.unminedSince, txId));
    if (state.preserveUntil !== null) add(TX_PRESERVED, heightKey(state.preserveUntil, txId));
    if (!needsParents(state)) continue;
    const inputs = readInputs(state.bytes, state.inputsAt, state.inputCount);
    for (const parent of distinctParents(inputs)) add(TX_REFERENCE, pairKey(parent, txId));
  }
  return wanted;
}
