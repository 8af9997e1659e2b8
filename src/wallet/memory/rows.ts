/** All rows of the store in memory (wallet/rows.ts). */
import { toHex } from '../../util/bytes.ts';
import { labelRow, type RowsOfWallet, type WalletRows } from '../rows.ts';
import { labelsInOrder } from './labels.ts';
import { leasesInOrder } from './leases.ts';
import { byOrder, type MemoryTables, type MemoryWallet } from './tables.ts';

export function memoryRows(tables: MemoryTables): WalletRows {
  return {
    blocks: [...tables.blocks.values()]
      .sort((a, b) => a.height - b.height)
      .map(({ height, hash, timestamp }) => ({ height, hash: toHex(hash), timestamp })),
    feeds: [...tables.feeds.values()].sort((a, b) => (a.feed < b.feed ? -1 : 1)),
    wallets: tables.walletsInOrder().map(rowsOf),
  };
}

function rowsOf(wallet: MemoryWallet): RowsOfWallet {
  const { name, isWatchOnly, syncedTo, birthdayBlock, birthday } = wallet.info.value;
  const txs = [...wallet.txs.values()].sort(byOrder);
  const spends = txs.flatMap((row) => wallet.creditsOf(row).flatMap(({ spentBy }) => spentBy ?? []));
  const edges = new Set(spends.map(({ txKey, input }) => `${txKey}/${input}`));
  return {
    name,
    isWatchOnly,
    syncedHeight: syncedTo?.height ?? null,
    birthdayHeight: birthdayBlock?.height ?? null,
    birthday,
    ...keysOf(wallet),
    txs: txs.map(({ key, status, block, confirmedOrder, received, tx, label, mempool }) => {
      const { seenAt, evictedAt } = mempool;
      const height = block?.height ?? null;
      return { txId: key, status, height, confirmedOrder, received, isCoinbase: tx.isCoinbase, label, seenAt, evictedAt };
    }),
    credits: txs.flatMap((row) =>
      wallet.creditsOf(row).map(({ outpoint, amount, owner, spentBy }) => {
        const [spender, input] = spentBy === null ? [null, null] : [spentBy.txKey, spentBy.input];
        return { txId: row.key, index: outpoint.index, amount: String(amount), owner, spentBy: spender, spentInput: input };
      }),
    ),
    inputs: txs.flatMap(({ key, tx }) =>
      tx.inputs.map(({ txId, index }, input) => ({
        txId: key,
        input,
        prevTxId: toHex(txId),
        prevIndex: index,
        holdsEdge: edges.has(`${key}/${input}`),
      })),
    ),
    replacements: [...wallet.replacements.values()]
      .sort(byOrder)
      .map(({ replacedKey, replacementKey, createdAt }) => ({ replaced: replacedKey, replacement: replacementKey, createdAt })),
    leases: leasesInOrder(wallet).map(({ outpoint, id, expiresAt, releaseAfterSpendConfs }) => {
      return { txId: toHex(outpoint.txId), index: outpoint.index, leaseId: toHex(id), expiresAt, releaseAfterSpendConfs };
    }),
    labels: labelsInOrder(wallet).map(labelRow),
  };
}

function keysOf(wallet: MemoryWallet): Pick<RowsOfWallet, 'accounts' | 'addresses'> {
  const accounts = [...wallet.accounts.values()].sort((a, b) => a.id - b.id);
  const names = new Map(accounts.map(({ id, scope, name }) => [id, `${scope.purpose}/${scope.coinType}/${name}`]));
  return {
    accounts: accounts.map(({ scope, name, number, nextExternalIndex, nextInternalIndex }) => {
      return { scope: `${scope.purpose}/${scope.coinType}`, name, number, nextExternalIndex, nextInternalIndex };
    }),
    addresses: [...wallet.addresses.values()].sort(byOrder).map(({ script, kind, derivation }) => {
      const { accountId, branch, index } = derivation ?? { accountId: 0, branch: null, index: null };
      return { script: toHex(script), kind, account: names.get(accountId) ?? null, branch, index };
    }),
  };
}
