/** What coin selection has decided, as people read it. */
import { toHex } from '../../../util/bytes.ts';
import type { LeasedSelection } from '../../../wallet/bitcoin/operations/payment.ts';
import { coinName, type WalletNotation } from '../../../wallet/documents.ts';
import { pairs, utcTime } from '../../format.ts';
import { coinText } from '../../wallet/wallet-text.ts';

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
