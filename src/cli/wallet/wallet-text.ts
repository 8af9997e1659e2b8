/** Coins and transactions of wallets as people read them. */
import type { Asset } from '../../ledgers/asset.ts';
import { bareCoins } from '../../query/amounts.ts';
import { toHex } from '../../util/bytes.ts';
import { coinName, txChange, type WalletNotation } from '../../wallet/documents.ts';
import type { FamilyWallets } from '../../wallet/family-wallets.ts';
import type { WalletHoldings } from '../../wallet/holdings.ts';
import { type CoinLease, LEASE_WITHOUT_END, type TxDetail, type WalletCoin, type WalletInfo } from '../../wallet/records.ts';
import { confirmations } from '../../wallet/rules/confirmations.ts';
import { outcomeOf } from '../../wallet/rules/status.ts';
import { count, counted, table, utcTime } from '../format.ts';

/** `0.00012345`, with a sign where it is one. */
export function plainAmount(amount: bigint, { coin }: WalletNotation): string {
  return amount < 0n ? `-${bareCoins(-amount, coin)}` : bareCoins(amount, coin);
}

export function coinText(amount: bigint, notation: WalletNotation): string {
  return `${plainAmount(amount, notation)} ${notation.coin.name}`;
}

/** `1,000 of POLICY.NAME`, in hex. */
export function assetText({ policy, name, quantity }: Asset): string {
  return `${count(quantity)} of ${toHex(policy)}${name.length === 0 ? '' : `.${toHex(name)}`}`;
}

/** All that a wallet has, in a line. */
export function holdingsText({ notation }: FamilyWallets, { balance, assets }: WalletHoldings): string {
  return `${coinText(balance.total, notation)}${assetCount(assets ?? [])}`;
}

/** What stands besides in the cell of an amount: `+ 2 assets`. */
export function assetCount(assets: readonly unknown[]): string {
  return assets.length === 0 ? '' : ` + ${counted(assets.length, 'asset')}`;
}

export function coinTable(notation: WalletNotation, { syncedTo }: WalletInfo, coins: readonly WalletCoin[]): string {
  const rows = coins.map(({ outpoint, amount, assets, script, height, lease }) => [
    coinName(notation, outpoint),
    `${plainAmount(amount, notation)}${assetCount(assets)}`,
    `${confirmations(height, syncedTo?.height ?? null) ?? '?'}`,
    notation.formatAddress(script) ?? toHex(script),
    lease === null ? '' : leaseText(lease),
  ]);
  return table(['OUTPOINT', 'AMOUNT', 'CONFS', 'ADDRESS', 'LEASED'], rows, [1, 2]);
}

export function leaseText({ id, expiresAt }: CoinLease): string {
  const until = expiresAt === LEASE_WITHOUT_END ? 'released' : utcTime(Math.floor(expiresAt / 1000));
  return `by ${toHex(id).slice(0, 8)} until ${until}`;
}

/** What happened, newest first; below each what took its place. */
export function historyTable(
  notation: WalletNotation,
  { syncedTo }: WalletInfo,
  rows: readonly { readonly detail: TxDetail; readonly replacedBy: readonly Uint8Array[] }[],
): string {
  const lines = rows.map(({ detail, replacedBy }) => {
    const { tx, block, label } = detail;
    const status = outcomeOf(detail);
    const confs = confirmations(block?.height ?? null, syncedTo?.height ?? null);
    const by = replacedBy.map((id) => ` → ${notation.formatId(id).slice(0, 8)}`).join('');
    const height = block === null ? '' : count(block.height);
    const pruned = notation.isPruned(tx) ? ', pruned' : '';
    return [notation.formatId(tx.id), `${status}${pruned}${by}`, plainAmount(txChange(detail), notation), height, `${confs ?? '?'}`, label];
  });
  return table(['TRANSACTION', 'STATUS', 'CHANGE', 'HEIGHT', 'CONFS', 'LABEL'], lines, [2, 3, 4]);
}
