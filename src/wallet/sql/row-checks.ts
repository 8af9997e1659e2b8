/**
 * What was read from the database is checked before it is used: a row that no
 * statement of ours can have written is damage, told with its table and id, and
 * never skipped.
 */
import { UnspentError } from '../../util/errors.ts';
import { SCRIPT_KINDS, type ScriptKind, TX_STATUSES, type TxStatus } from '../records.ts';

/** Where a value was read. */
export interface RowName {
  readonly table: string;
  readonly id: number;
}

function damaged({ table, id }: RowName, what: string): UnspentError {
  return new UnspentError('STORE_DAMAGED', `row ${id} of table ${table} of the wallet database: ${what}`, { table, id });
}

export function checkedStatus(row: RowName, number: number): TxStatus {
  const status = TX_STATUSES[number];
  if (status === undefined) throw damaged(row, `there is no status ${number}`);
  return status;
}

export function checkedKind(row: RowName, number: number): ScriptKind {
  const kind = SCRIPT_KINDS[number];
  if (kind === undefined) throw damaged(row, `there is no script type ${number}`);
  return kind;
}

/** A hash, or the id of a lease. */
export function checked32(row: RowName, column: string, bytes: Uint8Array): Uint8Array {
  if (!(bytes instanceof Uint8Array) || bytes.length !== 32) throw damaged(row, `${column} has ${bytes.length} bytes, not 32`);
  return bytes;
}

export function checkedIndex(row: RowName, column: string, index: number): number {
  if (!Number.isSafeInteger(index) || index < 0) throw damaged(row, `${column} is ${index}`);
  return index;
}

export function checkedAmount(row: RowName, text: string): bigint {
  if (!/^\d+$/.test(text)) throw damaged(row, `the amount is ${text}`);
  return BigInt(text);
}
