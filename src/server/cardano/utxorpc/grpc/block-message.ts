/**
 * Blocks as UTxO RPC writes them, with their transactions from the history. The
 * bytes of a block are not kept: where its header still is, they are put together
 * again from that and its transactions.
 */
import type { sync } from '@utxorpc/spec/lib/index.mjs';
import { joinCardanoBlock } from '../../../../ledgers/cardano/join-block.ts';
import type { ChainRow } from '../../../../projections/chain.ts';
import { type ResolvedTx, Transactions } from '../../../../query/cardano/transactions.ts';
import type { Query } from '../../../../query/query.ts';
import type { UtxoRpcBackend } from './backend.ts';
import type { MessageInit } from './message-init.ts';
import { txMessage } from './tx-message.ts';

type BlockMessage = MessageInit<sync.AnyChainBlock>;

/** And the bytes of its transactions. Throws UNSUPPORTED where no history is kept, PRUNED where it does not have this block. */
export function blockMessage(
  backend: UtxoRpcBackend,
  query: Query,
  row: ChainRow,
): { readonly block: BlockMessage; readonly rawBytes: number } {
  const txs = blockTxs(query, row);
  const tx = txs.map(txMessage);
  const chain = { case: 'cardano' as const, value: { ...headerMessage(backend, row), body: { tx } } };
  return { block: { nativeBytes: bytesOf(query, row, txs), chain }, rawBytes: txs.reduce((sum, { raw }) => sum + raw.length, 0) };
}

/** The transactions of a block, resolved, in its order. Throws UNSUPPORTED, PRUNED. */
export function blockTxs(query: Query, row: ChainRow): ResolvedTx[] {
  const transactions = new Transactions(query);
  // A boundary block has the height of the block before it, and no transactions.
  return row.boundary ? [] : transactions.ofBlock(row.height).map((tx) => transactions.resolve(tx));
}

/** Undefined: of Byron, or its header was forgotten with its undo record. */
function bytesOf(query: Query, row: ChainRow, txs: readonly ResolvedTx[]): Uint8Array | undefined {
  const header = query.header(row);
  if (header === undefined) return undefined;
  const joined = joinCardanoBlock(
    row.era,
    header,
    txs.map(({ raw }) => raw),
  );
  return joined ?? undefined;
}

export function headerMessage(backend: UtxoRpcBackend, { slot, hash, height }: ChainRow) {
  return { header: { slot: BigInt(slot), hash, height: BigInt(height) }, timestamp: backend.timestamp(slot) };
}
