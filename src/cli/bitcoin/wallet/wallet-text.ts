/** Coins, transactions and payments of wallets as people read them. */
import { bareCoins } from '../../../query/amounts.ts';
import { toHex } from '../../../util/bytes.ts';
import type { LeasedSelection } from '../../../wallet/bitcoin/operations/payment.ts';
import { coinName, txChange, type WalletNotation } from '../../../wallet/documents.ts';
import { type CoinLease, LEASE_WITHOUT_END, type TxDetail, type WalletCoin, type WalletInfo } from '../../../wallet/records.ts';
import { confirmations } from '../../../wallet/rules/confirmations.ts';
import { count, pairs, table, utcTime } from '../../format.ts';

/** `0.00012345`, with a sign where it is one. */
export function plainAmount(amount: bigint, { coin }: WalletNotation): string {
  return amount < 0n ? `-${bareCoins(-amount, coin)}` : bareCoins(amount, coin);
}

export function coinText(amount: bigint, notation: WalletNotation): string {
  return `${plainAmount(amount, notation)} ${notation.coin.name}`;
}

export function coinTable(notation: WalletNotation, { syncedTo }: WalletInfo, coins: readonly WalletCoin[]): string {
  const rows = coins.map(({ outpoint, amount, script, height, lease }) => [
    coinName(notation, outpoint),
    plainAmount(amount, notation),
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
    const { tx, status, block, label } = detail;
    const confs = confirmations(block?.height ?? null, syncedTo?.height ?? null);
    const by = replacedBy.map((id) => ` → ${notation.formatId(id).slice(0, 8)}`).join('');
    const height = block === null ? '' : count(block.height);
    return [notation.formatId(tx.id), `${status}${by}`, plainAmount(txChange(detail), notation), height, `${confs ?? '?'}`, label];
  });
  return table(['TRANSACTION', 'STATUS', 'CHANGE', 'HEIGHT', 'CONFS', 'LABEL'], lines, [2, 3, 4]);
}

export function selectionText({ selection, leaseId, expiresAt }: LeasedSelection, notation: WalletNotation): string {
  const { inputs, fee, vsize, change, algorithm } = selection;
  return pairs([
    ...inputs.map((coin, i): [string, string] => [
      i === 0 ? 'spends' : '',
      `${coinName(notation, coin)}  ${coinText(coin.value, notation)}`,
    ]),
    ['fee', `${coinText(fee, notation)} for ${vsize} vB`],
    ['change', change === 0n ? 'none' : coinText(change, notation)],
    ['chosen by', algorithm],
    ['lease', `${toHex(leaseId)} until ${utcTime(Math.floor(expiresAt / 1000))}`],
  ]);
}
