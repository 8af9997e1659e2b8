/** Coins, transactions and payments of wallets as people read them. */
import { type BitcoinNetwork, formatAddress, formatId } from '../../../ledgers/bitcoin/index.ts';
import { bareCoins } from '../../../query/amounts.ts';
import { toHex } from '../../../util/bytes.ts';
import type { LeasedSelection } from '../../../wallet/bitcoin/operations/payment.ts';
import { coinName, txChange } from '../../../wallet/bitcoin/operations/wallet-json.ts';
import { type CoinLease, LEASE_WITHOUT_END, type TxDetail, type WalletCoin, type WalletInfo } from '../../../wallet/records.ts';
import { confirmations } from '../../../wallet/rules/confirmations.ts';
import { count, pairs, table, utcTime } from '../../format.ts';

const DECIMALS = 8;

/** `0.00012345`, with a sign where it is one. */
export function plainAmount(amount: bigint): string {
  return amount < 0n ? `-${bareCoins(-amount, { decimals: DECIMALS })}` : bareCoins(amount, { decimals: DECIMALS });
}

export function coinText(amount: bigint, { unit }: BitcoinNetwork): string {
  return `${plainAmount(amount)} ${unit}`;
}

export function coinTable(network: BitcoinNetwork, { syncedTo }: WalletInfo, coins: readonly WalletCoin[]): string {
  const rows = coins.map(({ outpoint, amount, script, height, lease }) => [
    coinName(outpoint),
    plainAmount(amount),
    `${confirmations(height, syncedTo?.height ?? null) ?? '?'}`,
    formatAddress(network, script) ?? toHex(script),
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
  { syncedTo }: WalletInfo,
  rows: readonly { readonly detail: TxDetail; readonly replacedBy: readonly Uint8Array[] }[],
): string {
  const lines = rows.map(({ detail, replacedBy }) => {
    const { tx, status, block, label } = detail;
    const confs = confirmations(block?.height ?? null, syncedTo?.height ?? null);
    const by = replacedBy.map((id) => ` → ${formatId(id).slice(0, 8)}`).join('');
    const height = block === null ? '' : count(block.height);
    return [formatId(tx.id), `${status}${by}`, plainAmount(txChange(detail)), height, `${confs ?? '?'}`, label];
  });
  return table(['TRANSACTION', 'STATUS', 'CHANGE', 'HEIGHT', 'CONFS', 'LABEL'], lines, [2, 3, 4]);
}

export function selectionText({ selection, leaseId, expiresAt }: LeasedSelection, { unit }: BitcoinNetwork): string {
  const { inputs, fee, vsize, change, algorithm } = selection;
  return pairs([
    ...inputs.map((coin, i): [string, string] => [i === 0 ? 'spends' : '', `${coinName(coin)}  ${plainAmount(coin.value)} ${unit}`]),
    ['fee', `${plainAmount(fee)} ${unit} for ${vsize} vB`],
    ['change', change === 0n ? 'none' : `${plainAmount(change)} ${unit}`],
    ['chosen by', algorithm],
    ['lease', `${toHex(leaseId)} until ${utcTime(Math.floor(expiresAt / 1000))}`],
  ]);
}
