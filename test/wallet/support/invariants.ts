/**
 * What is true of the rows of a wallet store after every call, whatever came
 * before: I1 to I9, I11 and I12 of the specification of wallets. I10 needs the
 * store's own sums, and I13 a second call: random-run.ts has them.
 */

import type { RowsOfWallet, WalletRows } from '../../../src/wallet/rows.ts';
import { isLive } from '../../../src/wallet/rules/status.ts';

/** How many inputs a transaction has, by its id in hex. */
export type InputCounts = ReadonlyMap<string, number>;
/** `replaced>replacement` for every time that a status was set so, less what was deleted. */
export type ToldReplacements = ReadonlySet<string>;

type TxOfRows = RowsOfWallet['txs'][number];

/** Throws with the number of the invariant. */
export function checkInvariants(rows: WalletRows, inputCounts: InputCounts, told: readonly ToldReplacements[]): void {
  const heights = new Set(rows.blocks.map(({ height }) => height));
  for (const [n, wallet] of rows.wallets.entries()) {
    const txs = new Map(wallet.txs.map((row) => [row.txId, row]));
    for (const row of wallet.txs) checkTx(row, heights);
    checkCredits(wallet, txs);
    checkInputs(wallet, txs, inputCounts);
    checkReplacements(wallet, txs, told[n]);
    for (const height of [wallet.syncedHeight, wallet.birthdayHeight]) {
      holds('I11', height === null || heights.has(height), `a wallet is at ${height}`);
    }
  }
}

function holds(invariant: string, isSo: boolean, what: string): void {
  if (!isSo) throw new Error(`${invariant} does not hold: ${what}`);
}

function checkTx({ txId, status, height, confirmedOrder, isCoinbase }: TxOfRows, heights: ReadonlySet<number>): void {
  const isConfirmed = height !== null;
  holds('I1', !isConfirmed || status === 'published', `${txId} is confirmed and ${status}`);
  holds('I2', status !== 'orphaned' || isCoinbase, `${txId} is orphaned`);
  holds('I2', !isCoinbase || status === (isConfirmed ? 'published' : 'orphaned'), `coinbase ${txId} is ${status}`);
  holds('I6', isConfirmed === (confirmedOrder !== null), `${txId} at ${height} has the place ${confirmedOrder}`);
  holds('I11', height === null || heights.has(height), `${txId} is in a block at ${height}`);
}

function checkCredits({ credits, inputs, addresses, leases }: RowsOfWallet, txs: ReadonlyMap<string, TxOfRows>): void {
  const spends = new Map(inputs.map(({ txId, input, prevTxId, prevIndex }) => [`${txId}/${input}`, `${prevTxId}#${prevIndex}`]));
  const owners = new Set(addresses.map(({ script }) => script));
  const outpoints = new Set<string>();
  for (const { txId, index, owner, spentBy, spentInput } of credits) {
    const outpoint = `${txId}#${index}`;
    outpoints.add(outpoint);
    holds('I12', txs.has(txId) && owners.has(owner), `${outpoint} is of a transaction or address that is not there`);
    holds('I3', (spentBy === null) === (spentInput === null), `${outpoint} has half an edge`);
    if (spentBy === null) continue;
    const spender = txs.get(spentBy);
    holds('I12', spender !== undefined, `${outpoint} is spent by a transaction that is not there`);
    holds('I4', spender !== undefined && isLive(spender.status), `${outpoint} is spent by a dead transaction`);
    holds('I4', spends.get(`${spentBy}/${spentInput}`) === outpoint, `${outpoint} is not what input ${spentInput} of ${spentBy} spends`);
  }
  for (const { txId, index } of leases) holds('I12', outpoints.has(`${txId}#${index}`), `a lease of ${txId}#${index}, which is not there`);
}

function checkInputs({ credits, inputs }: RowsOfWallet, txs: ReadonlyMap<string, TxOfRows>, inputCounts: InputCounts): void {
  const holders = new Map(credits.map(({ txId, index, spentBy }) => [`${txId}#${index}`, spentBy]));
  const found = new Map<string, number>();
  for (const { txId, prevTxId, prevIndex } of inputs) {
    found.set(txId, (found.get(txId) ?? 0) + 1);
    const row = txs.get(txId);
    const holder = holders.get(`${prevTxId}#${prevIndex}`);
    if (row === undefined || !isLive(row.status) || holder === undefined) continue;
    const isParentLive = isLive(txs.get(prevTxId)!.status);
    holds('I9', isParentLive || row.height !== null, `${txId} lives and spends an output of dead ${prevTxId}`);
    holds('I5', !isParentLive || holder === txId, `${txId} lives and spends ${prevTxId}#${prevIndex}, which ${holder ?? 'nobody'} holds`);
  }
  for (const { txId } of txs.values())
    holds('I7', (found.get(txId) ?? 0) === inputCounts.get(txId), `${txId} has ${found.get(txId)} inputs`);
  for (const txId of found.keys()) holds('I12', txs.has(txId), `inputs of ${txId}, which is not there`);
}

function checkReplacements({ replacements }: RowsOfWallet, txs: ReadonlyMap<string, TxOfRows>, told: ToldReplacements): void {
  for (const { replaced, replacement } of replacements) {
    holds('I8', replaced !== replacement && txs.has(replaced) && txs.has(replacement), `${replaced} is replaced by ${replacement}`);
    holds('I8', told.has(`${replaced}>${replacement}`), `${replaced} was never set to replaced by ${replacement}`);
  }
  holds('I8', told.size === replacements.length, `${told.size} replacements were told, ${replacements.length} are there`);
}
