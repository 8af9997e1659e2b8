/** P1 to P4 of safe deletion, from records alone and without the rules of the store. */
import type { TxRecord } from '../../../src/txstore/records.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { nameOf } from './world.ts';

function holds(property: string, isSo: boolean, what: () => string): void {
  if (!isSo) throw new Error(`${property} does not hold: ${what()}`);
}

const minedAt = ({ blocks }: TxRecord): number => Math.max(0, ...blocks.filter((block) => block.isOnBestChain).map(({ height }) => height));
const isStable = (record: TxRecord, height: number, window: number): boolean =>
  record.unminedSince === null && !record.isConflicting && minedAt(record) > 0 && height - minedAt(record) >= window;

/** P1: nothing that was deleted at this height is an input of a record that is unmined, or mined in the window. */
export function checkDeleted(records: readonly TxRecord[], deleted: readonly Uint8Array[], height: number, window: number): void {
  const gone = new Set(deleted.map((txId) => toHex(txId)));
  for (const record of records) {
    if (record.unminedSince === null && height - minedAt(record) >= window) continue;
    for (const { txId } of record.inputs)
      holds('P1', !gone.has(toHex(txId)), () => `${nameOf(txId)} is deleted, and ${nameOf(record.txId)} needs it`);
  }
}

/** P2: whatever is unmined has all its parents. */
export function checkParents(records: readonly TxRecord[]): void {
  const present = new Set(records.map(({ txId }) => toHex(txId)));
  for (const { txId, unminedSince, inputs } of records) {
    if (unminedSince === null) continue;
    for (const input of inputs)
      holds('P2', present.has(toHex(input.txId)), () => `${nameOf(txId)} is unmined without ${nameOf(input.txId)}`);
  }
}

/** P4: after a long time without activity nothing is left that could go. */
export function checkNoLeak(records: readonly TxRecord[], height: number, window: number): void {
  const byId = new Map(records.map((record) => [toHex(record.txId), record]));
  const needed = new Set(
    records
      .filter((record) => record.unminedSince !== null || record.isConflicting)
      .flatMap(({ inputs }) => inputs.map(({ txId }) => toHex(txId))),
  );
  for (const record of records) {
    const { outputs, isLocked, isCreating, preserveUntil, unminedSince, blocks, isConflicting } = record;
    if (preserveUntil !== null || needed.has(toHex(record.txId))) continue;
    const slots = outputs.flatMap(({ slot }) => slot ?? []);
    const wasReassigned = slots.some(({ spendableFrom }) => spendableFrom !== null);
    const isDone = slots.every(({ state }) => state === 'spent') && blocks.length > 0 && unminedSince === null && !isLocked && !isCreating;
    const children = slots.flatMap(({ spender }) => byId.get(toHex(spender?.txId ?? new Uint8Array())) ?? []);
    const areStable = children.every((child) => isStable(child, height, window));
    const mayGo = areStable && (isConflicting || (isDone && !wasReassigned));
    holds('P4', !mayGo, () => `${nameOf(record.txId)} is still there at ${height}, due at ${record.deleteAtHeight}`);
  }
}

/** F1: whoever a slot names is there, or was final when a pass deleted it. */
export function checkSpenders(records: readonly TxRecord[], final: readonly TxRecord[]): void {
  const known = new Set([...records, ...final].map(({ txId }) => toHex(txId)));
  for (const { txId, outputs } of records)
    for (const { slot } of outputs)
      holds('F1', !slot?.spender || known.has(toHex(slot.spender.txId)), () => `${nameOf(txId)} is spent by a loser that is deleted`);
}
