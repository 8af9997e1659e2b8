/**
 * How large a group of blocks is while far behind the tip. Groups are whole
 * commits: large ones net what is created and spent inside them, and cost less
 * for each block. Where many blocks begin, and where they end, they are smaller:
 * the thread that writes then has work soon, and little is left for it when the
 * last block was read.
 */
import { GROUP_BYTES_MAX, GROUP_BYTES_MIN } from '../util/limits.ts';

/** Bytes of blocks after which a group is committed, where so many were applied before it and about so many come behind it. */
export function groupBytes(applied: number, left: number): number {
  return Math.max(GROUP_BYTES_MIN, Math.min(GROUP_BYTES_MAX, applied, left / 2));
}
