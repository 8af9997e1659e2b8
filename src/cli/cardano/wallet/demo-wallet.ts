/**
 * The wallet that a devnet of one's own opens with: it watches the address that
 * the newcomer is shown, which is paid before the chain is followed, and once
 * more shortly before the first fork.
 */
import { isUnspentError } from '../../../util/errors.ts';
import type { Context } from '../../context.ts';
import { withWallets } from '../../wallet/open-wallets.ts';

export const DEMO_WALLET = 'demo';

/** Once in the life of a store. False: there is none, and why was said. */
export async function makeDemoWallet(context: Context, address: string): Promise<boolean> {
  try {
    await withWallets(
      context,
      async (wallets) => {
        const isThere = (await wallets.store.listWallets()).some(({ name }) => name === DEMO_WALLET);
        if (!isThere) await wallets.createWatching(DEMO_WALLET, { addresses: [address] });
      },
      { create: true },
    );
    return true;
  } catch (error) {
    if (!isUnspentError(error)) throw error;
    context.output.remark(`there is no demo wallet: ${error.message}`);
    return false;
  }
}
