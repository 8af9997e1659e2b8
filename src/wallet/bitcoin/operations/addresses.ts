/** The next address of an account: one that nobody was given before, or of a descriptor with one script that script. */
import type { AccountInfo, AddressBranch, AddressInfo, WalletInfo } from '../../records.ts';
import type { WalletContext } from './wallet-context.ts';

export interface AddressRequest {
  /** Name of the account; default: the first. */
  readonly account?: string | undefined;
  /** Default 0: to be given to others. An account without a branch for change takes it from branch 0. */
  readonly branch?: AddressBranch | undefined;
}

/** Throws ACCOUNT_UNKNOWN, ADDRESS_INDEX_MAX. */
export async function newAddressOf(
  context: WalletContext,
  wallet: WalletInfo,
  { account, branch = 0 }: AddressRequest,
): Promise<AddressInfo> {
  return nextAddress(context, wallet, await context.accountNamed(wallet, account), branch, false);
}

/** The same of an account that is at hand. `isChange`: of a payment, whichever branch it is of; a bump takes it for that. */
export async function nextAddress(
  context: WalletContext,
  wallet: WalletInfo,
  info: AccountInfo,
  branch: AddressBranch,
  isChange: boolean,
): Promise<AddressInfo> {
  const { store, keys, now } = context;
  const descriptors = context.account(info);
  const from = branch === 1 && descriptors.change === null ? 0 : branch;
  const derive = keys.addressesOf(descriptors);
  if (!descriptors.descriptor(from).isRanged) {
    const address = derive(from, 0);
    const known = address && (await store.resolveOwned(wallet.id, [address.script])).values().next().value;
    if (known) return known;
  }
  return store.newAddress(wallet.id, info.id, from, derive, now(), isChange);
}
