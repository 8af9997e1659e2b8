/**
 * What one block did: its transactions, the outputs it created and those it
 * spent, as they stood right after it, whatever has happened to them since. The
 * same answer each time it is asked, for as long as it can be given at all.
 */
import { outpointIndex, outpointKey, outpointTxId } from '../ledgers/outpoint.ts';
import { CHAIN, type ChainRow } from '../projections/chain.ts';
import { readStored } from '../projections/coin.ts';
import type { StepTx } from '../projections/projection.ts';
import { UNSPENT } from '../projections/utxo.ts';
import { rowKey } from '../state/blocks.ts';
import { DELTA, type Delta, isSelfContained, readDelta } from '../state/delta.ts';
import { forgottenHeight } from '../state/horizon.ts';
import { readPruned } from '../state/pruned.ts';
import { toHex } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';
import { type BlockMmr, blockMmr } from './proofs-mmr.ts';
import { type CarriedOutputs, SpentRows } from './spent-rows.ts';
import type { StoreColumns } from './store-columns.ts';
import type { Utxo } from './utxo.ts';

export interface BlockChanges {
  readonly txs: readonly StepTx[];
  /** In the block's order. One that the block itself spends is in both lists, and says so. */
  readonly created: readonly Utxo[];
  readonly spent: readonly Utxo[];
  /** What it did to the mountain range over all outputs; null where none is kept. */
  readonly mmr: BlockMmr | null;
}

/** Throws PRUNED when an undo record or a spent output it needs was forgotten, UNSUPPORTED when no outputs are kept. */
export function blockChanges(columns: StoreColumns, row: ChainRow, carried: CarriedOutputs): BlockChanges {
  columns.needUnspent();
  columns.needDeltas();
  const delta = deltaOf(columns, row);
  return {
    txs: txsOf(delta),
    created: createdOutputs(columns, row, delta, carried),
    spent: spentOutputs(columns, row, delta),
    mmr: blockMmr(columns, delta, row),
  };
}

/** The same, with the names of the outputs only: known for as long as the undo record of the block is. */
export interface BlockNames extends Pick<BlockChanges, 'txs' | 'mmr'> {
  readonly created: readonly Pick<Utxo, 'txId' | 'index'>[];
  readonly spent: readonly Pick<Utxo, 'txId' | 'index'>[];
}

/** Throws PRUNED when the undo record was forgotten, UNSUPPORTED when no outputs are kept. */
export function blockNames(columns: StoreColumns, row: ChainRow): BlockNames {
  columns.needUnspent();
  columns.needDeltas();
  const delta = deltaOf(columns, row);
  const created = delta.txs.flatMap(({ id, firstIndex, count }) =>
    Array.from({ length: count }, (_, i) => ({ txId: id, index: firstIndex + i })),
  );
  return { txs: txsOf(delta), created, spent: delta.spent.map(({ key }) => nameOf(key)), mmr: blockMmr(columns, delta, row) };
}

/** The transactions of a block, in its order. Throws PRUNED when its undo record was forgotten. */
export function blockTxs(columns: StoreColumns, row: ChainRow): readonly StepTx[] {
  columns.needDeltas();
  return txsOf(deltaOf(columns, row));
}

function txsOf({ txs }: Delta): readonly StepTx[] {
  return txs.filter((tx) => tx.kind === 'tx').map(({ id, valid }) => ({ id, valid }));
}

/** The ids of a block's transactions and the outpoints it spent, without what they hold. */
export interface BlockOutline {
  readonly txIds: readonly Uint8Array[];
  /** Outpoint keys. */
  readonly spent: readonly Uint8Array[];
}

/** Null: its undo record was forgotten. */
export function blockOutline(columns: StoreColumns, row: ChainRow): BlockOutline | null {
  columns.needDeltas();
  if (row.height <= readPruned(columns.reader).deltas) return null;
  const { txs, spent } = deltaOf(columns, row);
  return { txIds: txs.filter((tx) => tx.kind === 'tx').map(({ id }) => id), spent: spent.map(({ key }) => key) };
}

function deltaOf(columns: StoreColumns, row: ChainRow): Delta {
  const bytes = columns.reader.get(DELTA, rowKey(row));
  if (bytes !== undefined) return readDelta(bytes, `the delta of block ${row.height}`);
  const { deltas } = readPruned(columns.reader);
  if (row.height <= deltas) throw pruned(columns, row, 'its undo record was pruned');
  throw new UnspentError('STORE_DAMAGED', `the delta of block ${row.height} is missing`, { column: DELTA });
}

/** As they stood after the block: of those it spent itself its own undo record may be all that is left, of others that of a later block. */
function createdOutputs(columns: StoreColumns, row: ChainRow, delta: Delta, carried: CarriedOutputs): Utxo[] {
  const keys = delta.txs.flatMap((tx) => Array.from({ length: tx.count }, (_, i) => outpointKey(tx.id, tx.firstIndex + i)));
  if (keys.length === 0) return [];
  const unspent = columns.reader.getMany(UNSPENT, keys);
  const gone = keys.filter((_, i) => unspent[i] === undefined);
  const spent = new SpentRows(columns.reader).many(gone);
  const own = new Map(carriedSpends(row, delta).map((utxo, i) => [toHex(delta.spent[i].key), utxo]));
  let next = 0;
  return keys.map((key, i) => {
    const value = unspent[i];
    if (value !== undefined) return { ...nameOf(key), output: readStored(value), spent: null };
    const read = spent[next++];
    if (read !== undefined) return { ...nameOf(key), output: read.output, spent: read.height === row.height ? read : null };
    const mine = own.get(toHex(key));
    if (mine !== undefined) return mine;
    const later = delta.isSelfContained ? carried.find(columns.reader, key) : undefined;
    if (later === undefined) throw pruned(columns, row, 'an output it created was spent and pruned');
    return { ...nameOf(key), output: readStored(later), spent: null };
  });
}

function spentOutputs(columns: StoreColumns, row: ChainRow, delta: Delta): Utxo[] {
  if (delta.isSelfContained) return carriedSpends(row, delta);
  const keys = delta.spent.map((spend) => spend.key);
  return new SpentRows(columns.reader).many(keys).map((spent, i) => {
    if (spent === undefined) throw pruned(columns, row, 'outputs it spent were pruned');
    return { ...nameOf(keys[i]), output: spent.output, spent };
  });
}

/** What the block spent, from its undo record alone; nothing where that does not carry it. */
function carriedSpends({ height, slot }: ChainRow, delta: Delta): Utxo[] {
  if (!delta.isSelfContained) return [];
  const txs = txsOf(delta);
  return delta.spent.flatMap(({ key, carried }) => {
    if (carried === undefined) return [];
    const output = readStored(carried.value);
    const spender = carried.txIndex === null ? null : txs[carried.txIndex];
    if (spender === undefined)
      throw new UnspentError('STORE_DAMAGED', `the delta of block ${height} names a transaction it does not have`, { column: DELTA });
    return [{ ...nameOf(key), output, spent: { txId: spender?.id ?? null, input: carried.input, slot, height, output } }];
  });
}

function nameOf(key: Uint8Array): Pick<Utxo, 'txId' | 'index'> {
  return { txId: outpointTxId(key), index: outpointIndex(key) };
}

function pruned(columns: StoreColumns, { height }: ChainRow, why: string): UnspentError {
  const [oldest] = columns.reader.scan(DELTA, { limit: 1 });
  const knownAbove = forgottenHeight(columns.reader, oldest === undefined || !isSelfContained(oldest[1]));
  return new UnspentError('PRUNED', `what block ${height} did is not known any more: ${why}; it is above height ${knownAbove}`, {
    column: CHAIN,
    height,
    knownAbove,
  });
}
