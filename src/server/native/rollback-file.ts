/**
 * The log of rollbacks as a file beside the store, so that what they took away
 * is still shown after a restart. Nothing else depends on it: a file that cannot
 * be read is told of once and begun anew. Each of several server threads sees
 * the same rollbacks and writes the same file.
 */
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { readRegular } from '../../files/regular.ts';
import { fromHex, toHex } from '../../util/bytes.ts';
import { ROLLBACK_FILE_BYTES_MAX, ROLLBACK_LOG_MAX } from '../../util/limits.ts';
import type { LoggedRollback } from './rollback-log.ts';

export const ROLLBACK_FILE = 'rollbacks.json';
const VERSION = 1;
/** How bytes and whole numbers without bounds stand in the JSON. */
const BYTES = '$bytes';
const AMOUNT = '$amount';

export function writeRollbacks(data: string, network: string, rollbacks: readonly LoggedRollback[]): void {
  const file = join(data, ROLLBACK_FILE);
  const draft = `${file}.${process.pid}-${threadId}`;
  try {
    writeFileSync(draft, `${JSON.stringify({ version: VERSION, network, rollbacks }, packed)}\n`, { mode: 0o600 });
    renameSync(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Newest first; empty where there is no file. Throws where there is one that is none of ours. */
export function readRollbacks(data: string, network: string): LoggedRollback[] {
  const file = join(data, ROLLBACK_FILE);
  if (!existsSync(file)) return [];
  const text = new TextDecoder('utf-8', { fatal: true }).decode(readRegular(file, { bytesMax: ROLLBACK_FILE_BYTES_MAX, links: 'refuse' }));
  const found: unknown = JSON.parse(text, unpacked);
  if (!isLog(found) || found.network !== network) throw new Error(`${file} is no log of rollbacks of ${network} in this version`);
  return found.rollbacks.slice(0, ROLLBACK_LOG_MAX);
}

/** Looks at what is there itself: Node's buffers have made something else of themselves before they come as `value`. */
function packed(this: Readonly<Record<string, unknown>>, key: string, value: unknown): unknown {
  const own = this[key];
  if (own instanceof Uint8Array) return { [BYTES]: toHex(own) };
  return typeof value === 'bigint' ? { [AMOUNT]: value.toString() } : value;
}

function unpacked(_key: string, value: unknown): unknown {
  if (!isRecord(value)) return value;
  const { [BYTES]: bytes, [AMOUNT]: amount } = value;
  if (typeof bytes === 'string') return fromHex(bytes);
  return typeof amount === 'string' ? BigInt(amount) : value;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
}

function isLog(value: unknown): value is { readonly network: unknown; readonly rollbacks: readonly LoggedRollback[] } {
  return isRecord(value) && value['version'] === VERSION && Array.isArray(value['rollbacks']) && value['rollbacks'].every(isRollback);
}

/** As much as is used without looking: the rest is only shown. */
function isRollback(value: unknown): value is LoggedRollback {
  if (!isRecord(value) || typeof value['time'] !== 'number' || typeof value['undone'] !== 'number') return false;
  const { blocks, txs } = value;
  if (!Array.isArray(blocks) || !blocks.every(isBlock) || !Array.isArray(txs)) return false;
  return txs.every(
    (tx) =>
      isRecord(tx) && tx['id'] instanceof Uint8Array && typeof tx['value'] === 'bigint' && isBlock(tx['block']) && isSpent(tx['spent']),
  );
}

function isBlock(value: unknown): boolean {
  return (
    isRecord(value) &&
    ['hash', 'prevHash', 'extra'].every((name) => value[name] instanceof Uint8Array) &&
    typeof value['height'] === 'number'
  );
}

function isSpent(value: unknown): boolean {
  return (
    Array.isArray(value) && value.every((each) => isRecord(each) && each['txId'] instanceof Uint8Array && typeof each['index'] === 'number')
  );
}
