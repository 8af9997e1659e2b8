/**
 * Wallets for programs: a database of wallets, fed from a store that the program
 * has open. Text in, documents out, as with everything of the library; the same
 * as `unspent wallet` and `/api/v1/wallets` do.
 */
import { needBitcoin } from '../../families/bitcoin.ts';
import { openNetwork } from '../../families/networks.ts';
import { parseId } from '../../ledgers/bitcoin/index.ts';
import { parseOutpoint } from '../../ledgers/outpoint.ts';
import { feedWallets } from '../../server/wallets/feed-wallets.ts';
import { fromHex, toHex } from '../../util/bytes.ts';
import { GAP_LIMIT_DEFAULT, WALLET_PAGE_ROWS } from '../../util/limits.ts';
import type { BitcoinWallets } from '../../wallet/bitcoin/bitcoin-wallets.ts';
import { newAddressOf } from '../../wallet/bitcoin/operations/addresses.ts';
import { broadcastTx } from '../../wallet/bitcoin/operations/broadcast.ts';
import { prepareChild, prepareReplacement } from '../../wallet/bitcoin/operations/bump.ts';
import {
  createWatchOnlyWallet,
  importDescriptor,
  type NewDescriptorAccount,
  type NewWatchOnlyWallet,
} from '../../wallet/bitcoin/operations/create-wallet.ts';
import { openWalletContext } from '../../wallet/bitcoin/operations/open-context.ts';
import { preparePayment, selectPayment } from '../../wallet/bitcoin/operations/payment.ts';
import {
  type CoinChoiceText,
  type FeeText,
  type PaymentText,
  readChoice,
  readFee,
  readPayment,
} from '../../wallet/bitcoin/operations/payment-text.ts';
import {
  changePassphrase,
  createSigningWallet,
  newMnemonic,
  openSigner,
  readSecretText,
} from '../../wallet/bitcoin/operations/signing-wallet.ts';
import {
  accountJson,
  paymentJson,
  selectionJson,
  type WalletAccountJson,
  type WalletPaymentJson,
  type WalletSelectionJson,
} from '../../wallet/bitcoin/operations/wallet-json.ts';
import {
  addressJson,
  balanceJson,
  coinJson,
  leaseJson,
  txJson,
  type WalletAddressJson,
  type WalletBalanceJson,
  type WalletCoinJson,
  type WalletJson,
  type WalletLeaseJson,
  type WalletTxJson,
  walletJson,
} from '../../wallet/documents.ts';
import { exportLabels, type ImportedLabelsJson, importLabels } from '../../wallet/labels.ts';
import { leaseMs } from '../../wallet/lease-time.ts';
import type { TxDetail, WalletInfo } from '../../wallet/records.ts';
import { withShownIds } from '../../wallet/shown-ids.ts';
import { Store } from '../store.ts';

/** How the database of wallets is opened. */
export interface WalletsOptions {
  /** `sqlite:FILE` or `postgres://USER:PASSWORD@HOST/NAME`; it is made where it is not there. */
  readonly database: string;
  /** The network of its wallets. */
  readonly network: string;
  /** Unused addresses in a row after which a wallet looks for no more. Default: 20. */
  readonly gapLimit?: number | undefined;
  /** Events of all wallets that are kept while they are fed; 0: all. Default: 1,000,000. */
  readonly eventsMax?: number | undefined;
  /** Milliseconds since 1970. Default: the machine's clock. */
  readonly clock?: (() => number) | undefined;
}

/** A wallet that signs, to be made. */
export interface NewSecretWallet {
  /** Of the wallet. */
  readonly name: string;
  /** What its secret is encrypted under. */
  readonly passphrase: string;
  /** Words (BIP39), an extended private key, or descriptors with private keys, one a line. Default: 24 new words. */
  readonly secret?: string | undefined;
  /** Of words, their own passphrase (BIP39): other keys with each. Default: none. */
  readonly wordsPassphrase?: string | undefined;
  /** Of words and extended keys: which scripts it has (BIP44, 49, 84, 86). Default: 84. */
  readonly purpose?: 44 | 49 | 84 | 86 | undefined;
  /** Name of its account. Default: `default`. */
  readonly account?: string | undefined;
}

/** A wallet that signs, as it was made. */
export interface NewSecretWalletJson extends WalletJson {
  /** Its words, where they are new: nothing shows them again but the passphrase. */
  readonly words?: string;
}

/** Which rows of a list. */
export interface WalletPageOptions {
  /** Rows at most. Default: 500. */
  readonly limit?: number | undefined;
}

/** Which coins of a wallet. */
export interface WalletCoinsOptions extends WalletPageOptions {
  /** At least so many confirmations. Default: none. */
  readonly minConfs?: number | undefined;
}

/** Which transactions of a wallet, newest first. */
export interface WalletHistoryOptions extends WalletPageOptions {
  /** The id of the last one of the page before. */
  readonly after?: string | undefined;
}

/** Which address is to be given out. */
export interface WalletAddressOptions {
  /** The name of the account. Default: the first. */
  readonly account?: string | undefined;
  /** One for change. Default: one to be given to others. */
  readonly change?: boolean | undefined;
}

/** How a coin is reserved. */
export interface WalletLeaseOptions {
  /** Whoever leases, 64 hex digits: the same id renews. */
  readonly id: string;
  /** For so long; null: until it is released. Default: 60. */
  readonly minutes?: number | null | undefined;
  /** It outlives a spend, up to so many confirmations of it. */
  readonly untilConfs?: number | undefined;
}

/** How a transaction that waits is helped on. */
export interface WalletBumpOptions extends FeeText, CoinChoiceText {
  /** By a child that pays for both, instead of a replacement (BIP125). */
  readonly child?: boolean | undefined;
  /** With `child`: what the parent pays, where the wallet cannot know. */
  readonly parentFee?: bigint | undefined;
  /** Without `child`: only one that says that it may be replaced is. Default false: nodes replace others, too. */
  readonly needsSignal?: boolean | undefined;
}

/** How a signed transaction goes to the network. */
export interface WalletBroadcastOptions {
  /** Hands it to a node, in hex. What it throws leaves the transaction pending, and TX_REFUSED makes it fail. Default: the program sends it itself. */
  readonly submit?: ((hex: string) => Promise<unknown>) | undefined;
  /** It may take the place of unconfirmed transactions that spend the same. */
  readonly replace?: boolean | undefined;
  /** What it is for. */
  readonly label?: string | undefined;
}

/** A database of wallets of one network of the Bitcoin family. Several programs may have it open. */
export class Wallets implements AsyncDisposable {
  readonly #context: BitcoinWallets;

  /** @internal */
  constructor(context: BitcoinWallets) {
    this.#context = context;
  }

  /** A wallet that watches the scripts of a descriptor with public keys. Its past is found by `sync` and `follow`. Throws WALLET_EXISTS, DESCRIPTOR_INVALID, WATCH_ONLY. */
  async create(wallet: NewWatchOnlyWallet): Promise<WalletJson> {
    return walletJson(this.#context.notation, await createWatchOnlyWallet(this.#context, wallet));
  }

  /**
   * A wallet that signs: its secret is kept encrypted under the passphrase. Without a `secret` it gets 24 new words, which
   * are in the answer and nowhere else; write them down. Throws WALLET_EXISTS, SECRET_INVALID.
   */
  async createSigning(wallet: NewSecretWallet): Promise<NewSecretWalletJson> {
    const { keys, notation } = this.#context;
    const { secret: text, wordsPassphrase, ...rest } = wallet;
    const secret = text === undefined ? newMnemonic(wordsPassphrase) : readSecretText(keys, text, wordsPassphrase);
    try {
      const info = await createSigningWallet(this.#context, { ...rest, secret });
      return { ...walletJson(notation, info), ...(text === undefined ? { words: keys.secretText(secret) } : {}) };
    } finally {
      keys.wipeSecret(secret);
    }
  }

  /** Signs a PSBT with the keys of the wallet; as many signatures as it needs. Throws WATCH_ONLY, PASSPHRASE_WRONG, PSBT_INVALID, FEE_TOO_HIGH. */
  sign(name: string, psbt: string, passphrase: string): Promise<string> {
    return this.#of(name, async (context, wallet) => {
      const signer = await openSigner(context, wallet, passphrase);
      try {
        return context.keys.formatPsbt(signer.sign(context.keys.parsePsbt(psbt)).psbt);
      } finally {
        signer.wipe();
      }
    });
  }

  /** Another passphrase; backups of the database from before still open with the old one. Throws WATCH_ONLY, PASSPHRASE_WRONG. */
  changePassphrase(name: string, passphrase: string, newPassphrase: string): Promise<void> {
    return this.#of(name, (context, wallet) => changePassphrase(context, wallet, passphrase, newPassphrase));
  }

  /** One more account of a wallet. Throws WALLET_UNKNOWN, ACCOUNT_EXISTS, DESCRIPTOR_INVALID, WATCH_ONLY. */
  async importDescriptor(name: string, account: NewDescriptorAccount): Promise<WalletAccountJson> {
    return accountJson(this.#context, await importDescriptor(this.#context, name, account));
  }

  /** All wallets, by name. */
  async list(): Promise<readonly WalletJson[]> {
    return (await this.#context.store.listWallets()).map((wallet) => walletJson(this.#context.notation, wallet));
  }

  /** The accounts of a wallet, with their descriptors. Throws WALLET_UNKNOWN. */
  accounts(name: string): Promise<readonly WalletAccountJson[]> {
    return this.#of(name, async ({ store }, { id }) =>
      (await store.listAccounts(id)).map((account) => accountJson(this.#context, account)),
    );
  }

  /** An address that nobody was given before. Throws WALLET_UNKNOWN, ACCOUNT_UNKNOWN. */
  address(name: string, { account, change = false }: WalletAddressOptions = {}): Promise<WalletAddressJson> {
    return this.#of(name, async (context, wallet) =>
      addressJson(context.notation, await newAddressOf(context, wallet, { account, branch: change ? 1 : 0 })),
    );
  }

  /** What it has, and what of it may be spent now. Throws WALLET_UNKNOWN. */
  balance(name: string): Promise<WalletBalanceJson> {
    return this.#of(name, async ({ store, now }, { id }) => balanceJson(await store.balance(id, { now: now() })));
  }

  /** Its unspent outputs with their leases, the smallest first. Throws WALLET_UNKNOWN. */
  coins(name: string, { limit = WALLET_PAGE_ROWS, minConfs }: WalletCoinsOptions = {}): Promise<readonly WalletCoinJson[]> {
    return this.#of(name, async ({ store, notation, now }, wallet) => {
      const coins = await store.listCoins(wallet.id, { now: now(), minConfs }, { limit });
      return coins.map((coin) => coinJson(notation, wallet, coin));
    });
  }

  /** Its transactions, newest first, with what took their place. Throws WALLET_UNKNOWN, TX_UNKNOWN. */
  history(name: string, { limit = WALLET_PAGE_ROWS, after }: WalletHistoryOptions = {}): Promise<readonly WalletTxJson[]> {
    return this.#of(name, async ({ store }, wallet) => {
      const details = await store.history(wallet.id, { limit, after: after === undefined ? undefined : parseId(after) });
      return Promise.all(details.map((detail) => this.#tx(wallet, detail)));
    });
  }

  /** Reserves a coin (`txid#index`), or renews a lease. Throws UTXO_UNKNOWN, COIN_LEASED. */
  lease(name: string, outpoint: string, { id, minutes, untilConfs }: WalletLeaseOptions): Promise<WalletLeaseJson> {
    const durationMs = minutes === null ? null : leaseMs(minutes);
    const request = { id: fromHex(id, 32), durationMs, releaseAfterSpendConfs: untilConfs };
    return this.#of(name, async ({ store, now }, wallet) => {
      const [lease] = await store.leaseCoins(wallet.id, [parseOutpoint(outpoint, parseId)], { ...request, now: now() });
      return leaseJson(lease);
    });
  }

  /** Ends a lease. Throws UTXO_UNKNOWN, LEASE_OF_ANOTHER. */
  release(name: string, outpoint: string, id: string): Promise<void> {
    return this.#of(name, ({ store, now }, wallet) =>
      store.releaseCoin(wallet.id, parseOutpoint(outpoint, parseId), fromHex(id, 32), now()),
    );
  }

  /** Chooses coins for a payment and leases them, in one database transaction. Throws FUNDS_INSUFFICIENT, FEE_TOO_HIGH, OUTPUT_DUST, USAGE. */
  select(name: string, payment: PaymentText): Promise<WalletSelectionJson> {
    return this.#of(name, async (context, wallet) =>
      selectionJson(context, await selectPayment(context, wallet, readPayment(context.network, payment))),
    );
  }

  /** The same, as a PSBT to be signed. Throws as `select`. */
  pay(name: string, payment: PaymentText): Promise<WalletPaymentJson> {
    return this.#of(name, async (context, wallet) =>
      paymentJson(context, await preparePayment(context, wallet, readPayment(context.network, payment))),
    );
  }

  /** A higher fee for a transaction that waits, as a PSBT to be signed. Throws TX_UNKNOWN, TX_NOT_UNMINED, REPLACEMENT_REFUSED, FUNDS_INSUFFICIENT, FEE_TOO_HIGH. */
  bump(name: string, txid: string, { child = false, parentFee, needsSignal, ...fee }: WalletBumpOptions): Promise<WalletPaymentJson> {
    const request = { txId: parseId(txid), needsSignal, ...readFee(fee), ...readChoice(fee) };
    return this.#of(name, async (context, wallet) =>
      paymentJson(
        context,
        child ? await prepareChild(context, wallet, { ...request, parentFee }) : await prepareReplacement(context, wallet, request),
      ),
    );
  }

  /**
   * A signed PSBT, or a transaction in hex: recorded before anybody hears of it, and handed to a node. Throws
   * PSBT_INCOMPLETE, INPUT_CONFLICT where it spends what another one spends and may not replace that one, and what
   * `submit` throws.
   */
  broadcast(name: string, signed: string, { submit, replace, label }: WalletBroadcastOptions = {}): Promise<WalletTxJson> {
    return this.#of(name, async (context, wallet) => {
      const raw = /^0[12]000000/.test(signed) ? fromHex(signed) : context.keys.extractTx(context.keys.parsePsbt(signed)).raw;
      const handOver = submit && ((bytes: Uint8Array) => submit(toHex(bytes)));
      return this.#tx(wallet, await broadcastTx(context, wallet, { raw, replace, label, submit: handOver }));
    });
  }

  /** Says what a transaction was for. Throws TX_UNKNOWN. */
  label(name: string, txid: string, label: string): Promise<void> {
    return this.#of(name, ({ store }, { id }) => store.updateTx(id, parseId(txid), { label }));
  }

  /** Labels as other wallets read them (BIP329), a line each. */
  labels(name: string): Promise<string> {
    return this.#of(name, exportLabels);
  }

  /** Takes in labels as other wallets write them: all lines, or none. Throws USAGE with the line that is none, INVALID_PARAM. */
  importLabels(name: string, text: string): Promise<ImportedLabelsJson> {
    return this.#of(name, (context, wallet) => importLabels(context, wallet, text));
  }

  /**
   * Takes in what the store has, up to its newest block, and finds the past of new wallets in its index. Throws
   * UNSUPPORTED where the store keeps no history (`utxo.history`), EXPIRED where it cannot tell any more what happened.
   */
  sync(store: Store): Promise<void> {
    return feedWallets(this.#context, Store.openStoreOf(store));
  }

  /**
   * After EXPIRED: brings the wallets to the newest block of the store from its index of scripts. What only the mempool
   * saw meanwhile, and blocks that came and went, are not recovered.
   */
  async rescan(store: Store): Promise<void> {
    await this.#context.rescan(Store.openStoreOf(store));
  }

  /** As `sync`, until the signal comes, with the mempool of the node that the store follows. */
  follow(store: Store, signal: AbortSignal): Promise<void> {
    return feedWallets(this.#context, Store.openStoreOf(store), { signal });
  }

  /** Closes the database. */
  close(): Promise<void> {
    return this.#context.store.close();
  }

  /** The same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #tx(wallet: WalletInfo, detail: TxDetail): Promise<WalletTxJson> {
    const { store, notation } = this.#context;
    return txJson(notation, wallet, detail, await store.replacementChain(wallet.id, detail.tx.id));
  }

  async #of<T>(name: string, body: (context: BitcoinWallets, wallet: WalletInfo) => Promise<T>): Promise<T> {
    try {
      return await body(this.#context, await this.#context.store.getWallet(name));
    } catch (error) {
      throw withShownIds(error, this.#context.notation);
    }
  }
}

/** Opens a database of wallets. Throws USAGE, NETWORK_UNKNOWN, UNSUPPORTED for a network without wallets or where a package is not installed. */
export async function openWallets(options: WalletsOptions): Promise<Wallets> {
  const { database, network, gapLimit = GAP_LIMIT_DEFAULT, eventsMax, clock = Date.now } = options;
  const { parameters } = needBitcoin(openNetwork(network, null), 'a wallet');
  return new Wallets(await openWalletContext(database, { network: parameters, gapLimit, eventsMax, now: clock }));
}
