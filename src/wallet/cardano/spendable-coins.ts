/**
 * The coins of a wallet as a selection takes them (selection/cardano/). Only
 * coins that a key can spend: those of scripts need more than a signature, those
 * of Byron longer ones, and a script that a coin carries costs a fee of its own.
 */
import { readAddress } from '../../ledgers/cardano/index.ts';
import { toHex } from '../../util/bytes.ts';
import type { WalletCoin } from '../records.ts';
import type { Coin } from '../selection/cardano/coin.ts';

/** For `selectAndLease`, or from `listCoins` without the leased ones. */
export function spendableCoins(coins: Iterable<WalletCoin>): Coin[] {
  return [...coins].flatMap(({ outpoint, amount, script, assets, carriesScript }) => {
    const { payment } = readAddress(script);
    if (carriesScript || payment?.kind !== 'key') return [];
    return [{ ...outpoint, lovelace: amount, assets, signer: toHex(payment.hash) }];
  });
}
