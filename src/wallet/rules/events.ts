/** Which events of wallets are forgotten, and who is told so: the same in every store. */
import type { WalletEventRange } from '../store.ts';
import { refusal } from './failures.ts';

/** Throws EXPIRED where some of what came after the event is forgotten. */
export function checkEventsRead(after: number, { trimmed, newest }: WalletEventRange): void {
  if (after < trimmed) throw refusal.eventsForgotten(after, newest);
}

/** Up to where events are forgotten when the newest `keep` stay, and at most `max` go. Throws INVALID_PARAM. */
export function trimmedUpTo({ trimmed, newest }: WalletEventRange, keep: number, max: number): number {
  if (!Number.isInteger(keep) || keep < 0) throw refusal.invalid(`${keep} events cannot be kept`);
  return Math.max(trimmed, Math.min(newest - keep, trimmed + max));
}
