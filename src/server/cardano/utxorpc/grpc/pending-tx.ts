/** Transactions in no block, as the mempool over the newest block has them (`query/pending/`). */
import type { submit } from '@utxorpc/spec/lib/index.mjs';
import { PendingTransactions } from '../../../../query/cardano/pending-transactions.ts';
import type { ResolvedContent } from '../../../../query/cardano/transactions.ts';
import type { Query } from '../../../../query/query.ts';
import { UnspentError } from '../../../../util/errors.ts';
import type { ServerContext } from '../../../context.ts';
import type { MessageInit } from './message-init.ts';
import { txMessage } from './tx-message.ts';

/** As in the enumeration `Stage`. */
export const STAGE = { mempool: 2, confirmed: 4 } as const;

/** What is in no block at that of the query. Throws UNSUPPORTED. */
export function pendingAt({ mempool }: ServerContext, query: Query): PendingTransactions {
  if (mempool?.overlayAt === undefined) throw new UnspentError('UNSUPPORTED', 'no mempool is kept here');
  return new PendingTransactions(query, mempool.overlayAt(query));
}

export function pendingMessage(tx: ResolvedContent, stage: number): MessageInit<submit.TxInMempool> {
  return { ref: tx.id, nativeBytes: tx.raw, stage, parsedState: { case: 'cardano', value: txMessage(tx) } };
}
