/**
 * Builds the step back from the deltas of a run of blocks, newest first: what
 * they spent is unspent again, what they created is gone, and what was both
 * created and spent inside the run never reappears. It reads and never writes.
 */
import type { Reader } from '../engine/engine.ts';
import { OUTPOINT_BYTES, outpointIndex, outpointKey, outpointTxId, TXID_BYTES } from '../ledgers/outpoint.ts';
import type { ChainRow } from '../projections/chain.ts';
import { Coin, NO_INPUT, SPENT_AT, type Spender } from '../projections/coin.ts';
import { coinOfRow, type OwnerKeys } from '../projections/packed.ts';
import type { Step, StepBlock } from '../projections/projection.ts';
import { SPENT, UNSPENT } from '../projections/utxo.ts';
import { equalBytes, readU32, toHex } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';
import { CoinTable } from './coin-table.ts';
import type { CarriedSpend, Delta, DeltaTx } from './delta.ts';

export interface UndoneBlock {
  readonly key: Uint8Array;
  readonly row: ChainRow;
  readonly delta: Delta;
}

/** `ledger`: of the blocks. */
export function planBack(undone: readonly UndoneBlock[], utxo: boolean, reader: Reader, ledger: OwnerKeys): Step {
  if (!utxo) return { blocks: undone.map((block) => stepBlock(block, [], [])), added: [], removed: [] };
  const table = new CoinTable();
  table.makeRoom(undone.reduce((sum, { delta }) => sum + delta.spent.length, 0));
  const spent = spentCoins(undone, table, reader, ledger);
  const netted = new Set<Coin>();
  const created = createdCoins(undone, table, netted, reader, ledger);
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

/** The coins each block spent, with the value they had and who spent them: from the delta itself or from `utxo_spent`. */
function spentCoins(undone: readonly UndoneBlock[], table: CoinTable, reader: Reader, ledger: OwnerKeys): Coin[][] {
  const keys = undone.flatMap(({ delta }) => delta.spent.filter((spend) => spend.carried === undefined).map((spend) => spend.key));
  const rows = reader.getMany(SPENT, keys);
  let next = 0;
  return undone.map(({ delta, row }) => {
    const spenders = new Spenders(delta, row);
    return delta.spent.map(({ key, carried }) => {
      const coin =
        carried === undefined ? fromSpentRow(key, rows[next++], row, spenders, ledger) : fromDelta(key, carried, spenders, ledger);
      table.add(coin);
      return coin;
    });
  });
}

function fromDelta(key: Uint8Array, { value, txIndex, input }: CarriedSpend, spenders: Spenders, ledger: OwnerKeys): Coin {
  const coin = coinOfRow(key, value, ledger);
  coin.spender = txIndex === null ? spenders.ledger : spenders.at(txIndex);
  coin.input = input;
  return coin;
}

function fromSpentRow(key: Uint8Array, bytes: Uint8Array | undefined, row: ChainRow, spenders: Spenders, ledger: OwnerKeys): Coin {
  if (bytes === undefined || bytes.length <= SPENT_AT.value) throw damaged(SPENT, key, row);
  const coin = coinOfRow(key, bytes, ledger, SPENT_AT.value);
  coin.input = readU32(bytes, SPENT_AT.input);
  coin.spender = coin.input === NO_INPUT ? spenders.ledger : spenders.of(bytes.subarray(SPENT_AT.txId, SPENT_AT.txId + TXID_BYTES));
  if (coin.spender === null) throw damaged(SPENT, key, row);
  return coin;
}

/** Who spent the outputs of a block. They stand in the order of its transactions, so that the next one is found by going on. */
class Spenders {
  readonly ledger: Spender;
  private readonly txs: readonly DeltaTx[];
  private readonly block: Pick<Spender, 'slot' | 'height'>;
  private last: Spender | null = null;

  constructor(delta: Delta, { slot, height }: ChainRow) {
    this.txs = delta.txs.filter(({ kind }) => kind === 'tx');
    this.block = { slot, height };
    this.ledger = { txId: new Uint8Array(TXID_BYTES), txIndex: 0, slot, height };
  }

  at(txIndex: number): Spender | null {
    const tx = this.txs[txIndex];
    if (tx === undefined) return null;
    if (this.last?.txIndex !== txIndex) this.last = { txId: tx.id, txIndex, ...this.block };
    return this.last;
  }

  /** Null: none of its transactions has this id. */
  of(id: Uint8Array): Spender | null {
    for (let i = this.last?.txIndex ?? 0; i < this.txs.length; i++) if (equalBytes(this.txs[i].id, id)) return this.at(i);
    return null;
  }
}

/** The coins each block created: those also spent in the run are the very same coins, the rest are unspent in the store. */
function createdCoins(undone: readonly UndoneBlock[], table: CoinTable, netted: Set<Coin>, reader: Reader, ledger: OwnerKeys): Coin[][] {
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
    into[at] = coinOfRow(key, value, ledger);
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
