/**
 * The indexes of the embedded store follow from its records alone: what they
 * must be, where they differ, and how they are made anew. Opening a store
 * replays nothing; this is for whoever doubts an index.
 */
import type { Batch, Engine, Reader } from '../../engine/engine.ts';
import { TXID_BYTES } from '../../ledgers/outpoint.ts';
import { equalBytes, toHex } from '../../util/bytes.ts';
import { INDEX_DIFFERENCES_KEPT, INDEX_ROWS_AT_ONCE } from '../../util/limits.ts';
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

/** A row of an index as the records want it, or that they do not want. */
interface IndexRow {
  readonly column: string;
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

interface Finding extends IndexRow {
  readonly kind: IndexDifference['kind'];
}

/** Reads every record, and every index; what is not right, a few thousand rows at hand at a time. */
export function* indexDifferences(reader: Reader): Iterable<IndexDifference> {
  for (const { column, key, kind } of findings(reader)) yield { column, key: toHex(key), kind };
}

/** What a rebuilding has found. */
export interface RebuiltIndexes {
  /** The first of them. */
  readonly differences: readonly IndexDifference[];
  readonly count: number;
}

/** Each row is right or wrong by itself, so that they are mended some at a time, however many they are. */
export function rebuildIndexes(engine: Engine): RebuiltIndexes {
  const differences: IndexDifference[] = [];
  let count = 0;
  const snapshot = engine.snapshot([TX_RECORD, ...INDEXES]);
  try {
    const batch = engine.batch();
    for (const { column, key, kind, value } of findings(snapshot)) {
      if (kind === 'surplus') batch.del(column, key);
      else batch.put(column, key, value);
      if (++count <= INDEX_DIFFERENCES_KEPT) differences.push({ column, key: toHex(key), kind });
      if (batch.size >= INDEX_ROWS_AT_ONCE) mend(engine, batch);
    }
    if (batch.size > 0) mend(engine, batch);
  } finally {
    snapshot.release();
  }
  return { differences, count };
}

/** What stores have at hand was made with the index as it was. */
function mend(engine: Engine, batch: Batch): void {
  putTotals(batch, { ...readTotals(engine), mark: newMark() });
  batch.commit();
}

function* findings(reader: Reader): Iterable<Finding> {
  const right = new Map<string, number>(INDEXES.map((column) => [column, 0]));
  for (const rows of inParts(wantedRows(reader), INDEX_ROWS_AT_ONCE)) {
    for (const [column, ofColumn] of Map.groupBy(rows, (row) => row.column)) {
      const found = reader.getMany(
        column,
        ofColumn.map(({ key }) => key),
      );
      for (const [n, row] of ofColumn.entries()) {
        const value = found[n];
        if (value === undefined) yield { ...row, kind: 'missing' };
        else right.set(column, right.get(column)! + 1);
        // An empty row says nothing, so that nothing in it can be wrong.
        if (value !== undefined && value.length > 0 && !equalBytes(value, row.value)) yield { ...row, kind: 'differs' };
      }
    }
  }
  for (const column of INDEXES) yield* surplusRows(reader, column, right.get(column)!);
}

/** If an index has as many rows as were found in it, there is no other one. */
function* surplusRows(reader: Reader, column: string, wanted: number): Iterable<Finding> {
  let count = 0;
  for (const _ of reader.scan(column)) count++;
  if (count === wanted) return;
  for (const [bytes] of reader.scan(column)) {
    const key = new Uint8Array(bytes);
    if (!isWanted(reader, column, key)) yield { column, key, value: EMPTY, kind: 'surplus' };
  }
}

function isWanted(reader: Reader, column: string, key: Uint8Array): boolean {
  const txId = key.subarray(key.length - TXID_BYTES);
  const row = txId.length < TXID_BYTES ? undefined : reader.get(TX_RECORD, txId);
  return row !== undefined && rowsOf(txId, row).some((wanted) => wanted.column === column && equalBytes(wanted.key, key));
}

function* wantedRows(reader: Reader): Iterable<IndexRow> {
  for (const [txId, row] of reader.scan(TX_RECORD)) if (txId.length === TXID_BYTES) yield* rowsOf(new Uint8Array(txId), row);
}

/** What stands in the indexes of one record. Throws STORE_DAMAGED. */
function rowsOf(txId: Uint8Array, row: Uint8Array): IndexRow[] {
  const { state } = loadedTx(txId, row, 0, row.length, true);
  const rows: IndexRow[] = [];
  const add = (column: string, key: Uint8Array, value = EMPTY): void => void rows.push({ column, key, value });
  if (state.deleteAtHeight !== null) add(TX_DUE, heightKey(state.deleteAtHeight, txId), Uint8Array.from(dueFacts(state)));
  if (state.unminedSince !== null) add(TX_UNMINED, heightKey(state.unminedSince, txId));
  if (state.preserveUntil !== null) add(TX_PRESERVED, heightKey(state.preserveUntil, txId));
  if (!needsParents(state)) return rows;
  const inputs = readInputs(state.bytes, state.inputsAt, state.inputCount);
  for (const parent of distinctParents(inputs)) add(TX_REFERENCE, pairKey(parent, txId));
  return rows;
}

function* inParts<T>(all: Iterable<T>, size: number): Iterable<T[]> {
  let part: T[] = [];
  for (const one of all) {
    part.push(one);
    if (part.length < size) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}
