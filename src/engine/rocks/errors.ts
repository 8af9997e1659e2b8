/**
 * What RocksDB says, in our words. The binding gives a code for some failures
 * and RocksDB's text for all; both were read off real failures (rocks.test.ts).
 */
import { type ErrorCode, UnspentError } from '../../util/errors.ts';

type NativeError = Error & { readonly code?: string };

export function storeError(cause: unknown, directory: string): UnspentError {
  if (cause instanceof UnspentError) return cause;
  const text = cause instanceof Error ? cause.message : String(cause);
  const code = classify((cause as NativeError).code, text);
  return new UnspentError(code, `${SAYS[code]} (${directory}): ${text.replaceAll(/\s+/g, ' ').trim()}`, { directory }, cause);
}

type StoreCode = Extract<ErrorCode, 'STORE_LOCKED' | 'STORE_DAMAGED' | 'STORE_SHAPE' | 'STORE_MISSING' | 'DISK_FULL' | 'IO'>;

const SAYS: Readonly<Record<StoreCode, string>> = {
  STORE_LOCKED: 'another process has the store open',
  STORE_DAMAGED: 'the store is damaged',
  STORE_SHAPE: 'the store has columns that these settings do not open',
  STORE_MISSING: 'there is no store',
  DISK_FULL: 'no space is left on the disk of the store',
  IO: 'the store cannot be read or written',
};

function classify(code: string | undefined, text: string): StoreCode {
  if (code === 'LEVEL_LOCKED') return 'STORE_LOCKED';
  // Before corruption: a file cut short by a full disk may be reported as both.
  if (/no space left/i.test(text)) return 'DISK_FULL';
  if (code === 'LEVEL_CORRUPTION') return 'STORE_DAMAGED';
  // A file that CURRENT or the manifest names is gone.
  if (code === 'LEVEL_IO_ERROR' && text.includes('No such file')) return 'STORE_DAMAGED';
  if (text.includes('Column families not opened')) return 'STORE_SHAPE';
  if (text.includes('create_if_missing is false')) return 'STORE_MISSING';
  return 'IO';
}
