/**
 * A change of the store in memory: a copy of the map of records, which becomes
 * the store's own only when the whole call has succeeded. Records are values: a
 * changed one is another one under the same id.
 */
import { compareBytes, equalBytes, toHex } from '../../util/bytes.ts';
import type { TxRecord, TxSlot } from '../records.ts';
import { deleteAtHeightOf } from '../rules/deletion.ts';
import { txRefusal } from '../rules/refusals.ts';
import type { TxStoreSettings } from '../store.ts';

export class TxDraft {
  readonly txs: Map<string, TxRecord>;
  readonly settings: TxStoreSettings;
  readonly height: number;

  constructor(txs: ReadonlyMap<string, TxRecord>, settings: TxStoreSettings, height: number) {
    this.txs = new Map(txs);
    this.settings = settings;
    this.height = height;
  }

  find(txId: Uint8Array): TxRecord | undefined {
    return this.txs.get(toHex(txId));
  }

  /** Throws TX_NOT_FOUND with all that are missing. */
  checkAll(txIds: readonly Uint8Array[]): void {
    const missing = txIds.filter((txId) => this.find(txId) === undefined);
    if (missing.length > 0) throw txRefusal.notFound(missing);
  }

  need(txId: Uint8Array): TxRecord {
    const record = this.find(txId);
    if (record === undefined) throw txRefusal.notFound([txId]);
    return record;
  }

  put(record: TxRecord): void {
    this.txs.set(toHex(record.txId), { ...record, version: record.version + 1 });
  }

  /** Changes a record and decides anew when it may be deleted. */
  change(txId: Uint8Array, part: Partial<TxRecord>): void {
    const record = { ...this.need(txId), ...part };
    this.put({ ...record, deleteAtHeight: deleteAtHeightOf(record, this.height, this.settings.retention) });
  }

  setSlot(txId: Uint8Array, index: number, slot: TxSlot): void {
    const outputs = this.need(txId).outputs.map((output, n) => (n === index ? { ...output, slot } : output));
    this.change(txId, { outputs, spentCount: outputs.filter((output) => output.slot?.state === 'spent').length });
  }

  slot(txId: Uint8Array, index: number): TxSlot | null | undefined {
    return this.need(txId).outputs[index]?.slot;
  }

  /** A conflicting record stands in the list of each of its parents. */
  joinParents(record: TxRecord): void {
    for (const parent of this.parentsOf(record)) {
      const others = parent.conflictingChildren.filter((txId) => !equalBytes(txId, record.txId));
      this.#list(parent, [...others, record.txId].sort(compareBytes));
    }
  }

  leaveParents(record: TxRecord): void {
    for (const parent of this.parentsOf(record)) {
      this.#list(
        parent,
        parent.conflictingChildren.filter((txId) => !equalBytes(txId, record.txId)),
      );
    }
  }

  #list(record: TxRecord, conflictingChildren: readonly Uint8Array[]): void {
    this.txs.set(toHex(record.txId), { ...record, conflictingChildren });
  }

  /** Those that are there, each once. */
  parentsOf({ inputs }: TxRecord): TxRecord[] {
    const ids = new Map(inputs.map(({ txId }) => [toHex(txId), txId]));
    return [...ids.values()].flatMap((txId) => this.find(txId) ?? []);
  }
}

/** Every transaction that a slot of the record names, once, by id. */
export function childrenOf({ outputs }: TxRecord): Uint8Array[] {
  const ids = new Map(outputs.flatMap(({ slot }) => (slot?.spender ? [[toHex(slot.spender.txId), slot.spender.txId] as const] : [])));
  return [...ids.values()].sort(compareBytes);
}
