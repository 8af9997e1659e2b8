/**
 * What a scan has found, as the store of wallets takes it in. A transaction whose
 * bytes the chain's store has forgotten becomes a row that has nothing but its
 * id, its block and those coins of the wallet that it is known to have spent,
 * unless the wallet has the transaction already: then it is that one.
 */
import { type Outpoint, outpointText } from '../../ledgers/outpoint.ts';
import { isUnspentError, UnspentError } from '../../util/errors.ts';
import type { OtherOwners } from '../feed/wallet-feed.ts';
import type { WalletId, WalletTx } from '../records.ts';
import type { NewTx, WalletStore } from '../store.ts';
import { isPrunedTx } from './pruned-tx.ts';
import type { ConfirmedTx } from './script-history.ts';

/**
 * `coins`: unspent ones of the wallet. Throws PRUNED if one of them was spent by a forgotten transaction that the wallet
 * has without it: its row cannot be told more.
 */
export async function foundTxs(
  store: WalletStore,
  walletId: WalletId,
  found: readonly ConfirmedTx[],
  coins: readonly Outpoint[] = [],
  otherOwners: OtherOwners = () => [],
): Promise<NewTx[]> {
  const known = new Map<ConfirmedTx, WalletTx>();
  const spentUnseen = new Set<string>();
  for (const each of found) {
    if (!isPrunedTx(each.tx)) continue;
    const tx = await knownTx(store, walletId, each.tx.id);
    if (tx === null) continue;
    known.set(each, tx);
    const inputs = new Set(tx.inputs.map(outpointText));
    for (const input of each.tx.inputs) if (!inputs.has(outpointText(input))) spentUnseen.add(outpointText(input));
  }
  const lost = coins.find((coin) => spentUnseen.has(outpointText(coin)));
  if (lost !== undefined) {
    throw new UnspentError(
      'PRUNED',
      'a coin was spent by a transaction of which nothing is left: make the wallet again in another database',
      {
        outpoint: outpointText(lost),
      },
    );
  }
  return found.map((each) => newTx(walletId, each, known.get(each) ?? each.tx, spentUnseen, otherOwners));
}

/** Null: the wallet does not have it. */
async function knownTx(store: WalletStore, walletId: WalletId, txId: Uint8Array): Promise<WalletTx | null> {
  try {
    return (await store.getTx(walletId, txId)).tx;
  } catch (error) {
    if (isUnspentError(error, 'TX_UNKNOWN')) return null;
    throw error;
  }
}

/** Each output is the wallet's own if its script is one of the wallet's addresses: the store looks. */
function newTx(
  walletId: WalletId,
  { tx: told, block }: ConfirmedTx,
  tx: WalletTx,
  spentUnseen: ReadonlySet<string>,
  otherOwners: OtherOwners,
): NewTx {
  const creditCandidates = new Map<number, readonly Uint8Array[]>();
  // All outputs of a forgotten one are spent, and by whom may be forgotten, too: it gets no new coins.
  if (!isPrunedTx(told)) {
    for (const [index, { script }] of tx.outputs.entries())
      if (!spentUnseen.has(outpointText({ txId: tx.id, index }))) creditCandidates.set(index, otherOwners(script));
  }
  return { walletId, tx, block, received: 1000 * block.timestamp, status: 'published', credits: new Map(), creditCandidates };
}
