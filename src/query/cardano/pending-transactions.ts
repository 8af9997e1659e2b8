/**
 * Transactions of Cardano that are in no block, as `transactions.ts` has those
 * that are: with everything they name, and those of an address or a credential.
 */
import type { OutRef } from '../../ledgers/cardano/transaction.ts';
import type { KeyKind } from '../../ledgers/ledger.ts';
import { outpointTxId } from '../../ledgers/outpoint.ts';
import { hexOf } from '../dialect.ts';
import type { PendingOverlay } from '../pending/pending-overlay.ts';
import type { PendingTx } from '../pending/pending-tx.ts';
import type { Query } from '../query.ts';
import { describeHistoryTx, type ResolvedContent, type ResolvedInput, resolvedContent } from './transactions.ts';

export class PendingTransactions {
  private readonly query: Query;
  private readonly overlay: PendingOverlay;

  /** The overlay is of the block that the query is at. */
  constructor(query: Query, overlay: PendingOverlay) {
    this.query = query;
    this.overlay = overlay;
  }

  /** Each behind those it builds on. */
  all(): readonly PendingTx[] {
    return [...this.overlay.txs.values()];
  }

  /** Null: there is none. */
  byId(id: Uint8Array): ResolvedContent | null {
    const tx = this.overlay.txs.get(hexOf(id));
    if (tx === undefined) return null;
    const view = this.query.pending(this.overlay);
    const resolve = (list: readonly OutRef[]): ResolvedInput[] =>
      list.map(({ txId, index }) => ({ txId, index, utxo: view.outpoint(txId, index) }));
    const described = describeHistoryTx(tx);
    const { inputs, collateral, referenceInputs } = described.body;
    return resolvedContent(tx, described, {
      inputs: resolve(inputs),
      collateral: resolve(collateral),
      referenceInputs: resolve(referenceInputs),
      outputs: view.tx(id).outputs,
    });
  }

  /** Those that pay there, or spend from there. */
  ofOwner(kind: KeyKind, key: Uint8Array): readonly PendingTx[] {
    const { created, spent, txs } = this.overlay;
    const ids = new Set<string>();
    for (const { coin } of created.rows(kind, key, null)) ids.add(hexOf(outpointTxId(coin.keyBytes, coin.keyAt)));
    for (const { coin } of [...created.rows(kind, key, null), ...spent.rows(kind, key, null)])
      if (coin.spender !== null) ids.add(hexOf(coin.spender.txId));
    return [...txs.values()].filter(({ hexId }) => ids.has(hexId));
  }
}
