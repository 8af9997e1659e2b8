/**
 * Who spent an output, as Esplora says it: a transaction of the mempool, or one
 * of the chain. With the history this is known for ever; without it, for as
 * long as the store remembers spent outputs, and then it is not guessed.
 */
import { formatId } from '../../../ledgers/bitcoin/index.ts';
import type { Mempool } from '../../../query/bitcoin/mempool/mempool.ts';
import type { HistorySpend, TxHistory } from '../../../query/history.ts';
import type { Query } from '../../../query/query.ts';
import { isUnspentError, UnspentError } from '../../../util/errors.ts';
import { statusOf } from './block-json.ts';
import { type TxStatus, UNCONFIRMED } from './tx-json.ts';
import { blockAt } from './txs.ts';

const UNSPENT = '{"spent":false}';

/** Ids of spending transactions of one answer. The row of a transaction has all of it, so each is read once. */
export class SpenderIds {
  readonly #ids = new Map<string, Uint8Array>();

  of(history: TxHistory, { height, txIndex }: HistorySpend): Uint8Array {
    const name = `${height} ${txIndex}`;
    let id = this.#ids.get(name);
    if (id === undefined) {
      const tx = history.txAt(height, txIndex);
      if (tx === null)
        throw new UnspentError('STORE_DAMAGED', `transaction ${txIndex} of block ${height} spends and is not there`, { height });
      id = tx.id.slice();
      this.#ids.set(name, id);
    }
    return id;
  }
}

/** `unconfirmed`: who spends it in the mempool. */
export function outspendJson(
  query: Query,
  txId: Uint8Array,
  index: number,
  unconfirmed: ReturnType<Mempool['spender']>,
  spenders = new SpenderIds(),
): string {
  if (unconfirmed !== null) return spentJson(unconfirmed.tx.id, unconfirmed.input, UNCONFIRMED);
  const history = historyOf(query);
  if (history === null) return rememberedSpend(query, txId, index);
  const spend = history.spend(txId, index);
  return spend === null ? UNSPENT : spentJson(spenders.of(history, spend), spend.input, statusOf(blockAt(query, spend.height)));
}

/** Null: the store keeps none. */
function historyOf(query: Query): TxHistory | null {
  try {
    return query.history();
  } catch (error) {
    if (isUnspentError(error, 'UNSUPPORTED')) return null;
    throw error;
  }
}

/** From the outputs themselves. One that is not there was never made, or was spent and forgotten; only the history could tell. */
function rememberedSpend(query: Query, txId: Uint8Array, index: number): string {
  const found = query.outpoint(txId, index);
  if (found === null && query.pruned().spent >= 0) query.history();
  const spent = found?.spent ?? null;
  if (spent === null || spent.txId === null) return UNSPENT;
  return spentJson(spent.txId, spent.input, statusOf(blockAt(query, spent.height)));
}

function spentJson(txId: Uint8Array, input: number, status: TxStatus): string {
  return JSON.stringify({ spent: true, txid: formatId(txId), vin: input, status });
}
