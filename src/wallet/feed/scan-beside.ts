/**
 * A source of events beside which wallets are scanned: whoever is new is looked
 * for before each event, and again and again while the source has none. A scan
 * belongs between two events, because what comes behind the block that the
 * wallets are at is the feed's to bring.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { WALLET_POLL_MS } from '../../util/limits.ts';
import type { FeedEvent, FeedSource } from './wallet-feed.ts';

export function scanBeside(source: FeedSource, scanNew: () => Promise<void>): FeedSource {
  return {
    newest: (signal) => source.newest(signal),
    events: (after, signal) => whileWaiting(source.events(after, signal), scanNew),
  };
}

async function* whileWaiting(events: AsyncIterable<FeedEvent>, scanNew: () => Promise<void>): AsyncGenerator<FeedEvent, void, undefined> {
  const iterator = events[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = iterator.next();
      // Awaited below; until then nobody else listens to it.
      next.catch(() => {});
      do await scanNew();
      while (!(await isSettledBefore(next, WALLET_POLL_MS)));
      const { done, value } = await next;
      if (done === true) return;
      yield value;
    }
  } finally {
    await iterator.return?.();
  }
}

/** False: not in that time. What it is settled with is the caller's affair. */
async function isSettledBefore(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const end = new AbortController();
  const late = sleep(ms, false, { signal: end.signal, ref: false }).catch(() => false);
  const settled = promise.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([settled, late]);
  } finally {
    end.abort();
  }
}
