/** How long coins are leased where people say it in minutes, or say nothing. */
const MINUTE_MS = 60_000;
const LEASE_MINUTES = 60;

export function leaseMs(minutes: number = LEASE_MINUTES): number {
  return minutes * MINUTE_MS;
}
