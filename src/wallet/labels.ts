/**
 * Labels in and out as other wallets have them (BIP329). Labels of the wallet's
 * transactions are theirs; all others are kept for when what they are of comes,
 * and told again as they came. An output that is told not to be spendable is
 * leased without end, whether it is there or still to come.
 */
import { type Outpoint, outpointText } from '../ledgers/outpoint.ts';
import { toHex } from '../util/bytes.ts';
import { isUnspentError, UnspentError } from '../util/errors.ts';
import { WALLET_LABELS_BYTES_MAX, WALLET_PAGE_ROWS } from '../util/limits.ts';
import { coinName } from './documents.ts';
import type { WalletReader } from './history-documents.ts';
import { labelText, readLabel } from './label-lines.ts';
import { isForeignOrigin, originsOf } from './label-origins.ts';
import type { LabelKey, WalletLabel } from './label-records.ts';
import { LEASE_WITHOUT_END, type TxDetail, type WalletInfo } from './records.ts';
import type { WalletStore } from './store.ts';

/** Wallets that labels are of. */
export interface LabelledWallets extends WalletReader {
  now(): number;
  /** Its descriptors, by which it is told whether a label is of another wallet. Absent: it is of this one. */
  watchedLines?(wallet: WalletInfo): Promise<readonly string[]>;
}

/** What taking in labels did. */
export interface ImportedLabelsJson {
  /** How many were taken in. */
  readonly labels: number;
  /** Transactions that have their label now. */
  readonly applied: number;
  /** Labels of transactions that the wallet does not have, or not yet. */
  readonly waiting: number;
  /** Labels that say they are of another wallet: they are kept, and nothing is done with them. */
  readonly foreign: number;
  /** `txid#index`: outputs of the wallet that are leased without end. */
  readonly frozen: readonly string[];
  /** `txid#index`: outputs that were, and are free now. */
  readonly thawed: readonly string[];
  /** `txid#index`: outputs that were to be frozen, and that somebody else has leased for a time. */
  readonly held: readonly string[];
}

/** Throws USAGE with the line that is none, and INVALID_PARAM for a label that is too long, before anything is changed. */
export async function importLabels(wallets: LabelledWallets, wallet: WalletInfo, text: string): Promise<ImportedLabelsJson> {
  const { store, notation } = wallets;
  if (text.length > WALLET_LABELS_BYTES_MAX)
    throw new UnspentError('LIMIT', `labels have at most ${WALLET_LABELS_BYTES_MAX} bytes`, { limit: WALLET_LABELS_BYTES_MAX });
  const own = originsOf((await wallets.watchedLines?.(wallet)) ?? []);
  // Some programs begin a file with a mark of its bytes' order.
  const lines = text.replace(/^\ufeff/, '').split('\n');
  const labels = lines.flatMap((line, i) =>
    line.trim() === '' ? [] : [readLabel({ text: line.trim(), number: i + 1 }, notation, (origin) => isForeignOrigin(origin, own))],
  );
  const { applied, frozen, thawed, held } = await store.keepLabels(wallet.id, labels, wallets.now());
  const names = (outpoints: readonly Outpoint[]): string[] => outpoints.map((outpoint) => coinName(notation, outpoint));
  const told = new Set(labels.flatMap(({ type, ref, label, isForeign }) => (type === 'tx' && label !== null && !isForeign ? [ref] : [])));
  return {
    labels: labels.length,
    applied,
    waiting: told.size - applied,
    foreign: labels.filter(({ isForeign }) => isForeign).length,
    frozen: names(frozen),
    thawed: names(thawed),
    held: names(held),
  };
}

/** A line each: of its transactions, oldest first, then what was taken in of other things, then outputs that are frozen here. */
export async function exportLabels({ store, notation, now }: LabelledWallets, wallet: WalletInfo): Promise<string> {
  const kept = await allLabels(store, wallet);
  const lines = await txLines({ store, notation }, wallet, kept);
  const frozen = new Set<string>();
  for (const { outpoint, lease } of await store.listLeases(wallet.id, now())) {
    if (lease?.expiresAt === LEASE_WITHOUT_END && lease.releaseAfterSpendConfs === null) frozen.add(outpointText(outpoint));
  }
  for (const label of kept) {
    if (label.type === 'tx' && label.txId !== null && !label.isForeign && (await hasTx(store, wallet, label.txId))) continue;
    const [said, spendable] = [label.label === '' ? null : label.label, await spendableNow(store, wallet, label, frozen)];
    if (said !== null || spendable !== null || label.others !== '{}') lines.push(labelText(label, said, spendable));
  }
  const told = new Set(
    kept.flatMap(({ type, txId, index }) => (type !== 'output' || txId === null || index === null ? [] : [outpointText({ txId, index })])),
  );
  for (const text of frozen) {
    const [id, index] = text.split('#');
    const ref = `${notation.formatId(Buffer.from(id, 'hex'))}:${index}`;
    if (!told.has(text)) lines.push(JSON.stringify({ type: 'output', ref, spendable: false }));
  }
  return lines.map((line) => `${line}\n`).join('');
}

/** What the rows have counts, whatever was told of them once. */
async function txLines({ store, notation }: WalletReader, wallet: WalletInfo, kept: readonly WalletLabel[]): Promise<string[]> {
  const told = Map.groupBy(
    kept.filter(({ type, isForeign }) => type === 'tx' && !isForeign),
    ({ txId }) => toHex(txId as Uint8Array),
  );
  const lines: string[] = [];
  for await (const { tx, label } of allHistory(store, wallet)) {
    const said = label === '' ? null : label;
    const records = told.get(toHex(tx.id)) ?? [];
    if (records.length === 0 && said !== null) lines.push(JSON.stringify({ type: 'tx', ref: notation.formatId(tx.id), label: said }));
    for (const record of records) if (said !== null || record.others !== '{}') lines.push(labelText(record, said, null));
  }
  return lines.reverse();
}

/** Of an output that the wallet has, what its lease says. */
async function spendableNow(
  store: WalletStore,
  { id }: WalletInfo,
  { type, txId, index, spendable, isForeign }: WalletLabel,
  frozen: ReadonlySet<string>,
): Promise<boolean | null> {
  if (type !== 'output' || txId === null || index === null || isForeign) return spendable;
  if (frozen.has(outpointText({ txId, index }))) return false;
  if (spendable !== false) return spendable;
  return (await exists(store.getCoin(id, { txId, index }, 0), 'UTXO_UNKNOWN')) ? true : spendable;
}

function hasTx(store: WalletStore, { id }: WalletInfo, txId: Uint8Array): Promise<boolean> {
  return exists(store.getTx(id, txId), 'TX_UNKNOWN');
}

async function exists(asked: Promise<unknown>, code: 'TX_UNKNOWN' | 'UTXO_UNKNOWN'): Promise<boolean> {
  try {
    await asked;
    return true;
  } catch (error) {
    if (isUnspentError(error, code)) return false;
    throw error;
  }
}

async function allLabels(store: WalletStore, { id }: WalletInfo): Promise<WalletLabel[]> {
  const labels: WalletLabel[] = [];
  for (let after: LabelKey | undefined; ; after = labels.at(-1)) {
    const page = await store.listLabels(id, { after, limit: WALLET_PAGE_ROWS });
    labels.push(...page);
    if (page.length < WALLET_PAGE_ROWS) return labels;
  }
}

/** Page by page, newest first. */
async function* allHistory(store: WalletStore, { id }: WalletInfo): AsyncGenerator<TxDetail, void, undefined> {
  for (let after: Uint8Array | undefined; ; ) {
    const page = await store.history(id, { after, limit: WALLET_PAGE_ROWS });
    yield* page;
    if (page.length < WALLET_PAGE_ROWS) return;
    after = page[page.length - 1].tx.id;
  }
}
