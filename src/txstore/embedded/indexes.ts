/**
 * The indexes of the embedded store follow from its records alone: what they
 * must be, where they differ, and how they are made anew. Opening a store
 * replays nothing; this is for whoever doubts an index.
 */
import type { Batch, Engine, Reader } from '../../engine/engine.ts';
import { TXID_BYTES } from '../../ledgers/outpoint.ts';
import { equalBytes, fromHex, toHex } from '../../util/bytes.ts';
import { needsParents } from '../rules/mining.ts';
import { readInputs } from './codec.ts';
import { heightKey, pairKey, TX_DUE, TX_PRESERVED, TX_RECORD, TX_REFERENCE, TX_UNMINED } from './columns.ts';
import { dueFacts } from './due-row.ts';
import { distinctParents, loadedTx } from './loaded-tx.ts';
import { newMark, putTotals, readTotals } from './totals.ts';

export interface IndexDifference {
  readonly column: string;
  /** In hex. */
  readonly key: string;
  /** `missing`: the records ask for it; `surplus`: they do not; `differs`: what stands there is not what the record says. */
  readonly kind: 'missing' | 'surplus' | 'differs';
}

const EMPTY = new Uint8Array();
const INDEXES = [TX_DUE, TX_UNMINED, TX_PRESERVED, TX_REFERENCE] as const;

/** Reads every record. */
export function indexDifferences(reader: Reader): readonly IndexDifference[] {
  return differencesOf(reader, wantedRows(reader));
}

function differencesOf(reader: Reader, wanted: WantedRows): readonly IndexDifference[] {
  return INDEXES.flatMap((column) => {
    const surplus: IndexDifference[] = [];
    const rows = new Map(wanted.get(column)!);
    for (const [bytes, value] of reader.scan(column)) {
      const key = toHex(bytes);
      const row = rows.get(key);
      if (row === undefined) surplus.push({ column, key, kind: 'surplus' });
      // An empty row says nothing, so that nothing in it can be wrong.
      else if (value.length > 0 && !equalBytes(value, row)) surplus.push({ column, key, kind: 'differs' });
      rows.delete(key);
    }
    return [...surplus, ...[...rows.keys()].map((key): IndexDifference => ({ column, key, kind: 'missing' }))];
  });
}

/** In one atomic change. Returns what was wrong. */
export function rebuildIndexes(engine: Engine): readonly IndexDifference[] {
  const wanted = wantedRows(engine);
  const differences = differencesOf(engine, wanted);
  const batch: Batch = engine.batch();
  for (const { column, key, kind } of differences) {
    if (kind === 'surplus') batch.del(column, fromHex(key));
    else batch.put(column, fromHex(key), wanted.get(column)!.get(key)!);
  }
  // What stores have at hand was made with the index as it was.
  if (differences.length > 0) putTotals(batch, { ...readTotals(engine), mark: newMark() });
  batch.commit();
  return differences;
}

/** By column and key, in hex. */
type WantedRows = ReadonlyMap<string, Map<string, Uint8Array>>;

function wantedRows(reader: Reader): WantedRows {
  const wanted = new Map<string, Map<string, Uint8Array>>(INDEXES.map((column) => [column, new Map()]));
  const add = (column: string, key: Uint8Array, value = EMPTY): void => void wanted.get(column)!.set(toHex(key), value);
  for (const [txId, row] of reader.scan(TX_RECORD)) {
    if (txId.length !== TXID_BYTES) continue;
    const { state } = loadedTx(txId, row, 0, row.length, true);
    if (state.deleteAtHeight !== null) add(TX_DUE, heightKey(state.deleteAtHeight, txId), Uint8Array.from(dueFacts(state)));
    if (state.unminedSince !== null) add(TX_UNMINED, heightKey(state.unminedSince, txId));
    if (state.preserveUntil !== null) add(TX_PRESERVED, heightKey(state.preserveUntil, txId));
    if (!needsParents(state)) continue;
    const inputs = readInputs(state.bytes, state.inputsAt, state.inputCount);
    for (const parent of distinctParents(inputs)) add(TX_REFERENCE, pairKey(parent, txId));
  }
  return wanted;
}
