/**
 * The records of a stored trie, for whoever checks all of them (`radix/stored.ts`).
 */
import { readStoredRecord, type StoredRecord } from '../radix/stored.ts';
import { MPF_RULE } from './slots.ts';

/** Throws STORE_DAMAGED. */
export function readRecord(key: Uint8Array, record: Uint8Array): StoredRecord {
  return readStoredRecord(MPF_RULE, key, record);
}
