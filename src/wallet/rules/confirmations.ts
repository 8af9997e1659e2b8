/**
 * How deep a transaction is, and what filters make of that. A block at height h
 * has synced - h + 1 confirmations. A coinbase of height h may be spent in block
 * h + 100, so the next block may have it as soon as it has 100 confirmations;
 * Bitcoin Core's wallet waits for one more.
 */
import type { CoinFilter } from '../store.ts';
import { refusal } from './failures.ts';

/** Confirmations that a coinbase needs where nobody says. */
export const COINBASE_MATURITY = 100;

/** 0: in no block. Null, unknown: the wallet is not synced, or its block is above the wallet's tip. */
export function confirmations(height: number | null, syncedHeight: number | null): number | null {
  if (height === null) return 0;
  return syncedHeight === null || height > syncedHeight ? null : syncedHeight - height + 1;
}

/** Unknown confirmations pass no filter; a lower bound of 0 is none. */
export function isDeepEnough(confs: number | null, { minConfs, maxConfs }: Pick<CoinFilter, 'minConfs' | 'maxConfs'>): boolean {
  if (minConfs !== undefined && minConfs > 0 && (confs === null || confs < minConfs)) return false;
  return maxConfs === undefined || (confs !== null && confs <= maxConfs);
}

/** `maturity` 0: every coinbase is. */
export function isMature(isCoinbase: boolean, confs: number | null, maturity: number): boolean {
  return !isCoinbase || maturity === 0 || (confs !== null && confs >= maturity);
}

/** Throws INVALID_PARAM for bounds that are no counts. */
export function checkDepths({ minConfs, maxConfs, coinbaseMaturity }: CoinFilter): void {
  for (const count of [minConfs, maxConfs, coinbaseMaturity]) {
    if (count !== undefined && (!Number.isSafeInteger(count) || count < 0)) throw refusal.invalid(`${count} is no number of confirmations`);
  }
}
