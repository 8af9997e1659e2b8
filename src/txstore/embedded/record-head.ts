/**
 * The head of a record as its stored bytes (codec.ts): fields are read from them
 * and changed in place. It can be moved from one record to the next, so that a
 * loop over many makes no object for each.
 */
import { TXID_BYTES } from '../../ledgers/outpoint.ts';
import { readU16, readU32, writeU16, writeU32 } from '../../util/bytes.ts';
import type { DueState } from '../rules/deletion.ts';
import { BLOCK_BYTES, bodyBytes, FLAG, HEAD, HEAD_BYTES, REASSIGNED_BYTES } from './codec.ts';
import { prunedSlotsBytes } from './pruned-slots.ts';

const NONE = { length: 0 } as const;
const SOME = { length: 1 } as const;

export class RecordHead implements DueState {
  /** The record is here, from `at` on. */
  bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at: number) {
    this.bytes = bytes;
    this.at = at;
  }

  /** The first page of slots; inputs and small outputs follow. */
  slotsPlace(): number {
    const { bytes, at } = this;
    return (
      at +
      HEAD_BYTES +
      BLOCK_BYTES * readU32(bytes, at + HEAD.blockCount) +
      TXID_BYTES * readU32(bytes, at + HEAD.loserCount) +
      REASSIGNED_BYTES * readU32(bytes, at + HEAD.reassignedCount)
    );
  }

  /** Behind the inputs: pruned slots, if there are any. */
  prunedPlace(): number {
    return this.slotsPlace() + bodyBytes(this.outputCount, this.inputCount);
  }

  /** Behind all that changes: small outputs. */
  outputsPlace(): number {
    const at = this.prunedPlace();
    return this.hasPruned ? at + prunedSlotsBytes(readU16(this.bytes, at)) : at;
  }

  /** Of length 1 where there are some: who asks a head wants to know no more. */
  get blocks(): { readonly length: number } {
    return readU32(this.bytes, this.at + HEAD.blockCount) === 0 ? NONE : SOME;
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

  get hasUnspentSlot(): boolean {
    return this.spentCount < this.spendable;
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

  /** Something may keep its outputs from being spent. */
  get isGuarded(): boolean {
    return this.has(FLAG.isCreating | FLAG.isConflicting | FLAG.isLocked | FLAG.coinbaseSpendableAt);
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

  /** A pass has deleted the transactions of some slots. */
  get hasPruned(): boolean {
    return this.has(FLAG.hasPruned);
  }

  get hasLosers(): boolean {
    return readU32(this.bytes, this.at + HEAD.loserCount) !== 0;
  }

  get hasOutputRows(): boolean {
    return this.has(FLAG.hasOutputRows);
  }

  protected has(flag: number): boolean {
    return (readU16(this.bytes, this.at + HEAD.flags) & flag) !== 0;
  }

  protected setFlag(flag: number, is: boolean): void {
    const flags = readU16(this.bytes, this.at + HEAD.flags);
    writeU16(this.bytes, this.at + HEAD.flags, is ? flags | flag : flags & ~flag);
  }

  protected height(flag: number, field: number): number | null {
    return this.has(flag) ? readU32(this.bytes, this.at + field) : null;
  }

  protected setHeight(flag: number, field: number, height: number | null): void {
    this.setFlag(flag, height !== null);
    writeU32(this.bytes, this.at + field, height ?? 0);
  }
}
