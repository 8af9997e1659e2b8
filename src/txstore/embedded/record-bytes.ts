/**
 * A record in memory is its stored bytes (codec.ts): fields are read from them
 * and changed in place, and what is to be stored is there already. Lists are
 * taken apart when somebody asks for them; only a list that has changed, and may
 * be longer now, makes the record be put together anew.
 */

import { TXID_BYTES } from '../../ledgers/outpoint.ts';
import { copyBytes, readU16, readU32, writeU16, writeU32 } from '../../util/bytes.ts';
import type { TxBlock } from '../records.ts';
import {
  BLOCK_BYTES,
  bodyBytes,
  damagedRecord,
  FLAG,
  HEAD,
  HEAD_BYTES,
  listsBytes,
  REASSIGNED_BYTES,
  type ReassignedOutput,
  readBlocks,
  readLosers,
  readReassigned,
  type TxState,
  writeLists,
} from './codec.ts';
import { OUTPUT_HEAD_BYTES } from './outputs.ts';

export class RecordBytes implements TxState {
  readonly txId: Uint8Array;
  /** The record is here, from `at` to `end`; nobody else changes these bytes. */
  readonly bytes: Uint8Array;
  readonly at: number;
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
    if (end - at < HEAD_BYTES) throw damagedRecord(end - at);
    this.txId = txId;
    this.bytes = bytes;
    this.at = at;
    this.end = end;
    this.slotsAt =
      at +
      HEAD_BYTES +
      BLOCK_BYTES * readU32(bytes, at + HEAD.blockCount) +
      TXID_BYTES * readU32(bytes, at + HEAD.loserCount) +
      REASSIGNED_BYTES * readU32(bytes, at + HEAD.reassignedCount);
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

  get version(): number {
    return readU32(this.bytes, this.at + HEAD.version);
  }
  set version(version: number) {
    writeU32(this.bytes, this.at + HEAD.version, version);
  }

  get spendable(): number {
    return readU32(this.bytes, this.at + HEAD.spendable);
  }
  set spendable(count: number) {
    writeU32(this.bytes, this.at + HEAD.spendable, count);
  }

  get spentCount(): number {
    return readU32(this.bytes, this.at + HEAD.spentCount);
  }
  set spentCount(count: number) {
    writeU32(this.bytes, this.at + HEAD.spentCount, count);
  }

  get outputCount(): number {
    return readU32(this.bytes, this.at + HEAD.outputCount);
  }

  get inputCount(): number {
    return readU32(this.bytes, this.at + HEAD.inputCount);
  }

  get unminedSince(): number | null {
    return this.height(FLAG.unminedSince, HEAD.unminedSince);
  }
  set unminedSince(height: number | null) {
    this.setHeight(FLAG.unminedSince, HEAD.unminedSince, height);
  }

  get deleteAtHeight(): number | null {
    return this.height(FLAG.deleteAtHeight, HEAD.deleteAtHeight);
  }
  set deleteAtHeight(height: number | null) {
    this.setHeight(FLAG.deleteAtHeight, HEAD.deleteAtHeight, height);
  }

  get preserveUntil(): number | null {
    return this.height(FLAG.preserveUntil, HEAD.preserveUntil);
  }
  set preserveUntil(height: number | null) {
    this.setHeight(FLAG.preserveUntil, HEAD.preserveUntil, height);
  }

  get coinbaseSpendableAt(): number | null {
    return this.height(FLAG.coinbaseSpendableAt, HEAD.coinbaseSpendableAt);
  }

  get isConflicting(): boolean {
    return this.has(FLAG.isConflicting);
  }
  set isConflicting(is: boolean) {
    this.setFlag(FLAG.isConflicting, is);
  }

  get isLocked(): boolean {
    return this.has(FLAG.isLocked);
  }
  set isLocked(is: boolean) {
    this.setFlag(FLAG.isLocked, is);
  }

  get isCreating(): boolean {
    return this.has(FLAG.isCreating);
  }
  set isCreating(is: boolean) {
    this.setFlag(FLAG.isCreating, is);
  }

  get isCoinbase(): boolean {
    return this.has(FLAG.isCoinbase);
  }

  get hasTombstones(): boolean {
    return this.has(FLAG.hasTombstones);
  }
  set hasTombstones(has: boolean) {
    this.setFlag(FLAG.hasTombstones, has);
  }

  get wasUnspent(): boolean {
    return this.has(FLAG.wasUnspent);
  }
  set wasUnspent(was: boolean) {
    this.setFlag(FLAG.wasUnspent, was);
  }

  get hasOutputRows(): boolean {
    return this.has(FLAG.hasOutputRows);
  }

  get blocks(): readonly TxBlock[] {
    this.blockList ??= readBlocks(this.bytes, this.at);
    return this.blockList;
  }
  set blocks(blocks: readonly TxBlock[]) {
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

  private has(flag: number): boolean {
    return (readU16(this.bytes, this.at + HEAD.flags) & flag) !== 0;
  }

  private setFlag(flag: number, is: boolean): void {
    const flags = readU16(this.bytes, this.at + HEAD.flags);
    writeU16(this.bytes, this.at + HEAD.flags, is ? flags | flag : flags & ~flag);
  }

  private height(flag: number, field: number): number | null {
    return this.has(flag) ? readU32(this.bytes, this.at + field) : null;
  }

  private setHeight(flag: number, field: number, height: number | null): void {
    this.setFlag(flag, height !== null);
    writeU32(this.bytes, this.at + field, height ?? 0);
  }
}
