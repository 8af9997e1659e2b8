/**
 * A signed transaction on its way to the network. One of ours is recorded as
 * pending before anybody else hears of it, so that its coins are not chosen
 * again whoever crashes, and as published once a node has taken it. One that
 * takes the place of another is recorded only when a node has taken it: if it is
 * refused, the other one still stands.
 */
import { equalBytes } from '../../../util/bytes.ts';
import { isUnspentError } from '../../../util/errors.ts';
import type { TxDetail, TxStatus, WalletInfo, WalletTx } from '../../records.ts';
import { walletTxOf } from '../wallet-tx.ts';
import type { WalletContext } from './wallet-context.ts';

export interface BroadcastRequest {
  /** Signed, as nodes take it. */
  readonly raw: Uint8Array;
  readonly label?: string | undefined;
  /** It may take the place of unconfirmed transactions that spend the same. */
  readonly replace?: boolean | undefined;
  /** Hands it to a node, which throws TX_REFUSED; undefined: the caller sends it, and the wallet only records it. */
  readonly submit?: ((raw: Uint8Array) => Promise<unknown>) | undefined;
}

/**
 * Throws TX_REFUSED, INPUT_CONFLICT where it spends what another one spends and may not replace that one, BLOCK_INVALID
 * for bytes that are no transaction.
 */
export async function broadcastTx(context: WalletContext, wallet: WalletInfo, request: BroadcastRequest): Promise<TxDetail> {
  const { store, network } = context;
  const { raw, label, replace = false, submit } = request;
  const tx = walletTxOf(raw, network.mweb);
  if (replace) await submit?.(raw);
  await record(context, wallet, tx, replace && submit !== undefined ? 'published' : 'pending', replace);
  if (label !== undefined) await store.updateTx(wallet.id, tx.id, { label });
  if (!replace && submit !== undefined) {
    await submitPending(context, wallet, tx, submit);
    await record(context, wallet, tx, 'published', replace);
  }
  return store.getTxDetail(wallet.id, tx.id);
}

/** One that the node refuses has failed, and its coins are free again. If nobody knows what the node did, it stays pending. */
async function submitPending(
  { store }: WalletContext,
  { id }: WalletInfo,
  tx: WalletTx,
  submit: (raw: Uint8Array) => Promise<unknown>,
): Promise<void> {
  try {
    await submit(tx.raw);
  } catch (error) {
    if (isUnspentError(error, 'TX_REFUSED')) await store.invalidateTx(id, tx.id);
    throw error;
  }
}

/** The mempool or a block may have brought it before: then only what is missing is added. */
async function record({ store, now }: WalletContext, { id }: WalletInfo, tx: WalletTx, status: TxStatus, replace: boolean): Promise<void> {
  const owned = await store.resolveOwned(
    id,
    tx.outputs.map(({ script }) => script),
  );
  const mine = [...owned.values()].map(({ script }) => script);
  const credits = new Map<number, null>();
  for (const [index, { script }] of tx.outputs.entries()) if (mine.some((each) => equalBytes(each, script))) credits.set(index, null);
  await store.createTx({ walletId: id, tx, received: now(), status, replace, credits });
}
