/** Blocks as wallets know them: whether a value is one, and whether two are the same. */
import { equalBytes } from '../../util/bytes.ts';
import { WALLET_HEIGHT_MAX } from '../../util/limits.ts';
import type { WalletBlock } from '../records.ts';
import { refusal } from './failures.ts';

const HASH_BYTES = 32;

/** Throws INVALID_PARAM. */
export function checkBlock({ height, hash, timestamp }: WalletBlock): void {
  if (!Number.isInteger(height) || height < 0 || height > WALLET_HEIGHT_MAX)
    throw refusal.invalid(`a block cannot have the height ${height}`);
  if (hash.length !== HASH_BYTES) throw refusal.invalid(`a block hash has ${HASH_BYTES} bytes, not ${hash.length}`);
  if (!Number.isSafeInteger(timestamp) || timestamp < 0) throw refusal.invalid(`a block cannot have the time ${timestamp}`);
}

export function sameBlock(a: WalletBlock, b: WalletBlock): boolean {
  return a.height === b.height && a.timestamp === b.timestamp && equalBytes(a.hash, b.hash);
}
