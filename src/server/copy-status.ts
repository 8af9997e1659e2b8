/**
 * What a reader of a published copy tells of it. To the rest of the server the
 * copy is what a source is beside a store: something elsewhere with a newest
 * block, that can be lost and come back. So readiness, lag and the page need
 * nothing of their own.
 */
import type { CopyView } from './context.ts';
import { type LiveStatus, NOT_FOLLOWING } from './thread/live.ts';

/** As what is followed. */
export function followedCopy({ state, head }: CopyView): LiveStatus {
  if (state === null) return { ...NOT_FOLLOWING, state: 'connecting' };
  const { name, failure, newest } = state;
  return {
    ...NOT_FOLLOWING,
    state: failure === null ? 'following' : 'waiting',
    source: name,
    peer: newest?.publisher ?? null,
    version: `published copy, change ${head.seq}`,
    sourceTip: newest?.slot == null ? null : { slot: newest.slot, height: newest.height },
    lastError: failure,
  };
}

/** For the status: which copy it is, and what reading it takes. */
export function copyDocument({ state, head, figures }: CopyView): object {
  return {
    name: state?.name ?? null,
    change: head.seq,
    newest_change: state?.newest?.seq ?? null,
    published_at: head.publishedAt === null ? null : head.publishedAt / 1000,
    reads: figures.reads,
    repeats: figures.repeats,
    sleeps: figures.sleeps,
    statements: figures.statements,
    rows: figures.rows,
    cache_bytes: figures.cacheBytes,
  };
}
