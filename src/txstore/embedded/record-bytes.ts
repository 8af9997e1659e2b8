/**
 * A record in memory is its stored bytes (codec.ts): fields are read from them
 * and changed in place, and what is to be stored is there already. Lists are
 * taken apart when somebody asks for them; only a list that has changed, and may
 * be longer now, makes the record be put together anew.
 */
import { copyBytes, readU16, writeU16 } from '../../util/bytes.ts';
import { TX_PAGE_SLOTS } from '../../util/limits.ts';
import type { TxBlock } from '../records.ts';
import {
  bodyBytes,
  damagedRecord,
  FLAG,
  HEAD,
  HEAD_BYTES,
  listsBytes,
  type ReassignedOutput,
  readBlocks,
  readLosers,
  readReassigned,
  type TxState,
  writeLists,
} from './codec.ts';
import { OUTPUT_HEAD_BYTES } from './outputs.ts';
import { type PrunedSlot, prunedSlotsBytes, readPrunedSlots, writePrunedSlots } from './pruned-slots.ts';
import { RecordHead } from './record-head.ts';

const NONE_PRUNED: readonly PrunedSlot[] = [];

export class RecordBytes extends RecordHead implements TxState {
  readonly txId: Uint8Array;
  /** The record ends here; nobody else changes its bytes. */
  readonly end: number;
  /** The first page of slots; inputs and small outputs follow. */
  readonly slotsAt: number;
  /** Null: as they stand in the bytes. */
  private blockList: readonly TxBlock[] | null = null;
  private loserList: readonly Uint8Array[] | null = null;
  private reassignedList: readonly ReassignedOutput[] | null = null;
  private prunedList: readonly PrunedSlot[] | null = null;
  private hasNewList = false;
  private hasNewPruned = false;

  /** Throws STORE_DAMAGED. */
  constructor(txId: Uint8Array, bytes: Uint8Array, at: number, end: number) {
    super(bytes, at);
    if (end - at < HEAD_BYTES) throw damagedRecord(end - at);
    this.txId = txId;
    this.end = end;
    this.slotsAt = this.slotsPlace();
    if (this.prunedAt > end || this.outputsAt > end) throw damagedRecord(end - at);
  }

  /** Throws STORE_DAMAGED if slots, inputs and outputs do not end where the record does, or it lists slots that it has not. */
  check(): void {
    const { bytes, end, outputCount } = this;
    const slots = Math.min(outputCount, TX_PAGE_SLOTS);
    if (this.pruned.some(({ slot }) => slot >= slots)) throw damagedRecord(end - this.at);
    let at = this.outputsAt;
    if (!this.hasOutputRows) for (let n = 0; n < outputCount && at < end; n++) at += OUTPUT_HEAD_BYTES + readU16(bytes, at + 8);
    if (at !== end) throw damagedRecord(end - this.at);
  }

  get inputsAt(): number {
    return this.slotsAt + bodyBytes(this.outputCount, 0);
  }

  get prunedAt(): number {
    return this.slotsAt + bodyBytes(this.outputCount, this.inputCount);
  }

  get outputsAt(): number {
    return this.prunedAt + (this.hasPruned ? prunedSlotsBytes(readU16(this.bytes, this.prunedAt)) : 0);
  }

  /** Whether it may be in other blocks than when it was read, mined or unmined, or have lost or won. */
  hasNewPlace(before: Pick<TxState, 'unminedSince' | 'isConflicting'>): boolean {
    return this.hasNewList || this.unminedSince !== before.unminedSince || this.isConflicting !== before.isConflicting;
  }

  /** As it is to be stored; a view, if nothing has become longer or shorter. */
  encoded(): Uint8Array {
    const { bytes, at, end, slotsAt, prunedAt, outputsAt, pruned } = this;
    if (!this.hasNewList && !this.hasNewPruned) return bytes.subarray(at, end);
    const newSlotsAt = HEAD_BYTES + listsBytes(this);
    const newPrunedAt = newSlotsAt + prunedAt - slotsAt;
    const newOutputsAt = newPrunedAt + prunedSlotsBytes(pruned.length);
    const row = new Uint8Array(newOutputsAt + end - outputsAt);
    copyBytes(bytes, at, row, 0, HEAD_BYTES);
    const flags = readU16(row, HEAD.flags);
    writeU16(row, HEAD.flags, pruned.length > 0 ? flags | FLAG.hasPruned : flags & ~FLAG.hasPruned);
    writeLists(row, 0, this);
    row.set(bytes.subarray(slotsAt, prunedAt), newSlotsAt);
    if (pruned.length > 0) writePrunedSlots(row, newPrunedAt, pruned);
    row.set(bytes.subarray(outputsAt, end), newOutputsAt);
    return row;
  }

  override get blocks(): readonly TxBlock[] {
    this.blockList ??= readBlocks(this.bytes, this.at);
    return this.blockList;
  }
  override set blocks(blocks: readonly TxBlock[]) {
    this.blockList = blocks;
    this.hasNewList = true;
  }

  get conflictingChildren(): readonly Uint8Array[] {
    this.loserList ??= readLosers(this.bytes, this.at);
    return this.loserList;
  }
  set conflictingChildren(losers: readonly Uint8Array[]) {
    this.loserList = losers;
    this.hasNewList = true;
  }

  get pruned(): readonly PrunedSlot[] {
    this.prunedList ??= this.hasPruned ? readPrunedSlots(this.bytes, this.prunedAt) : NONE_PRUNED;
    return this.prunedList;
  }
  set pruned(slots: readonly PrunedSlot[]) {
    this.prunedList = slots;
    this.hasNewPruned = true;
  }

  get reassigned(): readonly ReassignedOutput[] {
    this.reassignedList ??= readReassigned(this.bytes, this.at, this.slotsAt);
    return this.reassignedList;
  }
  set reassigned(outputs: readonly ReassignedOutput[]) {
    this.reassignedList = outputs;
    this.hasNewList = true;
  }
}
