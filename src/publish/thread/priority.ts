/** The priority of one thread among all that want a processor: Linux has one for each, and names threads as it names processes. */
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';

/**
 * The calling thread only gets what others leave, the more so the higher `nice` (0 to 19) is; it cannot be taken back.
 * Elsewhere than on Linux, or where that is refused, nothing happens.
 */
export function stepBehind(nice: number): void {
  if (process.platform !== 'linux') return;
  try {
    const thread = readlinkSync('/proc/thread-self').split('/').at(-1);
    setPriority(Number(thread), nice);
  } catch {
    // A container may hide /proc, or refuse the call; then it competes as all others do.
  }
}
