/**
 * Every output there ever was that patterns can lead to, spent or not, from the
 * history: by the transactions of an address or a credential where the store
 * keeps those, and else by all transactions of the chain. In the order of the
 * chain, some transactions at a time.
 */
import type { KeyKind } from '../../ledgers/ledger.ts';
import { UnspentError } from '../../util/errors.ts';
import { HISTORY_TXS_AT_ONCE } from '../../util/limits.ts';
import type { HistoryTx, TxHistory, TxHistoryPage } from '../history.ts';
import type { Query } from '../query.ts';
import type { SlotRange, Utxo } from '../utxo.ts';
import { HistoryOutputs } from './history-outputs.ts';

export interface HistoryMatchRequest {
  /** The owner whose transactions are looked through; null: all of the chain are. */
  readonly owner: { readonly kind: KeyKind; readonly key: Uint8Array } | null;
  /** Only outputs made in these, as far as whole blocks go; the caller looks closer. */
  readonly created: SlotRange;
  readonly order: 'asc' | 'desc';
}

/** Throws UNSUPPORTED where the store keeps no history, PRUNED where it does not reach as far back as is asked for. */
export function historyMatches(query: Query, request: HistoryMatchRequest): Iterable<Utxo> {
  const outputs = new HistoryOutputs(query);
  const { owner, created, order } = request;
  const fromHeight = heightAt(query, created.from);
  const toHeight = query.blockAtSlot(created.to)?.height ?? -1;
  needHeight(query, outputs.history, owner?.kind ?? null, created.from);
  if (toHeight < fromHeight) return [];
  return outputsIn(outputs, txsOf(outputs.history, owner, { order, fromHeight, toHeight, grants: true }), order);
}

/** Of the newest block up to that slot: no output made in it or later is of a block before. */
function heightAt(query: Query, slot: number): number {
  return query.blockAtSlot(slot)?.height ?? 0;
}

/** Never a part of the answer: outputs of blocks before the history are not known once they are spent. */
function needHeight(query: Query, history: TxHistory, kind: KeyKind | null, slot: number): void {
  const began = kind === null ? history.startHeight : history.startHeightOf(kind);
  const start = Math.max(began, history.forgottenHeight + 1);
  const first = start === 0 ? null : query.blockAtHeight(start);
  if (start === 0 || (first !== null && slot >= first.slot)) return;
  const since = first === null ? '' : `; ask with created_after=${first.slot}`;
  const message = `spent outputs of blocks before height ${start} are not known any more: utxo.history was switched on there, or utxo.historyDepth lets go of what is older${since}`;
  throw new UnspentError('PRUNED', message, { startHeight: start });
}

/** Transactions, and grants, that made something, some at a time. */
function* txsOf(
  history: TxHistory,
  owner: HistoryMatchRequest['owner'],
  range: TxHistoryPage,
): Generator<readonly HistoryTx[], void, void> {
  if (owner === null) {
    yield* portions(history.every(range));
    return;
  }
  for (const rows of portions(history.ofKey(owner.kind, owner.key, range)))
    yield history.txsAt(rows.filter(({ fundedCount }) => fundedCount > 0));
}

function* portions<Row>(rows: Iterable<Row>): Generator<readonly Row[], void, void> {
  let portion: Row[] = [];
  for (const row of rows) {
    portion.push(row);
    if (portion.length < HISTORY_TXS_AT_ONCE) continue;
    yield portion;
    portion = [];
  }
  if (portion.length > 0) yield portion;
}

function* outputsIn(outputs: HistoryOutputs, txs: Iterable<readonly HistoryTx[]>, order: 'asc' | 'desc'): Generator<Utxo, void, void> {
  // Newest first, the transactions come so already; the outputs of each are to do so, too.
  for (const portion of txs) yield* order === 'asc' ? outputs.ofTxs(portion) : outputs.ofTxs(portion.toReversed()).toReversed();
}
