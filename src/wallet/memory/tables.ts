/**
 * What the store in memory holds: the tables that all wallets share, and those
 * of each wallet, which no other wallet can reach. Keys are hex; `order` counts
 * rows in the order they were added.
 */
import type { Outpoint } from '../../ledgers/outpoint.ts';
import { toHex } from '../../util/bytes.ts';
import type { WalletLabel } from '../label-records.ts';
import type {
  AccountId,
  AccountInfo,
  AddressInfo,
  CoinLease,
  KeyScope,
  NumberedWalletEvent,
  ScriptKind,
  WalletBlock,
  WalletEvent,
  WalletId,
  WalletInfo,
  WalletTxRow,
} from '../records.ts';
import { refusal } from '../rules/failures.ts';
import { isLive } from '../rules/status.ts';
import type { WalletSecrets } from '../store.ts';
import { MemoryCell, MemoryJournal, MemoryTable } from './journal.ts';

export interface MemoryTx extends WalletTxRow {
  readonly key: string;
  readonly order: number;
}

/** An output of the wallet's own. */
export interface MemoryCredit {
  readonly outpoint: Outpoint;
  readonly parentKey: string;
  readonly amount: bigint;
  /** The script of the address that owns it, in hex. */
  readonly owner: string;
  /** The live transaction that spends it, and with which input. */
  readonly spentBy: { readonly txKey: string; readonly input: number } | null;
}

export interface MemoryAddress extends Omit<AddressInfo, 'isUsed'> {
  readonly order: number;
}

export interface MemoryReplacement {
  readonly order: number;
  readonly replacedKey: string;
  readonly replacementKey: string;
  readonly createdAt: number;
}

export interface MemoryLease extends CoinLease {
  readonly outpoint: Outpoint;
}

export interface MemoryScope {
  readonly scope: KeyScope;
  readonly externalKind: ScriptKind;
  readonly internalKind: ScriptKind;
  readonly nextAccountNumber: number;
}

export class MemoryWallet {
  readonly info: MemoryCell<WalletInfo>;
  readonly secrets: MemoryCell<WalletSecrets | null>;
  readonly scopes: MemoryTable<string, MemoryScope>;
  readonly accounts: MemoryTable<AccountId, AccountInfo>;
  /** By account, the version of the watched set that it changed last. */
  readonly watchVersions: MemoryTable<AccountId, number>;
  readonly addresses: MemoryTable<string, MemoryAddress>;
  /** By script: whether it was given out for change. */
  readonly given: MemoryTable<string, boolean>;
  readonly txs: MemoryTable<string, MemoryTx>;
  readonly credits: MemoryTable<string, MemoryCredit>;
  /** By transaction: the keys of those that spend outputs of it, whatever their status. */
  readonly children: MemoryTable<string, readonly string[]>;
  readonly replacements: MemoryTable<string, MemoryReplacement>;
  readonly leases: MemoryTable<string, MemoryLease>;
  readonly labels: MemoryTable<string, WalletLabel>;

  constructor(journal: MemoryJournal, info: WalletInfo, secrets: WalletSecrets | null) {
    this.info = new MemoryCell(journal, info);
    this.secrets = new MemoryCell(journal, secrets);
    this.scopes = new MemoryTable(journal);
    this.accounts = new MemoryTable(journal);
    this.watchVersions = new MemoryTable(journal);
    this.addresses = new MemoryTable(journal);
    this.given = new MemoryTable(journal);
    this.txs = new MemoryTable(journal);
    this.credits = new MemoryTable(journal);
    this.children = new MemoryTable(journal);
    this.replacements = new MemoryTable(journal);
    this.leases = new MemoryTable(journal);
    this.labels = new MemoryTable(journal);
  }

  get id(): WalletId {
    return this.info.value.id;
  }

  /** TX_UNKNOWN. */
  tx(txId: Uint8Array): MemoryTx {
    const row = this.txs.get(toHex(txId));
    if (row === undefined) throw refusal.txUnknown(txId);
    return row;
  }

  /** The transaction of a key that another row names. */
  txOf(key: string): MemoryTx {
    return this.txs.get(key)!;
  }

  isCreditLive(credit: MemoryCredit): boolean {
    return isLive(this.txOf(credit.parentKey).status);
  }

  creditsOf({ key, tx }: MemoryTx): MemoryCredit[] {
    return tx.outputs.map((_, index) => this.credits.get(`${key}#${index}`)).filter((credit) => credit !== undefined);
  }

  /** Live transactions that spend an output of it, in the order they were added. */
  liveChildren(key: string): MemoryTx[] {
    const rows = (this.children.get(key) ?? []).map((child) => this.txOf(child));
    return rows.filter(({ status }) => isLive(status)).sort(byOrder);
  }

  /** Live transactions that spend the output, but for `key`. */
  liveSpenders({ txId, index }: Outpoint, key?: string): MemoryTx[] {
    const parentKey = toHex(txId);
    return this.liveChildren(parentKey).filter(
      (child) => child.key !== key && child.tx.inputs.some((input) => input.index === index && toHex(input.txId) === parentKey),
    );
  }
}

export function byOrder(a: { readonly order: number }, b: { readonly order: number }): number {
  return a.order - b.order;
}

export class MemoryTables {
  readonly journal = new MemoryJournal();
  readonly blocks = new MemoryTable<number, WalletBlock>(this.journal);
  readonly wallets = new MemoryTable<WalletId, MemoryWallet>(this.journal);
  readonly feeds = new MemoryTable<string, { readonly feed: string; readonly position: string }>(this.journal);
  readonly events = new MemoryCell<NumberedWalletEvent[]>(this.journal, []);
  readonly newestEvent = new MemoryCell(this.journal, 0);
  /** Events up to this number are forgotten. */
  readonly trimmed = new MemoryCell(this.journal, 0);
  readonly watchVersion = new MemoryCell(this.journal, 0);
  #last = 0;

  /** Greater than every number it gave before. */
  next(): number {
    return ++this.#last;
  }

  /** Something more is watched. */
  raiseWatchVersion(): number {
    return ++this.watchVersion.value;
  }

  /** WALLET_UNKNOWN. */
  wallet(id: WalletId): MemoryWallet {
    const wallet = this.wallets.get(id);
    if (wallet === undefined) throw refusal.walletUnknown(id);
    return wallet;
  }

  walletsInOrder(): MemoryWallet[] {
    return [...this.wallets.values()].sort((a, b) => a.id - b.id);
  }

  emit(walletId: WalletId, event: WalletEvent): void {
    const { value: events } = this.events;
    events.push({ walletId, sequence: ++this.newestEvent.value, event });
    this.journal.record(() => events.pop());
  }

  /** Of every wallet the newest reorganisation among those that are forgotten stays. */
  trimEvents(upTo: number): void {
    const lastReorgs = new Map<WalletId, number>();
    for (const { walletId, sequence, event } of this.events.value)
      if (sequence <= upTo && event.kind === 'reorg') lastReorgs.set(walletId, sequence);
    this.events.value = this.events.value.filter(({ walletId, sequence }) => sequence > upTo || sequence === lastReorgs.get(walletId));
    this.trimmed.value = upTo;
  }
}
