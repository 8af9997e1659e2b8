/**
 * Builds the step back from the deltas of a run of blocks, newest first: what
 * they spent is unspent again, what they created is gone, and what was both
 * created and spent inside the run never reappears. It reads and never writes.
 */
import type { Reader } from '../engine/engine.ts';
import { OUTPOINT_BYTES, outpointIndex, outpointKey, outpointTxId } from '../ledgers/outpoint.ts';
import type { ChainRow } from '../projections/chain.ts';
import { Coin, SPENT_AT } from '../projections/coin.ts';
import type { Step, StepBlock } from '../projections/projection.ts';
import { SPENT, UNSPENT } from '../projections/utxo.ts';
import { toHex } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';
import { CoinTable } from './coin-table.ts';
import type { Delta } from './delta.ts';

export interface UndoneBlock {
  readonly key: Uint8Array;
  readonly row: ChainRow;
  readonly delta: Delta;
}

export function planBack(undone: readonly UndoneBlock[], utxo: boolean, reader: Reader): Step {
  if (!utxo) return { blocks: undone.map((block) => stepBlock(block, [], [])), added: [], removed: [] };
  const table = new CoinTable();
  table.reset(undone.reduce((sum, { delta }) => sum + delta.spent.length, 0));
  const spent = spentCoins(undone, table, reader);
  const netted = new Set<Coin>();
  const created = createdCoins(undone, table, netted, reader);
  const added: Coin[] = [];
  const removed: Coin[] = [];
  const blocks = undone.map((block, i) => {
    for (const coin of spent[i]) if (!netted.has(coin)) added.push(coin);
    for (const coin of created[i]) if (!netted.has(coin)) removed.push(coin);
    return stepBlock(block, created[i], spent[i]);
  });
  return { blocks, added, removed };
}

function stepBlock({ key, row, delta }: UndoneBlock, created: readonly Coin[], spent: readonly Coin[]): StepBlock {
  return { key, height: row.height, slot: row.slot, hash: row.hash, txs: delta.txs.filter((tx) => tx.kind === 'tx'), created, spent };
}

/** The coins each block spent, with the value they had: from the delta itself or from `utxo_spent`. */
function spentCoins(undone: readonly UndoneBlock[], table: CoinTable, reader: Reader): Coin[][] {
  const keys = undone.flatMap(({ delta }) => delta.spent.filter((spend) => spend.carried === undefined).map((spend) => spend.key));
  const rows = reader.getMany(SPENT, keys);
  let next = 0;
  return undone.map(({ delta, row }) =>
    delta.spent.map(({ key, carried }) => {
      const value = carried?.value;
      const coin = value === undefined ? fromSpentRow(key, rows[next++], row) : new Coin(key, 0, value, 0, value.length, false);
      table.add(coin);
      return coin;
    }),
  );
}

function fromSpentRow(key: Uint8Array, bytes: Uint8Array | undefined, row: ChainRow): Coin {
  if (bytes === undefined || bytes.length <= SPENT_AT.value) throw damaged(SPENT, key, row);
  return new Coin(key, 0, bytes, SPENT_AT.value, bytes.length, false);
}

/** The coins each block created: those also spent in the run are the very same coins, the rest are unspent in the store. */
function createdCoins(undone: readonly UndoneBlock[], table: CoinTable, netted: Set<Coin>, reader: Reader): Coin[][] {
  const wanted: { key: Uint8Array; into: Coin[]; at: number; row: ChainRow }[] = [];
  const created = undone.map(({ delta, row }) => {
    const into: Coin[] = [];
    for (const tx of delta.txs) {
      for (let i = 0; i < tx.count; i++) {
        const key = outpointKey(tx.id, tx.firstIndex + i);
        const spent = table.find(key, 0, tx.firstIndex + i);
        if (spent !== undefined) netted.add(spent);
        else wanted.push({ key, into, at: into.length, row });
        into.push(spent ?? PLACEHOLDER);
      }
    }
    return into;
  });
  const values = reader.getMany(
    UNSPENT,
    wanted.map((want) => want.key),
  );
  for (let i = 0; i < wanted.length; i++) {
    const { key, into, at, row } = wanted[i];
    const value = values[i];
    if (value === undefined) throw damaged(UNSPENT, key, row);
    into[at] = new Coin(key, 0, value, 0, value.length, false);
  }
  return created;
}

const PLACEHOLDER = new Coin(new Uint8Array(OUTPOINT_BYTES), 0, new Uint8Array(0), 0, 0, false);

function damaged(column: string, key: Uint8Array, row: ChainRow): UnspentError {
  const name = `${toHex(outpointTxId(key))}#${outpointIndex(key)}`;
  return new UnspentError('STORE_DAMAGED', `${column} lacks ${name}, which undoing block ${row.height} (${toHex(row.hash)}) needs`, {
    column,
    key: toHex(key),
  });
}
