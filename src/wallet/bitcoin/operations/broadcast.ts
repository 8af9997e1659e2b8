/**
 * A signed transaction on its way to the network. One of ours is recorded as
 * pending before anybody else hears of it, so that its coins are not chosen
 * again whoever crashes, and as published once a node has taken it. One that
 * takes the place of another is recorded only when a node has taken it: if it is
 * refused, the other one still stands.
 *
 * One that was recorded before may be broadcast again. If a node refuses it then,
 * it stays what it is: another node may have it.
 */
import { equalBytes } from '../../../util/bytes.ts';
import { isUnspentError } from '../../../util/errors.ts';
import type { TxDetail, TxStatus, WalletInfo, WalletTx, WalletTxRow } from '../../records.ts';
import { isLive } from '../../rules/status.ts';
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
 * for bytes that are no transaction. Whatever else `submit` throws leaves it pending: a node may have taken it.
 */
export async function broadcastTx(context: WalletContext, wallet: WalletInfo, request: BroadcastRequest): Promise<TxDetail> {
  const { store, network } = context;
  const { raw, label, replace = false, submit } = request;
  const tx = walletTxOf(raw, network.mweb);
  const before = await rowOf(context, wallet, tx);
  if (replace && submit !== undefined) {
    await submitted(context, wallet, tx, submit);
    await loseRivals(context, wallet, tx, before);
  }
  // One that is dead can live again as published only.
  const isDead = before !== null && !isLive(before.status);
  await record(context, wallet, tx, isDead || (replace && submit !== undefined) ? 'published' : 'pending', replace);
  if (label !== undefined) await store.updateTx(wallet.id, tx.id, { label });
  if (!replace && submit !== undefined) {
    await submitRecorded(context, wallet, tx, submit, { isNew: before === null, isDead });
    await record(context, wallet, tx, 'published', replace);
  }
  return store.getTxDetail(wallet.id, tx.id);
}

/**
 * One that the node refuses has failed, and its coins are free again, if nobody was given it before: neither by an
 * earlier call nor, meanwhile, by another process. If nobody knows what the node did, it stays pending.
 */
async function submitRecorded(
  context: WalletContext,
  wallet: WalletInfo,
  tx: WalletTx,
  submit: (raw: Uint8Array) => Promise<unknown>,
  { isNew, isDead }: { readonly isNew: boolean; readonly isDead: boolean },
): Promise<void> {
  try {
    await submitted(context, wallet, tx, submit);
  } catch (error) {
    if (isUnspentError(error, 'TX_REFUSED') && (isNew || isDead)) await withdraw(context, wallet, tx, isDead);
    throw error;
  }
}

async function withdraw(context: WalletContext, wallet: WalletInfo, tx: WalletTx, wasDead: boolean): Promise<void> {
  const row = await rowOf(context, wallet, tx);
  if (row === null || row.block !== null || row.status !== (wasDead ? 'published' : 'pending')) return;
  try {
    await context.store.invalidateTx(wallet.id, tx.id);
  } catch (error) {
    // A block or another process was faster: then it is theirs to say what it is, and the node's words stay the answer.
    if (!isUnspentError(error, 'TX_NOT_UNMINED')) throw error;
  }
}

/** What nodes say of one that they, or the chain, have already: Core's words, as others repeat them. */
const TAKEN = /already[ -](in|known|have)|txn-same-nonwitness-data-in-mempool/i;

/** Resolves when a node has it or the chain has it, by the node's word or as the wallet knows. */
async function submitted(
  context: WalletContext,
  wallet: WalletInfo,
  tx: WalletTx,
  submit: (raw: Uint8Array) => Promise<unknown>,
): Promise<void> {
  try {
    await submit(tx.raw);
  } catch (error) {
    if (!isUnspentError(error, 'TX_REFUSED')) throw error;
    if (TAKEN.test(error.message)) return;
    const row = await rowOf(context, wallet, tx);
    if (row === null || row.block === null) throw error;
  }
}

/** A node that took a dead one again has let go of whatever took its place; the mempool tells that later than the answer came. */
async function loseRivals({ store, now }: WalletContext, { id }: WalletInfo, tx: WalletTx, before: WalletTxRow | null): Promise<void> {
  if (before === null || isLive(before.status)) return;
  const isSpent = ({ txId, index }: WalletTx['inputs'][number]): boolean =>
    tx.inputs.some((input) => input.index === index && equalBytes(input.txId, txId));
  for (const rival of await store.listTxs(id, 'unmined')) {
    if (rival.tx.inputs.some(isSpent)) await store.markMempool(id, rival.tx.id, false, now());
  }
}

/** Null: the wallet does not have it. */
async function rowOf({ store }: WalletContext, { id }: WalletInfo, tx: WalletTx): Promise<WalletTxRow | null> {
  try {
    return await store.getTx(id, tx.id);
  } catch (error) {
    if (isUnspentError(error, 'TX_UNKNOWN')) return null;
    throw error;
  }
}

/** The mempool or a block may have brought it before: then only what is missing is added. A dead one lives again, where nothing is in its way. */
async function record({ store, now }: WalletContext, { id }: WalletInfo, tx: WalletTx, status: TxStatus, replace: boolean): Promise<void> {
  const owned = await store.resolveOwned(
    id,
    tx.outputs.map(({ script }) => script),
  );
  const mine = [...owned.values()].map(({ script }) => script);
  const credits = new Map<number, null>();
  for (const [index, { script }] of tx.outputs.entries()) if (mine.some((each) => equalBytes(each, script))) credits.set(index, null);
  await store.createTx({ walletId: id, tx, received: now(), status, replace, reactivate: status === 'published', credits });
}
