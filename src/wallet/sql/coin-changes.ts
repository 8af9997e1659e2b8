/**
 * Which coins of a wallet a process has to read again: told by the events that
 * the wallet's changes left behind (event-log.ts). Every change of a coin has
 * one: of the coin itself, of its lease, or of its transaction.
 */
import { type RawBuilder, sql } from 'kysely';
import { type Outpoint, outpointText } from '../../ledgers/outpoint.ts';
import { toHex } from '../../util/bytes.ts';
import type { WalletEvent, WalletId } from '../records.ts';
import type { SqlTransaction } from './database.ts';
import { eventOf } from './event-log.ts';
import { fundedList } from './funded.ts';

/** An event as it is stored. */
export interface EventRow {
  readonly event_sequence: number;
  readonly event_json: string;
}

/** An older one may still be there (`trimEvents`), without those that came after it. */
const isKept: RawBuilder<boolean> = sql`event_sequence > (SELECT trimmed_sequence FROM event_counter WHERE id = 1)`;

/** The newest one of the wallet that is not forgotten. */
export function newestEvent(tx: SqlTransaction, walletId: WalletId): Promise<EventRow | undefined> {
  return tx.db
    .selectFrom('wallet_events')
    .select(['event_sequence', 'event_json'])
    .where('wallet_id', '=', walletId)
    .where(isKept)
    .orderBy('event_sequence', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/**
 * Those after one that was read before. Null: the database does not have that one any more, because it is forgotten or
 * it is another database by now, or there are more than `max`.
 */
export async function eventsAfter(
  tx: SqlTransaction,
  walletId: WalletId,
  { event_sequence, event_json }: EventRow,
  max: number,
): Promise<readonly EventRow[] | null> {
  const [first, ...later] = await tx.db
    .selectFrom('wallet_events')
    .select(['event_sequence', 'event_json'])
    .where('wallet_id', '=', walletId)
    .where('event_sequence', '>=', event_sequence)
    .where(isKept)
    .orderBy('event_sequence')
    .limit(max + 2)
    .execute();
  const isSame = first?.event_sequence === event_sequence && first.event_json === event_json;
  return isSame && later.length <= max ? later : null;
}

/** Coins that may be others now: those at outpoints, and all of some transactions. */
export class ChangedCoins {
  readonly #txs = new Map<string, Uint8Array>();
  readonly #outpoints = new Map<string, Outpoint>();
  readonly #created: Outpoint[] = [];
  readonly #deleted = new Set<string>();

  constructor(events: readonly EventRow[]) {
    for (const { event_json } of events) this.#addEvent(eventOf(event_json));
  }

  #addEvent(event: WalletEvent): void {
    if ('txId' in event) this.#txs.set(toHex(event.txId), event.txId);
    if ('outpoint' in event) this.addOutpoint(event.outpoint);
    if (event.kind === 'utxo.created') this.#created.push(event.outpoint);
    if (event.kind === 'tx.deleted') this.#deleted.add(toHex(event.txId));
  }

  addOutpoint(outpoint: Outpoint): void {
    this.#outpoints.set(outpointText(outpoint), outpoint);
  }

  get isEmpty(): boolean {
    return this.#txs.size === 0 && this.#outpoints.size === 0;
  }

  /** In hex: transactions whose rows are gone, so that the database cannot tell which coins they had. */
  get deletedTxs(): ReadonlySet<string> {
    return this.#deleted;
  }

  get txIds(): readonly Uint8Array[] {
    return [...this.#txs.values()];
  }

  get outpoints(): readonly Outpoint[] {
    return [...this.#outpoints.values()];
  }

  /** A credit that came late makes coins of the transactions that spend it change of the wallet's own. */
  async addSpenders(tx: SqlTransaction, walletId: WalletId): Promise<void> {
    if (this.#created.length === 0) return;
    const list = fundedList(tx, walletId, this.#created);
    const { rows } = await sql<{ tx_hash: Uint8Array }>`SELECT t.tx_hash FROM ${list} v CROSS JOIN utxos u CROSS JOIN transactions t
      WHERE u.tx_id = v.tx_id AND u.output_index = v.place AND t.id = u.spent_by_tx_id`.execute(tx.db);
    for (const row of rows) this.#txs.set(toHex(row.tx_hash), row.tx_hash);
  }
}
