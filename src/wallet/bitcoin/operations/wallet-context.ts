/**
 * What every operation on wallets works with: the store, the network, the keys
 * room and a clock. The command line and the REST routes make one each and call
 * the functions of this folder; those hold the rules of how a wallet is used.
 */
import type { BitcoinNetwork } from '../../../ledgers/bitcoin/index.ts';
import { utf8 } from '../../../util/bytes.ts';
import { WALLET_EVENTS_MAX, WALLET_FEE_MAX, WALLET_FEE_RATE_MAX } from '../../../util/limits.ts';
import type { WalletNotation } from '../../documents.ts';
import type { AccountId, AccountInfo, AddressBranch, WalletInfo } from '../../records.ts';
import { refusal } from '../../rules/failures.ts';
import type { WalletStore } from '../../store.ts';
import type { Account, DerivedScript } from '../keys/index.ts';
import type { Keys } from '../load-keys.ts';
import type { FeeBounds } from './fee-guard.ts';
import { bitcoinNotation } from './wallet-json.ts';

export interface WalletContextParts {
  readonly store: WalletStore;
  readonly network: BitcoinNetwork;
  readonly keys: Keys;
  /** Unused addresses in a row after which a branch ends. */
  readonly gapLimit: number;
  /** Default: those of the settings. */
  readonly feeBounds?: FeeBounds | undefined;
  /** Events that are kept while the wallets are fed; 0: all. Default: that of the settings. */
  readonly eventsMax?: number | undefined;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const FEE_BOUNDS: FeeBounds = { feeMax: BigInt(WALLET_FEE_MAX), feeRateMax: 1000 * WALLET_FEE_RATE_MAX };

export class WalletContext {
  readonly store: WalletStore;
  readonly network: BitcoinNetwork;
  readonly keys: Keys;
  readonly gapLimit: number;
  readonly now: () => number;
  readonly feeBounds: FeeBounds;
  readonly eventsMax: number;
  readonly notation: WalletNotation;
  readonly #accounts = new Map<AccountId, Account>();
  readonly #samples = new Map<string, DerivedScript>();

  constructor({ store, network, keys, gapLimit, feeBounds = FEE_BOUNDS, eventsMax = WALLET_EVENTS_MAX, now }: WalletContextParts) {
    this.store = store;
    this.network = network;
    this.keys = keys;
    this.gapLimit = gapLimit;
    this.now = now;
    this.feeBounds = feeBounds;
    this.eventsMax = eventsMax;
    this.notation = bitcoinNotation(network);
  }

  /** The descriptors of an account. Throws DESCRIPTOR_INVALID for an account that was not made from descriptors. */
  account({ id, publicKey }: AccountInfo): Account {
    let account = this.#accounts.get(id);
    if (account === undefined) {
      const [external, change] = new TextDecoder().decode(publicKey ?? new Uint8Array(0)).split('\n');
      account = this.keys.parseAccount(this.network, external, change);
      this.#accounts.set(id, account);
    }
    return account;
  }

  /** The first script of a branch of the account: all of a branch are of one length, and are spent in the same way. Throws DERIVATION_FAILED. */
  sampleScript(info: AccountInfo, branch: AddressBranch): DerivedScript {
    const name = `${info.id}/${branch}`;
    let script = this.#samples.get(name);
    if (script === undefined) {
      const account = this.account(info);
      [script] = account.derive(branch, account.descriptor(branch).isRanged ? this.keys.firstIndex(account, branch, 0) : 0);
      this.#samples.set(name, script);
    }
    return script;
  }

  /** The account of that name; undefined: the first. Throws ACCOUNT_UNKNOWN. */
  async accountNamed({ id }: WalletInfo, name: string | undefined): Promise<AccountInfo> {
    return accountAmong(await this.store.listAccounts(id), name);
  }
}

/** The one of that name; undefined: the first. Throws ACCOUNT_UNKNOWN. */
export function accountAmong(accounts: readonly AccountInfo[], name: string | undefined): AccountInfo {
  const found = name === undefined ? accounts[0] : accounts.find((account) => account.name === name);
  if (found === undefined) throw refusal.accountUnknown(name ?? 'default');
  return found;
}

/** What the store keeps as the key of an account: its descriptors, that of change on a second line. */
export function accountKey({ external, change }: Account): Uint8Array {
  return utf8(change === null ? `${external}` : `${external}\n${change}`);
}
