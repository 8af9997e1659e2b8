/**
 * A record in memory is its stored bytes (codec.ts): fields are read from them
 * and changed in place, and what is to be stored is there already. Lists are
 * taken apart when somebody asks for them; only a list that has changed, and may
 * be longer now, makes the record be put together anew.
 */
import { copyBytes, readU16 } from '../../util/bytes.ts';
import type { TxBlock } from '../records.ts';
import {
  bodyBytes,
  damagedRecord,
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
import { RecordHead } from './record-head.ts';

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
  private hasNewList = false;

  /** Throws STORE_DAMAGED. */
  constructor(txId: Uint8Array, bytes: Uint8Array, at: number, end: number) {
    super(bytes, at);
    if (end - at < HEAD_BYTES) throw damagedRecord(end - at);
    this.txId = txId;
    this.end = end;
    this.slotsAt = this.slotsPlace();
    if (this.outputsAt > end) throw damagedRecord(end - at);
  }

  /** Throws STORE_DAMAGED if slots, inputs and outputs do not end where the record does. */
  check(): void {
    const { bytes, end, outputCount } = this;
    let at = this.outputsAt;
    if (!this.hasOutputRows) for (let n = 0; n < outputCount && at < end; n++) at += OUTPUT_HEAD_BYTES + readU16(bytes, at + 8);
    if (at !== end) throw damagedRecord(end - this.at);
  }

  get inputsAt(): number {
    return this.slotsAt + bodyBytes(this.outputCount, 0);
  }

  get outputsAt(): number {
    return this.slotsAt + bodyBytes(this.outputCount, this.inputCount);
  }

  /** Whether it may be in other blocks than when it was read, mined or unmined, or have lost or won. */
  hasNewPlace(before: Pick<TxState, 'unminedSince' | 'isConflicting'>): boolean {
    return this.hasNewList || this.unminedSince !== before.unminedSince || this.isConflicting !== before.isConflicting;
  }

  /** As it is to be stored; a view, if nothing has become longer or shorter. */
  encoded(): Uint8Array {
    const { bytes, at, end, slotsAt } = this;
    if (!this.hasNewList) return bytes.subarray(at, end);
    const head = HEAD_BYTES + listsBytes(this);
    const row = new Uint8Array(head + end - slotsAt);
    copyBytes(bytes, at, row, 0, HEAD_BYTES);
    writeLists(row, 0, this);
    row.set(bytes.subarray(slotsAt, end), head);
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

  get reassigned(): readonly ReassignedOutput[] {
    this.reassignedList ??= readReassigned(this.bytes, this.at, this.slotsAt);
    return this.reassignedList;
  }
  set reassigned(outputs: readonly ReassignedOutput[]) {
    this.reassignedList = outputs;
    this.hasNewList = true;
  }
}
