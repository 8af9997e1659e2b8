/**
 * One atomic change of the embedded transaction store: records are loaded and
 * changed in memory, and written with all their index keys in one batch when the
 * whole call has succeeded (write.ts). A record that is changed leaves its old
 * place in an index and takes the new one in that batch, so that an index never
 * disagrees with the records.
 */
import type { Batch, Reader } from '../../engine/engine.ts';
import type { Outpoint } from '../../ledgers/outpoint.ts';
import { compareBytes, equalBytes, readU32 } from '../../util/bytes.ts';
import { assert } from '../../util/errors.ts';
import { distinctIds, IdMap, isSameId } from '../../util/id-map.ts';
import { TX_PAGE_SLOTS } from '../../util/limits.ts';
import type { SlotSpender, TxSlot } from '../records.ts';
import { deleteAtHeightOf } from '../rules/deletion.ts';
import { txRefusal } from '../rules/refusals.ts';
import { isNewSpend } from '../rules/slots.ts';
import type { NewStoredTx, SpendingInput, TxStoreSettings } from '../store.ts';
import { REASSIGNED, readInputs, readMinedHeight, SLOT_BYTES, SLOT_STATES, SPENT, type TxState } from './codec.ts';
import { pairKey, TX_TOMBSTONE } from './columns.ts';
import { distinctParents, type LoadedTx, loadTxs, slotPage } from './loaded-tx.ts';
import { GONE, UNKNOWN } from './mined-heights.ts';
import { newTx } from './new-tx.ts';
import type { PrunedSlot } from './pruned-slots.ts';
import { RowRoom } from './row-room.ts';
import { isUntouched, readSlot, slotHeldBy, slotSpenderId, slotSpenderView, writeSlotState } from './slots.ts';
import { readTotals } from './totals.ts';
import type { TxCache } from './tx-cache.ts';
import { writeUnit } from './write.ts';

export class TxUnit {
  /** Of the chain. A unit that takes in several blocks moves it from one to the next. */
  height: number;
  readonly reader: Reader;
  /** Null: nothing is at hand but what this unit loads. */
  readonly cache: TxCache | null;
  /** That are to be written. */
  readonly tombstones: (readonly [parent: Uint8Array, child: Uint8Array, height: number])[] = [];
  readonly #settings: TxStoreSettings;
  /** Of the state that it reads; null: it was resumed. */
  #mark: number | null;
  readonly #room = new RowRoom();
  /** Null: there is none. */
  #loaded = new IdMap<LoadedTx | null>();

  constructor(reader: Reader, settings: TxStoreSettings, height: number, cache: TxCache | null = null) {
    this.reader = reader;
    this.#settings = settings;
    this.height = height;
    this.cache = cache;
    const { mark } = readTotals(reader);
    this.#mark = mark;
    cache?.follow(mark);
  }

  /** Of the state that it reads; null: it was resumed. */
  get mark(): number | null {
    return this.#mark;
  }

  /** Goes on at this height with what it has read, once. False: something was written since. */
  resume(height: number): boolean {
    const { mark } = readTotals(this.reader);
    const isCurrent = this.#mark === mark;
    this.#mark = null;
    this.height = height;
    // A change that was not committed since is not in the store, but may be in what is at hand.
    this.cache?.follow(mark);
    return isCurrent;
  }

  /** Reads those that are not loaded yet together. `isLast`: nobody will ask for them again, so that they need not stay at hand. */
  load(txIds: readonly Uint8Array[], isLast = false): void {
    if (this.#loaded.size === 0) this.#loaded = new IdMap(txIds.length);
    const loaded = this.#loaded;
    const first = loaded.size;
    for (const txId of txIds) loaded.place(txId, null);
    if (loaded.size === first) return;
    const unknown = first === 0 ? loaded.ids : loaded.ids.slice(first);
    loadTxs(this.reader, this.cache, unknown, isLast, (n, tx) => loaded.setAt(first + n, tx));
  }

  /** Records that are to be written or deleted. */
  get changed(): readonly LoadedTx[] {
    const found: LoadedTx[] = [];
    for (const tx of this.#loaded.values()) if (tx?.isChanged && !(tx.isDeleted && tx.before === null)) found.push(tx);
    return found;
  }

  find(txId: Uint8Array): LoadedTx | undefined {
    let tx = this.#loaded.get(txId);
    if (tx === undefined) {
      this.load([txId]);
      tx = this.#loaded.get(txId);
    }
    return tx?.isDeleted ? undefined : (tx ?? undefined);
  }

  isDeleted(txId: Uint8Array): boolean {
    return this.#loaded.get(txId)?.isDeleted === true;
  }

  /** Since which height the best chain has a record; 0: it is not to be relied on; null: there is none. */
  minedHeight(txId: Uint8Array): number | null {
    const height = this.cache?.heights.get(txId) ?? UNKNOWN;
    if (height !== UNKNOWN) return height === GONE ? null : height;
    const state = this.find(txId)?.state;
    return state === undefined ? null : readMinedHeight(state.bytes, state.at);
  }

  /** Throws TX_NOT_FOUND. */
  need(txId: Uint8Array): LoadedTx {
    const tx = this.find(txId);
    if (tx === undefined) throw txRefusal.notFound([txId]);
    return tx;
  }

  /** Throws TX_NOT_FOUND with all that are missing. */
  needAll(txIds: readonly Uint8Array[]): readonly LoadedTx[] {
    this.load(txIds);
    const missing = txIds.filter((txId) => this.find(txId) === undefined);
    if (missing.length > 0) throw txRefusal.notFound(missing);
    return txIds.map((txId) => this.need(txId));
  }

  /** Throws INVALID_PARAM, TX_EXISTS. */
  create(given: NewStoredTx): LoadedTx {
    const tx = newTx(given, this.height, this.#room);
    if (this.find(tx.txId) !== undefined) throw txRefusal.exists(tx.txId);
    // What the index has of the one before would stay.
    assert(!this.isDeleted(tx.txId), 'a record that a change deletes is not made again in it');
    this.#loaded.set(tx.txId, tx);
    return tx;
  }

  /** Also one that was not loaded here (due-row.ts). */
  delete(tx: LoadedTx): void {
    this.#loaded.set(tx.txId, tx);
    tx.isDeleted = true;
    tx.isChanged = true;
  }

  /** And decides anew when it may be deleted. */
  change(tx: LoadedTx, part: Partial<TxState>): void {
    Object.assign(tx.state, part);
    this.#changed(tx);
  }

  keepVersion({ state, before }: LoadedTx): void {
    state.version = before?.version ?? 0;
  }

  #changed(tx: LoadedTx): void {
    const { state } = tx;
    state.deleteAtHeight = deleteAtHeightOf(state, this.height, this.#settings.retention);
    state.version = ((tx.before?.version ?? 0) + 1) >>> 0;
    tx.isChanged = true;
  }

  /** Undefined: the transaction has no such output. `withHash` false: nobody looks at the hash, which is empty then. */
  slot(tx: LoadedTx, index: number, withHash = true): TxSlot | null | undefined {
    return readSlot(this.reader, tx, index, withHash);
  }

  /** Its state and its spender; nothing else of a slot changes but by `reassign`. */
  setSlot(tx: LoadedTx, index: number, { state, spender }: Pick<TxSlot, 'state' | 'spender'>): void {
    const pruned = tx.state.pruned.find(({ slot }) => slot === index);
    if (pruned !== undefined) this.#moveTombstone(tx, pruned);
    const was = writeSlotState(this.reader, tx, index, SLOT_STATES.indexOf(state), spender);
    const [wasSpent, isSpent] = [was === SPENT, state === 'spent'];
    const wasUnspent = tx.state.wasUnspent || (tx.state.hasTombstones && wasSpent && !isSpent);
    this.change(tx, { spentCount: tx.state.spentCount + (isSpent ? 1 : 0) - (wasSpent ? 1 : 0), wasUnspent });
  }

  /** As `setSlot` with what `spentSlot` gives; most outputs are untouched, so that nothing can stand in the way. Throws what `spentSlot` throws. */
  spend(tx: LoadedTx, input: SpendingInput, spender: SlotSpender): void {
    const { state } = tx;
    if (input.hash !== undefined || state.hasTombstones || state.pruned.length > 0 || !isUntouched(this.reader, tx, input.index)) {
      const slot = this.slot(tx, input.index, input.hash !== undefined);
      const isPruned = slot?.state !== 'frozen' && this.hasTombstone(tx.txId, spender.txId);
      if (!isNewSpend(slot, input, spender, isPruned, this.height)) {
        this.#changed(tx);
        return;
      }
    }
    writeSlotState(this.reader, tx, input.index, SPENT, spender);
    state.spentCount++;
    this.#changed(tx);
  }

  /** A frozen output is somebody else's: one slot more must be spent, which never is. */
  reassign(tx: LoadedTx, index: number, hash: Uint8Array, spendableFrom: number): void {
    writeSlotState(this.reader, tx, index, SLOT_STATES.indexOf('unspent'), null, true);
    const others = tx.state.reassigned.filter((output) => output.index !== index);
    this.change(tx, { spendable: tx.state.spendable + 1, reassigned: [...others, { index, spendableFrom, hash }] });
  }

  inputs(tx: LoadedTx): readonly Outpoint[] {
    return readInputs(tx.state.bytes, tx.state.inputsAt, tx.state.inputCount);
  }

  /** Every transaction that a slot names, on whichever page, once, by id. */
  children(tx: LoadedTx): Uint8Array[] {
    return this.childrenInPlace(tx).map((txId) => new Uint8Array(txId));
  }

  /** As `children`, as views of slots, for those who change none. */
  childrenInPlace(tx: LoadedTx): Uint8Array[] {
    const found: Uint8Array[] = [];
    const { outputCount } = tx.state;
    for (let first = 0; first < outputCount; first += TX_PAGE_SLOTS) {
      const { bytes, at } = slotPage(this.reader, tx, first / TX_PAGE_SLOTS);
      const end = at + SLOT_BYTES * Math.min(TX_PAGE_SLOTS, outputCount - first);
      for (let slot = at; slot < end; slot += SLOT_BYTES)
        if ((bytes[slot] & ~REASSIGNED) === SPENT) found.push(slotSpenderView(bytes, slot));
    }
    return distinctIds(found).sort(compareBytes);
  }

  /** At which height the child was pruned; null: it was not. */
  tombstoneHeight(parent: Uint8Array, child: Uint8Array): number | null {
    const tx = this.find(parent);
    if (tx === undefined) return null;
    const { bytes, slotsAt, pruned, hasTombstones } = tx.state;
    const found = pruned.find(({ slot }) => isSameId(bytes, slotsAt + SLOT_BYTES * slot + 1, child, 0));
    if (found !== undefined || !hasTombstones) return found?.height ?? null;
    const row = this.reader.get(TX_TOMBSTONE, pairKey(parent, child));
    return row === undefined ? null : readU32(row, 0);
  }

  hasTombstone(parent: Uint8Array, child: Uint8Array): boolean {
    return this.tombstoneHeight(parent, child) !== null;
  }

  /** The version stays: a tombstone only makes it easier to delete the parent. */
  addTombstone(parent: LoadedTx, child: Uint8Array): void {
    const { state } = parent;
    const slot = slotHeldBy(parent, child);
    if (slot === null) this.#putTombstone(parent, child, this.height);
    else state.pruned = [...state.pruned, { slot, height: this.height }].sort((a, b) => a.slot - b.slot);
    parent.isChanged = true;
  }

  #putTombstone({ txId, state }: LoadedTx, child: Uint8Array, height: number): void {
    this.tombstones.push([txId, child, height]);
    state.hasTombstones = true;
  }

  /** The slot is about to be another's: what was pruned stays known without it. */
  #moveTombstone(tx: LoadedTx, pruned: PrunedSlot): void {
    const { state } = tx;
    this.#putTombstone(tx, slotSpenderId(state.bytes, state.slotsAt + SLOT_BYTES * pruned.slot), pruned.height);
    state.pruned = state.pruned.filter((other) => other !== pruned);
    state.wasUnspent = true;
  }

  /** Distinct, those that are there. */
  parents(tx: LoadedTx): LoadedTx[] {
    return distinctParents(this.inputs(tx)).flatMap((txId) => this.find(txId) ?? []);
  }

  joinParents(tx: LoadedTx): void {
    for (const parent of this.parents(tx)) {
      const others = parent.state.conflictingChildren.filter((txId) => !equalBytes(txId, tx.txId));
      setList(parent, [...others, tx.txId].sort(compareBytes));
    }
  }

  leaveParents(tx: LoadedTx): void {
    for (const parent of this.parents(tx)) this.leaveParent(tx, parent);
  }

  leaveParent(tx: LoadedTx, parent: LoadedTx): void {
    const { conflictingChildren } = parent.state;
    if (conflictingChildren.length === 0) return;
    const others = conflictingChildren.filter((txId) => !equalBytes(txId, tx.txId));
    if (others.length < conflictingChildren.length) setList(parent, others);
  }

  /** Puts all changes into the batch. */
  write(batch: Batch): void {
    writeUnit(this, batch);
  }
}

/** No decision rests on the list, so that the version stays. */
function setList(tx: LoadedTx, conflictingChildren: readonly Uint8Array[]): void {
  tx.state.conflictingChildren = conflictingChildren;
  tx.isChanged = true;
}
