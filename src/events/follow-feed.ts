/**
 * Events into a database that stores how far it is together with what it made of
 * each: the loop that wallets and records of transactions share. Whoever crashes,
 * and however many processes feed one database, every event is taken in once.
 */
import { isUnspentError } from '../util/errors.ts';

/** A database that is fed, and where its events come from. */
export interface FeedTaker<E extends { readonly position: string }> {
  /** Where the database is; null: it was never fed. */
  position(): Promise<string | null>;
  /** Stores where a database begins that was never fed. Throws FEED_MOVED. */
  begin(): Promise<string>;
  events(after: string): AsyncIterable<E>;
  /** One event, if the database is at `after`. Throws FEED_MOVED. */
  take(event: E, after: string): Promise<void>;
  /** The database is at another event, by this process or by another. */
  onMove(): Promise<void>;
}

/** Until the signal comes or the events end. Where another process was first, the next event is read anew. Throws what the taker throws. */
export async function followFeed<E extends { readonly position: string }>(taker: FeedTaker<E>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      let after = (await taker.position()) ?? (await taker.begin());
      for await (const event of taker.events(after)) {
        await taker.take(event, after);
        after = event.position;
        await taker.onMove();
      }
      return;
    } catch (error) {
      if (!isUnspentError(error, 'FEED_MOVED')) throw error;
      await taker.onMove();
    }
  }
}
