/**
 * What the parts of the engine suite share: the columns, what an opened engine
 * comes with, and short ways to write rows and to show them.
 */
import type { ColumnSpec, Engine, Row } from '../engine/engine.ts';
import { fromHex, toHex, utf8 } from '../util/bytes.ts';
import { isUnspentError } from '../util/errors.ts';

/** The columns that an engine is opened with to be tested: small, so that random keys meet. */
export const CONFORMANCE_COLUMNS: readonly ColumnSpec[] = [
  { name: 'points', access: 'point', weight: 4 },
  { name: 'prefixes', access: 'prefix', prefixBytes: 2, weight: 2 },
  { name: 'ordered', access: 'order', weight: 1 },
];
export const NAMES = CONFORMANCE_COLUMNS.map((column) => column.name);

/** An engine, opened and empty, for one test. */
export interface EngineUnderTest {
  /** Opened with `CONFORMANCE_COLUMNS`. */
  readonly engine: Engine;
  /** Closes and opens again what was stored, where the engine stores. */
  readonly reopen?: () => Promise<Engine>;
  /** Closes it and removes what it stored. */
  readonly cleanup: () => Promise<void>;
}

export function closed(error: unknown): boolean {
  return isUnspentError(error, 'CLOSED');
}

/** A mistake of the program that calls, such as a column that is not there: an error, and none of the world's. */
export function mistake(error: unknown): boolean {
  return error instanceof Error && !isUnspentError(error);
}

export function keys(...hex: string[]): Uint8Array[] {
  return hex.map((key) => fromHex(key));
}

export function numberKey(at: number): string {
  return at.toString(16).padStart(8, '0');
}

export function writeMany(engine: Engine, column: string, count: number): void {
  const batch = engine.batch();
  for (let at = 0; at < count; at++) batch.put(column, fromHex(numberKey(at)), utf8(`${at}`));
  batch.commit();
}

export function write(engine: Engine, column: string, rows: Record<string, string>): void {
  const batch = engine.batch();
  for (const [key, value] of Object.entries(rows)) batch.put(column, fromHex(key), utf8(value));
  batch.commit();
}

export function text(bytes: Uint8Array | undefined): string | undefined {
  return bytes && new TextDecoder().decode(bytes);
}

export function hexKeys(rows: Iterable<Row>): string[] {
  return Array.from(rows, ([key]) => toHex(key));
}

export function shown(rows: Iterable<Row>): string[] {
  return Array.from(rows, ([key, value]) => `${toHex(key)}=${text(value)}`);
}
