/**
 * What losers and winners reach, read before conflicts.ts decides: level by level
 * what spends of them, and the parents of all of it. A level is a few statements,
 * however wide it is; the rows of each are locked before their slots are read, so
 * that no spender is overlooked that comes meanwhile.
 */
import { equalBytes } from '../../util/bytes.ts';
import type { ReadTx, SqlUnit } from './unit.ts';

/** For `setLosers`: the transactions, their descendants and the parents of all of them. */
export async function readDescendants(unit: SqlUnit, txIds: readonly Uint8Array[]): Promise<void> {
  const all: ReadTx[] = [];
  const seen = new Set<ReadTx>();
  for (let level = txIds; level.length > 0; ) {
    await unit.read(level);
    const txs = unit.present(level).filter((tx) => !seen.has(tx));
    for (const tx of txs) seen.add(tx);
    await unit.readAllSlots(txs);
    await unit.readTombstonesOf(txs.map(({ txId }) => txId));
    all.push(...txs);
    level = txs.flatMap((tx) => unit.children(tx));
  }
  await readParents(unit, all);
}

/** For `clearLosers`: the transactions and what they hold of their parents. */
export async function readWithParents(unit: SqlUnit, txIds: readonly Uint8Array[]): Promise<readonly ReadTx[]> {
  await unit.read(txIds);
  const txs = unit.present(txIds);
  await readParents(unit, txs);
  return txs;
}

/** For `letWin`: the winners, and whoever holds what they are to have. */
export async function readRivals(unit: SqlUnit, winnerIds: readonly Uint8Array[]): Promise<void> {
  const winners = await readWithParents(unit, winnerIds);
  const inputs = winners.flatMap((winner) => unit.inputs(winner).map((input) => ({ winner, input })));
  await unit.readTombstonesOf(inputs.map(({ input }) => input.txId));
  const holders = inputs.flatMap(({ winner, input }) => {
    const parent = unit.find(input.txId);
    const holder = parent === undefined ? undefined : unit.slot(parent, input.index)?.spender?.txId;
    return holder === undefined || equalBytes(holder, winner.txId) ? [] : [holder];
  });
  await readDescendants(unit, holders);
}

async function readParents(unit: SqlUnit, txs: readonly ReadTx[]): Promise<void> {
  await unit.readInputs(txs);
  const outpoints = txs.flatMap((tx) => unit.inputs(tx));
  await unit.read(outpoints.map(({ txId }) => txId));
  await unit.readSlots(outpoints);
}
