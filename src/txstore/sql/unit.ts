/**
 * One atomic change of the transaction store on SQL: a call reads the records it
 * needs, a few statements for all of them, changes them in memory by the rules
 * that every store has, and `saveUnit` (save.ts) writes what has changed, inside
 * the same transaction of the database. Reading comes first: whatever is asked for
 * and was not read is a mistake of the program.
 */
import type { Outpoint } from '../../ledgers/outpoint.ts';
import { compareBytes, toHex } from '../../util/bytes.ts';
import { assert } from '../../util/errors.ts';
import type { ChainChanges } from '../chain/connect.ts';
import type { ParentChild } from '../prune-store.ts';
import type { DeletionState, SlotSpender, TxRecord, TxSlot } from '../records.ts';
import { deleteAtHeightOf } from '../rules/deletion.ts';
import { newRecord } from '../rules/new-record.ts';
import { txRefusal } from '../rules/refusals.ts';
import { spentSlot } from '../rules/slots.ts';
import type { NewStoredTx, SpendingInput, TxStoreSettings } from '../store.ts';
import {
  allSlotRows,
  blockFromRow,
  blockRowsOf,
  inputRows,
  recordRows,
  slotFromRow,
  slotRows,
  tombstoneRows,
  tombstoneRowsOf,
} from './load.ts';
import type { RecordRow, SlotRow, TxStoreTransaction } from './tables.ts';

/** A row of `tx` with its blocks. */
export interface TxRowState extends DeletionState, Pick<TxRecord, 'txId' | 'isCoinbase' | 'coinbaseSpendableAt' | 'version'> {
  readonly outputCount: number;
}

/** A record in memory, as far as it was read. */
export interface ReadTx {
  readonly txId: Uint8Array;
  readonly state: TxRowState;
  /** As it is stored; null: it is new. */
  readonly before: TxRowState | null;
  inputs: readonly Outpoint[] | null;
  /** By index. */
  readonly slots: Map<number, TxSlot | null>;
  hasAllSlots: boolean;
  readonly changedSlots: Set<number>;
  /** Of a new record. */
  readonly outputs: TxRecord['outputs'] | null;
  isChanged: boolean;
  isDeleted: boolean;
}

export class SqlUnit implements ChainChanges<ReadTx> {
  /** Of the chain. A unit that takes in several blocks moves it from one to the next. */
  height: number;
  readonly #tx: TxStoreTransaction;
  readonly #settings: TxStoreSettings;
  readonly #read = new Map<string, ReadTx | undefined>();
  /** Heights at which children were pruned, by parent and child; null: there is no tombstone. */
  readonly #tombstones = new Map<string, number | null>();
  /** Parents whose tombstones were all read. */
  readonly #tombstonesOf = new Set<string>();
  /** Membership in `conflictingChildren`, by parent and child, as it is to be. */
  readonly memberships = new Map<string, ParentChild & { readonly isMember: boolean }>();

  constructor(tx: TxStoreTransaction, settings: TxStoreSettings, height: number) {
    this.#tx = tx;
    this.#settings = settings;
    this.height = height;
  }

  /** Locks and reads those that were not read yet. */
  async read(txIds: readonly Uint8Array[]): Promise<void> {
    const wanted = distinct(txIds).filter((txId) => !this.#read.has(toHex(txId)));
    const rows = await recordRows(this.#tx, wanted, true);
    for (const txId of wanted) this.#read.set(toHex(txId), undefined);
    const states = new Map(rows.map((row) => [toHex(row.hash), stateFromRow(row)]));
    const blocks = await blockRowsOf(
      this.#tx,
      rows.map(({ hash }) => hash),
    );
    for (const row of blocks) states.get(toHex(row.tx_hash))?.blocks.push(blockFromRow(row));
    for (const { hash } of rows) this.#read.set(toHex(hash), readTx(hash, states.get(toHex(hash))!));
  }

  async readInputs(txs: readonly ReadTx[]): Promise<void> {
    const wanted = txs.filter(({ inputs }) => inputs === null);
    const found = new Map(wanted.map(({ txId }) => [toHex(txId), [] as Outpoint[]]));
    const rows = await inputRows(
      this.#tx,
      wanted.map(({ txId }) => txId),
    );
    for (const row of rows) found.get(toHex(row.tx_hash))?.push({ txId: row.prev_hash, index: row.prev_idx });
    for (const tx of wanted) tx.inputs = found.get(toHex(tx.txId))!;
  }

  /** Of records that were read; others have none. */
  async readSlots(outpoints: readonly Outpoint[]): Promise<void> {
    const wanted = new Map<string, Outpoint>();
    for (const { txId, index } of outpoints) {
      const tx = this.find(txId);
      if (tx === undefined || tx.hasAllSlots || tx.slots.has(index) || index >= tx.state.outputCount) continue;
      wanted.set(`${toHex(txId)}${index}`, { txId, index });
    }
    this.#keepSlots(await slotRows(this.#tx, [...wanted.values()]));
  }

  async readAllSlots(txs: readonly ReadTx[]): Promise<void> {
    const wanted = txs.filter(({ hasAllSlots }) => !hasAllSlots);
    const rows = await allSlotRows(
      this.#tx,
      wanted.map(({ txId }) => txId),
    );
    this.#keepSlots(rows);
    for (const tx of wanted) tx.hasAllSlots = true;
  }

  #keepSlots(rows: readonly SlotRow[]): void {
    for (const row of rows) this.need(row.tx_hash).slots.set(row.idx, slotFromRow(row));
  }

  async readTombstones(pairs: readonly ParentChild[]): Promise<void> {
    const wanted = new Map(pairs.map((pair) => [pairKey(pair.parent, pair.child), pair]));
    for (const key of wanted.keys()) this.#tombstones.set(key, null);
    const rows = await tombstoneRows(this.#tx, [...wanted.values()]);
    for (const row of rows) this.#tombstones.set(pairKey(row.tx_hash, row.child_hash), row.pruned_at);
  }

  async readTombstonesOf(txIds: readonly Uint8Array[]): Promise<void> {
    const wanted = distinct(txIds).filter((txId) => !this.#tombstonesOf.has(toHex(txId)));
    for (const row of await tombstoneRowsOf(this.#tx, wanted)) {
      this.#tombstones.set(pairKey(row.tx_hash, row.child_hash), row.pruned_at);
    }
    for (const txId of wanted) this.#tombstonesOf.add(toHex(txId));
  }

  /** Nothing is read here: it was read before. */
  load(txIds: readonly Uint8Array[]): void {
    for (const txId of txIds) this.find(txId);
  }

  find(txId: Uint8Array): ReadTx | undefined {
    const key = toHex(txId);
    const tx = this.#read.get(key);
    assert(tx !== undefined || this.#read.has(key), 'a record is read before it is used');
    return tx?.isDeleted ? undefined : tx;
  }

  need(txId: Uint8Array): ReadTx {
    const tx = this.find(txId);
    if (tx === undefined) throw txRefusal.notFound([txId]);
    return tx;
  }

  needAll(txIds: readonly Uint8Array[]): readonly ReadTx[] {
    const missing = txIds.filter((txId) => this.find(txId) === undefined);
    if (missing.length > 0) throw txRefusal.notFound(missing);
    return txIds.map((txId) => this.need(txId));
  }

  /** Those of them that are there. */
  present(txIds: readonly Uint8Array[]): ReadTx[] {
    return distinct(txIds).flatMap((txId) => this.find(txId) ?? []);
  }

  /** Every record that was read or made. */
  records(): ReadTx[] {
    return [...this.#read.values()].filter((tx) => tx !== undefined);
  }

  /** Throws INVALID_PARAM, TX_EXISTS. */
  create(newTx: NewStoredTx): ReadTx {
    const record = newRecord(newTx, this.height);
    if (this.find(newTx.txId) !== undefined) throw txRefusal.exists(newTx.txId);
    const { txId, outputs, inputs, tombstones: _, conflictingChildren: __, ...rest } = record;
    const tx: ReadTx = {
      txId,
      state: { ...rest, txId, outputCount: outputs.length },
      before: null,
      inputs,
      slots: new Map(outputs.map(({ slot }, index) => [index, slot])),
      hasAllSlots: true,
      changedSlots: new Set(),
      outputs,
      isChanged: true,
      isDeleted: false,
    };
    this.#read.set(toHex(txId), tx);
    this.#tombstonesOf.add(toHex(txId));
    return tx;
  }

  delete(tx: ReadTx): void {
    tx.isDeleted = true;
  }

  change(tx: ReadTx, part: Partial<TxRowState>): void {
    Object.assign(tx.state, part);
    const deleteAtHeight = deleteAtHeightOf(tx.state, this.height, this.#settings.retention);
    Object.assign(tx.state, { deleteAtHeight, version: (tx.before?.version ?? 0) + 1 });
    tx.isChanged = true;
  }

  keepVersion({ state, before }: ReadTx): void {
    Object.assign(state, { version: before?.version ?? 0 });
  }

  inputs({ inputs }: ReadTx): readonly Outpoint[] {
    assert(inputs !== null, 'inputs are read before they are used');
    return inputs;
  }

  /** Throws STORE_DAMAGED. */
  slot(tx: ReadTx, index: number): TxSlot | null | undefined {
    if (index >= tx.state.outputCount) return undefined;
    const slot = tx.slots.get(index);
    if (slot === undefined) throw txRefusal.damaged(tx.txId, `has no row of its output ${index}`);
    return slot;
  }

  setSlot(tx: ReadTx, index: number, slot: TxSlot): void {
    const wasSpent = tx.slots.get(index)?.state === 'spent';
    tx.slots.set(index, slot);
    tx.changedSlots.add(index);
    this.change(tx, { spentCount: tx.state.spentCount + (slot.state === 'spent' ? 1 : 0) - (wasSpent ? 1 : 0) });
  }

  spend(parent: ReadTx, input: SpendingInput, spender: SlotSpender): void {
    const slot = this.slot(parent, input.index);
    const isPruned = this.tombstoneHeight(parent.txId, spender.txId) !== null;
    this.setSlot(parent, input.index, spentSlot(slot, input, spender, isPruned, this.height));
  }

  children(tx: ReadTx): Uint8Array[] {
    assert(tx.hasAllSlots, 'all slots are read before the children are asked for');
    return distinct([...tx.slots.values()].flatMap((slot) => slot?.spender?.txId ?? [])).sort(compareBytes);
  }

  tombstoneHeight(parent: Uint8Array, child: Uint8Array): number | null {
    const height = this.#tombstones.get(pairKey(parent, child));
    assert(height !== undefined || this.#tombstonesOf.has(toHex(parent)), 'a tombstone is read before it is used');
    return height ?? null;
  }

  hasTombstone(parent: Uint8Array, child: Uint8Array): boolean {
    return this.tombstoneHeight(parent, child) !== null;
  }

  joinParents(tx: ReadTx): void {
    this.#setMembership(tx, true);
  }

  leaveParents(tx: ReadTx): void {
    this.#setMembership(tx, false);
  }

  #setMembership(tx: ReadTx, isMember: boolean): void {
    for (const { txId: parent } of this.present(this.inputs(tx).map(({ txId }) => txId)))
      this.memberships.set(pairKey(parent, tx.txId), { parent, child: tx.txId, isMember });
  }
}

function readTx(txId: Uint8Array, state: TxRowState): ReadTx {
  const before = { ...state };
  return {
    txId,
    state,
    before,
    inputs: null,
    slots: new Map(),
    hasAllSlots: false,
    changedSlots: new Set(),
    outputs: null,
    isChanged: false,
    isDeleted: false,
  };
}

/** Without its blocks, which come in other rows. */
export function stateFromRow(row: RecordRow): TxRowState & { readonly blocks: TxRecord['blocks'][number][] } {
  return {
    txId: row.hash,
    version: row.version,
    outputCount: row.output_count,
    spendable: row.spendable,
    spentCount: row.spent_count,
    blocks: [],
    isCoinbase: row.is_coinbase === 1,
    coinbaseSpendableAt: row.coinbase_spendable_at,
    isConflicting: row.is_conflicting === 1,
    isLocked: row.is_locked === 1,
    isCreating: row.is_creating === 1,
    deleteAtHeight: row.delete_at_height,
    unminedSince: row.unmined_since,
    preserveUntil: row.preserve_until,
  };
}

export function distinct(txIds: readonly Uint8Array[]): Uint8Array[] {
  return [...new Map(txIds.map((txId) => [toHex(txId), txId])).values()];
}

function pairKey(parent: Uint8Array, child: Uint8Array): string {
  return toHex(parent) + toHex(child);
}
