/**
 * What a transaction of the database did, told to readers of events: collected
 * while it runs and written into the same transaction at its end, so that an
 * event is there if and only if its change is.
 *
 * Numbers come from one row that is locked from here to the commit. So they grow
 * in the order of commits, and a reader who has seen number n misses none below.
 * Old ones are forgotten when somebody asks for it (`trimEvents`); the same row
 * says up to where.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Outpoint } from '../../ledgers/outpoint.ts';
import { listTable } from '../../sql/lists.ts';
import { fromHex, toHex } from '../../util/bytes.ts';
import { WALLET_EVENTS_TRIM_MAX } from '../../util/limits.ts';
import type { NumberedWalletEvent, WalletBlock, WalletEvent, WalletId } from '../records.ts';
import { checkEventsRead, trimmedUpTo } from '../rules/events.ts';
import type { Page, WalletEventRange } from '../store.ts';
import type { SqlTransaction } from './database.ts';
import { checkPage } from './pages.ts';
import { IS_REORG } from './schema-tables.ts';

export class EventLog {
  readonly #events: { readonly walletId: WalletId; readonly event: WalletEvent }[] = [];

  add(walletId: WalletId, event: WalletEvent): void {
    this.#events.push({ walletId, event });
  }

  tip(walletId: WalletId, { height, hash }: WalletBlock): void {
    this.add(walletId, { kind: 'sync.tip', height, hash });
  }

  /** The last thing a transaction does. */
  async write(tx: SqlTransaction): Promise<void> {
    const count = this.#events.length;
    if (count === 0) return;
    const { last_sequence: last } = await tx.db
      .updateTable('event_counter')
      .set((eb) => ({ last_sequence: eb('last_sequence', '+', count) }))
      .where('id', '=', 1)
      .returning('last_sequence')
      .executeTakeFirstOrThrow();
    const rows = this.#events.map(({ walletId, event }, at) => [last - count + 1 + at, walletId, eventText(event)]);
    const list = listTable(tx.kind, { event_sequence: 'integer', wallet_id: 'integer', event_json: 'text' }, rows);
    await tx.db
      .insertInto('wallet_events')
      .columns(['event_sequence', 'wallet_id', 'event_json'])
      .expression((eb) => eb.selectFrom(list.as('v')).select(['v.event_sequence', 'v.wallet_id', 'v.event_json']))
      .execute();
  }
}

/** EXPIRED. */
export async function readEvents(tx: SqlTransaction, after: number, limit: number, walletId?: WalletId): Promise<NumberedWalletEvent[]> {
  checkEventsRead(after, await readEventRange(tx));
  let query = tx.db.selectFrom('wallet_events').selectAll().where('event_sequence', '>', after).orderBy('event_sequence').limit(limit);
  if (walletId !== undefined) query = query.where('wallet_id', '=', walletId);
  return (await query.execute()).map(numbered);
}

export async function readEventRange({ db }: SqlTransaction): Promise<WalletEventRange> {
  const row = await db.selectFrom('event_counter').select(['last_sequence', 'trimmed_sequence']).executeTakeFirstOrThrow();
  return { trimmed: row.trimmed_sequence, newest: row.last_sequence };
}

/**
 * Of every wallet the newest reorganisation among those that are forgotten stays: without it nobody could tell that the
 * next one is only the rest of it (`listReorgEffects`). INVALID_PARAM.
 */
export async function trimEvents(tx: SqlTransaction, keep: number): Promise<number> {
  const range = await readEventRange(tx);
  const upTo = trimmedUpTo(range, keep, WALLET_EVENTS_TRIM_MAX);
  if (upTo === range.trimmed) return 0;
  await tx.db
    .deleteFrom('wallet_events')
    .where('event_sequence', '>', range.trimmed)
    .where('event_sequence', '<=', upTo)
    .where((eb) => eb.not(isReorg))
    .execute();
  await sql`DELETE FROM wallet_events WHERE event_sequence IN (
    SELECT e.event_sequence FROM wallets w CROSS JOIN wallet_events e
    WHERE e.wallet_id = w.id AND ${isReorg} AND e.event_sequence <
      (SELECT MAX(r.event_sequence) FROM wallet_events r WHERE r.wallet_id = w.id AND r.event_sequence <= ${upTo} AND ${isReorg}))`.execute(
    tx.db,
  );
  // The row of the counter last: until the commit nobody else can tell an event.
  await tx.db
    .updateTable('event_counter')
    .set({ trimmed_sequence: upTo })
    .where('id', '=', 1)
    .where('trimmed_sequence', '<', upTo)
    .execute();
  return upTo - range.trimmed;
}

/** Newest first. The condition is that of the index on them, word for word. */
export async function readReorgs(tx: SqlTransaction, walletId: WalletId, page: Page<number>): Promise<NumberedWalletEvent[]> {
  checkPage(page);
  let query = tx.db.selectFrom('wallet_events').selectAll().where('wallet_id', '=', walletId).where(isReorg);
  if (page.after !== undefined) query = query.where('event_sequence', '<', page.after);
  return (await query.orderBy('event_sequence', 'desc').limit(page.limit).execute()).map(numbered);
}

const isReorg: RawBuilder<boolean> = sql.raw(IS_REORG);

function numbered(row: { event_sequence: number; wallet_id: number; event_json: string }): NumberedWalletEvent {
  return { walletId: row.wallet_id, sequence: row.event_sequence, event: eventOf(row.event_json) };
}

/** JSON, its kind first (IS_REORG), with bytes as {"hex": ...} and amounts as {"amount": ...}. */
function eventText(event: WalletEvent): string {
  const { kind, ...rest } = event;
  return JSON.stringify({ kind, ...rest }, function (this: Readonly<Record<string, unknown>>, key, given: unknown) {
    // Not what is given: a Buffer has been made something else of by then.
    const value = this[key];
    if (value instanceof Uint8Array) return { hex: toHex(value) };
    if (typeof value === 'bigint') return { amount: String(value) };
    return key === 'outpoint' ? bareOutpoint(value as Outpoint) : given;
  });
}

/** Callers name coins by whatever they have of them. */
function bareOutpoint({ txId, index }: Outpoint): Outpoint {
  return { txId, index };
}

/** From the text of a row. */
export function eventOf(text: string): WalletEvent {
  return JSON.parse(text, (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null) return value;
    if ('hex' in value) return fromHex(value.hex as string);
    return 'amount' in value && typeof value.amount === 'string' ? BigInt(value.amount) : value;
  }) as WalletEvent;
}
