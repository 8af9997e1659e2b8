/**
 * The most memory that this process has had, in bytes. On Linux it is not asked
 * with `getrusage`: a process that was started by another inherits what that one
 * had when it was forked, so a small command started by a large process would
 * seem as large. The kernel's own count of our memory begins with the program.
 */
import { readRegular } from '../files/regular.ts';

/** The file says a few dozen things in a line each. */
const STATUS_BYTES_MAX = 64 * 1024;
const HIGH_WATER = /^VmHWM:\s+(\d+) kB$/m;

export function peakMemoryBytes(): number {
  try {
    const found = HIGH_WATER.exec(
      Buffer.from(readRegular('/proc/self/status', { bytesMax: STATUS_BYTES_MAX, links: 'follow' })).toString('latin1'),
    );
    if (found !== null) return 1024 * Number(found[1]);
  } catch {
    // Not on this system.
  }
  return 1024 * process.resourceUsage().maxRSS;
}
