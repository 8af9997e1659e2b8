/** What the store in memory answers about transactions and coins, by looking at every row. */
import { type Outpoint, outpointText } from '../../ledgers/outpoint.ts';
import { toHex } from '../../util/bytes.ts';
import type { CoinLease, TxDetail, TxReplacement, WalletBalance, WalletCoin, WalletId, WalletInfo, WalletTxRow } from '../records.ts';
import { checkCoinFilter, compareCoins, isFilteredCoin } from '../rules/coins.ts';
import { COINBASE_MATURITY, checkDepths, confirmations, isMature } from '../rules/confirmations.ts';
import { detailParts } from '../rules/detail-range.ts';
import { refusal } from '../rules/failures.ts';
import { compareOutpoints, isActive } from '../rules/leases.ts';
import { isEvicted, isLive } from '../rules/status.ts';
import { checkAfter } from '../rules/texts.ts';
import type { CoinFilter, HistoryPage, Page, TouchedWallets, WatchedAccounts, WatchedOutput } from '../store.ts';
import { highestBelow } from './chain.ts';
import { leasesInOrder } from './leases.ts';
import { byOrder, type MemoryCredit, type MemoryReplacement, type MemoryTables, type MemoryTx, type MemoryWallet } from './tables.ts';

export function describeTx({ tx, status, block, confirmedOrder, received, label, mempool }: MemoryTx): WalletTxRow {
  return { tx, status, block, confirmedOrder, received, label, mempool };
}

/** Inputs are looked up among all credits, so that a dead row still shows what it spent. */
export function detailOf(wallet: MemoryWallet, row: MemoryTx): TxDetail {
  const owned = (outpoint: Outpoint, index: number) => {
    const credit = wallet.credits.get(outpointText(outpoint));
    return credit === undefined ? [] : [{ index, amount: credit.amount }];
  };
  return {
    ...describeTx(row),
    ownedInputs: row.tx.inputs.flatMap(owned),
    ownedOutputs: row.tx.outputs.flatMap((_, index) => owned({ txId: row.tx.id, index }, index)),
  };
}

/** In the order of the chain. */
export function confirmedBetween(wallet: MemoryWallet, from: number, to: number | null): MemoryTx[] {
  const rows = [...wallet.txs.values()].filter(
    ({ block }) => block !== null && block.height >= from && (to === null || block.height <= to),
  );
  return rows.sort((a, b) => a.block!.height - b.block!.height || a.confirmedOrder! - b.confirmedOrder!);
}

/** Newest first; dead ones included. */
export function withoutBlock(wallet: MemoryWallet): MemoryTx[] {
  const rows = [...wallet.txs.values()].filter(({ block }) => block === null);
  return rows.sort((a, b) => b.received - a.received || b.order - a.order);
}

/** The live ones of those. */
export function unmined(wallet: MemoryWallet): MemoryTx[] {
  return withoutBlock(wallet).filter(({ status }) => isLive(status));
}

/** By name. */
export function walletsOfPage(tables: MemoryTables, page: Page<string> | undefined): WalletInfo[] {
  checkAfter(page?.after);
  const wallets = [...tables.wallets.values()].map(({ info }) => info.value).sort((a, b) => (a.name < b.name ? -1 : 1));
  return [...rowsOfPage(wallets, page, ({ name }, after) => name > after)];
}

export function inDetailRange(wallet: MemoryWallet, start: number, end: number): MemoryTx[] {
  return detailParts(start, end).flatMap((part) => {
    if (part === 'unmined') return withoutBlock(wallet);
    const rows = confirmedBetween(wallet, part.from, part.to);
    // A stable sort keeps the order inside a block.
    return part.newestBlockFirst ? rows.sort((a, b) => b.block!.height - a.block!.height) : rows;
  });
}

function inHistory(wallet: MemoryWallet): MemoryTx[] {
  return [...withoutBlock(wallet), ...confirmedBetween(wallet, 0, null).reverse()];
}

/** Throws TX_UNKNOWN of a page after an unknown one. */
export function historyOf(wallet: MemoryWallet, page: HistoryPage | undefined): TxDetail[] {
  const rows = inHistory(wallet);
  const after = page?.after && rows.indexOf(wallet.tx(page.after));
  const wanted = page?.withoutReplaced === true ? rows.filter((row) => !hasReplacement(wallet, row)) : rows;
  const shown = rowsOfPage(wanted, page && { after, limit: page.limit }, (row, last) => rows.indexOf(row) > last);
  return shown.map((row) => detailOf(wallet, row));
}

/** Replaced, by one that is still there. */
function hasReplacement(wallet: MemoryWallet, { key, status }: MemoryTx): boolean {
  return status === 'replaced' && [...wallet.replacements.values()].some(({ replacedKey }) => replacedKey === key);
}

/** The rows behind the one with that key. */
export function rowsOfPage<Row, Key>(
  rows: readonly Row[],
  page: Page<Key> | undefined,
  isAfter: (row: Row, after: Key) => boolean,
): readonly Row[] {
  if (page === undefined) return rows;
  const { after, limit } = page;
  if (!Number.isInteger(limit) || limit < 1) throw refusal.invalid(`a page cannot have ${limit} rows`);
  return (after === undefined ? rows : rows.filter((row) => isAfter(row, after))).slice(0, limit);
}

export function replacementsOf(wallet: MemoryWallet, keys: ReadonlySet<string>): TxReplacement[] {
  const edges = [...wallet.replacements.values()].filter(
    ({ replacedKey, replacementKey }) => keys.has(replacedKey) || keys.has(replacementKey),
  );
  return edges
    .sort((a, b) => a.createdAt - b.createdAt || a.order - b.order)
    .map(({ replacedKey, replacementKey, createdAt }) => {
      return { replaced: wallet.txOf(replacedKey).tx.id, replacement: wallet.txOf(replacementKey).tx.id, createdAt };
    });
}

export function chainOfReplacements(wallet: MemoryWallet, first: MemoryTx): Uint8Array[] {
  const chain: MemoryTx[] = [first];
  for (let row = first; row.status === 'replaced'; ) {
    let newest: MemoryReplacement | undefined;
    for (const edge of wallet.replacements.values()) {
      if (edge.replacedKey === row.key && edge.order > (newest?.order ?? 0)) newest = edge;
    }
    if (newest === undefined) break;
    row = wallet.txOf(newest.replacementKey);
    if (chain.includes(row)) break;
    chain.push(row);
  }
  return chain.slice(1).map(({ tx }) => tx.id);
}

/** A lease that counts at that time. */
function activeLease(wallet: MemoryWallet, credit: MemoryCredit, now: number): CoinLease | null {
  const lease = wallet.leases.get(outpointText(credit.outpoint));
  if (lease === undefined || !isActive(lease, now)) return null;
  const { id, expiresAt, releaseAfterSpendConfs } = lease;
  return { id, expiresAt, releaseAfterSpendConfs };
}

function coinOf(wallet: MemoryWallet, credit: MemoryCredit, now: number): WalletCoin {
  const parent = wallet.txOf(credit.parentKey);
  const { kind, derivation } = wallet.addresses.get(credit.owner)!;
  const account = derivation === null ? undefined : wallet.accounts.get(derivation.accountId);
  const { inputs, outputs, isCoinbase } = parent.tx;
  const { script, assets = [], carriesScript = false } = outputs[credit.outpoint.index];
  return {
    outpoint: credit.outpoint,
    amount: credit.amount,
    script,
    kind,
    assets,
    carriesScript,
    account: account === undefined ? null : { id: account.id, scope: account.scope, number: account.number, name: account.name },
    received: parent.received,
    isCoinbase,
    height: parent.block?.height ?? null,
    isOwnChange: inputs.length > 0 && inputs.every((input) => wallet.credits.get(outpointText(input)) !== undefined),
    isEvicted: parent.block === null && isEvicted(parent),
    lease: activeLease(wallet, credit, now),
  };
}

/** Throws UTXO_UNKNOWN. */
export function findCoin(wallet: MemoryWallet, outpoint: Outpoint, now: number): WalletCoin {
  const credit = wallet.credits.get(outpointText(outpoint));
  if (credit === undefined || credit.spentBy !== null || !wallet.isCreditLive(credit)) throw refusal.coinUnknown(outpoint);
  return coinOf(wallet, credit, now);
}

/** Throws ACCOUNT_QUERY, INVALID_PARAM. */
export function coinsOf(wallet: MemoryWallet, filter: CoinFilter): WalletCoin[] {
  checkCoinFilter(filter);
  const synced = syncedHeightOf(wallet);
  const coins: WalletCoin[] = [];
  for (const credit of wallet.credits.values()) {
    if (credit.spentBy !== null || !wallet.isCreditLive(credit)) continue;
    const coin = coinOf(wallet, credit, filter.now);
    if (isFilteredCoin(coin, filter, synced)) coins.push(coin);
  }
  return coins.sort(compareCoins);
}

function syncedHeightOf(wallet: MemoryWallet): number | null {
  return wallet.info.value.syncedTo?.height ?? null;
}

export function balanceOf(wallet: MemoryWallet, filter: CoinFilter): WalletBalance {
  const maturity = filter.coinbaseMaturity ?? COINBASE_MATURITY;
  const synced = syncedHeightOf(wallet);
  const sums = { total: 0n, locked: 0n, confirmed: 0n, trustedPending: 0n, untrustedPending: 0n, immature: 0n, spendable: 0n };
  checkDepths(filter);
  // Immature ones are part of the total.
  for (const coin of coinsOf(wallet, { ...filter, coinbaseMaturity: 0 })) {
    const { amount, height, isOwnChange, lease } = coin;
    const part = !isMature(coin.isCoinbase, confirmations(height, synced), maturity)
      ? 'immature'
      : height !== null
        ? 'confirmed'
        : isOwnChange
          ? 'trustedPending'
          : 'untrustedPending';
    sums.total += amount;
    sums[part] += amount;
    if (lease !== null) sums.locked += amount;
    else if (part === 'confirmed' || (part === 'trustedPending' && !coin.isEvicted)) sums.spendable += amount;
  }
  return sums;
}

/** Credits of live transactions that no block spends. */
export function watchedOutputs(wallet: MemoryWallet): WatchedOutput[] {
  const watched: WatchedOutput[] = [];
  for (const credit of wallet.credits.values()) {
    const parent = wallet.txOf(credit.parentKey);
    const isSpentInBlock = credit.spentBy !== null && wallet.txOf(credit.spentBy.txKey).block !== null;
    if (!isLive(parent.status) || isSpentInBlock) continue;
    watched.push({ outpoint: credit.outpoint, amount: credit.amount, script: parent.tx.outputs[credit.outpoint.index].script });
  }
  return watched.sort((a, b) => compareOutpoints(a.outpoint, b.outpoint));
}

export function leasedCoins(wallet: MemoryWallet, now: number): WalletCoin[] {
  return leasesInOrder(wallet).flatMap((lease) => {
    const credit = wallet.credits.get(outpointText(lease.outpoint))!;
    if (!isActive(lease, now) || !wallet.isCreditLive(credit)) return [];
    return credit.spentBy === null || lease.releaseAfterSpendConfs !== null ? [coinOf(wallet, credit, now)] : [];
  });
}

export function touchedWallets(tables: MemoryTables, scripts: readonly Uint8Array[], outpoints: readonly Outpoint[]): TouchedWallets {
  const wallets = tables.walletsInOrder();
  const idsOf = (isTouched: (wallet: MemoryWallet) => boolean): readonly WalletId[] => wallets.filter(isTouched).map(({ id }) => id);
  const owners = scripts
    .map((script) => toHex(script))
    .map((script) => [script, idsOf(({ addresses }) => addresses.get(script) !== undefined)] as const);
  const spenders = outpoints
    .map(outpointText)
    .map((text) => [text, idsOf(({ credits, txs }) => credits.get(text) !== undefined || hasInput(txs.values(), text))] as const);
  const some = ([, ids]: readonly [string, readonly WalletId[]]): boolean => ids.length > 0;
  return { watchVersion: tables.watchVersion.value, owners: new Map(owners.filter(some)), spenders: new Map(spenders.filter(some)) };
}

export function watchedAccounts(tables: MemoryTables, feed: string, since: number): WatchedAccounts {
  const wallets = tables.walletsInOrder();
  const accounts = wallets.flatMap(({ info: { value: wallet }, accounts: all, watchVersions }) =>
    [...all.values()].filter(({ id }) => watchVersions.get(id)! > since).map((account) => ({ wallet, account })),
  );
  return {
    watchVersion: tables.watchVersion.value,
    accounts: accounts.sort((a, b) => a.account.id - b.account.id),
    block: highestBelow(tables, Number.POSITIVE_INFINITY),
    position: tables.feeds.get(feed)?.position ?? null,
  };
}

/** Of all wallets. */
export function inMempool(tables: MemoryTables): { walletId: WalletId; txId: Uint8Array }[] {
  return tables.walletsInOrder().flatMap(({ id: walletId, txs }) => {
    const rows = [...txs.values()].filter((row) => row.status === 'published' && row.block === null && !isEvicted(row));
    return rows.sort(byOrder).map(({ tx }) => ({ walletId, txId: tx.id }));
  });
}

function hasInput(rows: Iterable<MemoryTx>, outpoint: string): boolean {
  for (const { tx } of rows) if (tx.inputs.some((input) => outpointText(input) === outpoint)) return true;
  return false;
}
