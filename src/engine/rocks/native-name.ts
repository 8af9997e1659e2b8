/** What RocksDB calls a column of ours. */
import type { ColumnSpec } from '../engine.ts';

/** What RocksDB calls its first column. It is always there, and the only one the binding tells properties of. */
export const DEFAULT_COLUMN = 'default';

export function nativeName({ name, main }: ColumnSpec): string {
  return main === true ? DEFAULT_COLUMN : name;
}
