/**
 * Labels that are taken in: which are refused, and what is done with the output
 * of one that says whether it may be spent. An output that may not is leased
 * without end, under an id that is the same in every wallet; it is, too, if it
 * comes later than its label, in the very change in which it comes.
 */
import { type Outpoint, outpointText } from '../../ledgers/outpoint.ts';
import { equalBytes, toHex } from '../../util/bytes.ts';
import { LABEL_TYPES, type LabelKey, type WalletLabel } from '../label-records.ts';
import { type CoinLease, LEASE_WITHOUT_END } from '../records.ts';
import { refusal } from './failures.ts';
import { compareOutpoints, isActive } from './leases.ts';
import { checkLabel } from './new-tx.ts';
import { isStorable } from './texts.ts';

/** Whose lease a frozen output has: 32 bytes that say so. */
export const FROZEN_LEASE_ID: Uint8Array = new TextEncoder().encode('frozen by its owner (BIP329)    ');

export const FROZEN_LEASE: CoinLease = { id: FROZEN_LEASE_ID, expiresAt: LEASE_WITHOUT_END, releaseAfterSpendConfs: null };

/** What keys of labels are made of; keys in indexes are bounded. */
const KEY_TEXT = /^[\x21-\x7e]{1,1000}$/;

/** Throws INVALID_PARAM. */
export function checkKeptLabel({ type, ref, origin, txId, label, others }: WalletLabel): void {
  if (!KEY_TEXT.test(ref) || (origin !== '' && !KEY_TEXT.test(origin)))
    throw refusal.invalid(`'${ref.slice(0, 80)}' is nothing that has a label`);
  if (type === 'tx' && txId !== null && label !== null) checkLabel(txId, label);
  else if (label !== null && !isStorable(label)) throw refusal.invalid('a label cannot have a zero character or half a character');
  if (!isStorable(others)) throw refusal.invalid('what is said of a label cannot have a zero character or half a character');
}

export function compareLabels(a: LabelKey, b: LabelKey): number {
  return (
    LABEL_TYPES.indexOf(a.type) - LABEL_TYPES.indexOf(b.type) ||
    Buffer.compare(Buffer.from(a.ref), Buffer.from(b.ref)) ||
    Buffer.compare(Buffer.from(a.origin), Buffer.from(b.origin))
  );
}

/** Each key once, what is said later over what was said before, in their order. */
export function mergedLabels(labels: readonly WalletLabel[]): WalletLabel[] {
  const merged = new Map<string, WalletLabel>();
  for (const label of labels) {
    const key = labelKey(label);
    merged.set(key, mergedLabel(merged.get(key), label));
  }
  return [...merged.values()].sort(compareLabels);
}

export function labelKey({ type, ref, origin }: LabelKey): string {
  return `${type} ${ref} ${origin}`;
}

export function mergedLabel(before: WalletLabel | undefined, now: WalletLabel): WalletLabel {
  return { ...now, label: now.label ?? before?.label ?? null, spendable: now.spendable ?? before?.spendable ?? null };
}

/** Transactions that labels of this wallet name, with the first one that each has; in the order of the labels. */
export function labelledTxs(labels: readonly WalletLabel[]): ReadonlyMap<string, { readonly txId: Uint8Array; readonly label: string }> {
  const found = new Map<string, { readonly txId: Uint8Array; readonly label: string }>();
  for (const { type, txId, label, isForeign } of labels.toSorted(compareLabels)) {
    if (type !== 'tx' || txId === null || isForeign || label === null || found.has(toHex(txId))) continue;
    found.set(toHex(txId), { txId, label });
  }
  return found;
}

/** Outputs that labels tell to be spendable, or not to be, in the order in which coins are leased. */
export function toldOutputs(labels: readonly WalletLabel[], spendable: boolean): Outpoint[] {
  const found = new Map<string, Outpoint>();
  for (const { type, txId, index, isForeign, spendable: told } of labels) {
    if (type !== 'output' || txId === null || index === null || isForeign || told !== spendable) continue;
    found.set(outpointText({ txId, index }), { txId, index });
  }
  return [...found.values()].sort(compareOutpoints);
}

/** What freezing an output does to the lease it has. `frozen`: it is already; `held`: somebody else has it for a time. */
export function freezing(lease: CoinLease | null, now: number): 'lease' | 'take over' | 'frozen' | 'held' {
  if (lease === null) return 'lease';
  if (!isActive(lease, now)) return 'take over';
  return lease.expiresAt === LEASE_WITHOUT_END && lease.releaseAfterSpendConfs === null ? 'frozen' : 'held';
}

export function isFrozenByLabel(lease: CoinLease | null): boolean {
  return lease !== null && equalBytes(lease.id, FROZEN_LEASE_ID);
}

/** What labels that are kept say of transactions that come in. */
export class LabelsOfTxs {
  readonly #txs: ReturnType<typeof labelledTxs>;
  readonly #frozen: ReadonlySet<string>;

  constructor(labels: readonly WalletLabel[]) {
    this.#txs = labelledTxs(labels);
    this.#frozen = new Set(toldOutputs(labels, false).map(outpointText));
  }

  /** Of the transaction with that id, in hex. Undefined: it has none. */
  labelOf(txId: string): string | undefined {
    return this.#txs.get(txId)?.label;
  }

  isFrozen(outpoint: string): boolean {
    return this.#frozen.has(outpoint);
  }
}
