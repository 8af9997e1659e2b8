/**
 * The coins of a wallet as coin selection takes them: with what spending each
 * weighs, how deep it is, and what its unconfirmed ancestors still owe.
 */
import { toHex } from '../../../util/bytes.ts';
import { assert, UnspentError } from '../../../util/errors.ts';
import { UNMINED } from '../../coin-columns.ts';
import type { FreeCoins } from '../../free-coins.ts';
import type { AccountId, AccountInfo, AddressInfo, WalletCoin, WalletInfo } from '../../records.ts';
import { confirmations } from '../../rules/confirmations.ts';
import { refusal } from '../../rules/failures.ts';
import type { Coin } from '../../selection/bitcoin/coin.ts';
import type { CoinAncestry as Ancestry, CoinTable } from '../../selection/bitcoin/coin-table.ts';
import { inputWeight } from '../../selection/bitcoin/input-weight.ts';
import { takeIndexes } from '../../selection/columns.ts';
import type { OwnedScript } from '../keys/index.ts';
import { type CoinChoice, CoinLimits } from './coin-choice.ts';
import { UnconfirmedTxs } from './unconfirmed.ts';
import { accountAmong, type WalletContext } from './wallet-context.ts';

/** What is known of a coin before it is one of selection. */
export type SpendableOutput = Pick<WalletCoin, 'outpoint' | 'amount' | 'script' | 'kind' | 'height' | 'isOwnChange'> & {
  readonly account: { readonly id: AccountId } | null;
};

const CONFIRMED: Ancestry = { ancestors: 0, descendants: 0, bumpFee: 0n };

/**
 * An output as a coin of selection. A selection may look at 100,000 of them and spends a few, so that this only points at
 * the output: what its script is called, and its id, are worked out for those that somebody asks for.
 */
class SpendableCoin implements Coin {
  readonly weight: number;
  readonly confirmations: number;
  readonly #output: SpendableOutput;
  readonly #ancestry: Ancestry;

  constructor(output: SpendableOutput, weight: number, confs: number, ancestry: Ancestry) {
    this.#output = output;
    this.weight = weight;
    this.confirmations = confs;
    this.#ancestry = ancestry;
  }

  get txId(): Uint8Array {
    return this.#output.outpoint.txId;
  }

  get index(): number {
    return this.#output.outpoint.index;
  }

  get value(): bigint {
    return this.#output.amount;
  }

  get type(): string {
    return this.#output.kind;
  }

  get script(): string {
    return toHex(this.#output.script);
  }

  get own(): boolean {
    return this.#output.isOwnChange;
  }

  get ancestors(): number {
    return this.#ancestry.ancestors;
  }

  get descendants(): number {
    return this.#ancestry.descendants;
  }

  get bumpFee(): bigint {
    return this.#ancestry.bumpFee;
  }
}

/** Read once for one selection. */
export class Spendables {
  readonly unconfirmed: UnconfirmedTxs;
  readonly #context: WalletContext;
  readonly #wallet: WalletInfo;
  readonly #accounts: ReadonlyMap<AccountId, AccountInfo>;
  readonly #weights = new Map<AccountId, number>();

  /** `rate`: what the transaction is to pay, in sat/kvB. */
  static async read(context: WalletContext, wallet: WalletInfo, rate: number): Promise<Spendables> {
    const { store, network } = context;
    const accounts = await store.listAccounts(wallet.id);
    const unconfirmed = new UnconfirmedTxs(network, await store.listUnmined(wallet.id), rate);
    return new Spendables(context, wallet, accounts, unconfirmed);
  }

  private constructor(context: WalletContext, wallet: WalletInfo, accounts: readonly AccountInfo[], unconfirmed: UnconfirmedTxs) {
    this.#context = context;
    this.#wallet = wallet;
    this.#accounts = new Map(accounts.map((account) => [account.id, account]));
    this.unconfirmed = unconfirmed;
  }

  /** As they are once these transactions are replaced. */
  without(ids: ReadonlySet<string>): Spendables {
    return new Spendables(this.#context, this.#wallet, [...this.#accounts.values()], this.unconfirmed.without(ids));
  }

  /** Undefined: no account has that id. */
  account(id: AccountId): AccountInfo | undefined {
    return this.#accounts.get(id);
  }

  /** The account of that name; undefined: the first. Throws ACCOUNT_UNKNOWN. */
  accountNamed(name: string | undefined): AccountInfo {
    return accountAmong([...this.#accounts.values()], name);
  }

  /** Which coins the choice allows. */
  limits(choice: CoinChoice, free: FreeCoins): CoinLimits {
    return new CoinLimits(choice, this.#wallet.syncedTo?.height ?? UNMINED, free);
  }

  /** Coins that no account of ours can spend, and those of blocks above the wallet's, are left out. */
  coins(coins: Iterable<WalletCoin>): Coin[] {
    const spendable: Coin[] = [];
    for (const each of coins) {
      const coin = this.coin(each);
      if (coin !== null) spendable.push(coin);
    }
    return spendable;
  }

  /** The same, of all accounts or of one and as the choice allows, in columns: those of the wallet itself, with the places of the coins that are meant. */
  table(free: FreeCoins, choice: CoinChoice & { readonly accountId?: AccountId | undefined } = {}): CoinTable {
    const { accountId } = choice;
    const limits = this.limits(choice, free);
    const { heights, ownerIndexes, ownChange, owners, amounts } = free.columns;
    // 0: no account of ours, or not the one that is asked for.
    const forms = owners.map(({ account, kind }) => {
      const isMeant = account !== null && (accountId ?? account.id) === account.id;
      return { type: kind, weight: isMeant ? (this.weightOf(account.id) ?? 0) : 0 };
    });
    const isSpendable = Uint8Array.from(forms, ({ weight }) => (weight === 0 ? 0 : 1));
    const tip = this.#wallet.syncedTo?.height ?? UNMINED;
    const [places, chosen] = [takeIndexes(free.count), takeIndexes(free.count)];
    const ancestries = new Map<number, Ancestry>();
    let count = 0;
    for (let i = 0; i < free.count; i++) {
      const place = free.positions[i];
      const height = heights[place];
      if (height > tip || isSpendable[ownerIndexes[place]] === 0) continue;
      if (!limits.allows(height, amounts[place], () => free.coinAt(i).outpoint)) continue;
      if (height === UNMINED) ancestries.set(place, this.unconfirmed.ancestry(toHex(free.coinAt(i).outpoint.txId)));
      places[count] = place;
      chosen[count++] = i;
    }
    return {
      count,
      places,
      formIndexes: ownerIndexes,
      forms,
      values: amounts,
      heights,
      tip,
      owns: ownChange,
      ancestries,
      coinAt: (i) => this.#known(free.coinAt(chosen[i])),
    };
  }

  #known(output: SpendableOutput): Coin {
    const coin = this.coin(output);
    assert(coin !== null, 'a coin of the table is spendable');
    return coin;
  }

  /** Null: no account of ours can spend it, or it is not known how deep it is. */
  coin(output: SpendableOutput): Coin | null {
    const weight = output.account === null ? null : this.weightOf(output.account.id);
    const confs = confirmations(output.height, this.#wallet.syncedTo?.height ?? null);
    if (weight === null || confs === null) return null;
    return new SpendableCoin(output, weight, confs, confs > 0 ? CONFIRMED : this.unconfirmed.ancestry(toHex(output.outpoint.txId)));
  }

  /** What unconfirmed ancestors of these coins owe together. */
  combinedBumpFee(coins: readonly Coin[]): bigint {
    return this.unconfirmed.bumpFee(coins.map(({ txId }) => toHex(txId)));
  }

  /** Of an input that spends an output of the account; null: it is not known how (`addr`, `raw`). */
  weightOf(accountId: AccountId): number | null {
    const known = this.#weights.get(accountId);
    if (known !== undefined) return known;
    const info = this.#accounts.get(accountId);
    if (info === undefined) return null;
    const { keys } = this.#context;
    const form = keys.spendForm(this.#context.sampleScript(info, 0));
    if (form === null) return null;
    const weight = inputWeight(form);
    this.#weights.set(accountId, weight);
    return weight;
  }

  /** The scripts and keys behind outputs of the wallet, by the script in hex. */
  async owners(scripts: readonly Uint8Array[]): Promise<ReadonlyMap<string, OwnedScript>> {
    const addresses = await this.#context.store.resolveOwned(this.#wallet.id, scripts);
    return new Map([...addresses].map(([script, address]) => [script, this.#owner(address)]));
  }

  #owner({ derivation, script }: AddressInfo): OwnedScript {
    const info = derivation === null ? undefined : this.#accounts.get(derivation.accountId);
    if (derivation === null || info === undefined) throw refusal.addressUnknown(script);
    const { branch, index } = derivation;
    const derived = this.#context.account(info).derive(branch, index);
    const owner = derived.find((each) => toHex(each.script) === toHex(script));
    if (owner === undefined) throw new UnspentError('DERIVATION_FAILED', `index ${index} of branch ${branch} has another script now`);
    return owner;
  }
}
